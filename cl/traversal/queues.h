/* Frontiers of breadth-first searches and of shortest paths, and how their edges are spread over lanes.
 *
 * A frontier stands in three places.  `own`: a queue of each work-group in local memory, so that a small frontier
 * takes only a device-wide barrier and three dependent accesses a level: the neighbour, its distance, its row.
 * `light`: a list of vertices in global memory, which takes what does not fit and is dealt out evenly.  `heavy`: a
 * list of pieces of long rows.
 * The lanes of a sub-group take the edges of up to SUB_GROUP_SIZE rows together; each finds its row by binary search
 * in their prefix sums.
 */
#ifndef CLGRAPH_TRAVERSAL_QUEUES_H
#define CLGRAPH_TRAVERSAL_QUEUES_H
#include "traversal/levels.h"
#include "common/subgroup.h"

#ifndef STEPS                    /* edges a lane has in flight */
#define STEPS 4
#endif
#ifndef QUEUE_ROWS               /* rows that a work-group keeps for itself */
#define QUEUE_ROWS (2 * WG_SIZE)
#endif
#ifndef KEPT_ROWS                /* with more it gives half of them away */
#define KEPT_ROWS (QUEUE_ROWS / 8)
#endif
#ifndef OWN_LENGTH               /* longer rows go to the lists */
#define OWN_LENGTH 64
#endif
#ifndef PIECE                    /* rows with more edges than this are cut in pieces of as many */
#define PIECE 512
#endif
#ifndef ONLY_SHORT_ROWS          /* 1: no row is longer than PIECE */
#define ONLY_SHORT_ROWS 0
#endif
#ifndef SKIP_LEAVES              /* 1: the only edge of a vertex of degree 1 leads back (undirected) */
#define SKIP_LEAVES 0
#endif

typedef struct { int vertex; offset_t begin; uint length; } row_t;

/* Edges that a lane looks at next: from the vertex v of the lane `slot` to u, -1 for none, as entry e. */
typedef struct { int v[STEPS], u[STEPS]; uint slot[STEPS]; offset_t e[STEPS]; } edges_t;

/* The next frontier: rows and size are the work-group's own queue, of which `room` may be used; sizes[0] counts the
 * vertices in light, sizes[1] the pieces in heavy, sizes[2] the edges of both. */
typedef struct {
  __local row_t *rows;
  volatile __local uint *size, *flags;
  uint room;
  __global int *light;
  __global int2 *heavy;          /* vertex, number of the piece */
  volatile __global uint *sizes;
} frontier_t;

/* The frontier of a turn, written in the turn before. */
INLINE frontier_t frontier_of(uint turn, __local row_t *queues, volatile __local uint *queue_sizes, volatile __local uint *flags,
                              uint room, __global int *light, ulong light_capacity, __global int2 *heavy,
                              ulong heavy_capacity, volatile __global uint *state) {
  frontier_t frontier = {queues + QUEUE_ROWS * (turn & 1u), queue_sizes + (turn & 1u), flags, room,
                         light + light_capacity * (turn & 1u), heavy + heavy_capacity * (turn & 1u),
                         state + STATE_SIZES + SIZES * (turn & 3u)};
  return frontier;
}

INLINE row_t row_of_vertex(int v, __global const offset_t *restrict row_offsets) {
  row_t row;
  row.vertex = v;
  row.begin = row_offsets[v];
  row.length = (uint)min(row_offsets[v + 1] - row.begin, (offset_t)0x7fffffff);
  return row;
}

/* Leaves and isolated vertices have nobody left to reach. */
INLINE int has_more(row_t row) { return row.length > (uint)SKIP_LEAVES; }

INLINE row_t piece_of_row(int2 piece, __global const offset_t *restrict row_offsets) {
  row_t row = row_of_vertex(piece.x, row_offsets);
  uint skipped = (uint)piece.y * PIECE;
  row.begin += skipped;
  row.length = min(row.length - skipped, (uint)PIECE);
  return row;
}

/* Every lane calls with its row, the sum of the lengths before it and of all; lanes get the edges from number first on. */
INLINE void look_up(edges_t *edges, row_t row, uint before, uint total, uint first, __global const int *restrict column_indices) {
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    uint at = first + k * SUB_GROUP_SIZE + sg_lane(), slot = 0u;
    for (uint step = SUB_GROUP_SIZE / 2; step; step >>= 1)
      if (sg_broadcast(before, slot + step) <= at) slot += step;
    edges->slot[k] = slot;
    edges->e[k] = sg_broadcast(row.begin, slot) + (offset_t)(at - sg_broadcast(before, slot));
    edges->v[k] = sg_broadcast(row.vertex, slot);
    edges->u[k] = at < total ? column_indices[edges->e[k]] : -1;
  }
}

/* The rows that a sub-group takes in a turn, SUB_GROUP_SIZE at a time: of its group's own queue, then its share of the
 * lists. */
typedef struct { uint own, light, heavy; } batch_t;

