/* Orientation of an undirected graph: each edge leads from its end of lower degree to the other, so no row is long.
 *
 * Ends of equal degree are ordered by number.  A vertex then has at most sqrt(2 * edges) outgoing edges, because each of
 * them leads to a vertex of at least its degree.  Self-loops and repeats are dropped; the rows of the graph are sorted, so
 * repeats are neighbours.  The rows of the result are sorted, too.
 *
 * A work-group takes a tile of TILE consecutive entries.  count_tiles marks the entries to keep and counts them, a prefix
 * sum of the counts follows, and write_tiles writes the kept entries and the offsets of the rows that begin in the tile.
 *
 *   kept          1 for an entry that leads forward, else 0
 *   degrees       number of different neighbours of each vertex other than itself
 *   rows          vertices with rows for count_medium from the front, and for count_long from the back (rows.h)
 *
 * Races: atomics count dropped entries and list rows; the order of the lists does not matter.
 *
 * After T. Schank, D. Wagner, "Finding, Counting and Listing All Triangles in Large Graphs", WEA 2005.
 */
#include "common/worklist.h"
#include "data/rows.h"
#include "primitives/group_scan.h"
#include "triangles/rows.h"

KERNEL start(int n, __global const offset_t *restrict row_offsets, __global int *restrict degrees,
             __global uint *restrict counts, __global uint *restrict control) {
  const int v = get_global_id(0);
  if (v < CONTROL_WORDS) control[v] = 0u;
  if (v >= n) return;
  degrees[v] = (int)(row_offsets[v + 1] - row_offsets[v]);
  counts[2 * v] = counts[2 * v + 1] = 0u;
}

/* Whether entry e of row v leads forward.  Also counts it out of v's degree if it is a self-loop or a repeat. */
INLINE int is_forward(int v, offset_t e, __global const offset_t *row_offsets, __global const int *column_indices,
                      volatile __global int *degrees) {
  const int u = column_indices[e];
  const offset_t first = row_offsets[v];
  if (u == v || (e > first && column_indices[e - 1] == u)) {
    fetch_add(degrees + v, -1);
    return 0;
  }
  const offset_t own = row_offsets[v + 1] - first, other = row_offsets[u + 1] - row_offsets[u];
  return own < other || (own == other && v < u);
}

KERNEL count_tiles(int n, long m, __global const offset_t *restrict row_offsets,
                   __global const int *restrict column_indices, __global uchar *restrict kept,
                   __global int *restrict tile_counts, volatile __global int *degrees) {
  LOCAL_ARRAY uint scratch[GROUP_SCRATCH];
  const long begin = (long)get_group_id(0) * TILE, end = min(m, begin + TILE);
  uint count = 0u, all = 0u;
  int row = begin < end ? row_after(0, begin, n, row_offsets) : 0;
  for (long e = begin + (long)get_local_id(0); e < end; e += WG_SIZE) {
    row = row_after(row, e, n, row_offsets);
    const int is_kept = is_forward(row, (offset_t)e, row_offsets, column_indices, degrees);
    kept[e] = (uchar)is_kept;
    count += (uint)is_kept;
  }
  group_exclusive_sum(count, scratch, &all);
  if (get_local_id(0) == 0) tile_counts[get_group_id(0)] = (int)all;
}

/* tile_begins: number of kept entries before each tile, and of all */
KERNEL write_tiles(int n, int n_tiles, long m, __global const offset_t *restrict row_offsets,
                   __global const int *restrict column_indices, __global const uchar *restrict kept,
                   __global const offset_t *restrict tile_begins, __global offset_t *restrict forward_offsets,
                   __global int *restrict forward_columns) {
  LOCAL_ARRAY uint scratch[GROUP_SCRATCH];
  LOCAL_ARRAY ushort before[TILE + 1];  /* kept entries of the tile before each entry */
  const int tile = get_group_id(0), lid = get_local_id(0);
  const long begin = (long)tile * TILE, end = min(m, begin + TILE);
  const offset_t base = tile_begins[tile];
  uint count = 0u;
  for (long first = begin; first < end; first += WG_SIZE) {
    const long e = first + lid;
    const uint is_kept = e < end ? (uint)kept[e] : 0u;
    uint all = 0u;
    const uint place = count + group_exclusive_sum(is_kept, scratch, &all);
    if (e < end) before[e - begin] = (ushort)place;
    if (is_kept) forward_columns[base + (offset_t)place] = column_indices[e];
    count += all;
  }
  if (lid == 0) before[end - begin] = (ushort)count;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int row = begin > 0 ? row_after(0, begin - 1, n, row_offsets) + 1 : 0;
  const int is_last = tile == n_tiles - 1;
  for (int v = row + lid; v <= n; v += WG_SIZE) {
    const long at = (long)row_offsets[v] - begin;
    if (at >= TILE && !is_last) break;
    forward_offsets[v] = base + (offset_t)before[at];
  }
}

KERNEL list_rows(int n, __global const offset_t *restrict forward_offsets, __global int *restrict rows,
                 volatile __global uint *control) {
  const int v = get_global_id(0);
  const offset_t length = v < n ? forward_offsets[v + 1] - forward_offsets[v] : (offset_t)0;
  const int has_table = length > SHORT_ROW, is_long = has_table && length > MEDIUM_ROW, is_medium = has_table && !is_long;
  const uint front = push_sub_group(control + N_MEDIUM, is_medium);
  const uint back = push_sub_group(control + N_LONG, is_long);
  if (is_medium) rows[front] = v;
  if (is_long) rows[n - 1 - (int)back] = v;
}
