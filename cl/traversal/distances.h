/* Distances as unsigned words in the same order: sums of integers, or the bits of floats, which are not negative.  The
 * largest word means unreached.
 *
 * WEIGHT_KIND  the type of edge_weights
 * WIDE         1: 64-bit distances; with float weights they are sums of doubles
 */
#ifndef CLGRAPH_TRAVERSAL_DISTANCES_H
#define CLGRAPH_TRAVERSAL_DISTANCES_H
#include "common/atomics.h"

#define WEIGHT_NONE 0            /* every edge weighs 1 */
#define WEIGHT_INT 1
#define WEIGHT_LONG 2
#define WEIGHT_FLOAT 3
#define WEIGHT_DOUBLE 4
#ifndef WEIGHT_KIND
#define WEIGHT_KIND WEIGHT_INT
#endif
#ifndef WIDE
#define WIDE (WEIGHT_KIND == WEIGHT_LONG || WEIGHT_KIND == WEIGHT_DOUBLE)
#endif
#if WIDE
typedef ulong dist_t;
#define FAR_AWAY 0xfffffffffffffffful
#define LONGEST 0x7ffffffffffffffful
#else
typedef uint dist_t;
#define FAR_AWAY 0xffffffffu
#define LONGEST 0xfffffffeu
#endif

#define REAL (WEIGHT_KIND == WEIGHT_FLOAT || WEIGHT_KIND == WEIGHT_DOUBLE)  /* distances are floats */
#if REAL && WIDE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double sum_t;
#define AS_SUM(d) as_double(d)
#define AS_DISTANCE(sum) as_ulong(sum)
#elif REAL
typedef float sum_t;
#define AS_SUM(d) as_float(d)
#define AS_DISTANCE(sum) as_uint(sum)
#endif

#if WEIGHT_KIND == WEIGHT_FLOAT
typedef float weight_t;
#elif WEIGHT_KIND == WEIGHT_DOUBLE
typedef double weight_t;
#elif WEIGHT_KIND == WEIGHT_LONG
typedef long weight_t;
#else
typedef int weight_t;
#endif

INLINE weight_t weight_of(__global const weight_t *restrict edge_weights, offset_t e) {
#if WEIGHT_KIND == WEIGHT_NONE
  return 1;
#else
  return edge_weights[e];
#endif
}

/* Returns d + w.  If the sum overflows it returns FAR_AWAY, and for integers sets *overflow to 1. */
INLINE dist_t extend(dist_t d, weight_t w, int *overflow) {
#if REAL
  const sum_t sum = AS_SUM(d) + (sum_t)w;
  return isinf(sum) ? FAR_AWAY : AS_DISTANCE(sum);
#else
  if ((dist_t)w > LONGEST - d) {
    *overflow = 1;
    return FAR_AWAY;
  }
  return d + (dist_t)w;
#endif
}

/* Returns d + delta, the end of a bucket that begins at d; at most FAR_AWAY. */
INLINE dist_t bucket_end(dist_t d, float delta) {
#if REAL
  const sum_t end = AS_SUM(d) + (sum_t)delta;
  return isinf(end) ? FAR_AWAY : max(AS_DISTANCE(end), d + (dist_t)1);
#else
  return delta < (float)(FAR_AWAY - d) * 0.99f ? d + max((dist_t)1, (dist_t)delta) : FAR_AWAY;
#endif
}
#endif
