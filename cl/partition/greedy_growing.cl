/* Partitions of the coarsest level by recursive bisection: a work-group makes a whole partition, an individual, and every
 * group begins from other random vertices; the best of all is kept.
 *
 * A bisection of a block grows one half from a random vertex: it takes the vertex with the greatest gain among those
 * beside it, until the half has its share of the weight.  Then single vertices move, the one with the greatest gain
 * first, each once a pass, and the best state of a pass is kept.  Of TRIES bisections of a block the best stays.
 *
 * All arrays but the level are the group's own, and its work-items meet at barriers.  Of equal gains the greater hash
 * wins, so the result is the same whatever the size of a group.
 *
 * After G. Karypis, V. Kumar, "A fast and high quality multilevel scheme for partitioning irregular graphs", SIAM J.
 * Scientific Computing 20, 1998, and C. Fiduccia, R. Mattheyses, "A linear-time heuristic for improving network
 * partitions", DAC 1982.
 */
#include "partition/refinement.h"

#ifndef TRIES
#define TRIES 4u
#endif
#ifndef PASSES                   /* most passes of moves over a bisection */
#define PASSES 4u
#endif
#define VERTEX_MASK 0xfffffu     /* no coarsest level has more vertices */
#define VERTEX_WORDS 6u          /* arrays of an item for each vertex that a group has */

#if WG_SIZE == 1
#define GROUP_BARRIER()
#else
#define GROUP_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif
#define FOR_ITEMS(i, n) for (uint i = get_local_id(0); i < (n); i += WG_SIZE)

/* sides: of vertices in the block that is halved; own and other: weight of edges to either side; kept: the best sides */
typedef struct {
  uint n, seed;
  __global int *parts, *members, *sides, *kept;
  volatile __global int *own, *other;
  __local ulong *best;           /* a word for each sub-group, and one for all */
} halving_t;

INLINE long distance_of(long a, long b) { return a < b ? b - a : a - b; }

INLINE ulong group_greatest(ulong x, __local ulong *best) {
#if WG_SIZE == 1
  return x;
#else
  x = sg_greatest(x);
  if (sg_lane() == 0) best[sg_in_group()] = x;
  GROUP_BARRIER();
  for (uint s = 0u; s < SUB_GROUPS_PER_GROUP; s++) x = max(x, best[s]);
  GROUP_BARRIER();
  return x;
#endif
}
INLINE long group_sum(long x, __local ulong *best) {
#if WG_SIZE == 1
  return x;
#else
  x = sg_sum(x);
  if (sg_lane() == 0) best[sg_in_group()] = (ulong)x;
  GROUP_BARRIER();
  x = 0;
  for (uint s = 0u; s < SUB_GROUPS_PER_GROUP; s++) x += (long)best[s];
  GROUP_BARRIER();
  return x;
#endif
}

INLINE void find_pulls(const level_t *on, const halving_t *h, uint n_members, int block) {
  FOR_ITEMS(i, n_members) {
    const int v = h->members[i];
    int own = 0, other = 0;
    for (int e = on->rows[v]; e < on->rows[v + 1]; e++) {
      const int u = on->columns[e];
      if (u == v || h->parts[u] != block) continue;
      if (h->sides[u] == h->sides[v]) own += edge_weight(on, e);
      else other += edge_weight(on, e);
    }
    h->own[v] = own;
    h->other[v] = other;
  }
  GROUP_BARRIER();
}

/* Moves v, which all work-items know, to the other side. */
INLINE void move_across(const level_t *on, const halving_t *h, int v, int block) {
  const int from = h->sides[v];
  GROUP_BARRIER();
  for (int e = on->rows[v] + (int)get_local_id(0); e < on->rows[v + 1]; e += WG_SIZE) {
    const int u = on->columns[e];
    if (u == v || h->parts[u] != block) continue;
    const int weight = edge_weight(on, e), change = h->sides[u] == from ? weight : -weight;
    fetch_add(h->own + u, -change);
    fetch_add(h->other + u, change);
  }
  if (get_local_id(0) == 0) {
    const int own = h->own[v];
    h->own[v] = h->other[v];
    h->other[v] = own;
    h->sides[v] = 1 - from;
  }
  GROUP_BARRIER();
}

/* Greater for greater gains; the low bits are random and then name the vertex. */
INLINE ulong gain_key(int gain, uint random, int v) {
  return ((ulong)((uint)gain ^ 0x80000000u) << 32) | (random & ~VERTEX_MASK) | (uint)v;
}

