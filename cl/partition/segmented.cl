/* Matching by segments.  A sub-group takes an open vertex per lane, and its lanes go through the entries of all these
 * vertices, one row after the other.  So a long row costs no more than many short ones.
 *
 *   start_segmented   a work-item takes a vertex, and lists it if it has edges
 *   choose_segmented  Local memory has the beginnings of the rows of a sub-group's vertices.  A lane finds the vertex of an
 *                     entry by bisection, and a segmented reduction finds the best candidate of each vertex.  The vertex
 *                     claims its candidate by a 64-bit atomic maximum of rating and vertex number.
 *   break_ties        the lower half of that maximum, for devices without 64-bit atomics
 *   match_segmented   A work-item takes a vertex.  The vertex is matched with its candidate if no other vertex has a
 *                     greater claim on the candidate and either both chose each other, or the vertex proposes and the
 *                     candidate accepts.  A vertex proposes if no vertex claims it, or if a hash says so.  A vertex that
 *                     still has a candidate is listed again.
 *
 * A vertex that proposes does not accept, so the pairs have no vertex in common.  If both vertices of a pair chose each
 * other, each writes its own mate; in other pairs the proposing vertex writes both mates.  Claims are distinct, because
 * they contain vertex numbers.  So the result does not depend on the order of lists, which is random.  offers has two
 * halves: one is cleared while the other is in use.
 *
 * The roles of proposing and accepting vertices are from B. Fagginger Auer, R. Bisseling, "A GPU algorithm for greedy
 * graph matching", Facing the Multicore-Challenge II, 2012.
 */
#include "partition/level.h"
#include "common/worklist.h"

#ifndef SPLIT_CLAIMS             /* 1: the greatest claim is found in two steps, without 64-bit atomics */
#define SPLIT_CLAIMS (!DEV_HAS_INT64_ATOMICS)
#endif
#define OPEN_PARAMETERS                                                                               \
  __global int *mates, __global int *choices, __global ulong *claims, volatile __global ulong *offers, \
  __global int *open_lists, volatile __global uint *open_lengths, uint open_room
#define OPEN_LIST(k) (open_lists + (size_t)(k) * open_room)
#define OFFERS(k) (offers + (size_t)(k) * open_room)

KERNEL start_segmented(uint level, LEVELS_PARAMETERS, OPEN_PARAMETERS) {
  const level_t on = LEVEL(level);
  const share_t share = share_of(on.n);
  for (uint i = share.first; i < share.end; i += share.step) {
    const uint v = i + sg_lane();
    const int is_open = v < on.n && on.rows[v] < on.rows[v + 1];
    const uint at = push_sub_group(open_lengths, is_open);
    if (is_open) OPEN_LIST(0)[at] = (int)v;
    if (v >= on.n) continue;
    mates[v] = level == 0u && !is_open ? LEFT_OUT : NOBODY;
    OFFERS(0)[v] = OFFERS(1)[v] = 0ul;
  }
}

/* Returns the vertex of entry t: the last one whose entries begin at or before t, by `begins`. */
INLINE uint source_of(__local const int *begins, int t) {
  uint low = 0u;
  for (uint step = SUB_GROUP_SIZE / 2u; step; step /= 2u) low += begins[low + step] <= t ? step : 0u;
  return low;
}

/* The key of entry e of v; 0 if the vertices cannot be matched. */
INLINE ulong candidate_key(const level_t *on, __global const int *mates, int v, int e, uint seed, int most_weight) {
  const int u = on->columns[e];
  if (u == v || mates[u] != NOBODY || vertex_weight(on, u) > most_weight - vertex_weight(on, v)) return 0ul;
  return edge_key(on, seed, v, u, e);
}

/* Give the last lane of each source the best of the keys that its lanes have, and of equal keys the greatest end. */
INLINE void best_of_source(uint source, ulong *key, int *end) {
  const uint lane = sg_lane();
  for (uint d = 1u; d < SUB_GROUP_SIZE; d <<= 1) {
    const uint from = (lane - d) & (SUB_GROUP_SIZE - 1u);
    const ulong its_key = sg_broadcast(*key, from);
    const int its_end = sg_broadcast(*end, from), is_same = sg_broadcast(source, from) == source && lane >= d;
    if (!is_same || its_key < *key || (its_key == *key && its_end <= *end)) continue;
    *key = its_key;
    *end = its_end;
  }
}

/* Offer v to its chosen end, with the rating of the edge. */
INLINE void offer_choice(int v, int end, ulong key, uint seed, __global ulong *claims, volatile __global ulong *offers) {
  const uint rating = (uint)(key >> 32);
  claims[v] = (ulong)rating << 32 | mixed((uint)v ^ seed);
#if SPLIT_CLAIMS
  fetch_max((volatile __global uint *)(offers + end) + 1, rating);
#else
  fetch_max(offers + end, claims[v]);
#endif
}

