/* Stable compaction: writes the items that PREDICATE chooses, in order, and their number.
 *
 * PREDICATE and ITEM are expressions in the index i (long) and the arrays of PARAMETERS.  A tile has WG_SIZE *
 * ITEMS_PER_ITEM indices.  A sub-group owns a run of them, and a work-item takes every SUB_GROUP_SIZE-th index of the run,
 * so a ballot gives the position of each chosen item.
 *
 *   compact_look_back                  one pass, one tile per work-group (look_back.h explains the races)
 *   count_chunks, compact_chunks       two passes, a chunk of indices per work-group; no group waits for another
 */
#ifndef PREDICATE
#define PREDICATE flags[i]
#define PARAMETERS , const __global int *restrict flags
#endif
#ifndef ITEM
#define ITEM (int)i
#endif
#ifndef OUT_T
#define OUT_T int
#endif
#ifndef ITEMS_PER_ITEM
#define ITEMS_PER_ITEM 16
#endif
#define SUM_T uint
#define SUM_BYTES 4
#include "primitives/group_scan.h"
#include "primitives/look_back.h"

#define TILE ((long)WG_SIZE * ITEMS_PER_ITEM)

#if WG_SIZE > 1
#define FIRST ((long)sg_in_group() * (SUB_GROUP_SIZE * ITEMS_PER_ITEM) + sg_lane())
#define CHOSEN(i) ((i) < n && (PREDICATE))

#if DEV_HAS_INT64_ATOMICS
KERNEL compact_look_back(long n, uint nothing PARAMETERS, volatile __global uint *control,
                         volatile __global ulong *states, __global uint *restrict size, __global OUT_T *restrict out) {
  LOCAL_ARRAY uint scratch[GROUP_SCRATCH];
  LOCAL_ARRAY uint shared_prefix, shared_tile;
  if (get_local_id(0) == 0) shared_tile = draw_tile(control);
  local_barrier();
  uint tile = shared_tile, count = 0u, all;
  long first = tile * TILE + FIRST;
  lane_mask_t chosen[ITEMS_PER_ITEM];
  #pragma unroll
  for (int k = 0; k < ITEMS_PER_ITEM; k++) {
    long i = first + k * SUB_GROUP_SIZE;
    chosen[k] = sg_ballot(CHOSEN(i));
    count += lane_count(chosen[k]);
  }
  uint offset = offset_of_sub_group(count, scratch, &all);
  if (sg_in_group() == 0) {
    uint prefix = look_back(tile, all, nothing, control, states);
    if (sg_lane() == 0) {
      shared_prefix = prefix;
      if (tile + 1u == get_num_groups(0)) size[0] = prefix + all;
    }
  }
  local_barrier();
  offset += shared_prefix;
  lane_mask_t below = lanes_below_mask(), own = below + 1;
  #pragma unroll
  for (int k = 0; k < ITEMS_PER_ITEM; k++) {
    long i = first + k * SUB_GROUP_SIZE;
    if (chosen[k] & own) out[offset + lane_count(chosen[k] & below)] = ITEM;
    offset += lane_count(chosen[k]);
  }
}
#endif
#endif

/* chunk: number of indices of a work-group, a multiple of TILE */
KERNEL count_chunks(long n, long chunk PARAMETERS, __global uint *restrict counts) {
  LOCAL_ARRAY uint scratch[GROUP_SCRATCH];
  long first = get_group_id(0) * chunk, end = min(n, first + chunk);
  uint count = 0u, all;
  for (long i = first + get_local_id(0); i < end; i += WG_SIZE) count += (PREDICATE) ? 1u : 0u;
  group_exclusive_sum(count, scratch, &all);
  if (get_local_id(0) == 0) counts[get_group_id(0)] = all;
}

KERNEL compact_chunks(long n, long chunk PARAMETERS, const __global uint *restrict counts, __global uint *restrict size,
                      __global OUT_T *restrict out) {
  LOCAL_ARRAY uint scratch[GROUP_SCRATCH];
  uint group = get_group_id(0), earlier = 0u, prefix;
  long first = group * chunk, end = min(n, first + chunk);
  for (uint g = get_local_id(0); g < group; g += WG_SIZE) earlier += counts[g];
  group_exclusive_sum(earlier, scratch, &prefix);
  if (group + 1u == get_num_groups(0) && get_local_id(0) == 0) size[0] = prefix + counts[group];
#if WG_SIZE == 1
  /* Every item is written, but the position advances only past chosen ones, so there is no branch to mispredict.  The loop
   * ends at the last chosen item, before the position could enter the next chunk's part. */
  uint last = prefix + counts[group];
  for (long i = first; prefix < last; i++) {
    out[prefix] = ITEM;
    prefix += (PREDICATE) ? 1u : 0u;
  }
#else
  for (long start = first; start < end; start += WG_SIZE) {
    long i = start + get_local_id(0);
    uint mine = CHOSEN(i) ? 1u : 0u, all;
    uint before = group_exclusive_sum(mine, scratch, &all);
    if (mine) out[prefix + before] = ITEM;
    prefix += all;
  }
#endif
}
