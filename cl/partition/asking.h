/* The second step of label propagation.  Vertices at the border find the part to which they have the greatest edge weight
 * (their strongest pull, pulls.h), and ask to move there.  In a strong rebalancing all vertices of heavy parts do so.
 */
#ifndef CLGRAPH_ASKING_H
#define CLGRAPH_ASKING_H
#include "partition/pulls.h"

#ifndef ROUNDS                   /* rounds of label propagation on a level */
#define ROUNDS 2u
#endif
#ifndef FINE_SHARE               /* quarters of the weight to the own part that a move may lose, on level 0 and others */
#define FINE_SHARE 2
#endif
#ifndef COARSE_SHARE
#define COARSE_SHARE 3
#endif

/* Returns the bucket of a loss per unit of weight: gains first, then losses by powers of the square root of two. */
INLINE int bucket_of(int loss, int weight) {
  if (loss <= 0) return loss < 0 ? 0 : 1;
  const ulong scaled = ((ulong)(uint)loss << 8) / (ulong)(uint)max(1, weight);
  if (scaled < 2ul) return 2;
  const int top = 63 - (int)clz(scaled), next = (int)((scaled >> (top - 1)) & 1ul);
  return min(BUCKETS - 1, 2 + max(0, 2 * top + next - 8));
}

/* Returns a random part, with a probability proportional to its room. */
INLINE int any_open_part(const refined_t *r, int v) {
  __global int *sums = OF_PARTS(r, FREE);
  const uint sum = (uint)sums[r->n_parts];
  if (!sum) return NOBODY;
  const int drawn = (int)(((ulong)mixed(mixed((uint)v) + r->state[REFINE_STAMP]) * sum) >> 32);
  uint low = 0u, high = r->n_parts - 1u;
  while (low < high) {
    const uint middle = (low + high + 1u) / 2u;
    if (sums[middle] <= drawn) low = middle;
    else high = middle - 1u;
  }
  return (int)low;
}

INLINE void become_candidate(const refined_t *r, int v, int target, int gain, uint stamp, batch_t *candidates) {
  ARRAY(r, TARGET)[v] = target;
  ARRAY(r, GAIN)[v] = gain;
  ARRAY(r, ASKED)[v] = (int)stamp;
  push(r, candidates, CANDIDATES, REFINE_CANDIDATES, v);
}

/* Label propagation: v, whose pulls are known, becomes a candidate if a move gains, or loses less than a share of its
 * weight to its own part.  Later rounds allow smaller losses.  The last round, and a mixed turn, require room in the
 * other part. */
INLINE void consider(const refined_t *r, const level_t *on, int v, uint mode, uint stamp, batch_t *listed,
                     batch_t *candidates) {
  const int part = ARRAY(r, PULL_PART)[v], moves_to_list = r->state[REFINE_READ] != r->state[REFINE_WRITE];
  if (moves_to_list) {
    if (part == NOBODY) fetch_and(ARRAY(r, FLAGS) + v, ~LISTED);
    else push(r, listed, LIST + r->state[REFINE_WRITE], REFINE_LENGTH + r->state[REFINE_WRITE], v);
  }
  const uint last = r->state[REFINE_SPREAD], round = mode == MODE_SPREAD ? r->state[REFINE_ROUND] : ROUNDS - 1u;
  if (part == NOBODY || (last && (uint)ARRAY(r, LOCKED)[v] == last)) return;
  const int gain = ARRAY(r, PULL_GAIN)[v];
  const long may_lose = (long)ARRAY(r, PULL_OWN)[v] * (r->is_finest ? FINE_SHARE : COARSE_SHARE) >> (2u + 2u * round);
  if (gain < 0 && -gain >= may_lose) return;
  if (round + 1u == ROUNDS && !is_open(r, part, vertex_weight(on, v), MODE_WEAK)) return;
  become_candidate(r, v, part, gain, stamp, candidates);
}

/* Rebalancing: v asks for the part with room to which a move costs least, or for any part with room. */
INLINE void ask_to_leave(const refined_t *r, int v, int weight, pull_t pull, uint mode, uint stamp,
                         batch_t *candidates) {
  const int part = ARRAY(r, PART)[v];
  int target = pull.best && (mode != MODE_STRONG || mixed((uint)v ^ stamp) & 1u) ? part_of(pull.best, v) : NOBODY;
  if (target == NOBODY) target = any_open_part(r, v);
  if (target == NOBODY || target == part) return;
  const int loss = pull.own - (pull.best && target == part_of(pull.best, v) ? weight_of(pull.best) : 0);
  const int bucket = bucket_of(loss, weight);
  fetch_add(r->histogram + (size_t)part * BUCKETS + bucket, weight);
  become_candidate(r, v, target, bucket, stamp, candidates);
}

