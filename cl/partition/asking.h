/* The second step of label propagation: vertices at the border, and in a strong rebalancing all of heavy parts, find the
 * part that pulls most, and ask for it.
 *
 * Weights to parts are counted from the row: a work-item compares a short row with itself, and a sub-group counts a long
 * one in local memory, where it has a counter for each part.  Of parts that pull alike a hash of the vertex decides.
 */
#ifndef CLGRAPH_ASKING_H
#define CLGRAPH_ASKING_H
#include "partition/refinement.h"

#ifndef PARTS_ROOM               /* at least the number of parts */
#define PARTS_ROOM 64
#endif
#ifndef SHORT_ROW                /* rows of at most so many entries are compared with themselves */
#define SHORT_ROW 8
#endif
#ifndef FINE_SHARE               /* quarters of the weight to the own part that a move may lose, on level 0 and others */
#define FINE_SHARE 1
#endif
#ifndef COARSE_SHARE
#define COARSE_SHARE 3
#endif

typedef struct { int own; ulong best; } pull_t;  /* weight to the own part, and the key of the strongest other one */
INLINE uint tie_of(int v) { return mixed((uint)v) & 0xffffu; }
INLINE ulong pull_key(int weight, int part, int v) { return ((ulong)(uint)weight << 32) | ((uint)part ^ tie_of(v)) | 0x10000u; }
INLINE int part_of(ulong key, int v) { return (int)(((uint)key & 0xffffu) ^ tie_of(v)); }
INLINE int weight_of(ulong key) { return (int)(key >> 32); }

/* Whether vertices may move to a part: in a rebalancing those of weight that it has room for. */
INLINE int is_open(const refined_t *r, int part, int weight, uint mode) {
  return mode == MODE_SPREAD || OF_PARTS(r, SIZES)[part] + weight <= OF_PARTS(r, LIMITS)[part];
}

INLINE pull_t pulls_of_short(const refined_t *r, const level_t *on, int v, int weight, int first, int last, uint mode) {
  __global const int *parts = (__global const int *)ARRAY(r, PART);
  const int own_part = parts[v];
  pull_t pull;
  pull.own = 0;
  pull.best = 0ul;
  for (int e = first; e < last; e++) {
    const int u = on->columns[e], part = parts[u];
    if (u == v) continue;
    if (part == own_part) {
      pull.own += edge_weight(on, e);
      continue;
    }
    int sum = 0, is_first = 1;
    for (int f = first; f < last; f++)
      if (parts[on->columns[f]] == part) {
        is_first &= f >= e;
        sum += edge_weight(on, f);
      }
    if (is_first && is_open(r, part, weight, mode)) pull.best = max(pull.best, pull_key(sum, part, v));
  }
  return pull;
}

/* The lanes of a sub-group take the entries of v; counters: an int for each part, all 0 before and after. */
INLINE pull_t pulls_of_long(const refined_t *r, const level_t *on, int v, int weight, int first, int last, uint mode,
                            volatile __local int *counters) {
  __global const int *parts = (__global const int *)ARRAY(r, PART);
  const int own_part = parts[v];
  pull_t pull;
  pull.best = 0ul;
  for (int e = first + (int)sg_lane(); e < last; e += SUB_GROUP_SIZE) {
    const int u = on->columns[e];
#if SUB_GROUP_SIZE == 1
    if (u != v) counters[parts[u]] += edge_weight(on, e);
#else
    if (u != v) fetch_add(counters + parts[u], edge_weight(on, e));
#endif
  }
  sg_sync();
  pull.own = counters[own_part];
  for (int e = first + (int)sg_lane(); e < last; e += SUB_GROUP_SIZE) {
    const int u = on->columns[e], part = parts[u];
    if (u != v && part != own_part && is_open(r, part, weight, mode))
      pull.best = max(pull.best, pull_key(counters[part], part, v));
  }
  sg_sync();
  for (int e = first + (int)sg_lane(); e < last; e += SUB_GROUP_SIZE) {
#if SUB_GROUP_SIZE == 1
    counters[parts[on->columns[e]]] = 0;
#else
    fetch_and(counters + parts[on->columns[e]], 0);  /* several lanes may have entries of one part */
#endif
  }
  sg_sync();
  pull.best = sg_greatest(pull.best);
  return pull;
}

/* The bucket of a loss for each unit of weight: gains first, then by powers of the square root of two. */
INLINE int bucket_of(int loss, int weight) {
  if (loss <= 0) return loss < 0 ? 0 : 1;
  const ulong scaled = ((ulong)(uint)loss << 8) / (ulong)(uint)max(1, weight);
  if (scaled < 2ul) return 2;
  const int top = 63 - (int)clz(scaled), next = (int)((scaled >> (top - 1)) & 1ul);
  return min(BUCKETS - 1, 2 + max(0, 2 * top + next - 8));
}

