/* A sub-group halves a block of vertices: one half grows from a random vertex, then single vertices move.
 *
 * After G. Karypis, V. Kumar, "A fast and high quality multilevel scheme for partitioning irregular graphs", SIAM J.
 * Scientific Computing 20, 1998, and C. Fiduccia, R. Mattheyses, "A linear-time heuristic for improving network
 * partitions", DAC 1982.
 */
#ifndef CLGRAPH_HALVING_H
#define CLGRAPH_HALVING_H
#include "partition/refinement.h"

#ifndef PASSES                   /* greatest number of passes of moves over a bisection */
#define PASSES 4u
#endif
#define FOR_LANES(i, n) for (uint i = sg_lane(); i < (n); i += SUB_GROUP_SIZE)

/* A block of vertices: the parts that it will become, and the range of its vertices in members. */
typedef struct { int first, n_parts, begin, end; } block_t;
/* A try to halve it.  sides, moved, own and other are by vertex: own and other are the weights of its edges to its own
 * and to the other side.  keys are by place in the block. */
typedef struct {
  uint n, seed, mask;
  int block;
  long twice, slack;             /* twice the intended weight of side 1, and twice the allowed deviation */
  __global const int *parts, *members, *places;
  __global int *sides, *moved, *order;
  __global ulong *keys;
  __global int *own, *other;
} halving_t;

INLINE long distance_of(long a, long b) { return a < b ? b - a : a - b; }
INLINE int is_inside(const halving_t *h, int u, int v) { return u != v && h->parts[u] == h->block; }
INLINE void add(__global int *word, int x) {
#if SUB_GROUP_SIZE == 1
  *word += x;
#else
  fetch_add(word, x);
#endif
}

/* Returns a key that is greater for greater gains; its low bits are random bits and then the vertex. */
INLINE ulong gain_key(const halving_t *h, long gain, int v) {
  const uint rank = (uint)(int)max(-(1l << 31) + 1, min(gain, (1l << 31) - 1)) ^ 0x80000000u;
  return ((ulong)rank << 32) | (mixed(h->seed ^ (uint)v) & ~h->mask) | (uint)v;
}
/* Returns the key of v; 0 if v must not move.  While side 1 grows, neighbours of side 1 come first, and other vertices in
 * random order. */
INLINE ulong key_of(const halving_t *h, int v, int grows) {
  const long gain = (long)h->other[v] - h->own[v];
  if (!grows) return h->moved[v] ? 0ul : gain_key(h, gain, v);
  if (h->sides[v]) return 0ul;
  return gain_key(h, h->other[v] ? max(gain, -(1l << 30)) + (1l << 30) : -(1l << 30), v);
}

INLINE void start(const level_t *on, const halving_t *h, int grows) {
  FOR_LANES(i, h->n) {
    const int v = h->members[i];
    int own = 0, other = 0;
    for (int e = on->rows[v]; e < on->rows[v + 1]; e++) {
      const int u = on->columns[e];
      if (!is_inside(h, u, v)) continue;
      if (h->sides[u] == h->sides[v]) own += edge_weight(on, e);
      else other += edge_weight(on, e);
    }
    h->own[v] = own;
    h->other[v] = other;
    h->moved[v] = 0;
    h->keys[i] = key_of(h, v, grows);
  }
  sg_sync();
}

/* Moves v, which all lanes know, to the other side.  Where edges are parallel, two lanes write the same key. */
INLINE void move_across(const level_t *on, const halving_t *h, int v, int grows) {
  const int from = h->sides[v], first = on->rows[v], last = on->rows[v + 1];
  for (int e = first + (int)sg_lane(); e < last; e += SUB_GROUP_SIZE) {
    const int u = on->columns[e];
    if (!is_inside(h, u, v)) continue;
    const int weight = edge_weight(on, e), change = h->sides[u] == from ? weight : -weight;
    add(h->own + u, -change);
    add(h->other + u, change);
  }
  sg_sync();
  if (sg_lane() == 0) {
    const int own = h->own[v];
    h->own[v] = h->other[v];
    h->other[v] = own;
    h->sides[v] = 1 - from;
    h->moved[v] = 1;
    h->keys[h->places[v]] = 0ul;
  }
  for (int e = first + (int)sg_lane(); e < last; e += SUB_GROUP_SIZE) {
    const int u = on->columns[e];
    if (is_inside(h, u, v)) h->keys[h->places[u]] = key_of(h, u, grows);
  }
  sg_sync();
}

