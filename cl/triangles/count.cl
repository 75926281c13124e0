/* Triangles of an oriented graph (rows.h), at the vertex u of lowest degree of each.
 *
 * count_short   A sub-group takes the forward edges (u, v) of consecutive vertices u with short forward rows, an edge for
 *               each lane, and looks for the entries of u's row in the row of v.
 * count_medium  A sub-group takes a vertex u, and has the entries of its row in a hash table in local memory (table.h).  Its
 *               lanes share the entries of each row of a forward neighbour v, and look them up.
 * count_long    The same for a work-group, whose sub-groups take different v.  If the row of u does not fit the table, each
 *               of its pieces has a turn, and rows of v are cut to the range of the piece.
 *
 * Races: counts are added by atomics, so their order does not matter.
 *
 * After A. Bisson, M. Fatica, "High Performance Exact Triangle Counting on GPUs", IEEE TPDS 2017, with hash tables for
 * bitmaps, and O. Green, P. Yalamanchili, L.-M. Munguia, "Fast Triangle Counting on the GPU", IA3 2014.
 */
#include "common/shares.h"
#include "triangles/table.h"

/* Return the first place from `from` on at which the sorted entries are at least `key`, or end: by steps of doubling length,
 * then by bisection. */
INLINE offset_t first_at_least(__global const int *entries, offset_t from, offset_t end, int key) {
  offset_t step = 1;
  while (from + step <= end && entries[from + step - 1] < key) {
    from += step;
    step *= 2;
  }
  offset_t last = min(end, from + step - 1);
  while (from < last) {
    const offset_t middle = from + (last - from) / 2;
    if (entries[middle] < key) from = middle + 1;
    else last = middle;
  }
  return from;
}

/* Count the triangles u, v, w in which w is an entry of u's row, of `length` entries from `first` on, and of v's row. */
INLINE uint count_edge(int u, int v, offset_t first, uint length, __global const offset_t *forward_offsets,
                       __global const int *forward_columns, volatile __global uint *counts) {
  offset_t at = forward_offsets[v];
  const offset_t end = forward_offsets[v + 1];
  uint found = 0u;
  for (uint i = 0u; i < length && at < end; i++) {
    const int w = forward_columns[first + (offset_t)i];
    at = first_at_least(forward_columns, at, end, w);
    if (at >= end || forward_columns[at] != w) continue;
    add_pair(counts + 2 * (size_t)w, 1ul);
    found++;
  }
  if (found) {
    add_pair(counts + 2 * (size_t)v, found);
    add_pair(counts + 2 * (size_t)u, found);
  }
  return found;
}

/* Add the triangles that each lane has found to the total.  Every lane calls. */
INLINE void add_total(ulong found, volatile __global uint *control) {
  const ulong all = sg_sum(found);
  if (sg_lane() == 0u && all) add_pair(control + TOTAL, all);
}

KERNEL count_short(int n, __global const offset_t *restrict forward_offsets, __global const int *restrict forward_columns,
                   volatile __global uint *counts, volatile __global uint *control) {
  const share_t share = share_of((uint)n);
  ulong found = 0ul;
  for (uint i = share.first; i < share.end; i += share.step) {
    const int vertex = (int)(i + sg_lane());
    const offset_t begin = vertex < n ? forward_offsets[vertex] : (offset_t)0;
    const offset_t length = vertex < n ? forward_offsets[vertex + 1] - begin : (offset_t)0;
    const uint taken = length > 1 && length <= SHORT_ROW ? (uint)length : 0u;  /* a single edge has no triangle */
    const uint before = sg_exclusive_sum(taken), total = sg_broadcast(before + taken, SUB_GROUP_SIZE - 1);
    for (uint first = 0u; first < total; first += SUB_GROUP_SIZE) {
      const uint number = first + sg_lane();
      uint slot = 0u;
      for (uint step = SUB_GROUP_SIZE / 2; step; step >>= 1)
        if (sg_broadcast(before, slot + step) <= number) slot += step;
      const uint place = number - sg_broadcast(before, slot), entries = sg_broadcast(taken, slot);
      const offset_t row = sg_broadcast(begin, slot);
      if (number < total)
        found += count_edge((int)(i + slot), forward_columns[row + (offset_t)place], row, entries, forward_offsets,
                            forward_columns, counts);
    }
  }
  add_total(found, control);
}

/* Look up the entries of the forward rows of `count` neighbours v.  The lanes of a sub-group share a row.  Of each row, only
 * entries of low ... high are read if is_cut.  Returns the number of triangles found in this lane.  Every lane calls. */
