/* Partition the coarsest level by recursive bisection.  Each work-group makes a whole partition, an individual, from
 * different random vertices.  The best of all is kept.
 *
 * A block is bisected TRIES times (halving.h), and the best bisection is kept.  A sub-group makes a bisection, so all
 * blocks of one depth and all tries run at the same time without a barrier.  The vertices of a block are consecutive in
 * members.  Each try has a key per vertex, by which it finds the next vertex to move.  Of equal gains the greater hash
 * wins, so the result does not depend on the sub-group size.
 */
#include "partition/halving.h"

#ifndef TRIES
#define TRIES 4u
#endif
#define TRY_WORDS 7u             /* ints per vertex of a try; a key takes two of them */
#define VERTEX_WORDS (TRIES * TRY_WORDS + 3u)    /* ints per vertex of an individual, ... */
#define PART_WORDS (2u * TRIES + 16u)            /* ... and per part */

#define FOR_ITEMS(i, n) for (uint i = get_local_id(0); i < (n); i += WG_SIZE)

INLINE long group_sum(long x, __local ulong *sums) {
#if WG_SIZE == 1
  return x;
#else
  x = sg_sum(x);
  if (sg_lane() == 0) sums[sg_in_group()] = (ulong)x;
  group_barrier();
  x = 0;
  for (uint s = 0u; s < SUB_GROUPS_PER_GROUP; s++) x += (long)sums[s];
  group_barrier();
  return x;
#endif
}

/* The arrays of an individual of n vertices.  Each array of vertices has `room` items, so that keys are aligned. */
typedef struct {
  uint n, room, n_parts;
  __global int *parts, *members, *places, *tries;
  __global block_t *lists;       /* the blocks of a depth come before the blocks of the next depth */
  __global ulong *found;         /* the score of each try of each block */
} individual_t;

INLINE individual_t individual_of(uint n, uint n_parts, __global int *grown) {
  individual_t x;
  x.n = n;
  x.room = n + (n & 1u);
  x.n_parts = n_parts;
  x.parts = grown + get_group_id(0) * ((size_t)VERTEX_WORDS * x.room + PART_WORDS * n_parts);
  x.members = x.parts + x.room;
  x.places = x.parts + 2u * (size_t)x.room;
  x.tries = x.parts + 3u * (size_t)x.room;
  x.lists = (__global block_t *)(x.parts + (size_t)VERTEX_WORDS * x.room);
  x.found = (__global ulong *)(x.parts + (size_t)VERTEX_WORDS * x.room + 16u * n_parts);
  return x;
}

/* Begin with all vertices and parts in one block. */
INLINE void start_growth(const individual_t *x) {
  FOR_ITEMS(v, x->n) {
    x->parts[v] = 0;
    x->members[v] = x->places[v] = (int)v;
  }
  if (get_local_id(0) == 0) {
    const block_t all = {0, (int)x->n_parts, 0, (int)x->n};
    x->lists[0] = all;
  }
  group_barrier();
}

INLINE int is_whole(block_t block) { return block.n_parts < 2 || block.begin == block.end; }

/* Bisect a block by a sub-group.  Returns the score of the bisection. */
INLINE ulong try_bisection(const individual_t *x, const level_t *on, block_t block, uint turn, uint seed,
                           __global const int *shares) {
  __global int *words = x->tries + (size_t)turn * TRY_WORDS * x->room;
  halving_t h;
  h.n = (uint)(block.end - block.begin);
  h.seed = mixed(mixed(seed + 1u + get_group_id(0)) + (uint)block.first * TRIES + turn);
  h.mask = 0xffffffffu >> clz(x->n | 1u);
  h.block = block.first;
  h.parts = x->parts;
  h.members = x->members + block.begin;
  h.places = x->places;
  h.keys = (__global ulong *)words + block.begin;
  h.sides = words + 2u * (size_t)x->room;
  h.own = words + 3u * (size_t)x->room;
  h.other = words + 4u * (size_t)x->room;
  h.moved = words + 5u * (size_t)x->room;
  h.order = words + 6u * (size_t)x->room + block.begin;
  long weight = 0, left = 0, right = 0;
  FOR_LANES(i, h.n) weight += vertex_weight(on, h.members[i]);
  FOR_LANES(p, (uint)block.n_parts) {
    const int is_left = (int)p < block.n_parts - block.n_parts / 2;
    left += is_left ? shares[block.first + (int)p] : 0;
    right += is_left ? 0 : shares[block.first + (int)p];
  }
  weight = sg_sum(weight);
  left = sg_sum(left);
  right = sg_sum(right);
  h.twice = left + right ? (long)((ulong)weight * 2ul * (ulong)right / (ulong)(left + right)) : 0;
  h.slack = 2 * weight / h.n;
  return halve(on, &h);
}

