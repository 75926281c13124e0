/* The second step of label propagation.  Vertices at the border find the part to which they have the greatest edge weight
 * (their strongest pull), and ask to move there.  In a strong rebalancing all vertices of heavy parts do so.
 *
 * Weights to parts are summed over the row.  A lane processes a short row, in registers.  A sub-group processes a long
 * row, or a vertex adjacent to many parts, in local memory, with a counter for each part.  If parts pull equally, a hash
 * of the vertex decides.
 */
#ifndef CLGRAPH_ASKING_H
#define CLGRAPH_ASKING_H
#include "partition/refinement.h"

#ifndef PARTS_ROOM               /* counters per sub-group, at least one for each part */
#define PARTS_ROOM 64
#endif
#ifndef SHORT_ROW                /* a lane alone processes rows up to SHORT_ROW entries times its sub-group's rows, ... */
#define SHORT_ROW 4
#endif
#ifndef SLOTS                    /* ... if the vertex is adjacent to at most this number of other parts */
#define SLOTS 4
#endif
#ifndef ROUNDS                   /* rounds of label propagation on a level */
#define ROUNDS 2u
#endif
#ifndef FINE_SHARE               /* quarters of the weight to the own part that a move may lose, on level 0 and others */
#define FINE_SHARE 2
#endif
#ifndef COARSE_SHARE
#define COARSE_SHARE 3
#endif

typedef struct { int own; ulong best; } pull_t;  /* weight to the own part, and the key of the strongest other one */
INLINE uint tie_of(int v) { return mixed((uint)v) & 0xffffu; }
INLINE ulong pull_key(int weight, int part, int v) { return ((ulong)(uint)weight << 32) | ((uint)part ^ tie_of(v)) | 0x10000u; }
INLINE int part_of(ulong key, int v) { return (int)(((uint)key & 0xffffu) ^ tie_of(v)); }
INLINE int weight_of(ulong key) { return (int)(key >> 32); }

/* Returns 1 if a vertex may move to a part: in a rebalancing only if the part has room for its weight. */
INLINE int is_open(const refined_t *r, int part, int weight, uint mode) {
  const int limit = OF_PARTS(r, LIMITS)[part];
  return mode == MODE_SPREAD || OF_PARTS(r, SIZES)[part] + weight <= limit - DEAD_ZONE(limit);
}

/* A work-item sums in SLOTS registers; *is_full becomes 1 if v is adjacent to more parts, and the result is then invalid. */
INLINE pull_t pulls_of_short(const refined_t *r, const level_t *on, int v, int weight, int first, int last, uint mode,
                             int *is_full) {
  __global const int *parts = (__global const int *)ARRAY(r, PART);
  const int own_part = parts[v];
  int beside[SLOTS], sums[SLOTS];
  pull_t pull;
  pull.own = 0;
  pull.best = 0ul;
#pragma unroll
  for (int k = 0; k < SLOTS; k++) {
    beside[k] = NOBODY;
    sums[k] = 0;
  }
  *is_full = 0;
  for (int e = first; e < last && !*is_full; e++) {
    const int u = on->columns[e], part = parts[u], of_edge = u == v ? 0 : edge_weight(on, e);
    int is_placed = part == own_part;
    pull.own += is_placed ? of_edge : 0;
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
      const int is_here = !is_placed & ((beside[k] == part) | (beside[k] == NOBODY));
      beside[k] = is_here ? part : beside[k];
      sums[k] += is_here ? of_edge : 0;
      is_placed |= is_here;
    }
    *is_full = !is_placed;
  }
#pragma unroll
  for (int k = 0; k < SLOTS; k++)
    if (beside[k] != NOBODY && is_open(r, beside[k], weight, mode))
      pull.best = max(pull.best, pull_key(sums[k], beside[k], v));
  return pull;
}

/* The lanes of a sub-group take the entries of v; counters: an int for each part, all 0 before and after.  With one lane
 * per sub-group it keeps a list of the parts adjacent to v, whose counters are one more than the weight. */
