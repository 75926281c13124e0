/* Refinement by label propagation without constraints, and rebalancing: an iteration is four steps.
 *
 *   direct   one work-group: looks at sizes and cut, keeps the partition if it is the best, and decides what is next:
 *            label propagation while no part is too heavy, else two weak rebalancings and then strong ones
 *   ask      a work-item takes a vertex of the border: finds the part to which most of its edges lead.  It becomes a
 *            candidate if it gains, or loses less than a share of the weight that ties it to its own part.  In a
 *            rebalancing only vertices of heavy parts become candidates, and the loss goes to a histogram of their part.
 *   confirm  a candidate counts again as if all neighbours with a greater gain had moved before, and moves if it does not
 *            lose.  In a rebalancing those of the least loss move, as many as are too much: a bucket of losses that is
 *            taken in part is taken by chance.
 *   apply    movers get their part, and their neighbours come on the list of the border
 *
 * A vertex that label propagation has moved stays for the next iteration of it.  A partition with less weight beyond the
 * limits is better, then one with a smaller cut.
 *
 * refine_levels does all for several levels in one launch, with a barrier between steps; the other kernels are the steps.
 *
 * No word is written in a step that others read in it, but by atomics: what a step reads of neighbours was written in
 * an earlier one.  Sums of integers and maxima do not depend on the order, so neither does the result.
 *
 * After M. Gilbert, K. Madduri, E. Boman, S. Rajamanickam, "Jet: multilevel graph partitioning on graphics processing
 * units", SIAM J. Scientific Computing 46, 2024, whose sorted evictions are drawn from histograms here.
 */
#include "partition/moving.h"

#ifndef PATIENCE                 /* balanced partitions without a better cut, after which a level is done */
#define PATIENCE 8u
#endif
#ifndef TOLERANCE                /* on coarse levels this part of all weight may be too much */
#define TOLERANCE 1024
#endif
#ifndef MOST_HEAVY               /* rebalancings in a row, after which no balance is expected on a level */
#define MOST_HEAVY 32u
#endif
#ifndef MOST_TURNS
#define MOST_TURNS 400u
#endif
#if WG_SIZE == 1
#define GROUP_BARRIER()
#else
#define GROUP_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif

#define DESK_OVER (REFINE_WORDS + PARTS_ROOM + 1)
#define DESK_WORDS (REFINE_WORDS + PARTS_ROOM + 2)

/* ---- direct */

