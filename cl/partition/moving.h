/* The third and fourth step of label propagation: candidates are confirmed, and then move.
 */
#ifndef CLGRAPH_MOVING_H
#define CLGRAPH_MOVING_H
#include "partition/asking.h"

/* Returns 1 if the lanes of a sub-group share the row of v.  The fewer rows the sub-group has, the shorter are the rows
 * that it shares, because lanes without a row would only wait. */
INLINE int is_shared_row(const level_t *on, int v) {
#if SUB_GROUP_SIZE == 1
  return 0;
#else
  const int n_rows = (int)lane_count(sg_ballot(v != NOBODY));
  return v != NOBODY && on->rows[v + 1] - on->rows[v] > 2 * n_rows;
#endif
}

/* ---- confirm */

/* Returns the additional gain of candidate v if the candidates before it have moved, over every step-th entry of its row. */
INLINE int gain_by_others(const refined_t *r, const level_t *on, int v, int stamp, uint first, uint step) {
  __global const int *parts = (__global const int *)ARRAY(r, PART), *targets = (__global const int *)ARRAY(r, TARGET);
  __global const int *gains = (__global const int *)ARRAY(r, GAIN), *asked = (__global const int *)ARRAY(r, ASKED);
  const int part = parts[v], target = targets[v], own = gains[v];
  int gain = 0;
  for (int e = on->rows[v] + (int)first; e < on->rows[v + 1]; e += (int)step) {
    const int u = on->columns[e];
    if (asked[u] != stamp || u == v) continue;
    const int other = gains[u];
    if (other < own || (other == own && u > v)) continue;
    const int from = parts[u], to = targets[u];
    gain += edge_weight(on, e) * ((to == target) - (to == part) + (from == part) - (from == target));
  }
  return gain;
}

/* Returns 1 if candidate v is among the least losses that a heavy part gives away.  In every other turn the part gives
 * away a few more vertices than needed, because the random choice would often select none.  In the other turns it gives
 * away just enough, for the case that parts have hardly any room. */
INLINE int is_evicted(const refined_t *r, int v, int weight, int stamp) {
  const int part = ARRAY(r, PART)[v], bucket = ARRAY(r, GAIN)[v];
  __global int *weights = r->histogram + (size_t)part * BUCKETS;
  const long more = stamp & 1 ? 2l * weight : 0l;
  const long needed = (long)OF_PARTS(r, SIZES)[part] - OF_PARTS(r, LIMITS)[part] + more;
  long before = 0;
  for (int b = 0; b < bucket; b++) before += weights[b];
  if (before >= needed) return 0;
  const int own = weights[bucket];
  return before + own <= needed || (long)((ulong)mixed(mixed((uint)v) ^ (uint)stamp) * (ulong)own >> 32) < needed - before;
}

/* Every work-item calls: candidates that still do not lose become movers.
 * No race: a candidate has one work-item, which alone writes FROM and MOVED of it; no other reads these in this step. */
INLINE void confirm(const refined_t *r, const level_t *on) {
  const uint mode = r->state[REFINE_MODE], stamp = r->state[REFINE_STAMP], n = r->state[REFINE_CANDIDATES];
  if (mode >= MODE_BACK) return;
  NEW_BATCH(movers)
  const list_share_t share = LIST_SHARE_OF(r, n);
  for (uint i = share.first; i < share.end; i += share.step) {
    const uint k = i + sg_lane() * share.stride;
    const int v = k < n ? ARRAY(r, CANDIDATES)[k] : NOBODY;
    const int leaves = v != NOBODY && is_rebalanced(r, v, mode), spreads = v != NOBODY && !leaves;
    const int is_long = is_shared_row(on, spreads ? v : NOBODY);
    int gain = spreads ? ARRAY(r, GAIN)[v] : -1;
    if (spreads && !is_long) gain += gain_by_others(r, on, v, (int)stamp, 0u, 1u);
    for (lane_mask_t left = sg_ballot(is_long); left; left &= left - 1) {
      const uint lane = lowest_lane(left);
      const int sum = sg_sum(gain_by_others(r, on, sg_broadcast(v, lane), (int)stamp, sg_lane(), SUB_GROUP_SIZE));
      if (sg_lane() == lane) gain += sum;
    }
    if (!(leaves ? is_evicted(r, v, vertex_weight(on, v), (int)stamp) : gain >= 0)) continue;
    ARRAY(r, FROM)[v] = ARRAY(r, PART)[v];
    ARRAY(r, MOVED)[v] = (int)stamp;
    push(r, &movers, MOVERS, REFINE_MOVERS, v);
  }
  flush(r, &movers, MOVERS, REFINE_MOVERS);
}

