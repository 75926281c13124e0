/* Sum, minimum or maximum of an array, in two launches (one if the array is small).
 *
 * A work-group reduces a chunk of consecutive items.  A work-item takes every WG_SIZE-th vector of VEC items, with
 * UNROLL accumulators, so that loads overlap and a float sum is spread over many partial sums.
 *   reduce_items      IN_T items -> a T per work-group
 *   reduce_partials   the partial results, in one work-group -> one T
 * The order depends only on n and the device, so a float sum is the same in every run.
 */
#include "primitives/operation.h"
#ifndef IN_T
#define IN_T T
#endif
#ifndef VEC                      /* 4 (a 16-byte load) or 16 */
#define VEC 4
#endif
#ifndef UNROLL
#define UNROLL 4
#endif
typedef PASTE(IN_T, VEC) in_vec_t;
typedef PASTE(T, VEC) vec_t;
#define CONVERT_ PASTE(convert_, PASTE(T, VEC))

INLINE T across4(PASTE(T, 4) v) { PASTE(T, 2) w = combine(v.lo, v.hi); return combine(w.x, w.y); }
#if VEC == 16
INLINE T across(vec_t v) {
  PASTE(T, 8) w = combine(v.lo, v.hi);
  PASTE(T, 4) u = combine(w.lo, w.hi);
  return across4(u);
}
#else
INLINE T across(vec_t v) { return across4(v); }
#endif

/* Every work-item of the group calls; the result is right in work-item 0. */
INLINE T across_group(T x, __local T *scratch) {
#if WG_SIZE > 1
  x = sg_combine(x);
  if (sg_lane() == 0) scratch[sg_in_group()] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0)
    for (uint s = 1; s < SUB_GROUPS_PER_GROUP; s++) { T y = scratch[s]; x = combine(x, y); }
#endif
  return x;
}
#if WG_SIZE > 1
#define SCRATCH SUB_GROUPS_PER_GROUP
#else
#define SCRATCH 1
#endif

/* chunk: number of items of a work-group, a multiple of VEC */
KERNEL reduce_items(long n, long chunk, const __global IN_T *restrict items, __global T *restrict partials) {
  LOCAL_ARRAY T scratch[SCRATCH];
  long first = get_group_id(0) * chunk, end = min(n, first + chunk);
  const long stride = (long)WG_SIZE * VEC, whole = stride * UNROLL;
  vec_t sums[UNROLL];
  for (int k = 0; k < UNROLL; k++) sums[k] = (vec_t)(IDENTITY);
  long i = first + (long)get_local_id(0) * VEC, start = first;
  for (; start + whole <= end; start += whole, i += whole) {
    #pragma unroll
    for (int k = 0; k < UNROLL; k++) {
      vec_t v = CONVERT_(*(const __global in_vec_t *)(items + i + k * stride));
      sums[k] = combine(sums[k], v);
    }
  }
  T result = IDENTITY;
  for (long j = start + get_local_id(0); j < end; j += WG_SIZE) { T x = (T)items[j]; result = combine(result, x); }
  for (int k = 0; k < UNROLL; k++) { T x = across(sums[k]); result = combine(result, x); }
  result = across_group(result, scratch);
  if (get_local_id(0) == 0) partials[get_group_id(0)] = result;
}

KERNEL reduce_partials(long n, const __global T *restrict partials, __global T *restrict out) {
  LOCAL_ARRAY T scratch[SCRATCH];
  T result = IDENTITY;
  for (long j = get_local_id(0); j < n; j += WG_SIZE) { T x = partials[j]; result = combine(result, x); }
  result = across_group(result, scratch);
  if (get_local_id(0) == 0) out[0] = result;
}