/* A part with room, the more likely the more it has. */
INLINE int any_open_part(const refined_t *r, int v) {
  volatile __global int *sums = OF_PARTS(r, FREE);
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

INLINE void become_candidate(const refined_t *r, int v, int target, int gain, uint stamp) {
  ARRAY(r, TARGET)[v] = target;
  ARRAY(r, GAIN)[v] = gain;
  ARRAY(r, ASKED)[v] = (int)stamp;
  ARRAY(r, CANDIDATES)[fetch_add(r->state + REFINE_CANDIDATES, 1u)] = v;
}

/* What vertex v, with these pulls, asks for. */
INLINE void ask_for(const refined_t *r, const level_t *on, int v, int weight, pull_t pull, uint mode, uint stamp) {
  const int part = ARRAY(r, PART)[v];
  if (mode == MODE_SPREAD) {
    if (!pull.best) {
      fetch_and(ARRAY(r, FLAGS) + v, ~LISTED);
      return;
    }
    const uint list = r->state[REFINE_WRITE];
    ARRAY(r, LIST + list)[fetch_add(r->state + REFINE_LENGTH + list, 1u)] = v;
    const uint last = r->state[REFINE_SPREAD];
    if (last && (uint)ARRAY(r, LOCKED)[v] == last) return;
    const int gain = weight_of(pull.best) - pull.own;
    const int may_lose = (int)((long)pull.own * (r->is_finest ? FINE_SHARE : COARSE_SHARE) / 4);
    if (gain >= 0 || -gain < may_lose) become_candidate(r, v, part_of(pull.best, v), gain, stamp);
    return;
  }
  int target = pull.best && (mode == MODE_WEAK || mixed((uint)v ^ stamp) & 1u) ? part_of(pull.best, v) : NOBODY;
  if (target == NOBODY) target = any_open_part(r, v);
  if (target == NOBODY || target == part) return;
  const int loss = pull.own - (pull.best && target == part_of(pull.best, v) ? weight_of(pull.best) : 0);
  const int bucket = bucket_of(loss, weight);
  fetch_add(r->histogram + (size_t)part * BUCKETS + bucket, weight);
  become_candidate(r, v, target, bucket, stamp);
}

INLINE void ask(const refined_t *r, const level_t *on) {
  const uint mode = r->state[REFINE_MODE], stamp = r->state[REFINE_STAMP], copied = r->state[REFINE_COPIED];
  const share_t journal = SHARE_OF(r, copied);
  for (uint i = journal.first; i < journal.end; i += journal.step) {
    if (i + sg_lane() >= copied) continue;
    const int v = ARRAY(r, JOURNAL)[i + sg_lane()];
    ARRAY(r, BEST)[v] = ARRAY(r, PART)[v];
    fetch_and(ARRAY(r, FLAGS) + v, ~IN_JOURNAL);
  }
  if (mode == MODE_DONE) return;
  const uint n = mode == MODE_STRONG ? on->n : r->state[REFINE_LISTED], read = r->state[REFINE_READ];
  volatile __local int *counters = r->counters + sg_in_group() * PARTS_ROOM;
  const share_t share = SHARE_OF(r, n);
  for (uint i = share.first; i < share.end; i += share.step) {
    const uint k = i + sg_lane();
    int v = k < n ? (mode == MODE_STRONG ? (int)k : ARRAY(r, LIST + read)[k]) : NOBODY, weight = 0, first = 0, last = 0;
    if (v != NOBODY) {
      weight = vertex_weight(on, v);
      if (mode != MODE_SPREAD) {
        const int part = ARRAY(r, PART)[v];
        if (part == NOBODY) v = NOBODY;
        else {
          const int size = OF_PARTS(r, SIZES)[part], excess = size - OF_PARTS(r, SHARES)[part];
          if (size <= OF_PARTS(r, LIMITS)[part] || (long)weight * 2 >= (long)excess * 3 + (mode == MODE_STRONG) * (long)excess)
            v = NOBODY;
        }
      }
    }
    if (v != NOBODY) {
      first = on->rows[v];
      last = on->rows[v + 1];
    }
    const int is_long = v != NOBODY && last - first > SHORT_ROW;
    if (v != NOBODY && !is_long) ask_for(r, on, v, weight, pulls_of_short(r, on, v, weight, first, last, mode), mode, stamp);
    for (lane_mask_t left = sg_ballot(is_long); left; left &= left - 1) {
      const uint lane = lowest_lane(left);
      const int w = sg_broadcast(v, lane), of_w = sg_broadcast(weight, lane);
      const pull_t pull = pulls_of_long(r, on, w, of_w, sg_broadcast(first, lane), sg_broadcast(last, lane), mode, counters);
      if (sg_lane() == lane) ask_for(r, on, w, of_w, pull, mode, stamp);
    }
  }
}
#endif
