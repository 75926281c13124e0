/* The first step of label propagation, which chooses the next turn, and the loop over all four steps.
 * docs/protocols/refining.md draws it.
 *
 * Races: none in this file.  One work-group runs `direct` between two grid barriers (meet_all), so no other group reads or
 * writes the words of the state, the sizes of parts and the histogram meanwhile.  Within the group, `desk` is a copy of
 * the words in local memory: all work-items read it before the second barrier, one changes it before the third, and all
 * copy it back after that.
 */
#ifndef CLGRAPH_REFINING_H
#define CLGRAPH_REFINING_H
#include "partition/moving.h"

#ifndef PATIENCE                 /* balanced partitions without a better cut after which a round ends, ... */
#define PATIENCE 8u
#endif
#ifndef SPARSE_PATIENCE          /* ... if rows have fewer than FEW_ENTRIES entries on average, so that turns are quick, */
#define SPARSE_PATIENCE 12u
#endif
#define FEW_ENTRIES 8u
#ifndef LAST_PATIENCE            /* ... and in the last round, in which moves may hardly lose */
#define LAST_PATIENCE 4u
#endif
#ifndef TOLERANCE                /* Coarse levels accept an excess of total weight / TOLERANCE, at most a mean vertex per part. */
#define TOLERANCE 1024u
#endif
#ifndef MOST_HEAVY               /* rebalancings in a row after which a round ends without balance */
#define MOST_HEAVY 16u
#endif
#ifndef MOST_TURNS
#define MOST_TURNS 400u
#endif
#ifndef POLISHES                 /* 1: levels of long rows with few vertices at the border get the last round only */
#define POLISHES 0
#endif
#ifndef MIXES                    /* 1: weak rebalancings are mixed turns if rows are short; otherwise the cut would grow */
#define MIXES 1
#endif
#define LONG_ROWS 16u            /* mean entries of a row */
#define FEW_AT_BORDER 3u         /* fewer than one vertex in FEW_AT_BORDER */

#define DESK_OVER (REFINE_WORDS + PARTS_ROOM + 1)
#define DESK_TOTAL (REFINE_WORDS + PARTS_ROOM + 2)
#define DESK_WORDS (REFINE_WORDS + PARTS_ROOM + 3)

/* ---- direct */

/* Returns 1 if the first round would take long and gain little: it would move vertices that return, and read long rows. */
INLINE int only_polishes(const level_t *on, uint n_border) {
  return POLISHES && n_border < on->n / FEW_AT_BORDER && (uint)on->rows[on->n] / LONG_ROWS > on->n;
}

INLINE int is_sparse(const level_t *on) { return (uint)on->rows[on->n] / FEW_ENTRIES < on->n; }

INLINE uint patience(const level_t *on, uint round) {
  if (round + 1u == ROUNDS) return LAST_PATIENCE;
  return is_sparse(on) ? SPARSE_PATIENCE : PATIENCE;
}

/* The result of a turn: its number, the cut, and the weight beyond limits, 0 if it is tolerated; and the cut and weight
 * beyond limits of the best partition before it. */
typedef struct { uint number, too_much, best_over; int cut, best_cut, is_better; } turn_t;

/* Every work-item calls, before one of them changes the words. */
INLINE turn_t turn_of(const __local uint *desk) {
  const int cut = (int)desk[REFINE_CUT] + (int)desk[REFINE_CHANGE] / 2;
  const turn_t turn = {desk[REFINE_TURN], 0u, desk[REFINE_BEST_OVER], cut, (int)desk[REFINE_BEST_CUT], 0};
  return turn;
}

/* Every work-item calls: find the room left in each part (`free`), and the sums of shares and of the weight beyond limits.
 * Other work-items may read them after a barrier.  Sub-groups add to the two sums at the same time, by atomics. */
INLINE void weigh_parts(const refined_t *r, __local uint *free, __local uint *over, __local uint *total) {
  __global const int *sizes = OF_PARTS(r, SIZES), *limits = OF_PARTS(r, LIMITS);
  uint own_total = 0u, own_over = 0u;
  for (uint p = get_local_id(0); p < r->n_parts; p += WG_SIZE) {
    free[p] = (uint)max(0, limits[p] - DEAD_ZONE(limits[p]) - sizes[p]);
    own_total += (uint)OF_PARTS(r, SHARES)[p];
    own_over += (uint)max(0, sizes[p] - limits[p]);
  }
  own_total = sg_sum(own_total);
  own_over = sg_sum(own_over);
  if (sg_lane() == 0 && own_total) fetch_add(total, own_total);
  if (sg_lane() == 0 && own_over) fetch_add(over, own_over);
}

