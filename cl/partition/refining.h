/* The first step of label propagation, which decides what is next, and the loop over all four.
 */
#ifndef CLGRAPH_REFINING_H
#define CLGRAPH_REFINING_H
#include "partition/moving.h"

#ifndef PATIENCE                 /* balanced partitions without a better cut, after which a round is done, ... */
#define PATIENCE 8u
#endif
#ifndef SPARSE_PATIENCE          /* ... where rows have less than FEW_ENTRIES entries in the mean, so that a turn is quick, */
#define SPARSE_PATIENCE 12u
#endif
#define FEW_ENTRIES 8u
#ifndef LAST_PATIENCE            /* ... and in the last round, in which moves may hardly lose */
#define LAST_PATIENCE 4u
#endif
#ifndef TOLERANCE                /* on coarse levels this part of all weight may be too much, but at most a mean vertex a part */
#define TOLERANCE 1024u
#endif
#ifndef MOST_HEAVY               /* rebalancings in a row, after which no balance is expected in a round */
#define MOST_HEAVY 16u
#endif
#ifndef MOST_TURNS
#define MOST_TURNS 400u
#endif
#ifndef POLISHES                 /* 1: levels of long rows with few vertices at the border have the last round alone */
#define POLISHES 0
#endif
#ifndef MIXES                    /* 1: weak rebalancings are mixed where rows are short; where they are long the cut loses */
#define MIXES 1
#endif
#define LONG_ROWS 16u            /* entries in the mean */
#define FEW_AT_BORDER 3u         /* less than one in so many */
#if WG_SIZE == 1
#define GROUP_BARRIER()
#else
#define GROUP_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif

#define DESK_OVER (REFINE_WORDS + PARTS_ROOM + 1)
#define DESK_TOTAL (REFINE_WORDS + PARTS_ROOM + 2)
#define DESK_WORDS (REFINE_WORDS + PARTS_ROOM + 3)

/* ---- direct */

/* Whether the first round would take long and win little: it moves vertices that come back, and counts long rows. */
INLINE int only_polishes(const level_t *on, uint n_border) {
  return POLISHES && n_border < on->n / FEW_AT_BORDER && (uint)on->rows[on->n] / LONG_ROWS > on->n;
}

INLINE int is_sparse(const level_t *on) { return (uint)on->rows[on->n] / FEW_ENTRIES < on->n; }

INLINE uint patience(const level_t *on, uint round) {
  if (round + 1u == ROUNDS) return LAST_PATIENCE;
  return is_sparse(on) ? SPARSE_PATIENCE : PATIENCE;
}

/* One work-group.  desk: local memory for the words of the state, for each part, and for sums over all parts. */
INLINE void direct(const refined_t *r, const level_t *on, __local uint *desk) {
  __global int *sizes = OF_PARTS(r, SIZES), *limits = OF_PARTS(r, LIMITS);
  __local uint *free = desk + REFINE_WORDS, *over = desk + DESK_OVER, *total = desk + DESK_TOTAL;
  if (r->state[REFINE_MODE] == MODE_DONE) return;
  for (uint i = GRID_CONTROL_WORDS + get_local_id(0); i < REFINE_WORDS; i += WG_SIZE) desk[i] = r->state[i];
  if (get_local_id(0) == 0) *over = *total = 0u;
  GROUP_BARRIER();
  const uint turn = desk[REFINE_TURN], best_over = desk[REFINE_BEST_OVER];
  const int cut = (int)desk[REFINE_CUT] + (int)desk[REFINE_CHANGE] / 2, best_cut = (int)desk[REFINE_BEST_CUT];
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
  GROUP_BARRIER();
  const uint tolerated = r->is_finest ? 0u : *total / max(TOLERANCE, on->n / r->n_parts);
  const uint too_much = *over > tolerated ? *over : 0u;
  const int is_better = turn == 0u || too_much < best_over || (too_much == best_over && cut < best_cut);
  if (too_much && sg_in_group() == 0)
    for (uint first = 0u, sum = 0u; first <= r->n_parts; first += SUB_GROUP_SIZE) {
      const uint p = first + sg_lane(), own = p < r->n_parts ? free[p] : 0u, before = sg_exclusive_sum(own);
      if (p <= r->n_parts) free[p] = sum + before;
      sum += sg_sum(own);
    }
  if (get_local_id(0) == 0) {
    uint fruitless = desk[REFINE_FRUITLESS] + !too_much, heavy = too_much ? desk[REFINE_HEAVY] + 1u : 0u;
    uint mode = !too_much ? MODE_SPREAD : heavy > 2u ? MODE_STRONG : MIXES && is_sparse(on) ? MODE_MIXED : MODE_WEAK;
    desk[REFINE_CUT] = (uint)cut;
    if (turn == 0u && only_polishes(on, desk[REFINE_LENGTH])) desk[REFINE_ROUND] = ROUNDS - 1u;
    desk[REFINE_CHANGE] = 0u;
    desk[REFINE_COPIED] = 0u;
    if (is_better) {
      if (turn == 0u || too_much < best_over || (long)cut * 1000 < (long)best_cut * 999) fruitless = 0u;
      desk[REFINE_BEST_CUT] = (uint)cut;
      desk[REFINE_BEST_OVER] = too_much;
      desk[REFINE_COPIED] = desk[REFINE_JOURNAL];  /* also in the last turn */
      desk[REFINE_JOURNAL] = 0u;
    }
    if (fruitless > patience(on, desk[REFINE_ROUND]) || heavy > MOST_HEAVY || turn >= MOST_TURNS) {
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
      if (r.member == 0u) direct(&r, &on, desk);                                                      \
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
#endif
