/* Random weights of edges: the finaliser of SplitMix64 of both ends, scaled; clgraph/generators/weights.py has the same.
 *
 * A work-item takes every WG_SIZE-th entry of its group's chunk, and searches for the entry's row from the row of its
 * entry before.
 */
#include "generators/chunk.h"

#ifndef WEIGHT_T
#define WEIGHT_T int
#endif
#ifndef WEIGHTS_ARE_FLOATS
#define WEIGHTS_ARE_FLOATS 0
#endif
#ifndef DIRECTED
#define DIRECTED 0
#endif
#define KEY_T offset_t
#include "generators/search.h"

#if WEIGHTS_ARE_FLOATS
#if DEV_HAS_FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF   /* product and sum are rounded separately, as on the host */
#define SPAN_T WEIGHT_T
#define FRACTION(hash) \
  (sizeof(WEIGHT_T) == 4 ? (WEIGHT_T)((hash) >> 40) * (WEIGHT_T)0x1p-24f \
                         : (WEIGHT_T)((hash) >> 11) * (WEIGHT_T)0x1p-53f)
#else
#define SPAN_T ulong
#endif

INLINE WEIGHT_T scaled(ulong hash, WEIGHT_T low, SPAN_T span, WEIGHT_T most) {
#if WEIGHTS_ARE_FLOATS
  const WEIGHT_T above = FRACTION(hash) * span, weight = above + low;
  return weight < most ? weight : most;
#else
  return (WEIGHT_T)((ulong)low + mul_hi(hash, span));
#endif
}

KERNEL hash_edges(int n, long m, ulong start, WEIGHT_T low, SPAN_T span, WEIGHT_T most,
                  const __global offset_t *restrict row_offsets, const __global int *restrict column_indices,
                  __global WEIGHT_T *restrict edge_weights) {
  long above = 1;                /* the first offset that is beyond the entry */
  FOR_CHUNK(e, m) {
    above = first_at_least(row_offsets, above, n + 1l, (ulong)e + 1ul);
    const ulong u = (ulong)above - 1ul, v = (ulong)column_indices[e];
    ulong hash = start + (DIRECTED || u < v ? u << 32 | v : v << 32 | u);
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ul;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebul;
    edge_weights[e] = scaled(hash ^ (hash >> 31), low, span, most);
  }
}