/* Every work-item calls: compare the partition with the best so far. */
INLINE void compare_with_best(const refined_t *r, const level_t *on, uint over, uint total, turn_t *turn) {
  const uint tolerated = r->is_finest ? 0u : total / max(TOLERANCE, on->n / r->n_parts);
  turn->too_much = over > tolerated ? over : 0u;
  turn->is_better = turn->number == 0u || turn->too_much < turn->best_over ||
                    (turn->too_much == turn->best_over && turn->cut < turn->best_cut);
}

/* Returns 1 if this turn has improved the best partition by enough to continue. */
INLINE int is_fruitful(turn_t turn) {
  return turn.is_better && (turn.number == 0u || turn.too_much < turn.best_over ||
                            (long)turn.cut * 1000 < (long)turn.best_cut * 999);
}

/* The first sub-group calls: compute the sums of room in the parts before each part, by which evicted vertices choose
 * parts. */
INLINE void sum_room(uint n_parts, __local uint *free) {
  for (uint first = 0u, sum = 0u; first <= n_parts; first += SUB_GROUP_SIZE) {
    const uint p = first + sg_lane(), own = p < n_parts ? free[p] : 0u, before = sg_exclusive_sum(own);
    if (p <= n_parts) free[p] = sum + before;
    sum += sg_sum(own);
  }
}

/* One work-item calls: keep the cut of a partition that is better, and its journal, which is copied in the next step. */
INLINE void keep_best(turn_t turn, __local uint *desk) {
  desk[REFINE_CUT] = (uint)turn.cut;
  desk[REFINE_CHANGE] = desk[REFINE_COPIED] = 0u;
  if (!turn.is_better) return;
  desk[REFINE_BEST_CUT] = (uint)turn.cut;
  desk[REFINE_BEST_OVER] = turn.too_much;
  desk[REFINE_COPIED] = desk[REFINE_JOURNAL];  /* also in the last turn */
  desk[REFINE_JOURNAL] = 0u;
}

/* One work-item calls: choose the mode of the next turn, and end the round after too many turns that gained little. */
INLINE uint next_mode(const level_t *on, turn_t turn, __local uint *desk) {
  uint fruitless = desk[REFINE_FRUITLESS] + !turn.too_much, heavy = turn.too_much ? desk[REFINE_HEAVY] + 1u : 0u;
  uint mode = !turn.too_much ? MODE_SPREAD : heavy > 2u ? MODE_STRONG : MIXES && is_sparse(on) ? MODE_MIXED : MODE_WEAK;
  if (is_fruitful(turn)) fruitless = 0u;
  if (turn.number == 0u && only_polishes(on, desk[REFINE_LENGTH])) desk[REFINE_ROUND] = ROUNDS - 1u;
  if (fruitless > patience(on, desk[REFINE_ROUND]) || heavy > MOST_HEAVY || turn.number >= MOST_TURNS) {
    mode = ++desk[REFINE_ROUND] < ROUNDS && turn.number < MOST_TURNS ? MODE_BACK : MODE_DONE;
    fruitless = heavy = 0u;
  }
  desk[REFINE_FRUITLESS] = fruitless;
  desk[REFINE_HEAVY] = heavy;
  return mode;
}

/* One work-item calls: go back to the best partition, whose journal tells which vertices have moved since. */
INLINE void return_to_best(__local uint *desk) {
  desk[REFINE_BACK] = desk[REFINE_JOURNAL];
  desk[REFINE_JOURNAL] = 0u;
  desk[REFINE_CUT] = desk[REFINE_BEST_CUT];
}

/* One work-item calls: swap the lists, so that the border is read from the list that was written.  A list that has grown
 * by a quarter is written again, without the vertices that have left the border. */
INLINE void turn_lists(uint mode, __local uint *desk) {
  const uint write = desk[REFINE_WRITE], length = desk[REFINE_LENGTH + write];
  if (desk[REFINE_READ] != write) desk[REFINE_FULL] = length + length / 4u;
  desk[REFINE_READ] = write;
  desk[REFINE_LISTED] = length;
  if (mode == MODE_SPREAD && length > desk[REFINE_FULL]) {
    desk[REFINE_WRITE] = 1u - write;
    desk[REFINE_LENGTH + 1u - write] = 0u;
  }
}

/* Every work-item calls: copy the words of the state to local memory. */
INLINE void read_state(const refined_t *r, __local uint *desk) {
  for (uint i = GRID_CONTROL_WORDS + get_local_id(0); i < REFINE_WORDS; i += WG_SIZE) desk[i] = r->state[i];
}

/* Every work-item calls, after a barrier that follows the last change of desk: copy the words back.  Groups that read the
 * words wait in meet_all. */
INLINE void write_state(const refined_t *r, const __local uint *desk) {
  for (uint i = GRID_CONTROL_WORDS + get_local_id(0); i < REFINE_WORDS; i += WG_SIZE) r->state[i] = desk[i];
}

