/* One level of a breadth-first search from the unreached vertices, in steps with a barrier between them.
 *
 * mark_frontier writes the frontier as bits.  In pull each unreached vertex searches its neighbours for one in the
 * frontier.  pull_hubs reads the longest rows with the whole work-group.  list_depth turns the last level into lists
 * again.
 */
#ifndef CLGRAPH_BFS_PULL_H
#define CLGRAPH_BFS_PULL_H
#include "bfs/top_down.h"

#ifndef LONE_ENTRIES             /* entries of a row that a lane reads alone before its sub-group helps */
#define LONE_ENTRIES 64
#endif
#ifndef HUB_ENTRIES              /* the work-group reads longer rows together, after its sub-groups have read theirs */
#define HUB_ENTRIES 16384
#endif
#define MOST_HUBS 16             /* hubs that a work-group keeps.  Sub-groups read the rows of further hubs alone. */
#define PULLED 4                 /* vertices whose distances and rows a lane looks up together */

/* Bit v of the frontier: v was reached at this depth.  A work-item writes whole words, so no two write one word.
 * No race: distances do not change in this turn, and the fences of the barrier before have dropped older cached values. */
INLINE void mark_frontier(int n, int depth, size_t first, size_t stride, volatile __global int *distances, __global uint *bits) {
  for (size_t word = first; word < (size_t)(n + 31) / 32; word += stride) {
    uint frontier = 0u;
    for (int k = 0; k < 32; k += 4) {
      int v = (int)(32 * word) + k;
      int4 d = v < n ? load_stale4(distances + v) : (int4)(UNREACHED, UNREACHED, UNREACHED, UNREACHED);
      frontier |= (uint)(d.x == depth) << k | (uint)(d.y == depth) << (k + 1) | (uint)(d.z == depth) << (k + 2) |
                  (uint)(d.w == depth) << (k + 3);
    }
    bits[word] = frontier;
  }
}

INLINE int in_frontier(int v, __global const uint *bits) { return bits[v >> 5] >> (v & 31) & 1u; }

/* Returns the neighbour of the first of the entries e, e + stride, … that is in the frontier; -1 if there is none. */
INLINE int frontier_neighbor(offset_t e, offset_t end, offset_t stride, __global const int *restrict column_indices,
                             __global const uint *bits) {
  for (; e < end; e += 4 * stride) {
    int u[4], hit[4];
    for (int k = 0; k < 4; k++) u[k] = column_indices[min(e + k * stride, end - 1)];
    for (int k = 0; k < 4; k++) hit[k] = in_frontier(u[k], bits);
    for (int k = 0; k < 4; k++) if (hit[k]) return u[k];
  }
  return -1;
}

/* Every lane calls: find a neighbour among the entries [e, end) that is in the frontier, -1 if there is none.  The lanes
 * read four entries each, then move on by `stride`. */
INLINE int found_together(offset_t e, offset_t end, offset_t stride, __global const int *restrict column_indices,
                          __global const uint *bits) {
  for (; e < end; e += stride) {
    const offset_t stop = min(end, e + 4 * SUB_GROUP_SIZE);
    const int found = frontier_neighbor(e + (offset_t)sg_lane(), stop, SUB_GROUP_SIZE, column_indices, bits);
    const lane_mask_t hits = sg_ballot(found >= 0);
    if (hits) return sg_broadcast(found, lowest_lane(hits));
  }
  return -1;
}

/* Unreached vertices with long rows, which the work-group reads together. */
typedef struct {
  uint size;
  int vertex[MOST_HUBS];
  int by[MOST_HUBS];             /* a neighbour in the frontier, or -1 */
} hubs_t;

/* Keep hub v for the work-group.  Returns 0 if there is no room for another hub; the sub-group then reads the row alone.
 * Race: lanes take slots by an addition.  `size` may come to exceed MOST_HUBS; pull_hubs cuts it. */
INLINE int keep_hub(int v, __local hubs_t *hubs) {
  const uint slot = fetch_add(&hubs->size, 1u);
  if (slot >= MOST_HUBS) return 0;
  hubs->vertex[slot] = v;
  hubs->by[slot] = -1;
  return 1;
}

/* Every work-item calls: read the rows that were kept.  Returns as pull does.
 * Race: several sub-groups may find a neighbour of one hub.  Each neighbour is right; fetch_max takes the largest.  The
 * barriers order keeping, reading and taking: all have read `size` before work-item 0 clears it. */
