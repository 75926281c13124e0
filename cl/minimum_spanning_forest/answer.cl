/* Convert the forest to the returned form.  in_order has n words: the sorted entries of the edges, then NO_ENTRY.
 *
 * VALUES  the type of the user's weights
 */
#include "minimum_spanning_forest/keys.h"

#define VALUES_NONE 0
#define VALUES_INT 1
#define VALUES_LONG 2
#define VALUES_FLOAT 3
#define VALUES_DOUBLE 4
#ifndef VALUES
#define VALUES VALUES_INT
#endif
#if VALUES == VALUES_LONG || VALUES == VALUES_DOUBLE
typedef ulong word_t;
#else
typedef uint word_t;
#endif

/* *n_edges = the number of edges. */
KERNEL list_edges(int n, const __global uint *restrict in_order, __global long *restrict edges,
                  __global int *restrict n_edges) {
  const int i = get_global_id(0);
  if (i >= n) return;
  const uint e = in_order[i];
  const int is_edge = e != NO_ENTRY, is_next = i + 1 < n && in_order[i + 1] != NO_ENTRY;
  edges[i] = e;
  if (is_edge && !is_next) *n_edges = i + 1;
  if (!is_edge && !i) *n_edges = 0;
}

/* Sums that are the same on every device: each block of LANES * ADDENDS edges has LANES sums, each over every LANES-th
 * edge. The halves of longs are summed separately, so that no sum overflows. */
#ifndef LANES
#define LANES 64
#endif
#ifndef ADDENDS
#define ADDENDS 128
#endif
#if VALUES == VALUES_LONG
#define SUM_WORDS 2
#else
#define SUM_WORDS 1
#endif
#if VALUES >= VALUES_FLOAT
#if DEV_HAS_FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double sum_t;
#endif
#else
typedef long sum_t;
#endif

#if VALUES != VALUES_NONE && (DEV_HAS_FP64 || VALUES < VALUES_FLOAT)
KERNEL sum_weights(int n, int n_sums, const __global uint *restrict in_order, const __global word_t *restrict values,
                   __global sum_t *restrict sums) {
  const int lane = get_global_id(0);
  if (lane >= n_sums) return;
  const long first = (long)(lane / LANES) * LANES * ADDENDS + lane % LANES;
  sum_t sum[SUM_WORDS] = {0};
  #pragma unroll 1  /* Intel's compiler changes the order of the additions of an unrolled loop */
  for (int k = 0; k < ADDENDS; k++) {
    const long i = first + k * LANES;
    const uint e = i < n ? in_order[i] : NO_ENTRY;
    const word_t value = e == NO_ENTRY ? 0 : values[e];
#if VALUES == VALUES_INT
    sum[0] += (int)value;
#elif VALUES == VALUES_LONG
    sum[0] += (long)value >> 32;
    sum[1] += (long)(value & 0xffffffff);
#elif VALUES == VALUES_FLOAT
    sum[0] += (double)as_float(value);
#else
    sum[0] += as_double(value);
#endif
  }
  for (int k = 0; k < SUM_WORDS; k++) sums[(long)lane * SUM_WORDS + k] = sum[k];
}
#endif

/* The row, the neighbour and the weight of every edge. */
KERNEL name_ends(int n, int n_vertices, const __global offset_t *restrict row_offsets,
                 const __global int *restrict column_indices, const __global word_t *restrict values,
                 const __global uint *restrict in_order, __global int *restrict sources, __global int *restrict targets,
                 __global word_t *restrict weights) {
  const int i = get_global_id(0);
  if (i >= n) return;
  const uint e = in_order[i];
  if (e == NO_ENTRY) return;
  int low = 0, high = n_vertices;               /* row_offsets[low] <= e < row_offsets[high] */
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (row_offsets[middle] <= (offset_t)e) low = middle;
    else high = middle;
  }
  sources[i] = low;
  targets[i] = column_indices[e];
#if VALUES != VALUES_NONE
  weights[i] = values[e];
#endif
}