/* Returns 1 if v's part is too heavy, and v is not so heavy itself that the part would be too light without it. */
INLINE int may_leave(const refined_t *r, int v, int weight, uint mode) {
  const int part = ARRAY(r, PART)[v];
  if (part == NOBODY) return 0;
  const int size = OF_PARTS(r, SIZES)[part];
  const long excess = size - OF_PARTS(r, SHARES)[part];
  return size > OF_PARTS(r, LIMITS)[part] && 2l * weight < (mode == MODE_STRONG ? 4l : 3l) * excess;
}

/* Returns 1 if v is rebalanced in this turn, 0 if it takes part in label propagation. */
INLINE int is_rebalanced(const refined_t *r, int v, uint mode) {
  if (mode != MODE_MIXED) return mode != MODE_SPREAD;
  const int part = ARRAY(r, PART)[v];
  return OF_PARTS(r, SIZES)[part] > OF_PARTS(r, LIMITS)[part];
}

/* Copy the current parts of the vertices in the journal to the best partition. */
INLINE void copy_journal(const refined_t *r) {
  const uint n = r->state[REFINE_COPIED];
  const share_t share = SHARE_OF(r, n);
  for (uint i = share.first; i < share.end; i += share.step) {
    if (i + sg_lane() >= n) continue;
    const int v = ARRAY(r, JOURNAL)[i + sg_lane()];
    ARRAY(r, BEST)[v] = ARRAY(r, PART)[v];
    fetch_and(ARRAY(r, FLAGS) + v, ~IN_JOURNAL);
  }
}

/* Move the vertices in the journal back to their parts in the best partition. */
INLINE void take_back(const refined_t *r, const level_t *on) {
  const uint n = r->state[REFINE_BACK];
  const share_t share = SHARE_OF(r, n);
  for (uint i = share.first; i < share.end; i += share.step) {
    if (i + sg_lane() >= n) continue;
    const int v = ARRAY(r, JOURNAL)[i + sg_lane()], best = ARRAY(r, BEST)[v];
    fetch_and(ARRAY(r, FLAGS) + v, ~IN_JOURNAL);
    if (ARRAY(r, PART)[v] == best) continue;
    ARRAY(r, PART)[v] = best;
    touch(r, v);
    for (int e = on->rows[v]; e < on->rows[v + 1]; e++) touch(r, on->columns[e]);
  }
}

INLINE void ask(const refined_t *r, const level_t *on) {
  const uint mode = r->state[REFINE_MODE], stamp = r->state[REFINE_STAMP];
  copy_journal(r);
  if (mode == MODE_BACK) take_back(r, on);
  if (mode >= MODE_BACK) return;
  const uint n = mode == MODE_STRONG ? on->n : r->state[REFINE_LISTED], read = r->state[REFINE_READ];
  NEW_BATCH(listed)
  NEW_BATCH(candidates)
  volatile __local int *counters = r->counters + sg_in_group() * PARTS_ROOM;
  const list_share_t share = LIST_SHARE_OF(r, n);
  for (uint i = share.first; i < share.end; i += share.step) {
    const uint k = i + sg_lane() * share.stride;
    const int v = k < n ? (mode == MODE_STRONG ? (int)k : ARRAY(r, LIST + read)[k]) : NOBODY;
    int weight = 0, is_stale = v != NOBODY;
    uint own_mode = MODE_SPREAD;
    if (is_stale) {
      weight = vertex_weight(on, v);
      if (is_rebalanced(r, v, mode)) own_mode = mode;
      is_stale = own_mode == MODE_SPREAD ? !(load_relaxed(ARRAY(r, FLAGS) + v) & FRESH) : may_leave(r, v, weight, mode);
    }
    const pull_t pull = pulls_of(r, on, v, is_stale, weight, own_mode, counters);
    if (is_stale && own_mode != MODE_SPREAD) ask_to_leave(r, v, weight, pull, mode, stamp, &candidates);
    if (v == NOBODY || own_mode != MODE_SPREAD) continue;
    if (is_stale) {
      ARRAY(r, PULL_PART)[v] = pull.best ? part_of(pull.best, v) : NOBODY;
      ARRAY(r, PULL_GAIN)[v] = weight_of(pull.best) - pull.own;
      ARRAY(r, PULL_OWN)[v] = pull.own;
      fetch_or(ARRAY(r, FLAGS) + v, FRESH);
    }
    consider(r, on, v, mode, stamp, &listed, &candidates);
  }
  flush(r, &listed, LIST + r->state[REFINE_WRITE], REFINE_LENGTH + r->state[REFINE_WRITE]);
  flush(r, &candidates, CANDIDATES, REFINE_CANDIDATES);
}
#endif