INLINE uint pull_hubs(int depth, tree_t on, __global const uint *bits, __local hubs_t *hubs,
                      __global const offset_t *restrict in_offsets, __global const int *restrict in_neighbors, int *left) {
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint size = min(hubs->size, (uint)MOST_HUBS), share = 4u * SUB_GROUP_SIZE;
  uint n_reached = 0u;
  for (uint i = 0u; i < size; i++) {
    const int v = hubs->vertex[i];
    const offset_t begin = in_offsets[v] + (offset_t)(sg_in_group() * share);
    const int by = found_together(begin, in_offsets[v + 1], (offset_t)(SUB_GROUPS_PER_GROUP * share), in_neighbors, bits);
    if (sg_lane() == 0u && by >= 0) fetch_max(&hubs->by[i], by);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < size; i += WG_SIZE) {
    const int v = hubs->vertex[i], by = hubs->by[i];
    if (by >= 0) {
      store_relaxed(on.distances + v, depth);
      on.predecessors[v] = by;
      n_reached++;
    } else {
      *left = 1;
    }
  }
  if (get_local_id(0) == 0) hubs->size = 0u;
  return n_reached;
}

/* Each unreached vertex searches the sources of edges to it for one in the frontier.  Vertices with long rows are kept
 * for the work-group.  Returns the number of vertices that this work-item reached; *left becomes 1 if a vertex with
 * entries stays unreached.
 * No race: in this turn only one work-item reads and writes distances[v], or one work-group if v is a hub.  Others read it
 * a turn later, behind the fences of the barrier. */
INLINE uint pull(int n, int depth, long first, long stride, tree_t on, __global const uint *bits, __local hubs_t *hubs,
                 __global const offset_t *restrict in_offsets, __global const int *restrict in_neighbors, int *left) {
  uint n_reached = 0u;
  for (long base = first - sg_lane(); base < n; base += PULLED * stride) {
    int unreached[PULLED];
    offset_t begin[PULLED], end[PULLED];
#pragma unroll
    for (int k = 0; k < PULLED; k++) {
      const long v = base + k * stride + sg_lane();
      unreached[k] = v < n && load_stale(on.distances + v) == UNREACHED;
    }
#pragma unroll
    for (int k = 0; k < PULLED; k++) {
      const long v = unreached[k] ? base + k * stride + sg_lane() : 0;
      begin[k] = in_offsets[v];
      end[k] = unreached[k] ? in_offsets[v + 1] : begin[k];
    }
#pragma unroll
    for (int k = 0; k < PULLED; k++) {
      const int v = (int)(base + k * stride) + (int)sg_lane();
      int by = frontier_neighbor(begin[k], min(end[k], begin[k] + LONE_ENTRIES), 1, in_neighbors, bits);
      int waits = by < 0 && end[k] - begin[k] > LONE_ENTRIES;
      if (SUB_GROUPS_PER_GROUP > 1 && waits && end[k] - begin[k] > HUB_ENTRIES && keep_hub(v, hubs)) {
        waits = 0;
        end[k] = begin[k];
      }
      for (lane_mask_t waiting = sg_ballot(waits); waiting; waiting &= waiting - 1) {
        const uint owner = lowest_lane(waiting);
        const int found = found_together(sg_broadcast(begin[k], owner) + LONE_ENTRIES, sg_broadcast(end[k], owner),
                                         4 * SUB_GROUP_SIZE, in_neighbors, bits);
        if (sg_lane() == owner) by = found;
      }
      if (by >= 0) {
        store_relaxed(on.distances + v, depth);
        on.predecessors[v] = by;
        n_reached++;
      } else if (begin[k] < end[k]) {
        *left = 1;
      }
    }
  }
  return n_reached;
}

/* Every sub-group calls: list the vertices that were reached at this depth.  Distances do not change meanwhile. */
INLINE void list_depth(int n, int depth, long item, long n_items, __global const offset_t *restrict row_offsets,
                       volatile __global int *distances, frontier_t lists) {
  for (long base = item - sg_lane(); base < n; base += n_items) {
    int v = (int)base + (int)sg_lane(), in = v < n && load_stale(distances + v) == depth;
    row_t row = {v, 0, 0u};
    if (in) row = row_of_vertex(v, row_offsets);
    in = in && has_more(row);
    if (sg_any(in)) list_row(row, in, lists);
  }
}
#endif
