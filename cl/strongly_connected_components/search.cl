/* Forward and backward search from a pivot: marks the vertices that the pivot reaches, and those that reach it.
 *
 * A work-item takes every stride-th vertex.  The lanes of a sub-group share longer rows; pieces of long rows are listed and
 * are spread over all sub-groups.  forward[v] and backward[v] are 0 until v is marked, then the number of the next round.
 * Round k reads rows only, so the graph is not transposed: a vertex that round k - 1 marked in forward marks its
 * neighbours, and a vertex without a mark in backward looks for a neighbour with one.  The vertices with both marks are in
 * the component of the pivot, even if the search is cut off after some rounds.
 *
 * Races: marks are set once or several times in one round, to the same value; only the row of a vertex, or a piece of it,
 * sets its mark in backward.  A stale 0 in forward costs another store of the same value.  A stale 0 in backward delays a
 * mark to the next round: the store of the mark has reported this round in SEARCH_FOUND, so there is a next one.  Many
 * sub-groups store the same round there, and the word only grows.
 *
 * After L. Fleischer, B. Hendrickson, A. Pinar, "On identifying strongly connected components in parallel", IPDPS 2000, and
 * S. Hong, N. Rodia, K. Olukotun, "On fast parallel detection of strongly connected components (SCC) in small-world
 * graphs", SC 2013.
 */
#include "common/random.h"
#include "common/shares.h"
#include "strongly_connected_components/state.h"

#ifndef SAMPLES                  /* entries from whose ends the pivot is chosen */
#define SAMPLES 1024
#endif
#define PUSH 1u                  /* the vertex marks its neighbours in forward */
#define PULL 2u                  /* the vertex looks for a neighbour with a mark in backward */

/* Make each vertex a component, clear the stamps of chunks, and list the pieces of long rows.
 * Race: sub-groups take slots of the list by atomic additions. */
KERNEL start(int n, __global const offset_t *restrict row_offsets, __global int *restrict labels,
             __global int *restrict least, __global uint *restrict forward, __global uint *restrict backward,
             __global uint *restrict after_stamps, __global uint *restrict before_stamps, __global int2 *restrict pieces,
             volatile __global uint *control) {
  for (long v = get_global_id(0); v < n; v += get_global_size(0)) {
    labels[v] = (int)v;
    least[v] = n;
    forward[v] = backward[v] = 0u;
    if (v % CHUNK == 0) after_stamps[v / CHUNK] = before_stamps[v / CHUNK] = 0u;
#if CUTS_ROWS
    offset_t length = row_offsets[v + 1] - row_offsets[v];
    if (length <= LONG_ROW) continue;
    int count = (int)((length + LONG_ROW - 1) / LONG_ROW);
    uint slot = fetch_add(control + N_PIECES, (uint)count);
    for (int k = 0; k < count; k++) pieces[slot + k] = (int2)((int)v, k);
#endif
  }
}

/* One work-group: choose the vertex with the longest row among the ends of sampled entries, and mark it.  Vertices of many
 * incoming entries are likely to be among the ends.  The same entries are sampled in every run. */
KERNEL choose_pivot(offset_t m, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                    __global uint *restrict forward, __global uint *restrict backward, volatile __global uint *control) {
  LOCAL_ARRAY int ends[WG_SIZE];
  LOCAL_ARRAY offset_t lengths[WG_SIZE];
  int i = get_local_id(0), end = 0;
  offset_t longest = -1;
  for (int k = i; k < SAMPLES; k += WG_SIZE) {
    ulong place = ((ulong)random_uint(random_key(1ul), (ulong)k) << 16 | random_uint(random_key(2ul), (ulong)k) >> 16) >> 1;
    int v = column_indices[(offset_t)(place % (ulong)m)];
    offset_t length = row_offsets[v + 1] - row_offsets[v];
    if (length > longest) longest = length, end = v;
  }
  ends[i] = end;
  lengths[i] = longest;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i) return;
  for (int k = 1; k < WG_SIZE; k++)
    if (lengths[k] > longest) longest = lengths[k], end = ends[k];
  control[PIVOT] = (uint)end;
  forward[end] = backward[end] = 1u;
}

typedef struct {                 /* the arrays that a round reads and marks */
  uint round;
  __global const int *columns;
  volatile __global uint *forward, *backward;
} marks_t;

/* Look at four entries, `stride` apart, of a row that ends before `end`; e < end.  Entries past the end are replaced by the
 * last one.  Returns which of the wanted bits it has found: PUSH if it marked a neighbour, PULL if a neighbour has a mark. */
INLINE uint look_at(offset_t e, offset_t end, offset_t stride, uint wanted, marks_t on) {
  int v[4];
  uint found = 0u;
#pragma unroll
  for (int k = 0; k < 4; k++) v[k] = on.columns[min(e + k * stride, end - 1)];
  if (wanted & PULL) {
    uint a = load_relaxed(on.backward + v[0]), b = load_relaxed(on.backward + v[1]);
    uint c = load_relaxed(on.backward + v[2]), d = load_relaxed(on.backward + v[3]);
    if (a | b | c | d) found = PULL;
  }
  if (wanted & PUSH) {
    uint marks[4];
#pragma unroll
    for (int k = 0; k < 4; k++) marks[k] = load_relaxed(on.forward + v[k]);
#pragma unroll
    for (int k = 0; k < 4; k++)
      if (!marks[k]) {
        store_relaxed(on.forward + v[k], on.round + 1u);
        found |= PUSH;
      }
  }
  return found;
}