INLINE ulong count_rows(table_t table, __global const int *neighbors, uint count, int is_cut, int low, int high,
                        __global const offset_t *forward_offsets, __global const int *forward_columns,
                        volatile __global uint *counts) {
  ulong found = 0ul;
  const uint own = sg_lane() < count ? sg_lane() : 0u;
  const int v = neighbors[own];
  offset_t begin = forward_offsets[v], end = forward_offsets[v + 1];
  if (is_cut) {
    begin = first_at_least(forward_columns, begin, end, low);
    end = first_at_least(forward_columns, begin, end, high);
    if (end < forward_offsets[v + 1] && forward_columns[end] == high) end++;
  }
  for (uint k = 0u; k < min(count, (uint)SUB_GROUP_SIZE); k++) {
    const offset_t first = sg_broadcast(begin, k), last = sg_broadcast(end, k);
    uint hits = 0u;
    for (offset_t e = first + (offset_t)sg_lane(); e < last; e += SUB_GROUP_SIZE) hits += hit(table, forward_columns[e]);
    const uint all = sg_sum(hits);
    if (sg_lane() == k && all) add_pair(counts + 2 * (size_t)v, all);
    found += hits;
  }
  return found;
}

KERNEL count_medium(__global const offset_t *restrict forward_offsets, __global const int *restrict forward_columns,
                    __global const int *restrict rows, volatile __global uint *counts, volatile __global uint *control) {
  LOCAL_ARRAY int keys[SUB_GROUPS_PER_GROUP * TEAM_SLOTS];
  LOCAL_ARRAY uint hits[SUB_GROUPS_PER_GROUP * TEAM_SLOTS];
  const share_t share = team_share_of(control[N_MEDIUM]);
  table_t table = {keys + sg_in_group() * TEAM_SLOTS, hits + sg_in_group() * TEAM_SLOTS, 0u};
  ulong found = 0ul;
  for (uint i = share.first; i < share.end; i += share.step) {
    const int u = rows[i];
    const offset_t begin = forward_offsets[u];
    const uint length = (uint)(forward_offsets[u + 1] - begin);
    __global const int *row = forward_columns + begin;
    table.bits = bits_for(length);
    clear_table(table, sg_lane(), SUB_GROUP_SIZE);
    sg_sync();
    fill_table(table, row, length, sg_lane(), SUB_GROUP_SIZE);
    sg_sync();
    ulong here = 0ul;
    for (uint at = 0u; at < length; at += SUB_GROUP_SIZE)
      here += count_rows(table, row + at, length - at, 0, 0, 0, forward_offsets, forward_columns, counts);
    sg_sync();
    add_hits(table, counts, sg_lane(), SUB_GROUP_SIZE);  /* a lane then clears the slots that it has read itself */
    here = sg_sum(here);
    if (sg_lane() == 0u && here) add_pair(counts + 2 * (size_t)u, here);
    found += here;
  }
  add_total(sg_lane() == 0u ? found : 0ul, control);
}

KERNEL count_long(int n, __global const offset_t *restrict forward_offsets, __global const int *restrict forward_columns,
                  __global const int *restrict rows, volatile __global uint *counts, volatile __global uint *control) {
  LOCAL_ARRAY int keys[LONG_SLOTS];
  LOCAL_ARRAY uint hits[LONG_SLOTS];
  const uint lid = get_local_id(0), n_rows = control[N_LONG];
  ulong found = 0ul;
  for (uint i = get_group_id(0); i < n_rows; i += get_num_groups(0)) {
    const int u = rows[n - 1 - (int)i];
    const offset_t begin = forward_offsets[u];
    const uint length = (uint)(forward_offsets[u + 1] - begin);
    __global const int *row = forward_columns + begin;
    ulong here = 0ul;
    for (uint piece = 0u; piece < length; piece += LONG_PIECE) {
      const uint size = min(length - piece, (uint)LONG_PIECE);
      const table_t table = {keys, hits, bits_for(size)};
      clear_table(table, lid, WG_SIZE);
      barrier(CLK_LOCAL_MEM_FENCE);
      fill_table(table, row + piece, size, lid, WG_SIZE);
      barrier(CLK_LOCAL_MEM_FENCE);
      for (uint at = sg_in_group() * SUB_GROUP_SIZE; at < length; at += WG_SIZE)
        here += count_rows(table, row + at, length - at, length > LONG_PIECE, row[piece], row[piece + size - 1u],
                           forward_offsets, forward_columns, counts);
      barrier(CLK_LOCAL_MEM_FENCE);
      add_hits(table, counts, lid, WG_SIZE);  /* as in count_medium, before the next table */
    }
    here = sg_sum(here);
    if (sg_lane() == 0u && here) add_pair(counts + 2 * (size_t)u, here);
    found += here;
  }
  add_total(sg_lane() == 0u ? found : 0ul, control);
}