/* One work-group.  desk: local memory for the words of the state, and one for each part and one more. */
INLINE void direct(const refined_t *r, volatile __local uint *desk) {
  volatile __global int *sizes = OF_PARTS(r, SIZES), *limits = OF_PARTS(r, LIMITS);
  volatile __local uint *free = desk + REFINE_WORDS, *over = desk + DESK_OVER;
  if (r->state[REFINE_MODE] == MODE_DONE) return;
  for (uint i = GRID_CONTROL_WORDS + get_local_id(0); i < REFINE_WORDS; i += WG_SIZE) desk[i] = r->state[i];
  if (get_local_id(0) == 0) *over = 0u;
  GROUP_BARRIER();
  for (uint p = get_local_id(0); p < r->n_parts; p += WG_SIZE) {
    free[p] = (uint)max(0, limits[p] - DEAD_ZONE(limits[p]) - sizes[p]);
    if (sizes[p] > limits[p]) fetch_add(over, (uint)(sizes[p] - limits[p]));
  }
  GROUP_BARRIER();
  const uint total = (uint)OF_PARTS(r, SHARES)[0] * r->n_parts;
  const uint too_much = r->is_finest || *over > total / TOLERANCE ? *over : 0u;
  const uint turn = desk[REFINE_TURN], best_over = desk[REFINE_BEST_OVER];
  const int cut = (int)desk[REFINE_CUT] + (int)desk[REFINE_CHANGE] / 2, best_cut = (int)desk[REFINE_BEST_CUT];
  const int is_better = turn == 0u || too_much < best_over || (too_much == best_over && cut < best_cut);
  GROUP_BARRIER();
  if (get_local_id(0) == 0) {
    uint fruitless = desk[REFINE_FRUITLESS] + !too_much, heavy = too_much ? desk[REFINE_HEAVY] + 1u : 0u;
    uint mode = !too_much ? MODE_SPREAD : heavy <= 2u ? MODE_WEAK : MODE_STRONG;
    desk[REFINE_CUT] = (uint)cut;
    desk[REFINE_CHANGE] = 0u;
    desk[REFINE_COPIED] = 0u;
    if (is_better) {
      if (turn == 0u || too_much < best_over || (long)cut * 1000 < (long)best_cut * 999) fruitless = 0u;
      desk[REFINE_BEST_CUT] = (uint)cut;
      desk[REFINE_BEST_OVER] = too_much;
      desk[REFINE_COPIED] = desk[REFINE_JOURNAL];  /* also in the last turn */
      desk[REFINE_JOURNAL] = 0u;
    }
    if (fruitless > PATIENCE || heavy > MOST_HEAVY || turn >= MOST_TURNS) {
      mode = ++desk[REFINE_ROUND] < ROUNDS && turn < MOST_TURNS ? MODE_BACK : MODE_DONE;
      fruitless = heavy = 0u;
    }
    if (mode == MODE_BACK) {
      desk[REFINE_BACK] = desk[REFINE_JOURNAL];
      desk[REFINE_JOURNAL] = 0u;
      desk[REFINE_CUT] = desk[REFINE_BEST_CUT];
    }
    const uint write = desk[REFINE_WRITE], length = desk[REFINE_LENGTH + write];
    if (desk[REFINE_READ] != write) desk[REFINE_FULL] = length + length / 4u;
    desk[REFINE_READ] = write;
    desk[REFINE_LISTED] = length;
    if (mode == MODE_SPREAD && length > desk[REFINE_FULL]) {
      desk[REFINE_WRITE] = 1u - write;
      desk[REFINE_LENGTH + 1u - write] = 0u;
    }
    desk[REFINE_FRUITLESS] = fruitless;
    desk[REFINE_HEAVY] = heavy;
    desk[REFINE_TURN] = turn + 1u;
    desk[REFINE_STAMP]++;
    desk[REFINE_CANDIDATES] = desk[REFINE_MOVERS] = 0u;
    desk[REFINE_MODE] = mode;
    if (r->level) {
      r->level[LEVEL_CUT] = desk[REFINE_BEST_CUT];
      r->level[LEVEL_TURNS] = turn + 1u;
    }
    uint sum = 0u;
    if (too_much)
      for (uint p = 0u; p <= r->n_parts; p++) {
        const uint own = p < r->n_parts ? free[p] : 0u;
        free[p] = sum;
        sum += own;
      }
  }
  GROUP_BARRIER();
  for (uint i = GRID_CONTROL_WORDS + get_local_id(0); i < REFINE_WORDS; i += WG_SIZE) r->state[i] = desk[i];
  for (uint p = get_local_id(0); p < r->n_parts; p += WG_SIZE) {
    if (is_better) OF_PARTS(r, BEST_SIZES)[p] = sizes[p];
    else if (desk[REFINE_MODE] == MODE_BACK) sizes[p] = OF_PARTS(r, BEST_SIZES)[p];
  }
  if (!too_much) return;
  for (uint p = get_local_id(0); p <= r->n_parts; p += WG_SIZE) OF_PARTS(r, FREE)[p] = (int)free[p];
  for (uint i = get_local_id(0); i < r->n_parts * BUCKETS; i += WG_SIZE) r->histogram[i] = 0;
}

/* ---- the kernels */

#define REFINEMENT_PARAMETERS                                                                         \
  uint n_parts, uint room, LEVELS_PARAMETERS, volatile __global int *work, volatile __global int *parts_work, \
  volatile __global int *histogram, volatile __global uint *state
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
  r.is_finest = level == 0u;
  r.level = levels + level * LEVEL_WORDS;
  direct(&r, desk);
}

