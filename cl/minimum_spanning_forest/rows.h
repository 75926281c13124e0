/* The entries in tiles of equal length, whatever the degrees.  A sub-group takes a tile of TILE consecutive entries.  Its
 * lanes go through them together, and each lane finds the row of its entry by binary search in the offsets of
 * SUB_GROUP_SIZE rows.
 *
 * After the warp segmentation of F. Khorasani, R. Gupta, L. Bhuyan, "Scalable SIMD-efficient graph processing on GPUs",
 * PACT 2015.  There a warp takes a vertex per lane, so one warp has to process a whole hub.
 */
#ifndef CLGRAPH_MST_ROWS_H
#define CLGRAPH_MST_ROWS_H
#include "common/subgroup.h"
#include "minimum_spanning_forest/keys.h"

#ifndef TILE
#define TILE 512
#endif
#ifndef STEPS                    /* entries that a lane loads before it uses the first, so that their latencies overlap */
#define STEPS 4
#endif
#if TILE % STEPS != 0
#error "TILE is a multiple of STEPS sub-groups"
#endif

/* The row of the last lane's entry, and where that row ends. */
typedef struct { int row; offset_t end; } rows_t;

/* Returns the row of each lane's entry e; e never decreases from lane to lane, nor from call to call. */
INLINE int row_of(rows_t *rows, offset_t e, int n, __global const offset_t *restrict row_offsets) {
  if (sg_broadcast(e, SUB_GROUP_SIZE - 1) < rows->end) return rows->row;
  int found = -1;
  offset_t end = 0;
  for (int base = rows->row; sg_any(found < 0); base += SUB_GROUP_SIZE) {
    offset_t row_end = row_offsets[min(base + (int)sg_lane() + 1, n)];
    uint below = 0u;             /* number of these rows that end at or before e, less one if all do */
    for (uint step = SUB_GROUP_SIZE / 2; step; step >>= 1)
      if (sg_broadcast(row_end, below + step - 1u) <= e) below += step;
    offset_t own_end = sg_broadcast(row_end, below);
    if (found < 0 && e < own_end) {
      found = base + (int)below;
      end = own_end;
    }
  }
  rows->row = sg_broadcast(found, SUB_GROUP_SIZE - 1);
  rows->end = sg_broadcast(end, SUB_GROUP_SIZE - 1);
  return found;
}

/* Lanes of one row hold consecutive entries.  Returns the valid lane among them with the least key, or -1 if none is
 * valid. heads: the first lane of each row. */
INLINE int lightest_lane(int valid, uint key, lane_mask_t heads) {
#if SUB_GROUP_SIZE == 1
  return valid ? 0 : -1;
#else
  uint lane = sg_lane();
  lane_mask_t here = lanes_below_mask() | (lane_mask_t)1 << lane, above = heads & ~here;
  uint head = highest_lane(heads & here), end = above ? lowest_lane(above) : SUB_GROUP_SIZE;
  uint least = valid ? key : 0xffffffffu;
  for (uint d = 1u; d < SUB_GROUP_SIZE; d <<= 1) {
    uint other = sg_broadcast(least, (lane + d) & (SUB_GROUP_SIZE - 1));
    if (lane + d < end) least = min(least, other);
  }
  least = sg_broadcast(least, head);
  lane_mask_t from = ~(((lane_mask_t)1 << head) - 1), lightest = sg_ballot(valid && key == least) & from;
  return lightest && lowest_lane(lightest) < end ? (int)lowest_lane(lightest) : -1;
#endif
}

/* Returns the row of entry e, without other lanes. */
INLINE int source_of(uint e, int n, int n_tiles, __global const offset_t *restrict row_offsets,
                     __global const int *restrict tile_rows) {
  int tile = (int)(e / TILE), low = tile_rows[tile], high = tile + 1 < n_tiles ? tile_rows[tile + 1] : n - 1;
  while (low < high) {           /* the last row that begins at or before e */
    int middle = low + (high - low + 1) / 2;
    if (row_offsets[middle] <= (offset_t)e) low = middle;
    else high = middle - 1;
  }
  return low;
}

/* Returns the entry in row u of an edge of this weight that was found in row v. */
INLINE uint twin(int v, int u, uint weight, __global const offset_t *restrict row_offsets,
                 __global const int *restrict column_indices, __global const uint *restrict edge_weights) {
  offset_t low = row_offsets[u], high = row_offsets[u + 1];
  while (low < high) {
    offset_t middle = low + (high - low) / 2;
    if (column_indices[middle] < v) low = middle + 1;
    else high = middle;
  }
  while (weight_key(edge_weights, low) != weight) low++;  /* parallel edges */
  return (uint)low;
}
#endif