KERNEL choose_segmented(uint level, uint round, uint seed, int most_weight, LEVELS_PARAMETERS, OPEN_PARAMETERS) {
  LOCAL_ARRAY int all_begins[WG_SIZE], all_firsts[WG_SIZE], all_sources[WG_SIZE], all_ends[WG_SIZE];
  LOCAL_ARRAY ulong all_keys[WG_SIZE];
  const level_t on = LEVEL(level);
  const uint place = sg_in_group() * SUB_GROUP_SIZE, lane = sg_lane();
  __local int *begins = all_begins + place, *firsts = all_firsts + place, *sources = all_sources + place;
  __local int *ends = all_ends + place;
  __local ulong *keys = all_keys + place;
  const uint n = open_lengths[round & 1u];
  if (get_global_id(0) == 0) open_lengths[~round & 1u] = 0u;
  const share_t share = share_of(n);
  for (uint i = share.first; i < share.end; i += share.step) {
    const int listed = i + lane < n ? OPEN_LIST(round & 1u)[i + lane] : NOBODY;
    const int v = listed != NOBODY && mates[listed] == NOBODY ? listed : NOBODY;
    const int degree = v == NOBODY ? 0 : on.rows[v + 1] - on.rows[v], before = sg_exclusive_sum(degree);
    const int n_entries = sg_broadcast(before + degree, SUB_GROUP_SIZE - 1);
    begins[lane] = before;
    firsts[lane] = v == NOBODY ? 0 : on.rows[v];
    sources[lane] = v;
    keys[lane] = 0ul;
    ends[lane] = NOBODY;
    sg_sync();
    for (int t = (int)lane; t - (int)lane < n_entries; t += SUB_GROUP_SIZE) {
      const uint source = t < n_entries ? source_of(begins, t) : SUB_GROUP_SIZE;
      ulong key = 0ul;
      int end = NOBODY;
      if (t < n_entries) {
        const int e = firsts[source] + t - begins[source];
        key = candidate_key(&on, mates, sources[source], e, seed, most_weight);
        end = on.columns[e];
      }
      best_of_source(source, &key, &end);
      const uint next = sg_broadcast(source, (lane + 1u) & (SUB_GROUP_SIZE - 1u));
      if (t < n_entries && (lane == SUB_GROUP_SIZE - 1u || next != source) &&
          (key > keys[source] || (key == keys[source] && key && end > ends[source]))) {
        keys[source] = key;
        ends[source] = end;
      }
      sg_sync();
    }
    if (listed != NOBODY) choices[listed] = ends[lane];
    if (ends[lane] != NOBODY) offer_choice(v, ends[lane], keys[lane], seed, claims, OFFERS(round & 1u));
  }
}

KERNEL break_ties(uint round, OPEN_PARAMETERS) {
  const uint n = open_lengths[round & 1u];
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
    const int v = OPEN_LIST(round & 1u)[i], u = choices[v];
    if (u == NOBODY) continue;
    volatile __global uint *words = (volatile __global uint *)(OFFERS(round & 1u) + u);
    if (words[1] == (uint)(claims[v] >> 32)) fetch_max(words, (uint)claims[v]);
  }
}

INLINE int proposes(__global const ulong *offers, int v, uint seed, uint round) {
  return !offers[v] || mixed(mixed((uint)v) ^ seed ^ round) & 1u;
}

KERNEL match_segmented(uint level, uint round, uint seed, OPEN_PARAMETERS) {
  __global const ulong *given = (__global const ulong *)OFFERS(round & 1u);
  const uint n = open_lengths[round & 1u];
  const share_t share = share_of(n);
  for (uint i = share.first; i < share.end; i += share.step) {
    const int v = i + sg_lane() < n ? OPEN_LIST(round & 1u)[i + sg_lane()] : NOBODY;
    const int u = v == NOBODY ? NOBODY : choices[v];
    int stays = u != NOBODY;
    if (v != NOBODY) OFFERS(~round & 1u)[v] = 0ul;
    if (stays && given[u] == claims[v]) {
      const int is_mutual = choices[u] == v && given[v] == claims[u];
      if (is_mutual || (proposes(given, v, seed, round) && !proposes(given, u, seed, round))) {
        mates[v] = u;
        if (!is_mutual) mates[u] = v;
        stays = 0;
      }
    }
    const uint at = push_sub_group(open_lengths + (~round & 1u), stays);
    if (stays) OPEN_LIST(~round & 1u)[at] = v;
  }
}