/* Split block b of `from` by its best bisection into two blocks of `to`. */
INLINE void split_by_best(const individual_t *x, uint b, __global const block_t *from, __global block_t *to) {
  const block_t block = from[b];
  if (is_whole(block)) {
    const block_t none = {block.first + block.n_parts, 0, block.end, block.end};
    if (sg_lane() == 0) {
      to[2u * b] = block;
      to[2u * b + 1u] = none;
    }
    return;
  }
  __global const ulong *found = x->found + b * TRIES;
  uint best = 0u;
  for (uint turn = 1u; turn < TRIES; turn++) best = found[turn] < found[best] ? turn : best;
  __global int *words = x->tries + (size_t)best * TRY_WORDS * x->room;
  split(x->members, x->places, x->parts, words + 2u * (size_t)x->room, words + 6u * (size_t)x->room + block.begin, block,
        to + 2u * b);
}

/* Each group has VERTEX_WORDS ints for each vertex and PART_WORDS for each part in grown, and leaves its partition in the
 * first of them; the least score is the best.  blocks: n_parts words for each group. */
KERNEL grow_parts(uint level, uint n_parts, uint seed, LEVELS_PARAMETERS, __global const int *parts_work,
                  __global int *grown, __global int *blocks, __global ulong *scores) {
  LOCAL_ARRAY ulong sums[SUB_GROUPS_PER_GROUP];
  __global const int *shares = parts_work + SHARES * n_parts, *limits = parts_work + FINAL_LIMITS * n_parts;
  const level_t on = LEVEL(level);
  const individual_t x = individual_of(on.n, n_parts, grown);
  __global int *sizes = blocks + (size_t)get_group_id(0) * n_parts;
  start_growth(&x);
  for (uint n_blocks = 1u; n_blocks < n_parts; n_blocks *= 2u) {
    __global block_t *from = x.lists + (n_blocks - 1u), *to = x.lists + (2u * n_blocks - 1u);
    for (uint task = sg_in_group(); task < n_blocks * TRIES; task += SUB_GROUPS_PER_GROUP) {
      const block_t block = from[task / TRIES];
      if (is_whole(block)) continue;
      const ulong score = try_bisection(&x, &on, block, task % TRIES, seed, shares);
      if (sg_lane() == 0) x.found[task] = score;
    }
    group_barrier();
    for (uint b = sg_in_group(); b < n_blocks; b += SUB_GROUPS_PER_GROUP) split_by_best(&x, b, from, to);
    group_barrier();
  }
  FOR_ITEMS(p, n_parts) sizes[p] = 0;
  group_barrier();
  long cut = 0, over = 0, total = 0;
  FOR_ITEMS(v, on.n) {
    fetch_add(sizes + x.parts[v], vertex_weight(&on, v));
    total += vertex_weight(&on, v);
    for (int e = on.rows[v]; e < on.rows[v + 1]; e++)
      if (x.parts[on.columns[e]] != x.parts[v]) cut += edge_weight(&on, e);
  }
  group_barrier();
  FOR_ITEMS(p, n_parts) over += max(0, sizes[p] - limits[p]);
  cut = group_sum(cut, sums) / 2;
  over = group_sum(over, sums);
  total = group_sum(total, sums);
  if (get_local_id(0) == 0) scores[get_group_id(0)] = ((ulong)cut + 1ul) * (ulong)(total + over);
}

/* n_groups: the number of partitions that grow_parts made.  One work-group copies the best. */
KERNEL keep_best(uint level, uint n_parts, uint n_groups, uint room, LEVELS_PARAMETERS, __global const int *grown,
                 __global const int *blocks, __global const ulong *scores, __global int *work,
                 __global int *parts_work) {
  __global int *parts = work + (size_t)BEST * room, *sizes = parts_work + BEST_SIZES * n_parts;
  const level_t on = LEVEL(level);
  uint best = 0u;
  for (uint g = 1u; g < n_groups; g++) best = scores[g] < scores[best] ? g : best;
  __global const int *found = grown + best * ((size_t)VERTEX_WORDS * (on.n + (on.n & 1u)) + PART_WORDS * n_parts);
  for (uint v = get_local_id(0); v < on.n; v += WG_SIZE) parts[v] = found[v];
  for (uint p = get_local_id(0); p < n_parts; p += WG_SIZE) sizes[p] = blocks[best * n_parts + p];
}
