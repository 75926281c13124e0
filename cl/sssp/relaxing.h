/* Relaxing the edges of a frontier: lower the distances of their far ends, and queue the vertices that came nearer.
 *
 * The rows, columns and weights are never written.  distances[v] only falls, by fetch_min.
 */
#ifndef CLGRAPH_SSSP_RELAXING_H
#define CLGRAPH_SSSP_RELAXING_H
#include "traversal/distances.h"
#define WITH_DISTANCES 1
#include "traversal/turn.h"

#ifndef LIGHT_FIRST
#define LIGHT_FIRST 0
#endif
#ifndef DROP_LEAVES              /* 1: keep leaves out of the pile, at the cost of reading the row of each far vertex */
#define DROP_LEAVES 0
#endif

typedef struct { dist_t threshold, limit; float delta; int heavy; } phase_t;
typedef struct {
  __global const offset_t *restrict row_offsets;
  __global const int *restrict column_indices;
  __global const weight_t *restrict edge_weights;
  volatile __global dist_t *distances;
} search_t;

INLINE void weigh(weight_t *weights, const edges_t *edges, const search_t *on) {
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    weights[k] = WEIGHT_KIND == WEIGHT_NONE ? (weight_t)1 : edges->u[k] >= 0 ? load_once(on->edge_weights + edges->e[k]) : (weight_t)0;
}

/* Put each vertex k for which bit k of near is set into the next frontier. */
INLINE void push_near(const entry_t *found, uint near, frontier_t next, const search_t *on) {
  uint length[STEPS];
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    length[k] = 0u;
#if !ONLY_SHORT_ROWS
    if (!(near >> k & 1u)) continue;
    row_t row = row_of_vertex(found[k].vertex, on->row_offsets);
    length[k] = row.length;
    if (!has_more(row)) near &= ~(1u << k);
#endif
  }
  push(found, length, near, next);
}

/* Every lane calls: relax the edges.  d is the distance of the vertex of this lane's row.
 * Race: many work-items lower distances[u] at once.  fetch_min keeps the least, and returns the distance before it: a
 * work-item that has lowered it queues u with its own distance.  Only the first to reach u sees FAR_AWAY, so u joins the
 * pile once.  The load before fetch_min may return an older, greater distance; then fetch_min changes nothing. */
INLINE void relax(const edges_t *edges, const weight_t *weights, dist_t d, phase_t phase, int look, const search_t *on,
                  frontier_t next, list_t pile, int *overflow) {
  entry_t found[STEPS];
  uint near = 0u, far = 0u;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    int wanted = edges->u[k] >= 0;
#if LIGHT_FIRST
    wanted = wanted && (weights[k] >= phase.delta) == phase.heavy;
#endif
    dist_t from = sg_broadcast(d, edges->slot[k]);
    found[k].vertex = edges->u[k];
    found[k].d = wanted ? extend(from, weights[k], overflow) : FAR_AWAY;
    if (found[k].d > phase.limit) found[k].d = FAR_AWAY;
  }
  dist_t was[STEPS];             /* all loads are issued before one is waited for, and then all atomics */
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    was[k] = look ? load_relaxed_if(found[k].d != FAR_AWAY, on->distances + edges->u[k]) : FAR_AWAY;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    was[k] = fetch_min_if(was[k] > found[k].d, on->distances + edges->u[k], found[k].d);
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    if (was[k] > found[k].d && found[k].d < phase.threshold) near |= 1u << k;
    if (was[k] == FAR_AWAY && found[k].d >= phase.threshold) far |= 1u << k;
  }
#if DROP_LEAVES
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    if ((far >> k & 1u) && !has_more(row_of_vertex(found[k].vertex, on->row_offsets))) far &= ~(1u << k);
#endif
  push_near(found, near, next, on);
  append(edges->u, far, pile);
}

/* Every lane calls with its row and, if that comes from the queue, its entry there.  Returns the distance to expand
 * from; the row's length becomes 0 if it must not be expanded.
 * Race: others may lower the distance meanwhile.  They queue the vertex again, so an older value only costs extra work. */
INLINE dist_t distance_of(row_t *row, entry_t own, const search_t *on) {
  dist_t d = row->length ? load_relaxed(on->distances + row->vertex) : FAR_AWAY;
  if (own.vertex >= 0 && d < own.d) row->length = 0u;
  return d;
}

/* Edges that a sub-group relaxes next, with the distances of their rows' vertices and with their weights. */
typedef struct { lanes_t lanes; dist_t d; weight_t weights[STEPS]; } relaxed_t;

/* Every sub-group calls: expand its share of a frontier.  The edges of its first own rows are already loaded in
 * `at`. */
INLINE void expand(share_t share, relaxed_t at, phase_t phase, const search_t *on, frontier_t now, frontier_t next,
                   frontier_t settled, list_t pile, int *overflow) {
  batch_t batch = first_batch(share);
  int ahead = share.own > 0u;
  entry_t own;
  if (ahead) batch.own = WG_SIZE;
  while (ahead || next_batch(&batch, &at.lanes.row, &own, now, share, on->row_offsets)) {
    if (!ahead) {
      at.d = distance_of(&at.lanes.row, own, on);
      sum_lengths(&at.lanes);
    }
#if LIGHT_FIRST
    if (!phase.heavy && sg_any(at.lanes.row.length)) {  /* a piece stands for its whole row */
      row_t whole = at.lanes.row;
      if (whole.length) whole = row_of_vertex(whole.vertex, on->row_offsets);
      list_row(whole, at.lanes.row.length != 0u, settled);
    }
#endif
    for (uint first = 0u; first < at.lanes.total; first += STEPS * SUB_GROUP_SIZE) {
      if (!ahead || first) {
        look_up(&at.lanes, first, on->column_indices);
        weigh(at.weights, &at.lanes.edges, on);
      }
      relax(&at.lanes.edges, at.weights, at.d, phase, batch.own >= share.own && !ahead, on, next, pile, overflow);
    }
    ahead = 0;
  }
  release(pile, 0u);
}
#endif