/* Every lane of the sub-group calls, and gets a row or one of length 0; returns 0 after the last batch. */
INLINE int next_batch(batch_t *at, row_t *row, frontier_t now, uint n_own, uint n_light, uint n_heavy, uint n_sub_groups,
                      __global const offset_t *restrict row_offsets) {
  const uint lane = sg_lane();
  row->length = 0u;
  if (at->own < n_own) {         /* rows are dealt to the sub-groups one by one */
    uint i = at->own + lane * SUB_GROUPS_PER_GROUP + sg_in_group();
    if (i < n_own) *row = ONLY_SHORT_ROWS ? row_of_vertex(now.rows[i].vertex, row_offsets) : now.rows[i];
    at->own += WG_SIZE;
  } else if (at->light < n_light) {
    uint share = min((n_light + n_sub_groups - 1u) / n_sub_groups, (uint)SUB_GROUP_SIZE);
    if (lane < share && at->light + lane < n_light)
      *row = row_of_vertex(load_relaxed(now.light + at->light + lane), row_offsets);
    at->light += min(n_sub_groups * share, n_light);
  } else if (at->heavy < n_heavy) {
    if (lane == 0) *row = piece_of_row(now.heavy[at->heavy], row_offsets);
    at->heavy += min(n_sub_groups, n_heavy);
  } else {
    return 0;
  }
  return 1;
}

/* Where the sub-group of this number begins. */
INLINE batch_t first_batch(uint sub_group, uint n_light, uint n_sub_groups) {
  batch_t at = {0u, sub_group * min((n_light + n_sub_groups - 1u) / n_sub_groups, (uint)SUB_GROUP_SIZE), sub_group};
  return at;
}

/* Every lane calls; lanes with *wanted* put their row into the lists. */
INLINE void list_rows(row_t row, int wanted, frontier_t next) {
  int to_light = wanted && (ONLY_SHORT_ROWS || row.length <= PIECE), to_heavy = wanted && !to_light;
  uint edges = ONLY_SHORT_ROWS ? 0u : sg_sum(wanted ? row.length : 0u);
  lane_mask_t lights = sg_ballot(to_light);
  uint base = 0u;
  if (sg_lane() == 0) {
    fetch_or(next.flags, LISTED);
    if (edges) fetch_add(next.sizes + 2, edges);
    if (lights) base = fetch_add(next.sizes, lane_count(lights));
  }
  base = sg_broadcast(base, 0u);
  if (to_light) next.light[base + lane_count(lights & lanes_below_mask())] = row.vertex;
  if (sg_any(to_heavy)) {
    uint pieces = to_heavy ? (row.length + PIECE - 1u) / PIECE : 0u, before = sg_exclusive_sum(pieces), all = sg_sum(pieces);
    if (sg_lane() == 0) base = fetch_add(next.sizes + 1, all);
    base = sg_broadcast(base, 0u) + before;
    for (uint k = 0u; k < pieces; k++) next.heavy[base + k] = (int2)(row.vertex, (int)k);
  }
}

/* Every lane calls; it puts the rows k of which bit k of wanted is set into the next frontier: short ones into the own
 * queue while it has room.  With ONLY_SHORT_ROWS a row is its vertex, and is looked up when it is due. */
INLINE void push(const row_t *row, uint wanted, frontier_t next) {
  uint is_short = wanted, slot;
#if !ONLY_SHORT_ROWS
  is_short = 0u;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) is_short |= (uint)(row[k].length <= OWN_LENGTH) << k;
  is_short &= wanted;
#endif
  const uint count = popcount(is_short), before = sg_exclusive_sum(count);
  const uint all = sg_broadcast(before + count, SUB_GROUP_SIZE - 1);
  uint base = 0u;
  if (all && sg_lane() == 0) base = fetch_add(next.size, all);
  slot = sg_broadcast(base, 0u) + before;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    if (!(is_short >> k & 1u)) continue;
    if (slot < next.room) {
      next.rows[slot] = row[k];
      wanted &= ~(1u << k);
    }
    slot++;
  }
  if (!sg_any(wanted)) return;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    if (sg_any(wanted >> k & 1u)) list_rows(row[k], wanted >> k & 1u, next);
}

/* Every work-item calls, once its group has no more to push in this turn; returns how many rows the group keeps.  A full
 * queue gives half of itself away, so that it has room for many turns to come: turns without lists are cheap.
 * most: rows it may keep; together: it keeps nothing if anything is listed. */
INLINE uint close_queue(frontier_t next, uint most, int together) {
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  uint size = min(*next.size, next.room), listed = *next.flags;
  if (size <= most && !(together && listed)) return size;
  uint kept = together ? 0u : size / 2u;
  for (uint first = kept + SUB_GROUP_SIZE * sg_in_group(); first < size; first += WG_SIZE) {
    uint i = min(first + sg_lane(), size - 1u);
    list_rows(next.rows[i], first + sg_lane() < size, next);
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  return kept;
}
#endif