/* Every lane calls with the same row, or part of one. */
INLINE uint look_together(offset_t begin, offset_t end, uint wanted, marks_t on) {
  uint found = 0u;
  for (offset_t e = begin; e < end && wanted; e += 4 * SUB_GROUP_SIZE) {
    offset_t mine = e + sg_lane();
    if (mine < end) found |= look_at(mine, end, SUB_GROUP_SIZE, wanted, on);
    if (sg_any(found & PULL)) wanted &= ~PULL;
  }
  return (sg_any(found & PUSH) ? PUSH : 0u) | (sg_any(found & PULL) ? PULL : 0u);
}

/* Returns what vertex v wants from its row in this round. */
INLINE uint wanted_by(int v, marks_t on) {
  return (load_relaxed(on.forward + v) == on.round ? PUSH : 0u) | (load_relaxed(on.backward + v) ? 0u : PULL);
}

/* The rows of a share of the vertices, without long ones.  Every lane calls; returns what this lane has found. */
INLINE uint look_at_rows(int n, share_t share, __global const offset_t *row_offsets, marks_t on) {
  uint all = 0u;
  for (uint i = share.first; i < share.end; i += share.step) {
    int v = (int)(i + sg_lane());
    offset_t begin = 0, end = 0;
    uint wanted = 0u, found = 0u;
    if (v < n) {
      begin = row_offsets[v];
      end = row_offsets[v + 1];
      const offset_t longest = CUTS_ROWS ? (offset_t)LONG_ROW : end - begin;
      if (begin < end && end - begin <= longest) wanted = wanted_by(v, on);
    }
    int is_wide = CUTS_ROWS && wanted && end - begin > SHORT_ROW;
    if (!is_wide)
      for (offset_t e = begin; e < end && wanted; e += 4) {
        found |= look_at(e, end, 1, wanted, on);
        if (found & PULL) wanted &= ~PULL;
      }
#if CUTS_ROWS
    for (lane_mask_t waiting = sg_ballot(is_wide); waiting; waiting &= waiting - 1) {
      uint owner = lowest_lane(waiting);
      uint both = look_together(sg_broadcast(begin, owner), sg_broadcast(end, owner), sg_broadcast(wanted, owner), on);
      if (sg_lane() == owner) found = both;
    }
#endif
    if (found & PULL) store_relaxed(on.backward + v, on.round + 1u);
    all |= found;
  }
  return all;
}

/* The pieces of long rows; a sub-group takes every stride-th piece. */
INLINE uint look_at_pieces(uint n_pieces, __global const int2 *pieces, uint sub_group, uint n_sub_groups,
                           __global const offset_t *row_offsets, marks_t on) {
  uint all = 0u;
  for (uint i = sub_group; i < n_pieces; i += n_sub_groups) {
    int2 piece = pieces[i];
    offset_t begin = row_offsets[piece.x] + (offset_t)piece.y * LONG_ROW, end = row_offsets[piece.x + 1];
    uint wanted = sg_broadcast(wanted_by(piece.x, on), 0u);
    uint found = look_together(begin, min(end, begin + LONG_ROW), wanted, on);
    if ((found & PULL) && sg_lane() == 0) store_relaxed(on.backward + piece.x, on.round + 1u);
    all |= found;
  }
  return all;
}

/* Rounds first ... last, or fewer if one marks nothing.  Without barriers of the grid, each launch makes one round. */
KERNEL search(int n, uint first, uint last, __global const offset_t *restrict row_offsets,
              __global const int *restrict column_indices, __global const int2 *restrict pieces,
              volatile __global uint *control, volatile __global uint *forward, volatile __global uint *backward) {
#if ONE_LAUNCH
  LOCAL_ARRAY int passed;
  GRID_ENTER(control + SEARCH_GRID)
#else
  const uint member = get_group_id(0), members = get_num_groups(0);
#endif
  const share_t share = share_of_members((uint)n, member, members);
  for (uint round = first; round <= last; round++) {
    if (load_relaxed(control + SEARCH_FOUND) + 1u < round) return;  /* the round before marked nothing */
    const marks_t on = {round, column_indices, forward, backward};
    uint found = look_at_rows(n, share, row_offsets, on);
#if CUTS_ROWS
    found |= look_at_pieces(control[N_PIECES], pieces, sg_in_group() * members + member, members * SUB_GROUPS_PER_GROUP,
                            row_offsets, on);
#endif
    if (sg_any(found) && sg_lane() == 0) store_relaxed(control + SEARCH_FOUND, round);
    if (member == 0u && get_local_id(0) == 0) store_relaxed(control + SEARCH_ROUND, round);
#if ONE_LAUNCH
    if (!grid_barrier(control + SEARCH_GRID, members, &passed)) return;
#endif
  }
}

/* Give all vertices with both marks the label of the pivot, and sum up the lengths of rows that may have live edges. */
KERNEL settle(int n, __global const offset_t *restrict row_offsets, __global const uint *restrict forward,
              __global const uint *restrict backward, __global int *restrict labels, volatile __global uint *control) {
  ulong bound = 0ul;
  int pivot = (int)control[PIVOT], whole = is_whole(control);
  const share_t share = share_of((uint)n);
  for (uint i = share.first; i < share.end; i += share.step) {
    int v = (int)(i + sg_lane());
    if (v >= n) continue;
    int is_central = marks_of(v, forward, backward) == CENTRAL;
    if (is_central) labels[v] = pivot;
    if (!(whole && is_central)) bound += (ulong)(row_offsets[v + 1] - row_offsets[v]);
  }
  bound = sg_sum(bound);
  if (sg_lane() || !bound) return;
  fetch_add(control + BOUND_LOW, (uint)(bound & 0xfffful));
  fetch_add(control + BOUND_HIGH, (uint)(bound >> 16));
}
