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
#include "partition/asking.h"

#ifndef PATIENCE                 /* balanced partitions without a better cut, after which a level is done */
#define PATIENCE 8u
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

/* ---- direct */

/* One work-group; over and counted are words of local memory. */
INLINE void direct(const refined_t *r, volatile __local uint *over) {
  volatile __global uint *state = r->state;
  volatile __global int *sizes = OF_PARTS(r, SIZES), *limits = OF_PARTS(r, LIMITS);
  if (state[REFINE_MODE] == MODE_DONE) return;
  if (get_local_id(0) == 0) *over = 0u;
  GROUP_BARRIER();
  for (uint p = get_local_id(0); p < r->n_parts; p += WG_SIZE)
    if (sizes[p] > limits[p]) fetch_add(over, (uint)(sizes[p] - limits[p]));
  GROUP_BARRIER();
  const uint too_much = *over, turn = state[REFINE_TURN], best_over = state[REFINE_BEST_OVER];
  const int cut = (int)state[REFINE_CUT] + (int)state[REFINE_CHANGE] / 2, best_cut = (int)state[REFINE_BEST_CUT];
  const int is_first = turn == 0u, is_better = too_much < best_over || (too_much == best_over && cut < best_cut);
  GROUP_BARRIER();
  if (is_first || is_better)
    for (uint p = get_local_id(0); p < r->n_parts; p += WG_SIZE) OF_PARTS(r, BEST_SIZES)[p] = sizes[p];
  if (too_much)
    for (uint i = get_local_id(0); i < r->n_parts * BUCKETS; i += WG_SIZE) r->histogram[i] = 0;
  if (get_local_id(0) == 0) {
    uint fruitless = state[REFINE_FRUITLESS] + !too_much;
    state[REFINE_CUT] = (uint)cut;
    state[REFINE_CHANGE] = 0u;
    state[REFINE_COPIED] = 0u;
    if (is_first || is_better) {
      const int is_much = is_first || too_much < best_over || (long)cut * 1000 < (long)best_cut * 999;
      if (is_much) fruitless = 0u;
      state[REFINE_BEST_CUT] = (uint)cut;
      state[REFINE_BEST_OVER] = too_much;
      state[REFINE_COPIED] = state[REFINE_JOURNAL];
      state[REFINE_JOURNAL] = 0u;
    }
    state[REFINE_FRUITLESS] = fruitless;
    state[REFINE_TURN] = turn + 1u;
    const uint stamp = state[REFINE_STAMP] + 1u, heavy = too_much ? state[REFINE_HEAVY] + 1u : 0u;
    uint mode = !too_much ? MODE_SPREAD : heavy <= 2u ? MODE_WEAK : MODE_STRONG;
    /* What is still to be copied is copied in the last turn, too. */
    if (fruitless > PATIENCE || heavy > MOST_HEAVY || turn >= MOST_TURNS) mode = MODE_DONE;
    state[REFINE_HEAVY] = heavy;
    state[REFINE_STAMP] = stamp;
    const uint write = state[REFINE_WRITE];
    if (mode == MODE_SPREAD) {
      state[REFINE_READ] = write;
      state[REFINE_WRITE] = 1u - write;
      state[REFINE_LENGTH + 1u - write] = 0u;
      state[REFINE_LISTED] = state[REFINE_LENGTH + write];
    } else {
      state[REFINE_READ] = write;
      state[REFINE_LISTED] = state[REFINE_LENGTH + write];
    }
    state[REFINE_CANDIDATES] = state[REFINE_MOVERS] = 0u;
    if (mode != MODE_SPREAD) {
      int sum = 0;
      for (uint p = 0u; p < r->n_parts; p++) {
        OF_PARTS(r, FREE)[p] = sum;
        sum += max(0, limits[p] - sizes[p]);
      }
      OF_PARTS(r, FREE)[r->n_parts] = sum;
    }
    state[REFINE_MODE] = mode;
  }
}

/* ---- confirm */

/* Whether candidate v still does not lose if the candidates before it have moved. */
INLINE int gains_after_others(const refined_t *r, const level_t *on, int v, int stamp) {
  __global const int *parts = (__global const int *)ARRAY(r, PART), *targets = (__global const int *)ARRAY(r, TARGET);
  __global const int *gains = (__global const int *)ARRAY(r, GAIN), *asked = (__global const int *)ARRAY(r, ASKED);
  const int part = parts[v], target = targets[v], own = gains[v];
  int gain = own;
  for (int e = on->rows[v]; e < on->rows[v + 1]; e++) {
    const int u = on->columns[e];
    if (asked[u] != stamp || u == v) continue;
    const int other = gains[u];
    if (other < own || (other == own && u > v)) continue;
    const int from = parts[u], to = targets[u];
    gain += edge_weight(on, e) * ((to == target) - (to == part) + (from == part) - (from == target));
  }
  return gain >= 0;
}

/* Whether candidate v is among those of the least loss that a heavy part gives away. */
INLINE int is_evicted(const refined_t *r, int v, int stamp) {
  const int part = ARRAY(r, PART)[v], bucket = ARRAY(r, GAIN)[v];
  volatile __global int *weights = r->histogram + (size_t)part * BUCKETS;
  const int needed = OF_PARTS(r, SIZES)[part] - OF_PARTS(r, LIMITS)[part];
  int before = 0;
  for (int b = 0; b < bucket; b++) before += weights[b];
  if (before >= needed) return 0;
  const int own = weights[bucket];
  return before + own <= needed || ((ulong)mixed(mixed((uint)v) ^ (uint)stamp) * (ulong)own >> 32) < (ulong)(needed - before);
}

