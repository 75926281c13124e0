/* Refinement: divides each community of a level into connected groups, which become the vertices of the next level.
 *
 *   start_refinement  a lane a vertex: makes it a group
 *   choose_group      A coin of vertex and round says whether a vertex that is alone may join a group.  It looks at the
 *                     groups of its neighbours in its own community, and the one where it gains most is written, if it
 *                     gains at all.
 *   join_groups       a lane a vertex: joins it to its choice
 *
 * A vertex joins only a group that no vertex leaves in the same round: one with several members, since only single
 * vertices join others, or a single vertex whose coin says that it stays.  So a group is connected: each member had a
 * neighbour in it when it joined.  As in Leiden, a vertex takes part only if it is well connected to its community.
 *
 * Races: as in move.cl.
 *
 * After V. Traag, L. Waltman, N. van Eck, "From Louvain to Leiden", Scientific Reports 9, 2019.
 */
#include "communities/refinement.h"

#define REFINE_PARAMETERS                                                                             \
  LEVEL_PARAMETERS, LONG_ROWS_PARAMETERS, SLOTS_PARAMETERS, uint seed, ulong factor, ulong resolution, \
      __global const long *out_strengths, __global const long *in_strengths, __global const long *out_sums, \
      __global const long *in_sums, __global const int *labels, volatile __global int *groups,        \
      volatile __global long *out_group_sums, volatile __global long *in_group_sums,                  \
      volatile __global int *group_sizes, __global int *targets
/* Declares the argument of the phases. */
#define REFINED                                                                                       \
  const refined_t r = {LEVEL, LONG_ROWS, SLOTS, {groups, out_group_sums, in_group_sums, group_sizes}, \
                       seed, factor, resolution, out_strengths, in_strengths, out_sums, in_sums, labels, targets};

KERNEL start_refinement(REFINE_PARAMETERS) {
  REFINED
  const place_t place = ALL_GROUPS;
  start_all(&r, place);
}
KERNEL choose_group(REFINE_PARAMETERS, uint round) {
  LOCAL_ARRAY scratch_t scratch;
  REFINED
  const place_t place = ALL_GROUPS;
  choose_all(&r, round, place, &scratch);
}
KERNEL join_groups(REFINE_PARAMETERS) {
  REFINED
  const place_t place = ALL_GROUPS;
  join_all(&r, place);
}