/* Grows side 1 while its weight is below half of `twice`; returns its weight. */
INLINE long grow(const level_t *on, const halving_t *h) {
  FOR_LANES(i, h->n) h->sides[h->members[i]] = 0;
  sg_sync();
  start(on, h, 1);
  long grown = 0;
  for (uint n_moved = 0u; n_moved < h->n; n_moved++) {
    ulong best = 0ul;
    FOR_LANES(i, h->n) best = max(best, h->keys[i]);
    best = sg_greatest(best);
    const int v = (int)((uint)best & h->mask);
    if (!best || 2 * grown + vertex_weight(on, v) >= h->twice) break;
    move_across(on, h, v, 1);
    grown += vertex_weight(on, v);
  }
  return grown;
}

/* Returns 1 if v may move: then the halves will be within the slack, or closer to balance than before. */
INLINE int is_allowed(const level_t *on, const halving_t *h, long grown, int v) {
  const int weight = vertex_weight(on, v);
  const long after = distance_of(2 * (grown + (h->sides[v] ? -weight : weight)), h->twice);
  return after <= h->slack || after < distance_of(2 * grown, h->twice);
}

/* One pass: every vertex moves at most once, and the best state is kept.  Returns the change of the cut up to that
 * state, or 1 if no move was kept. */
INLINE long pass(const level_t *on, const halving_t *h, long *grown) {
  const uint patience = 30u + h->n / 16u;
  long change = 0, best_change = 0, best_grown = *grown;
  long best_over = max(0l, distance_of(2 * *grown, h->twice) - h->slack);
  uint n_moved = 0u, n_kept = 0u;
  start(on, h, 0);
  while (n_moved < h->n && n_moved - n_kept < patience) {
    ulong best = 0ul;
    FOR_LANES(i, h->n) {
      const ulong key = h->keys[i];
      if (key > best && is_allowed(on, h, *grown, (int)((uint)key & h->mask))) best = key;
    }
    best = sg_greatest(best);
    if (!best) break;
    const int v = (int)((uint)best & h->mask);
    change -= h->other[v] - h->own[v];
    *grown += h->sides[v] ? -vertex_weight(on, v) : vertex_weight(on, v);
    sg_sync();
    move_across(on, h, v, 0);
    if (sg_lane() == 0) h->order[n_moved] = v;
    n_moved++;
    const long over = max(0l, distance_of(2 * *grown, h->twice) - h->slack);
    if (over < best_over || (over == best_over && change < best_change)) {
      best_over = over;
      best_change = change;
      best_grown = *grown;
      n_kept = n_moved;
    }
  }
  sg_sync();
  FOR_LANES(i, n_moved)
    if (i >= n_kept) h->sides[h->order[i]] ^= 1;
  *grown = best_grown;
  sg_sync();
  return n_kept ? best_change : 1;
}

/* Returns a score of the halves; less is better: first the weight beyond the slack counts, then the cut. */
INLINE ulong halve(const level_t *on, const halving_t *h) {
  long grown = grow(on, h), cut = 0;
  for (uint k = 0u; k < PASSES; k++)
    if (pass(on, h, &grown) >= 0) break;
  start(on, h, 0);
  FOR_LANES(i, h->n) cut += h->other[h->members[i]];
  const long over = max(0l, distance_of(2 * grown, h->twice) - h->slack);
  return ((ulong)min(over, (1l << 31) - 1) << 32) | (ulong)min(sg_sum(cut), (1l << 32) - 1);
}

/* Puts side 0 of a block before side 1, and writes these two blocks. */
INLINE void split(__global int *members, __global int *places, __global int *parts, __global const int *sides,
                  __global int *moved_to, block_t block, __global block_t *halves) {
  const int n_right = block.n_parts / 2, n_left = block.n_parts - n_right;
  int n_first = 0;
  for (int side = 0, to = 0; side < 2; side++) {
    for (int i = block.begin; i < block.end; i += SUB_GROUP_SIZE) {
      const int own = i + (int)sg_lane(), v = own < block.end ? members[own] : 0;
      const lane_mask_t here = sg_ballot(own < block.end && sides[v] == side);
      if (own < block.end && sides[v] == side) moved_to[to + (int)lane_count(here & lanes_below_mask())] = v;
      to += (int)lane_count(here);
    }
    if (!side) n_first = to;
  }
  sg_sync();
  const int middle = block.begin + n_first;
  FOR_LANES(i, (uint)(block.end - block.begin)) {
    const int at = block.begin + (int)i, v = moved_to[i];
    members[at] = v;
    places[v] = at < middle ? (int)i : at - middle;
    parts[v] = at < middle ? block.first : block.first + n_left;
  }
  if (sg_lane() == 0) {
    const block_t left = {block.first, n_left, block.begin, middle};
    const block_t right = {block.first + n_left, n_right, middle, block.end};
    halves[0] = left;
    halves[1] = right;
  }
}
#endif
