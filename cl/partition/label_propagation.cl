/* Refinement by unconstrained label propagation and rebalancing.  An iteration (turn) has four steps.
 *
 *   direct   One work-group compares sizes and cut, keeps the partition if it is the best so far, and chooses the next
 *            turn: label propagation while no part is too heavy, else two weak rebalancings and then strong ones.
 *   ask      A work-item takes a vertex of the border and finds the part to which most of its edges lead.  The vertex
 *            becomes a candidate if a move gains, or loses less than a share of its weight to its own part.  In a
 *            rebalancing, vertices of heavy parts become candidates, and their losses go to a histogram of their part.
 *            In a mixed turn, vertices of other parts also become candidates, if they lose no more than in the last round.
 *   confirm  A candidate computes its gain again as if all neighbours with a greater gain had moved before, and moves if
 *            it does not lose.  In a rebalancing, the vertices with the least losses move until the excess is gone; from
 *            the last bucket of losses, which is needed only in part, they are drawn at random.
 *   apply    Movers get their new part, and their neighbours are put on the list of the border.
 *
 * A vertex that label propagation has moved stays in the next iteration of label propagation.  A partition is better if it
 * has less weight beyond the limits or, if that is equal, a smaller cut.
 *
 * refine_levels runs everything for several levels in one launch, with a barrier between steps; the other kernels are the
 * single steps.
 *
 * In a step, a word that other work-items read is written by atomics only.  The values of neighbours that a step reads
 * were written in an earlier step.  Integer sums and maxima do not depend on the order, so neither does the result.
 *
 * After M. Gilbert, K. Madduri, E. Boman, S. Rajamanickam, "Jet: multilevel graph partitioning on graphics processing
 * units", SIAM J. Scientific Computing 46, 2024, whose sorted evictions are drawn from histograms here.
 */
#include "partition/refining.h"

#define REFINEMENT_PARAMETERS                                                                         \
  uint n_parts, uint room, LEVELS_PARAMETERS, __global int *work, __global int *parts_work, \
  __global int *histogram, __global uint *state
#define REFINED(member_, members_)                                                                    \
  LOCAL_ARRAY int counters[SUB_GROUPS_PER_GROUP * PARTS_ROOM];                                        \
  refined_t r;                                                                                        \
  r.n_parts = n_parts; r.room = room; r.member = member_; r.members = members_;                       \
  r.work = work; r.parts_work = parts_work; r.histogram = histogram; r.state = state;                 \
  r.counters = counters;

/* One work-item starts a run: the words of level 0, and a state in which nothing has happened. */
KERNEL begin(int n, int m, __global long *levels, __global uint *state) {
  for (int i = 0; i < LEVEL_WORDS; i++) levels[i] = 0;
  levels[LEVEL_VERTICES] = n;
  levels[LEVEL_ENTRIES] = m;
  levels[LEVEL_END] = n;  /* its map comes first in the arena */
  for (int i = 0; i < REFINE_WORDS; i++) state[i] = 0u;
}

/* One work-item opens the grid barrier for refine_levels, which may have run before; a reported time-out stays. */
KERNEL open_grid(__global uint *state) {
  if (get_global_id(0) == 0) state[GRID_DOOR] = state[GRID_MEMBERS] = state[GRID_TICKET] = 0u;
}

KERNEL project(uint level, int has_coarser, REFINEMENT_PARAMETERS) {
  REFINED((uint)get_group_id(0), (uint)get_num_groups(0))
  const level_t on = LEVEL(level);
  r.is_finest = level == 0u;
  project_parts(&r, &on, has_coarser);
}

KERNEL start_level(uint level, int has_coarser, REFINEMENT_PARAMETERS) {
  REFINED((uint)get_group_id(0), (uint)get_num_groups(0))
  const level_t on = LEVEL(level);
  list_border(&r, &on, !has_coarser);
}

KERNEL direct_turn(uint level, REFINEMENT_PARAMETERS) {
  LOCAL_ARRAY uint desk[DESK_WORDS];
  REFINED(0u, 1u)
  const level_t on = LEVEL(level);
  r.is_finest = level == 0u;
  r.level = levels + level * LEVEL_WORDS;
  direct(&r, &on, desk);
}

KERNEL ask_border(uint level, REFINEMENT_PARAMETERS) {
  REFINED((uint)get_group_id(0), (uint)get_num_groups(0))
  const level_t on = LEVEL(level);
  r.is_finest = level == 0u;
  for (uint i = get_local_id(0); i < SUB_GROUPS_PER_GROUP * PARTS_ROOM; i += WG_SIZE) counters[i] = 0;
  group_barrier();
  ask(&r, &on);
}

KERNEL confirm_candidates(uint level, REFINEMENT_PARAMETERS) {
  REFINED((uint)get_group_id(0), (uint)get_num_groups(0))
  const level_t on = LEVEL(level);
  confirm(&r, &on);
}

KERNEL apply_moves(uint level, REFINEMENT_PARAMETERS) {
  REFINED((uint)get_group_id(0), (uint)get_num_groups(0))
  const level_t on = LEVEL(level);
  apply(&r, &on);
}

KERNEL refine_levels(uint level, uint last_level, int has_coarser, REFINEMENT_PARAMETERS) {
  LOCAL_ARRAY uint desk[DESK_WORDS];
  LOCAL_ARRAY int passed;
  GRID_ENTER(state)
  REFINED(member, members)
  refine(&r, level, last_level, has_coarser, 1, desk, &passed, LEVELS_ARGUMENTS);
}
