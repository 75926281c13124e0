/* Rows of the graph, and how the lanes of a sub-group share their edges.
 *
 * The lanes take the edges of up to SUB_GROUP_SIZE rows together: each lane brings a row, and each finds the row of its
 * next edge by binary search in the prefix sums of the lengths.  So a long row does not keep the other lanes waiting.
 * Races: none.  Nothing writes the graph, and lanes exchange values only by sub-group words.
 */
#ifndef CLGRAPH_TRAVERSAL_ROW_EDGES_H
#define CLGRAPH_TRAVERSAL_ROW_EDGES_H
#include "common/atomics.h"
#include "common/subgroup.h"

#ifndef STEPS                    /* edges a lane has in flight */
#define STEPS 4
#endif
#ifndef PIECE                    /* longer rows are split into pieces of this many edges */
#define PIECE 128
#endif
#ifndef ONLY_SHORT_ROWS          /* 1: no row is longer than PIECE */
#define ONLY_SHORT_ROWS 0
#endif
#ifndef SKIP_LEAVES              /* 1: the only edge of a vertex of degree 1 leads back (undirected) */
#define SKIP_LEAVES 0
#endif

typedef struct { int vertex; offset_t begin; uint length; } row_t;

INLINE row_t row_of_vertex(int v, __global const offset_t *restrict row_offsets) {
  row_t row;
  row.vertex = v;
  row.begin = row_offsets[v];
  row.length = (uint)min(row_offsets[v + 1] - row.begin, (offset_t)0x7fffffff);
  return row;
}

/* Leaves (SKIP_LEAVES) and isolated vertices have no further vertex to reach. */
INLINE int has_more(row_t row) { return row.length > (uint)SKIP_LEAVES; }

INLINE row_t piece_of_row(int2 piece, __global const offset_t *restrict row_offsets) {
  row_t row = row_of_vertex(piece.x, row_offsets);
  uint skipped = (uint)piece.y * PIECE;
  row.begin += skipped;
  row.length = min(row.length - skipped, (uint)PIECE);
  return row;
}

/* The edges that a lane processes next: entry e leads from v, the vertex of lane `slot`, to u.  u is -1 if there is none. */
typedef struct { int v[STEPS], u[STEPS]; uint slot[STEPS]; offset_t e[STEPS]; } edges_t;

/* The rows of a sub-group's lanes: each lane has its own row, the sum of the lengths before it, the sum of all, and the
 * edges that it processes next. */
typedef struct { row_t row; uint before, total; edges_t edges; } lanes_t;

/* Every lane calls, once it has its row. */
INLINE void sum_lengths(lanes_t *at) {
  at->before = sg_exclusive_sum(at->row.length);
  at->total = sg_broadcast(at->before + at->row.length, SUB_GROUP_SIZE - 1);
}

/* Every lane calls: the lanes get the edges from number `first` on. */
INLINE void look_up(lanes_t *at, uint first, __global const int *restrict column_indices) {
  edges_t *edges = &at->edges;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    uint number = first + k * SUB_GROUP_SIZE + sg_lane(), slot = 0u;
    for (uint step = SUB_GROUP_SIZE / 2; step; step >>= 1)
      if (sg_broadcast(at->before, slot + step) <= number) slot += step;
    edges->slot[k] = slot;
    edges->e[k] = sg_broadcast(at->row.begin, slot) + (offset_t)(number - sg_broadcast(at->before, slot));
    edges->v[k] = sg_broadcast(at->row.vertex, slot);
    edges->u[k] = number < at->total ? load_once(column_indices + edges->e[k]) : -1;
  }
}
#endif
