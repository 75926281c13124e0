/* Writes the low bits of a vertex's hash as its colour; a work-item takes a vertex. */
#include "common/hashes.h"

KERNEL hash_vertices(int n, uint mask, __global int *restrict colors) {
  const int v = get_global_id(0);
  if (v < n) colors[v] = (int)(hash_one(0, (uint)v) & mask);
}
