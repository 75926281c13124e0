/* Sums over a work-group: a shuffle scan in each sub-group, then a scan over the sub-groups in local memory.
 *
 *   offset_of_sub_group(total, scratch, &all)   total: the same in every lane of a sub-group; returns the sum
 *                                               of the earlier sub-groups' totals
 *   group_exclusive_sum(x, scratch, &all)       the same for a value of each work-item
 *
 * Every work-item calls.  scratch: GROUP_SCRATCH items of local memory; it may be used again at once.
 * With one work-item per group (CPUs) these functions are trivial.
 */
#ifndef CLGRAPH_GROUP_SCAN_H
#define CLGRAPH_GROUP_SCAN_H
#include "common/subgroup.h"

#if WG_SIZE == 1
#define GROUP_SCRATCH 1
#define DEFINE_GROUP_SUMS_(T)                                                                         \
  INLINE T offset_of_sub_group(T total, __local T *scratch, T *all) { *all = total; return (T)0; }    \
  INLINE T group_exclusive_sum(T x, __local T *scratch, T *all) { *all = x; return (T)0; }
#else
#define GROUP_SCRATCH SUB_GROUPS_PER_GROUP
#if SUB_GROUPS_PER_GROUP <= 32
#define DEFINE_OFFSET_(T)                                                                             \
  INLINE T offset_of_sub_group(T total, __local T *scratch, T *all) {                                 \
    uint own = sg_in_group();                                                                         \
    if (sg_lane() == 0) scratch[own] = total;                                                         \
    local_barrier();                                                                                  \
    T sum = 0, before = 0;                                                                            \
    for (uint s = 0; s < SUB_GROUPS_PER_GROUP; s++) { before = s == own ? sum : before; sum += scratch[s]; } \
    local_barrier();                                                                                  \
    *all = sum;                                                                                       \
    return before;                                                                                    \
  }
#else                            /* narrow sub-groups: sums over distances 1, 2, 4, ... */
#define DEFINE_OFFSET_(T)                                                                             \
  INLINE T offset_of_sub_group(T total, __local T *scratch, T *all) {                                 \
    uint own = sg_in_group();                                                                         \
    if (sg_lane() == 0) scratch[own] = total;                                                         \
    local_barrier();                                                                                  \
    for (uint d = 1; d < SUB_GROUPS_PER_GROUP; d <<= 1) {                                             \
      T below = own >= d ? scratch[own - d] : (T)0;                                                   \
      local_barrier();                                                                                \
      if (sg_lane() == 0) scratch[own] += below;                                                      \
      local_barrier();                                                                                \
    }                                                                                                 \
    T before = own ? scratch[own - 1] : (T)0;                                                         \
    *all = scratch[SUB_GROUPS_PER_GROUP - 1];                                                         \
    local_barrier();                                                                                  \
    return before;                                                                                    \
  }
#endif
#define DEFINE_GROUP_SUMS_(T)                                                                         \
  DEFINE_OFFSET_(T)                                                                                   \
  INLINE T group_exclusive_sum(T x, __local T *scratch, T *all) {                                     \
    T before = sg_exclusive_sum(x);                                                                   \
    return before + offset_of_sub_group(sg_broadcast(before + x, SUB_GROUP_SIZE - 1), scratch, all);  \
  }
#endif
DEFINE_GROUP_SUMS_(int)
DEFINE_GROUP_SUMS_(uint)
DEFINE_GROUP_SUMS_(long)
DEFINE_GROUP_SUMS_(ulong)

#endif