INLINE pull_t pulls_of_long(const refined_t *r, const level_t *on, int v, int weight, int first, int last, uint mode,
                            volatile __local int *counters) {
  __global const int *parts = (__global const int *)ARRAY(r, PART);
  const int own_part = parts[v];
  pull_t pull;
  pull.best = 0ul;
#if SUB_GROUP_SIZE == 1
  int beside[PARTS_ROOM], n_beside = 0;
  pull.own = 0;
  for (int e = first; e < last; e++) {
    const int u = on->columns[e], part = parts[u], sum = counters[part];
    if (u == v) continue;
    if (!sum) beside[n_beside++] = part;
    counters[part] = sum + !sum + edge_weight(on, e);
  }
  for (int i = 0; i < n_beside; i++) {
    const int part = beside[i], sum = counters[part] - 1;
    counters[part] = 0;
    if (part == own_part) pull.own = sum;
    else if (is_open(r, part, weight, mode)) pull.best = max(pull.best, pull_key(sum, part, v));
  }
#else
  /* A counter is twice the weight plus 1, so that it is not 0 for a part to which only edges of weight 0 lead. */
  for (int e = first + (int)sg_lane(); e < last; e += SUB_GROUP_SIZE) {
    const int u = on->columns[e], of_edge = edge_weight(on, e);
    if (u == v) continue;
    if (of_edge) fetch_add(counters + parts[u], 2 * of_edge);
    else fetch_or(counters + parts[u], 1);
  }
  sg_sync();
  pull.own = (int)((uint)counters[own_part] >> 1);
  sg_sync();
  if (last - first > (int)r->n_parts) {
    for (uint part = sg_lane(); part < r->n_parts; part += SUB_GROUP_SIZE) {
      const uint sum = (uint)counters[part];
      counters[part] = 0;
      if (sum && (int)part != own_part && is_open(r, (int)part, weight, mode))
        pull.best = max(pull.best, pull_key((int)(sum >> 1), (int)part, v));
    }
    sg_sync();
  } else {
    for (int e = first + (int)sg_lane(); e < last; e += SUB_GROUP_SIZE) {
      const int u = on->columns[e], part = parts[u];
      if (u != v && part != own_part && is_open(r, part, weight, mode))
        pull.best = max(pull.best, pull_key((int)((uint)counters[part] >> 1), part, v));
    }
    sg_sync();
    for (int e = first + (int)sg_lane(); e < last; e += SUB_GROUP_SIZE)
      fetch_and(counters + parts[on->columns[e]], 0);  /* several lanes may have entries of one part */
    sg_sync();
  }
  pull.best = sg_greatest(pull.best);
#endif
  return pull;
}

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
    int weight = 0, first = 0, last = 0, is_stale = v != NOBODY;
    uint own_mode = MODE_SPREAD;
    if (is_stale) {
      weight = vertex_weight(on, v);
      if (is_rebalanced(r, v, mode)) own_mode = mode;
      is_stale = own_mode == MODE_SPREAD ? !(load_relaxed(ARRAY(r, FLAGS) + v) & FRESH) : may_leave(r, v, weight, mode);
    }
    if (is_stale) {
      first = on->rows[v];
      last = on->rows[v + 1];
    }
    const int n_rows = (int)lane_count(sg_ballot(is_stale));
    int is_long = last - first > (SUB_GROUP_SIZE == 1 ? 0 : min(64, SHORT_ROW * n_rows));
    pull_t pull;
    pull.own = 0;
    pull.best = 0ul;
#if SUB_GROUP_SIZE > 1
    if (is_stale && !is_long) pull = pulls_of_short(r, on, v, weight, first, last, own_mode, &is_long);
#endif
    for (lane_mask_t left = sg_ballot(is_long); left; left &= left - 1) {
      const uint lane = lowest_lane(left);
      const pull_t found = pulls_of_long(r, on, sg_broadcast(v, lane), sg_broadcast(weight, lane),
                                         sg_broadcast(first, lane), sg_broadcast(last, lane),
                                         sg_broadcast(own_mode, lane), counters);
      if (sg_lane() == lane) pull = found;
    }
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
