/* Tiles of a block of the grid: the packing of their fields, and how a sub-group reads and keeps a tile.
 *
 * A tile has at most TILE ratings of different users; block_grid.cl explains why.  A slot has LANES lanes and takes one
 * rating.  The slots of a sub-group share rows through local memory, so sg_sync must separate stores and loads there.
 */
#ifndef CLGRAPH_TILES_H
#define CLGRAPH_TILES_H
#include "factorization/model.h"

#define TILE SLOTS_PER_SUB_GROUP

/* The packed ratings; with WEIGHTED their weights are in an array of their own, because the fields fill the last word. */
#if WEIGHTED
#define PACKED_PARAMS const __global int4 *restrict ratings, const __global float *restrict weights
#define PACKED ratings, weights
#else
#define PACKED_PARAMS const __global int4 *restrict ratings
#define PACKED ratings
#endif

/* Fields of ratings[k].w; a tile has at most 64 ratings. */
#define COUNT(w) ((w) & 127)
#define SOURCE_SLOT(w) ((w) >> 7 & 63)
#define RUN_INDEX(w) ((w) >> 13 & 63)
#define LONGEST(w) ((w) >> 19 & 63)
#define IS_LAST_OF_RUN (1 << 25)
#define WAS_IN_TILE_BEFORE (1 << 26)
#define FIELDS(count, longest) ((count) | (longest) << 19)
#define RUN_FIELD(index) ((index) << 13)

INLINE void finish_tile(__global int4 *restrict ratings, offset_t start, offset_t end) {
  int index = 0, longest = 0;
  for (offset_t k = start; k < end; k++) {
    const int last = k + 1 == end || ratings[k + 1].y != ratings[k].y;
    ratings[k].w |= RUN_FIELD(index) | (last ? IS_LAST_OF_RUN : 0);
    longest = max(longest, index);
    index = last ? 0 : index + 1;
  }
  ratings[start].w |= FIELDS((int)(end - start), longest);
}

/* Returns whether and where `user` was in the tile start … end - 1, as a field for a rating of the next tile. */
INLINE int source_field(const __global int4 *restrict ratings, offset_t start, offset_t end, int user) {
  for (offset_t k = start; k < end; k++)
    if (ratings[k].x == user) return WAS_IN_TILE_BEFORE | (int)(k - start) << 7;
  return 0;
}

#if TILE != 1                    /* block_grid.cl takes ratings one by one if TILE is 1 */
/* A slot's rating.  count is the number of ratings of its tile; item is -1 in slots that the tile does not fill. */
typedef struct { int user, item, count, fields, longest; value_t value; } tile_t;

/* A slot's rating before its tile is known. */
typedef struct {
  int4 packed;
#if WEIGHTED
  float weight;
#endif
} loaded_t;

INLINE loaded_t load_rating(PACKED_PARAMS, offset_t begin, offset_t end) {
  const offset_t k = begin + (offset_t)(sg_lane() / LANES);
  loaded_t loaded;
  loaded.packed = k < end ? ratings[k] : (int4)(0, -1, 0, 0);
#if WEIGHTED
  loaded.weight = k < end ? weights[k] : 0.0f;
#endif
  return loaded;
}
INLINE tile_t as_tile(loaded_t loaded) {
  const int4 rating = loaded.packed;
  const int head = sg_broadcast(rating.w, 0u), inside = (int)(sg_lane() / LANES) < COUNT(head);
  tile_t tile;
  tile.count = COUNT(head);
  tile.longest = LONGEST(head);
  tile.user = rating.x;
  tile.item = inside ? rating.y : -1;
  tile.fields = inside ? rating.w : 0;
  tile.value = WITH_WEIGHT(as_float(rating.z), loaded.weight);
  return tile;
}

/* The rows and biases of a slot's rating. */
typedef struct { row_t p, q; float user_bias, item_bias; } vertices_t;
INLINE vertices_t load_vertices(model_t m, tile_t tile) {
  vertices_t v;
  v.user_bias = v.item_bias = 0.0f;
  for (int c = 0; c < VECTORS; c++) v.p.v[c] = v.q.v[c] = (vector_t)(0.0f);
  if (tile.item < 0) return v;
  v.p = load_row(m.user_rows, tile.user);
  v.q = load_row(m.item_rows, tile.item);
  v.item_bias = load_item_bias(m, tile.item);
#if BIASES
  v.user_bias = m.user_biases[tile.user];
#endif
  return v;
}

/* In local memory, for the lanes of a sub-group: their p, and the last item's q; vector by vector. */
typedef struct {
  vector_t p[VECTORS * SUB_GROUP_SIZE], q[VECTORS * LANES];
  float user_bias[SUB_GROUP_SIZE], item_bias;
} shared_t;
INLINE void share_row(__local vector_t *to, uint stride, uint lane, row_t row) {
  for (int c = 0; c < VECTORS; c++) to[c * stride + lane] = row.v[c];
}
INLINE row_t shared_row(const __local vector_t *from, uint stride, uint lane) {
  row_t row;
  for (int c = 0; c < VECTORS; c++) row.v[c] = from[c * stride + lane];
  return row;
}

/* The position of a group in its ratings, which are in the order of its steps: the tile at `at` and the next one. */
typedef struct { offset_t at; tile_t now; loaded_t next; } stream_t;
INLINE stream_t open_stream(PACKED_PARAMS, offset_t at, offset_t n) {
  stream_t s;
  s.at = at;
  s.now = as_tile(load_rating(PACKED, at, n));
  s.next = load_rating(PACKED, at + s.now.count, n);
  return s;
}

/* Checks for tests: while a tile runs, its users belong to it alone, and so does the item of a run. */
INLINE void check_begin_tile(model_t m, tile_t tile) {
  if (tile.item < 0 || slot_lane() != 0) return;
  check_mark(m, m.user_marks + tile.user);
  if (RUN_INDEX(tile.fields) == 0) check_mark(m, m.item_marks + tile.item);
  check_count(m, tile.user, tile.item);
}
INLINE void check_end_tile(model_t m, tile_t tile) {
  if (tile.item < 0 || slot_lane() != 0) return;
  check_unmark(m.user_marks + tile.user);
  if (tile.fields & IS_LAST_OF_RUN) check_unmark(m.item_marks + tile.item);
}
#endif
#endif