/* ---- apply */

/* Touches every step-th neighbour of mover v, and returns twice the change of the cut along these edges. */
INLINE int change_of_cut(const refined_t *r, const level_t *on, int v, int stamp, uint first, uint step) {
  __global const int *moved = (__global const int *)ARRAY(r, MOVED), *targets = (__global const int *)ARRAY(r, TARGET);
  __global const int *froms = (__global const int *)ARRAY(r, FROM);
  const int from = froms[v], to = targets[v];
  int change = 0;
  for (int e = on->rows[v] + (int)first; e < on->rows[v + 1]; e += (int)step) {
    const int u = on->columns[e];
    if (u == v) continue;
    /* The part of a neighbour that also moves may have changed already, so FROM is used instead. */
    const int moves = moved[u] == stamp, before = moves ? froms[u] : load_relaxed(ARRAY(r, PART) + u);
    const int after = moves ? targets[u] : before;
    change += edge_weight(on, e) * ((to != after) - (from != before)) * (moves ? 1 : 2);
    touch(r, u);
  }
  return change;
}

/* Every work-item calls: movers get their parts, and the change of the cut is added up.
 * Races: a neighbour may read PART of a mover meanwhile; change_of_cut then takes FROM and TARGET instead, because MOVED
 * has the stamp.  Each mover has one work-item and is listed once.  Sizes and the change of the cut are sums, so the order
 * of additions does not matter. */
INLINE void apply(const refined_t *r, const level_t *on) {
  const uint mode = r->state[REFINE_MODE], stamp = r->state[REFINE_STAMP], n = r->state[REFINE_MOVERS];
  if (mode >= MODE_BACK) return;
  const list_share_t share = LIST_SHARE_OF(r, n);
  int change = 0;
  for (uint i = share.first; i < share.end; i += share.step) {
    const uint k = i + sg_lane() * share.stride;
    const int v = k < n ? ARRAY(r, MOVERS)[k] : NOBODY, is_long = is_shared_row(on, v);
    if (v != NOBODY && !is_long) change += change_of_cut(r, on, v, (int)stamp, 0u, 1u);
    for (lane_mask_t left = sg_ballot(is_long); left; left &= left - 1)
      change += change_of_cut(r, on, sg_broadcast(v, lowest_lane(left)), (int)stamp, sg_lane(), SUB_GROUP_SIZE);
    if (v == NOBODY) continue;
    const int from = ARRAY(r, FROM)[v], to = ARRAY(r, TARGET)[v], weight = vertex_weight(on, v);
    store_relaxed(ARRAY(r, PART) + v, to);
    if (mode == MODE_SPREAD) ARRAY(r, LOCKED)[v] = (int)stamp;
    touch(r, v);
    if (!(fetch_or(ARRAY(r, FLAGS) + v, IN_JOURNAL) & IN_JOURNAL))
      ARRAY(r, JOURNAL)[fetch_add(r->state + REFINE_JOURNAL, 1u)] = v;
    fetch_add(OF_PARTS(r, SIZES) + from, -weight);
    fetch_add(OF_PARTS(r, SIZES) + to, weight);
  }
  change = sg_sum(change);
  if (change && sg_lane() == 0) fetch_add(r->state + REFINE_CHANGE, (uint)change);
  if (mode == MODE_SPREAD && r->member == 0 && get_local_id(0) == 0) r->state[REFINE_SPREAD] = stamp;
}
#endif