INLINE void confirm(const refined_t *r, const level_t *on) {
  const uint mode = r->state[REFINE_MODE], stamp = r->state[REFINE_STAMP], n = r->state[REFINE_CANDIDATES];
  if (mode == MODE_DONE) return;
  const share_t share = SHARE_OF(r, n);
  for (uint i = share.first; i < share.end; i += share.step) {
    if (i + sg_lane() >= n) continue;
    const int v = ARRAY(r, CANDIDATES)[i + sg_lane()];
    if (!(mode == MODE_SPREAD ? gains_after_others(r, on, v, (int)stamp) : is_evicted(r, v, (int)stamp))) continue;
    ARRAY(r, FROM)[v] = ARRAY(r, PART)[v];
    ARRAY(r, MOVED)[v] = (int)stamp;
    ARRAY(r, MOVERS)[fetch_add(r->state + REFINE_MOVERS, 1u)] = v;
  }
}

/* ---- apply */

INLINE void apply(const refined_t *r, const level_t *on) {
  const uint mode = r->state[REFINE_MODE], stamp = r->state[REFINE_STAMP], n = r->state[REFINE_MOVERS];
  if (mode == MODE_DONE) return;
  __global const int *moved = (__global const int *)ARRAY(r, MOVED), *targets = (__global const int *)ARRAY(r, TARGET);
  __global const int *froms = (__global const int *)ARRAY(r, FROM);
  const share_t share = SHARE_OF(r, n);
  int change = 0;
  for (uint i = share.first; i < share.end; i += share.step) {
    if (i + sg_lane() >= n) continue;
    const int v = ARRAY(r, MOVERS)[i + sg_lane()], from = froms[v], to = targets[v], weight = vertex_weight(on, v);
    for (int e = on->rows[v]; e < on->rows[v + 1]; e++) {
      const int u = on->columns[e];
      if (u == v) continue;
      /* The part of a neighbour that moves, too, may have changed already. */
      const int moves = moved[u] == (int)stamp, before = moves ? froms[u] : load_relaxed(ARRAY(r, PART) + u);
      const int after = moves ? targets[u] : before;
      change += edge_weight(on, e) * ((to != after) - (from != before)) * (moves ? 1 : 2);
      if (!(load_relaxed(ARRAY(r, FLAGS) + u) & LISTED)) list_vertex(r, u);
    }
    store_relaxed(ARRAY(r, PART) + v, to);
    if (mode == MODE_SPREAD) ARRAY(r, LOCKED)[v] = (int)stamp;
    list_vertex(r, v);
    if (!(fetch_or(ARRAY(r, FLAGS) + v, IN_JOURNAL) & IN_JOURNAL))
      ARRAY(r, JOURNAL)[fetch_add(r->state + REFINE_JOURNAL, 1u)] = v;
    fetch_add(OF_PARTS(r, SIZES) + from, -weight);
    fetch_add(OF_PARTS(r, SIZES) + to, weight);
  }
  change = sg_sum(change);
  if (change && sg_lane() == 0) fetch_add(r->state + REFINE_CHANGE, (uint)change);
  if (mode == MODE_SPREAD && r->member == 0 && get_local_id(0) == 0) r->state[REFINE_SPREAD] = stamp;
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
  project_parts(&r, &on, has_coarser);
}

KERNEL start_level(uint level, int has_coarser, REFINEMENT_PARAMETERS) {
  REFINED((uint)get_group_id(0), (uint)get_num_groups(0))
  const level_t on = LEVEL(level);
  list_border(&r, &on, !has_coarser);
}

KERNEL direct_turn(uint level, REFINEMENT_PARAMETERS) {
  LOCAL_ARRAY uint over;
  REFINED(0u, 1u)
  direct(&r, &over);
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

#define ALL_ARRIVE()                                                                                  \
  if (members == 1u) { GROUP_BARRIER(); }                                                             \
  else if (!grid_barrier(state, members, &passed)) return;

/* Levels from the first to the last, which is finer; the coarsest has its partition. */
KERNEL refine_levels(uint level, uint last_level, int has_coarser, REFINEMENT_PARAMETERS) {
  LOCAL_ARRAY uint over;
  LOCAL_ARRAY int passed;
  GRID_ENTER(state)
  REFINED(member, members)
  for (uint i = get_local_id(0); i < SUB_GROUPS_PER_GROUP * PARTS_ROOM; i += WG_SIZE) counters[i] = 0;
  for (uint l = level + 1u; l-- > last_level;) {
    const level_t on = LEVEL(l);
    const int is_projected = has_coarser || l != level;
    r.is_finest = l == 0u;
    project_parts(&r, &on, is_projected);
    ALL_ARRIVE()
    list_border(&r, &on, !is_projected);
    ALL_ARRIVE()
    for (;;) {
      if (member == 0u) direct(&r, &over);
      ALL_ARRIVE()
      const uint mode = state[REFINE_MODE];  /* who is ahead may begin the next level soon */
      ask(&r, &on);
      ALL_ARRIVE()
      if (mode == MODE_DONE) break;
      confirm(&r, &on);
      ALL_ARRIVE()
      apply(&r, &on);
      ALL_ARRIVE()
    }
  }
}