/* Grows side 1 to half as much as twice is; returns its weight. */
INLINE long grow(const level_t *on, const halving_t *h, uint n_members, int block, long twice, uint seed) {
  FOR_ITEMS(i, n_members) h->sides[h->members[i]] = 0;
  GROUP_BARRIER();
  find_pulls(on, h, n_members, block);
  long grown = 0;
  for (;;) {
    ulong beside = 0ul;
    FOR_ITEMS(i, n_members) {
      const int v = h->members[i];
      if (h->sides[v]) continue;
      const int other = h->other[v];
      /* Those beside come before all others; without any, as at the beginning, chance decides. */
      const int gain = other ? max(other - h->own[v], -(1 << 30)) + (1 << 30) : -(1 << 30);
      beside = max(beside, gain_key(gain, mixed(seed ^ (uint)v), v));
    }
    beside = group_greatest(beside, h->best);
    if (!beside) return grown;
    const int v = (int)((uint)beside & VERTEX_MASK);
    if (2 * grown + vertex_weight(on, v) >= twice) return grown;
    move_across(on, h, v, block);
    grown += vertex_weight(on, v);
  }
}

/* One pass: every vertex moves at most once.  Returns the change of the cut up to the best state, in which sides are. */
INLINE long pass(const level_t *on, const halving_t *h, uint n_members, int block, long twice, long slack,
                 long *grown, uint seed, __global int *order) {
  const uint patience = 30u + n_members / 16u;
  long change = 0, best_change = 0, best_grown = *grown;
  long best_over = max(0l, distance_of(2 * *grown, twice) - slack);
  uint n_moved = 0u, n_kept = 0u;
  find_pulls(on, h, n_members, block);
  FOR_ITEMS(i, n_members) h->kept[h->members[i]] = 0;  /* here: whether it has moved */
  GROUP_BARRIER();
  while (n_moved < n_members && n_moved - n_kept < patience) {
    ulong best = 0ul;
    const long now = distance_of(2 * *grown, twice);
    FOR_ITEMS(i, n_members) {
      const int v = h->members[i], weight = vertex_weight(on, v);
      if (h->kept[v]) continue;
      const long after = distance_of(2 * (*grown + (h->sides[v] ? -weight : weight)), twice);
      if (after > slack && after >= now) continue;
      best = max(best, gain_key(h->other[v] - h->own[v], mixed(seed ^ (uint)v), v));
    }
    best = group_greatest(best, h->best);
    if (!best) break;
    const int v = (int)((uint)best & VERTEX_MASK);
    change -= h->other[v] - h->own[v];
    *grown += h->sides[v] ? -vertex_weight(on, v) : vertex_weight(on, v);
    move_across(on, h, v, block);
    if (get_local_id(0) == 0) {
      h->kept[v] = 1;
      order[n_moved] = v;
    }
    GROUP_BARRIER();
    n_moved++;
    const long over = max(0l, distance_of(2 * *grown, twice) - slack);
    if (over < best_over || (over == best_over && change < best_change)) {
      best_over = over;
      best_change = change;
      best_grown = *grown;
      n_kept = n_moved;
    }
  }
  for (uint i = n_kept + get_local_id(0); i < n_moved; i += WG_SIZE) h->sides[order[i]] ^= 1;
  *grown = best_grown;
  GROUP_BARRIER();
  return n_kept ? best_change : 1;
}

/* Halves a block of part numbers from first on, whose number all of its vertices have; the greater half of the numbers
 * stays.  shares: the weight that parts are to have. */
INLINE void bisect(const level_t *on, halving_t *h, int first, int n_left, int n_right, __global const int *shares,
                   __global int *order, __global int *best_sides, volatile __local uint *count) {
  if (get_local_id(0) == 0) *count = 0u;
  GROUP_BARRIER();
  long weight = 0, left = 0, right = 0;
  FOR_ITEMS(v, h->n) {
    if (h->parts[v] != first) continue;
    weight += vertex_weight(on, v);
#if WG_SIZE == 1
    h->members[(*count)++] = (int)v;
#else
    h->members[fetch_add((volatile __local uint *)count, 1u)] = (int)v;
#endif
  }
  weight = group_sum(weight, h->best);
  const uint n_members = *count;
  if (!n_members) return;
  FOR_ITEMS(p, (uint)(n_left + n_right)) {
    left += (int)p < n_left ? shares[first + p] : 0;
    right += (int)p < n_left ? 0 : shares[first + p];
  }
  left = group_sum(left, h->best);
  right = group_sum(right, h->best);
  const long twice = left + right ? (long)((ulong)weight * 2ul * (ulong)right / (ulong)(left + right)) : 0;
  const long slack = 2 * weight / n_members;
  long best_cut = LONG_MAX, best_over = LONG_MAX;
  for (uint turn = 0u; turn < TRIES; turn++) {
    const uint seed = mixed(h->seed + (uint)first * TRIES + turn);
    long grown = grow(on, h, n_members, first, twice, seed);
    for (uint k = 0u; k < PASSES; k++)
      if (pass(on, h, n_members, first, twice, slack, &grown, mixed(seed + k), order) >= 0) break;
    find_pulls(on, h, n_members, first);
    long cut = 0;
    FOR_ITEMS(i, n_members) cut += h->other[h->members[i]];
    cut = group_sum(cut, h->best);
    const long over = max(0l, distance_of(2 * grown, twice) - slack);
    if (over < best_over || (over == best_over && cut < best_cut)) {
      best_over = over;
      best_cut = cut;
      FOR_ITEMS(i, n_members) best_sides[i] = h->sides[h->members[i]];
      GROUP_BARRIER();
    }
  }
  FOR_ITEMS(i, n_members) h->parts[h->members[i]] = best_sides[i] ? first + n_left : first;
  GROUP_BARRIER();
}