KERNEL ask_border(uint level, REFINEMENT_PARAMETERS) {
  REFINED((uint)get_group_id(0), (uint)get_num_groups(0))
  const level_t on = LEVEL(level);
  r.is_finest = level == 0u;
  for (uint i = get_local_id(0); i < SUB_GROUPS_PER_GROUP * PARTS_ROOM; i += WG_SIZE) counters[i] = 0;
  GROUP_BARRIER();
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

/* Levels from the first to the last, which is finer; the coarsest has its partition.  arrive is a barrier, and what is
 * found is told in the words of a level. */
#define REFINE_LEVELS(arrive, words)                                                                  \
  for (uint i = get_local_id(0); i < SUB_GROUPS_PER_GROUP * PARTS_ROOM; i += WG_SIZE) counters[i] = 0; \
  for (uint l = level + 1u; l-- > last_level;) {                                                      \
    const level_t on = LEVEL(l);                                                                      \
    const int is_projected = has_coarser || l != level;                                               \
    r.is_finest = l == 0u;                                                                            \
    r.level = words;                                                                                  \
    project_parts(&r, &on, is_projected);                                                             \
    arrive                                                                                            \
    list_border(&r, &on, !is_projected);                                                              \
    arrive                                                                                            \
    for (;;) {                                                                                        \
      if (r.member == 0u) direct(&r, desk);                                                           \
      arrive                                                                                          \
      const uint mode = r.state[REFINE_MODE];  /* who is ahead may begin the next level soon */       \
      ask(&r, &on);                                                                                   \
      arrive                                                                                          \
      if (mode == MODE_DONE) break;                                                                   \
      confirm(&r, &on); arrive                                                                        \
      apply(&r, &on);                                                                                 \
      arrive                                                                                          \
    }                                                                                                 \
  }

KERNEL refine_levels(uint level, uint last_level, int has_coarser, REFINEMENT_PARAMETERS) {
  LOCAL_ARRAY uint desk[DESK_WORDS];
  LOCAL_ARRAY int passed;
  GRID_ENTER(state)
  REFINED(member, members)
#define ALL_ARRIVE                                                                                    \
  if (members == 1u) { GROUP_BARRIER(); }                                                             \
  else if (!grid_barrier(state, members, &passed)) return;
  REFINE_LEVELS(ALL_ARRIVE, levels + l * LEVEL_WORDS)
}

/* Each group refines the partition of an individual, alone, and writes how good it is: the least score is the best.
 * population: for each individual the arrays of VERTEX_ARRAYS with room_each items, then those of PART_ARRAYS, the
 * histogram and the state. */
#define INDIVIDUAL_PART_WORDS (PART_ARRAYS + BUCKETS)
KERNEL refine_individuals(uint level, uint last_level, uint n_parts, uint room_each, LEVELS_PARAMETERS,
                          __global const int *parts_work, __global const int *blocks, uint grown_each,
                          __global const int *grown, volatile __global int *population, __global ulong *scores) {
  LOCAL_ARRAY uint desk[DESK_WORDS];
  const uint room = room_each, individual = get_group_id(0), has_coarser = 0u;
  volatile __global int *work = population + individual * ((size_t)VERTEX_ARRAYS * room +
                                                           (size_t)INDIVIDUAL_PART_WORDS * n_parts + REFINE_WORDS);
  volatile __global int *own_parts = work + (size_t)VERTEX_ARRAYS * room;
  volatile __global int *histogram = own_parts + (size_t)PART_ARRAYS * n_parts;
  volatile __global uint *state = (volatile __global uint *)(histogram + (size_t)BUCKETS * n_parts);
  for (uint i = get_local_id(0); i < REFINE_WORDS; i += WG_SIZE) state[i] = 0u;
  for (uint i = get_local_id(0); i < PART_ARRAYS * n_parts; i += WG_SIZE) own_parts[i] = parts_work[i];
  GROUP_BARRIER();
  for (uint p = get_local_id(0); p < n_parts; p += WG_SIZE)
    own_parts[BEST_SIZES * n_parts + p] = blocks[individual * n_parts + p];
  for (uint v = get_local_id(0); v < (uint)levels[level * LEVEL_WORDS + LEVEL_VERTICES]; v += WG_SIZE)
    work[(size_t)BEST * room + v] = grown[(size_t)individual * grown_each + v];
  GROUP_BARRIER();
  LOCAL_ARRAY int counters[SUB_GROUPS_PER_GROUP * PARTS_ROOM];
  refined_t r;
  r.n_parts = n_parts; r.room = room; r.member = 0u; r.members = 1u;
  r.work = work; r.parts_work = own_parts; r.histogram = histogram; r.state = state; r.counters = counters;
#define GROUP_ARRIVES GROUP_BARRIER();
  REFINE_LEVELS(GROUP_ARRIVES, 0)
  if (get_local_id(0) == 0) scores[individual] = ((ulong)state[REFINE_BEST_OVER] << 32) | state[REFINE_BEST_CUT];
}

/* One work-group makes the best individual the partition that other kernels refine, and tells its cut. */
KERNEL keep_best_individual(uint level, uint n_parts, uint n_groups, uint room, uint room_each, LEVELS_PARAMETERS,
                            __global const int *population, __global const ulong *scores, __global int *work,
                            __global int *parts_work, __global uint *state) {
  uint best = 0u;
  for (uint g = 1u; g < n_groups; g++) best = scores[g] < scores[best] ? g : best;
  const size_t each = (size_t)VERTEX_ARRAYS * room_each + (size_t)INDIVIDUAL_PART_WORDS * n_parts + REFINE_WORDS;
  __global const int *own = population + best * each, *own_parts = own + (size_t)VERTEX_ARRAYS * room_each;
  for (uint v = get_local_id(0); v < (uint)levels[level * LEVEL_WORDS + LEVEL_VERTICES]; v += WG_SIZE)
    work[(size_t)BEST * room + v] = own[(size_t)BEST * room_each + v];
  for (uint p = get_local_id(0); p < n_parts; p += WG_SIZE)
    parts_work[BEST_SIZES * n_parts + p] = own_parts[BEST_SIZES * n_parts + p];
  if (get_local_id(0) == 0) state[REFINE_BEST_CUT] = levels[level * LEVEL_WORDS + LEVEL_CUT] = (uint)scores[best];
}
