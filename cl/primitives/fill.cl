/* Fill arrays.  A work-group takes a chunk of consecutive items, a work-item every WG_SIZE-th of them. */
#include "common/types.h"

#ifndef T
#define T int
#endif
#define CHUNK ((n + (long)get_num_groups(0) - 1) / (long)get_num_groups(0) + 63 & ~63l)

KERNEL iota(long n, __global T *out) {
  long first = get_group_id(0) * CHUNK, end = min(n, first + CHUNK);
  for (long i = first + get_local_id(0); i < end; i += WG_SIZE) out[i] = (T)i;
}

KERNEL fill(long n, T value, __global T *out) {
  long first = get_group_id(0) * CHUNK, end = min(n, first + CHUNK);
  for (long i = first + get_local_id(0); i < end; i += WG_SIZE) out[i] = value;
}