/* Each group writes its partition to the first array of its work, and the score of it; the least score is the best.
 * blocks: n_parts words for each group. */
KERNEL grow_parts(uint level, uint n_parts, uint seed, LEVELS_PARAMETERS, __global const int *parts_work,
                  volatile __global int *grown, volatile __global int *blocks,
                  __global ulong *scores) {
  LOCAL_ARRAY ulong best[SUB_GROUPS_PER_GROUP];
  LOCAL_ARRAY uint count;
  __global const int *shares = parts_work + SHARES * n_parts, *limits = parts_work + LIMITS * n_parts;
  const level_t on = LEVEL(level);
  __global int *own = (__global int *)grown + (size_t)get_group_id(0) * VERTEX_WORDS * on.n;
  volatile __global int *sizes = blocks + (size_t)get_group_id(0) * n_parts;
  halving_t h;
  h.n = on.n;
  h.seed = mixed(seed + 1u + (uint)get_group_id(0));
  h.parts = own;
  h.members = own + on.n;
  h.sides = own + 2u * (size_t)on.n;
  h.kept = own + 3u * (size_t)on.n;
  h.own = own + 4u * (size_t)on.n;
  h.other = own + 5u * (size_t)on.n;
  h.best = best;
  FOR_ITEMS(v, on.n) h.parts[v] = 0;
  FOR_ITEMS(p, n_parts) sizes[p] = p ? 0 : (int)n_parts;
  GROUP_BARRIER();
  for (uint p = 0u; p < n_parts;) {
    const int n_here = sizes[p], n_right = n_here / 2;
    GROUP_BARRIER();
    if (n_here < 2) {
      p++;
      continue;
    }
    __global int *scratch = (__global int *)grown + ((size_t)get_num_groups(0) * VERTEX_WORDS + 2u * get_group_id(0)) * on.n;
    bisect(&on, &h, (int)p, n_here - n_right, n_right, shares, scratch, scratch + on.n, &count);
    if (get_local_id(0) == 0) {
      sizes[p] = n_here - n_right;
      sizes[p + (uint)(n_here - n_right)] = n_right;
    }
    GROUP_BARRIER();
  }
  FOR_ITEMS(p, n_parts) sizes[p] = 0;
  GROUP_BARRIER();
  long cut = 0, over = 0, total = 0;
  FOR_ITEMS(v, on.n) {
    fetch_add(sizes + h.parts[v], vertex_weight(&on, v));
    total += vertex_weight(&on, v);
    for (int e = on.rows[v]; e < on.rows[v + 1]; e++)
      if (h.parts[on.columns[e]] != h.parts[v]) cut += edge_weight(&on, e);
  }
  GROUP_BARRIER();
  FOR_ITEMS(p, n_parts) over += max(0, sizes[p] - limits[p]);
  cut = group_sum(cut, best) / 2;
  over = group_sum(over, best);
  total = group_sum(total, best);
  if (get_local_id(0) == 0) scores[get_group_id(0)] = ((ulong)cut + 1ul) * (ulong)(total + over);
}

/* n_groups: how many partitions grow_parts made.  One work-group copies the best. */
KERNEL keep_best(uint level, uint n_parts, uint n_groups, uint room, LEVELS_PARAMETERS, __global const int *grown,
                 __global const int *blocks, __global const ulong *scores, __global int *work,
                 __global int *parts_work) {
  __global int *parts = work + (size_t)BEST * room, *sizes = parts_work + BEST_SIZES * n_parts;
  const level_t on = LEVEL(level);
  uint best = 0u;
  for (uint g = 1u; g < n_groups; g++) best = scores[g] < scores[best] ? g : best;
  for (uint v = get_local_id(0); v < on.n; v += WG_SIZE) parts[v] = grown[(size_t)best * VERTEX_WORDS * on.n + v];
  for (uint p = get_local_id(0); p < n_parts; p += WG_SIZE) sizes[p] = blocks[best * n_parts + p];
}