/* One work-item calls: choose the next turn, and change the words of the state accordingly. */
INLINE void choose_turn(const refined_t *r, const level_t *on, turn_t turn, __local uint *desk) {
  keep_best(turn, desk);
  const uint mode = next_mode(on, turn, desk);
  if (mode == MODE_BACK) return_to_best(desk);
  turn_lists(mode, desk);
  desk[REFINE_TURN] = turn.number + 1u;
  desk[REFINE_STAMP]++;
  desk[REFINE_CANDIDATES] = desk[REFINE_MOVERS] = 0u;
  desk[REFINE_MODE] = mode;
  if (r->level) {
    r->level[LEVEL_CUT] = desk[REFINE_BEST_CUT];
    r->level[LEVEL_TURNS] = turn.number + 1u;
  }
}

/* Every work-item calls: save the sizes of parts with the best partition, or restore them with it.  Each work-item has its
 * own parts. */
INLINE void keep_or_restore_sizes(const refined_t *r, turn_t turn, const __local uint *desk) {
  __global int *sizes = OF_PARTS(r, SIZES), *best_sizes = OF_PARTS(r, BEST_SIZES);
  for (uint p = get_local_id(0); p < r->n_parts; p += WG_SIZE) {
    if (turn.is_better) best_sizes[p] = sizes[p];
    else if (desk[REFINE_MODE] == MODE_BACK) sizes[p] = best_sizes[p];
  }
}

/* Every work-item calls before a rebalancing: write the sums of room, and clear the histogram of losses for `ask`. */
INLINE void prepare_rebalancing(const refined_t *r, const __local uint *free) {
  for (uint p = get_local_id(0); p <= r->n_parts; p += WG_SIZE) OF_PARTS(r, FREE)[p] = (int)free[p];
  for (uint i = get_local_id(0); i < r->n_parts * BUCKETS; i += WG_SIZE) r->histogram[i] = 0;
}

/* One work-group calls: choose the next turn.  Other groups wait, so the state can be copied to local memory and back.
 * desk has space for the words of the state, for the room of each part, and for two sums.
 * The three barriers: desk is filled; it has been read, and the sums are complete; work-item 0 has changed it. */
INLINE void direct(const refined_t *r, const level_t *on, __local uint *desk) {
  __local uint *free = desk + REFINE_WORDS, *over = desk + DESK_OVER, *total = desk + DESK_TOTAL;
  if (r->state[REFINE_MODE] == MODE_DONE) return;
  read_state(r, desk);
  if (get_local_id(0) == 0) *over = *total = 0u;
  group_barrier();
  turn_t turn = turn_of(desk);
  weigh_parts(r, free, over, total);
  group_barrier();
  compare_with_best(r, on, *over, *total, &turn);
  if (turn.too_much && sg_in_group() == 0) sum_room(r->n_parts, free);
  if (get_local_id(0) == 0) choose_turn(r, on, turn, desk);
  group_barrier();
  write_state(r, desk);
  keep_or_restore_sizes(r, turn, desk);
  if (turn.too_much) prepare_rebalancing(r, free);
}

/* Every work-item of every group that refines calls: wait for all groups.  A result of 0, after a time-out, ends the
 * kernel.  A single group needs no `passed`.  The barrier fences on both sides, so plain loads of a step see everything
 * that earlier steps wrote. */
INLINE int meet_all(const refined_t *r, __local int *passed) {
  if (r->members > 1u) return grid_barrier(r->state, r->members, passed);
  group_barrier();
  return 1;
}

/* Refines the levels from the first to the last, which is finer; the coarsest has its partition already.  tells:
 * results are written to the words of each level. */
INLINE void refine(refined_t *r, uint level, uint last_level, int has_coarser, int tells, __local uint *desk,
                   __local int *passed, LEVELS_PARAMETERS) {
  for (uint i = get_local_id(0); i < SUB_GROUPS_PER_GROUP * PARTS_ROOM; i += WG_SIZE) r->counters[i] = 0;
  for (uint l = level + 1u; l-- > last_level;) {
    const level_t on = LEVEL(l);
    const int is_projected = has_coarser || l != level;
    r->is_finest = l == 0u;
    r->level = tells ? levels + l * LEVEL_WORDS : 0;
    project_parts(r, &on, is_projected);
    if (!meet_all(r, passed)) return;
    list_border(r, &on, !is_projected);
    if (!meet_all(r, passed)) return;
    for (;;) {
      if (r->member == 0u) direct(r, &on, desk);
      if (!meet_all(r, passed)) return;
      const uint mode = r->state[REFINE_MODE];  /* read here: after MODE_DONE, another group may begin a level */
      ask(r, &on);
      if (!meet_all(r, passed)) return;
      if (mode == MODE_DONE) break;
      confirm(r, &on);
      if (!meet_all(r, passed)) return;
      apply(r, &on);
      if (!meet_all(r, passed)) return;
    }
  }
}
#endif
