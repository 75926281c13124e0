/* Fill arrays.  One work-item per item, grid-stride. */
#include "common/types.h"

#ifndef T
#define T int
#endif

KERNEL iota(long n, __global T *out) {
  for (long i = get_global_id(0); i < n; i += get_global_size(0)) out[i] = (T)i;
}

KERNEL fill(long n, T value, __global T *out) {
  for (long i = get_global_id(0); i < n; i += get_global_size(0)) out[i] = value;
}
