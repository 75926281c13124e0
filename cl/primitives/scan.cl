/* Exclusive and inclusive sums.
 *
 * A tile is WG_SIZE * ITEMS_PER_ITEM items.  Inside it each sub-group takes a run of
 * SUB_GROUP_SIZE * ITEMS_PER_ITEM items, and a work-item takes every SUB_GROUP_SIZE-th vector of VEC items of
 * that run: all loads and stores are whole vectors side by side, and no transposition is needed.
 *
 *   scan_look_back               one pass, one tile per work-group (look_back.h explains the races)
 *   sum_chunks, scan_chunks      two passes, a chunk of consecutive tiles per work-group; no group waits for another.
 *                                On CPUs WG_SIZE, ITEMS_PER_ITEM and VEC are 1: plain loops.
 *
 * Sums are modulo 2^32 or 2^64.  out has n items, or n + 1 (EXTRA_TOTAL): the last one is then the total.
 * Reference: look_back.h; the two-pass form is Harris, Sengupta, Owens, GPU Gems 3, chapter 39.
 */
#ifndef IN_T
#define IN_T int
#endif
#ifndef SUM_T
#define SUM_T int
#define SUM_BYTES 4
#endif
#ifndef VEC                      /* 1, 2 or 4; 16 bytes of input is best on a GPU */
#define VEC 4
#endif
#ifndef ITEMS_PER_ITEM           /* a multiple of VEC */
#define ITEMS_PER_ITEM 16
#endif
#ifndef INCLUSIVE
#define INCLUSIVE 0
#endif
#ifndef EXTRA_TOTAL
#define EXTRA_TOTAL 0
#endif
#include "primitives/group_scan.h"
#include "primitives/look_back.h"

#define VECS (ITEMS_PER_ITEM / VEC)
#define TILE ((long)WG_SIZE * ITEMS_PER_ITEM)
#if VEC == 4
typedef PASTE(IN_T, 4) in_vec_t;
typedef PASTE(SUM_T, 4) sum_vec_t;
#define UNPACK(x, v) ((x)[0] = (v).s0, (x)[1] = (v).s1, (x)[2] = (v).s2, (x)[3] = (v).s3)
#define PACK(x) ((sum_vec_t)((x)[0], (x)[1], (x)[2], (x)[3]))
#elif VEC == 2
typedef PASTE(IN_T, 2) in_vec_t;
typedef PASTE(SUM_T, 2) sum_vec_t;
#define UNPACK(x, v) ((x)[0] = (v).s0, (x)[1] = (v).s1)
#define PACK(x) ((sum_vec_t)((x)[0], (x)[1]))
#else
typedef IN_T in_vec_t;
typedef SUM_T sum_vec_t;
#define UNPACK(x, v) ((x)[0] = (v))
#define PACK(x) ((x)[0])
#endif

#if WG_SIZE == 1
#define FIRST_OF_ITEM 0
#define SUB_GROUP_STRIDE VEC
#define lanes_exclusive_sum(x) ((SUM_T)0)
#define of_last_lane(x) (x)
#else
#define FIRST_OF_ITEM ((long)sg_in_group() * SUB_GROUP_SIZE * ITEMS_PER_ITEM + sg_lane() * VEC)
#define SUB_GROUP_STRIDE (SUB_GROUP_SIZE * VEC)
#define lanes_exclusive_sum(x) sg_exclusive_sum(x)
#define of_last_lane(x) sg_broadcast(x, SUB_GROUP_SIZE - 1)
#endif

/* The arrays stay in registers only if these functions are inlined into the kernel. */

/* Loads this work-item's items of the tile from *start* and sums them along its sub-group's run.
 * x: sums within each vector; before: sum of the run before each vector; returns the sum of the run. */
ALWAYS_INLINE SUM_T load_tile(long start, long n, const __global IN_T *restrict items, SUM_T x[VECS][VEC],
                              SUM_T before[VECS]) {
  long first = start + FIRST_OF_ITEM;
  if (start + TILE <= n) {
    #pragma unroll
    for (int k = 0; k < VECS; k++) {
      in_vec_t v = *(const __global in_vec_t *)(items + first + k * SUB_GROUP_STRIDE);
      UNPACK(x[k], v);
    }
  } else {
    for (int k = 0; k < VECS; k++)
      for (int j = 0; j < VEC; j++) {
        long i = first + k * SUB_GROUP_STRIDE + j;
        x[k][j] = i < n ? (SUM_T)items[i] : (SUM_T)0;
      }
  }
  SUM_T sum = 0;
  #pragma unroll
  for (int k = 0; k < VECS; k++) {
    for (int j = 1; j < VEC; j++) x[k][j] += x[k][j - 1];
    SUM_T own = x[k][VEC - 1], lower = lanes_exclusive_sum(own);
    before[k] = sum + lower;
    sum += of_last_lane(lower + own);
  }
  return sum;
}

