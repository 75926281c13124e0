/* A work-group takes a chunk of consecutive items, and a work-item every WG_SIZE-th of them. */
#ifndef CLGRAPH_CHUNK_H
#define CLGRAPH_CHUNK_H
#include "common/types.h"

INLINE long chunk_begin(long count) {
  const long groups = (long)get_num_groups(0);
  return min(count, (long)get_group_id(0) * ((count + groups - 1) / groups));
}
INLINE long chunk_end(long count) {
  const long groups = (long)get_num_groups(0);
  return min(count, ((long)get_group_id(0) + 1) * ((count + groups - 1) / groups));
}
#define FOR_CHUNK(i, count) \
  for (long i = chunk_begin(count) + (long)get_local_id(0), i##_end = chunk_end(count); i < i##_end; i += WG_SIZE)
#endif