ALWAYS_INLINE void store_tile(long start, long n, SUM_T prefix, SUM_T x[VECS][VEC], const SUM_T before[VECS],
                              __global SUM_T *restrict out) {
  long first = start + FIRST_OF_ITEM;
  #pragma unroll
  for (int k = 0; k < VECS; k++) {
    SUM_T base = prefix + before[k], y[VEC];
    for (int j = 0; j < VEC; j++) y[j] = base + (INCLUSIVE ? x[k][j] : j ? x[k][j ? j - 1 : 0] : (SUM_T)0);
    long i = first + k * SUB_GROUP_STRIDE;
    if (start + TILE <= n) {
      *(__global sum_vec_t *)(out + i) = PACK(y);
    } else {
      for (int j = 0; j < VEC; j++)
        if (i + j < n) out[i + j] = y[j];
    }
  }
}

#if WG_SIZE > 1 && DEV_HAS_INT64_ATOMICS
KERNEL scan_look_back(long n, uint nothing, const __global IN_T *restrict items, volatile __global uint *control,
                      volatile __global ulong *states, __global SUM_T *restrict out) {
  LOCAL_ARRAY SUM_T scratch[GROUP_SCRATCH];
  LOCAL_ARRAY SUM_T shared_prefix;
  LOCAL_ARRAY uint shared_tile;
  if (get_local_id(0) == 0) shared_tile = draw_tile(control);
  local_barrier();
  uint tile = shared_tile;
  long start = tile * TILE;
  SUM_T x[VECS][VEC], before[VECS], all;
  SUM_T run = load_tile(start, n, items, x, before);
  SUM_T offset = offset_of_sub_group(run, scratch, &all);
  if (sg_in_group() == 0) {
    SUM_T prefix = look_back(tile, all, nothing, control, states);
    if (sg_lane() == 0) shared_prefix = prefix;
  }
  local_barrier();
  store_tile(start, n, shared_prefix + offset, x, before, out);
  if (EXTRA_TOTAL && start + TILE >= n && get_local_id(0) == 0) out[n] = shared_prefix + all;
}
#endif

/* chunk: number of items of a work-group, a multiple of TILE */
KERNEL sum_chunks(long n, long chunk, const __global IN_T *restrict items, __global SUM_T *restrict sums) {
  LOCAL_ARRAY SUM_T scratch[GROUP_SCRATCH];
  long first = get_group_id(0) * chunk, end = min(n, first + chunk);
  SUM_T sum = 0, all;
  for (long i = first + get_local_id(0); i < end; i += WG_SIZE) sum += (SUM_T)items[i];
  group_exclusive_sum(sum, scratch, &all);
  if (get_local_id(0) == 0) sums[get_group_id(0)] = all;
}

KERNEL scan_chunks(long n, long chunk, const __global IN_T *restrict items, const __global SUM_T *restrict sums,
                   __global SUM_T *restrict out) {
  LOCAL_ARRAY SUM_T scratch[GROUP_SCRATCH];
  long group = get_group_id(0), first = group * chunk, end = min(n, first + chunk);
  SUM_T earlier = 0, prefix;
  for (long g = get_local_id(0); g < group; g += WG_SIZE) earlier += sums[g];
  group_exclusive_sum(earlier, scratch, &prefix);
  for (long start = first; start < end; start += TILE) {
    SUM_T x[VECS][VEC], before[VECS], all;
    SUM_T run = load_tile(start, n, items, x, before);
    SUM_T offset = offset_of_sub_group(run, scratch, &all);
    store_tile(start, n, prefix + offset, x, before, out);
    prefix += all;
  }
  if (EXTRA_TOTAL && group == (long)get_num_groups(0) - 1 && get_local_id(0) == 0) out[n] = prefix;
}
