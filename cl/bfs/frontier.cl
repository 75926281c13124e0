/* Breadth-first search, level by level: top-down from the frontier, and bottom-up from the unreached vertices where
 * that looks at fewer edges.
 *
 * distances[v] is -1 until v is reached; predecessors[v] is written by whoever reached it.
 * Races: a vertex is reached by one compare-exchange.  Top-down, a look before it may see an old -1, which the
 * compare-exchange corrects.  Bottom-up each vertex has one writer.
 *
 * After S. Beamer, K. Asanović, D. Patterson, "Direction-optimizing breadth-first search", SC 2012, and D. Merrill,
 * M. Garland, A. Grimshaw, "Scalable GPU graph traversal", PPoPP 2012.
 */
#ifndef BOTTOM_UP
#define BOTTOM_UP 1
#endif
#define COUNT_EDGES BOTTOM_UP
#include "traversal/queues.h"

#define UNREACHED -1
#ifndef ONE_LAUNCH               /* 0: the host launches each level */
#define ONE_LAUNCH 1
#endif
#ifndef LONE_ENTRIES             /* entries of a row that a lane looks at alone */
#define LONE_ENTRIES 64
#endif

/* Reach u from v, if nobody has; look: most are reached already. */
INLINE int reach(int u, int v, int depth, int look, volatile __global int *distances, __global int *predecessors) {
  if (look && load_relaxed(distances + u) != UNREACHED) return 0;
  if (compare_exchange(distances + u, UNREACHED, depth) != UNREACHED) return 0;
  predecessors[u] = v;
  return 1;
}

/* Every lane calls: reach the far ends, and push those that were not. */
INLINE void visit(const edges_t *edges, int depth, int look, __global const offset_t *restrict row_offsets,
                  volatile __global int *distances, __global int *predecessors, frontier_t next) {
  entry_t found[STEPS];
  uint length[STEPS], wanted = 0u;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    found[k].vertex = edges->u[k];
    length[k] = 0u;
    if (edges->u[k] >= 0 && reach(edges->u[k], edges->v[k], depth, look, distances, predecessors)) wanted |= 1u << k;
  }
#if !ONLY_SHORT_ROWS
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    if (wanted >> k & 1u) {
      row_t row = row_of_vertex(edges->u[k], row_offsets);
      length[k] = row.length;
      if (!has_more(row)) wanted &= ~(1u << k);
    }
#endif
  push(found, length, wanted, next);
}

/* Every sub-group calls: expand what it takes of this turn's frontier.  ahead: the edges of its first rows, of which
 * there are `total`, are looked up already. */
INLINE void expand(batch_t at, row_t row, edges_t edges, uint before, uint total, int ahead, int depth, uint n_own, uint n_light,
                   uint n_heavy, uint n_sub_groups, __global const offset_t *restrict row_offsets,
                   __global const int *restrict column_indices, volatile __global int *distances,
                   __global int *predecessors, frontier_t now, frontier_t next) {
  entry_t own;
  if (ahead) at.own = WG_SIZE;
  while (ahead || next_batch(&at, &row, &own, now, n_own, n_light, n_heavy, n_sub_groups, row_offsets)) {
    if (!ahead) {
      before = sg_exclusive_sum(row.length);
      total = sg_broadcast(before + row.length, SUB_GROUP_SIZE - 1);
    }
    for (uint first = 0u; first < total; first += STEPS * SUB_GROUP_SIZE) {
      if (!ahead || first) look_up(&edges, row, before, total, first, column_indices);
      visit(&edges, depth, at.own >= n_own && !ahead, row_offsets, distances, predecessors, next);
    }
    ahead = 0;
  }
}

KERNEL initialize(int n, __global int *restrict distances, __global int *restrict predecessors, __global uint *restrict state) {
  int i = get_global_id(0);
  for (int k = i; k < STATE_WORDS; k += (int)get_global_size(0)) state[k] = 0u;
  if (i >= n) return;
  distances[i] = UNREACHED;
  predecessors[i] = NO_PREDECESSOR;
}

/* The first frontier, in the lists. */
KERNEL start(int n_sources, uint light_capacity, uint heavy_capacity, __global const int *restrict sources,
             __global const offset_t *restrict row_offsets, __global int *light, __global int2 *heavy,
             volatile __global uint *state, volatile __global int *distances) {
  LOCAL_ARRAY uint flags;
  if (get_local_id(0) == 0) flags = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  frontier_t lists = frontier_of(0u, 0, 0, &flags, 0u, light, light_capacity, heavy, heavy_capacity, state);
  for (int i = get_global_id(0); sg_any(i < n_sources); i += (int)get_global_size(0)) {
    int s = i < n_sources ? sources[i] : 0;
    int first = i < n_sources && compare_exchange(distances + s, UNREACHED, 0) == UNREACHED;
    row_t row = row_of_vertex(s, row_offsets);
    if (sg_any(first)) list_row(row, first, lists);
  }
}

/* Bit v of the frontier: v was reached at this depth.  A work-item writes whole words. */
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

/* The first entry of [e, end), by stride, that is in the frontier; -1 without one. */
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

/* Unreached vertices look for a neighbour in the frontier, among those with an edge to them.  Returns how many this work-item reached. */
INLINE uint pull(int n, int depth, long first, long stride, __global const offset_t *restrict in_offsets,
                 __global const int *restrict in_neighbors, __global const uint *bits,
                 volatile __global int *distances, __global int *predecessors) {
  uint n_reached = 0u;
  for (long base = first - sg_lane(); base < n; base += stride) {
    int v = (int)base + (int)sg_lane(), by = -1;
    offset_t begin = 0, end = 0;
    if (v < n && load_stale(distances + v) == UNREACHED) {
      begin = in_offsets[v];
      end = in_offsets[v + 1];
      by = frontier_neighbor(begin, min(end, begin + LONE_ENTRIES), 1, in_neighbors, bits);
    }
    for (lane_mask_t waiting = sg_ballot(by < 0 && end - begin > LONE_ENTRIES); waiting; waiting &= waiting - 1) {
      uint owner = lowest_lane(waiting);
      int found = frontier_neighbor(sg_broadcast(begin, owner) + LONE_ENTRIES + (offset_t)sg_lane(), sg_broadcast(end, owner),
                                    SUB_GROUP_SIZE, in_neighbors, bits);
      lane_mask_t hits = sg_ballot(found >= 0);
      found = sg_broadcast(found, hits ? lowest_lane(hits) : 0u);
      if (sg_lane() == owner) by = found;
    }
    if (by >= 0) {
      store_relaxed(distances + v, depth);
      predecessors[v] = by;
      n_reached++;
    }
  }
  return n_reached;
}

/* Every sub-group calls: list what was reached at this depth. */
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

#if ONE_LAUNCH
/* The search in one launch.  Bottom-up once the frontier has more than 1 / alpha of the unexplored edges, top-down again
 * once it has less than 1 / beta of the vertices. */
KERNEL search(int n, uint max_depth, uint alpha, uint beta, offset_t m, uint light_capacity, uint heavy_capacity,
              __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
              __global const offset_t *restrict in_offsets, __global const int *restrict in_neighbors,
              __global int *light, __global int2 *heavy, __global uint *bits, volatile __global uint *state,
              volatile __global int *distances, __global int *predecessors) {
  LOCAL_ARRAY entry_t queues[2 * QUEUE_ROWS];
  LOCAL_ARRAY uint sizes[2], sum, flags, reached;
  if (get_local_id(0) == 0) sizes[0] = sizes[1] = flags = reached = 0u;
  GRID_ENTER(state + STATE_CONTROL)
  const uint lane = sg_lane();
  const uint sub_group = sg_in_group() * members + member, n_sub_groups = members * SUB_GROUPS_PER_GROUP;
#if BOTTOM_UP
  const long item = (long)sub_group * SUB_GROUP_SIZE + lane, n_items = (long)n_sub_groups * SUB_GROUP_SIZE;
  ulong explored = 0ul;
#endif
  const int clears = member == 0u && get_local_id(0) == 0;
  const uint own_row = lane * SUB_GROUPS_PER_GROUP + sg_in_group();  /* rows are dealt to the sub-groups one by one */
  uint told = LISTED, n_own = 0u, before = 0u, total = 0u;
  row_t row = {0, 0, 0u};
  edges_t edges;                 /* of the first own rows, looked up while the barrier was waited for */
  for (uint turn = 0u, depth = 1u; depth <= max_depth; turn++, depth++) {
    uint cleared = clears ? clear_turn(state, turn) : 0u;
    frontier_t next = frontier_of(turn + 1u, queues, sizes, &flags, QUEUE_ROWS, light, light_capacity, heavy, heavy_capacity, state);
    frontier_t now = frontier_of(turn, queues, sizes, &flags, 0u, light, light_capacity, heavy, heavy_capacity, state);
    uint n_light = 0u, n_heavy = 0u;
    if (told >= LISTED) {
      n_light = load_relaxed(now.sizes);
      if (!ONLY_SHORT_ROWS) n_heavy = load_relaxed(now.sizes + 1);
#if BOTTOM_UP
      uint n_edges = load_relaxed(now.sizes + 2);
      explored += n_edges;
      if ((ulong)n_edges * alpha > (ulong)m - min(explored, (ulong)m)) {
        uint n_reached;
        do {
          mark_frontier(n, (int)depth - 1, (size_t)item, (size_t)n_items, distances, bits);
          barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
          if (get_local_id(0) == 0) turn_arrive(state, turn, cleared, LISTED, &sum);
          if (!turn_await(state, turn++, members, &sum)) return;
          cleared = clears ? clear_turn(state, turn) : 0u;
          uint mine = sg_sum(pull(n, (int)depth, item, n_items, in_offsets, in_neighbors, bits, distances, predecessors));
          if (lane == 0 && mine) fetch_add(&reached, mine);
          barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
          if (get_local_id(0) == 0) {
            if (reached) fetch_add(state + STATE_SIZES + SIZES * (turn + 1u & 3u) + 3, reached);
            reached = 0u;
            turn_arrive(state, turn, cleared, LISTED, &sum);
          }
          if (!turn_await(state, turn++, members, &sum)) return;
          cleared = clears ? clear_turn(state, turn) : 0u;
          n_reached = load_relaxed(state + STATE_SIZES + SIZES * (turn & 3u) + 3);
          depth++;
          if (!n_reached || depth > max_depth) return;
        } while ((ulong)n_reached * beta > (ulong)n);
        next = frontier_of(turn + 1u, queues, sizes, &flags, 0u, light, light_capacity, heavy, heavy_capacity, state);
        list_depth(n, (int)depth - 1, item, n_items, row_offsets, distances, next);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (get_local_id(0) == 0) {
          turn_arrive(state, turn, cleared, LISTED, &sum);
          sizes[0] = sizes[1] = flags = 0u;
        }
        if (!(told = turn_await(state, turn, members, &sum))) return;
        n_own = total = 0u;
        depth--;
        continue;
      }
#endif
    }
    expand(first_batch(sub_group, n_light, n_sub_groups), row, edges, before, total, n_own > 0u, (int)depth, n_own, n_light,
           n_heavy, n_sub_groups, row_offsets, column_indices, distances, predecessors, now, next);
    n_own = close_queue(next, KEPT_ROWS, row_offsets);
    if (get_local_id(0) == 0) {
      turn_arrive(state, turn, cleared, flags | (n_own ? HAS_OWN : 0u), &sum);
      flags = 0u;
      *now.size = 0u;            /* now's queue takes the frontier after the next */
    }
    total = 0u;
    if (n_own) {
      row.length = 0u;
      if (own_row < n_own) row = row_of_vertex(next.rows[own_row].vertex, row_offsets);
      before = sg_exclusive_sum(row.length);
      total = sg_broadcast(before + row.length, SUB_GROUP_SIZE - 1);
      look_up(&edges, row, before, total, 0u, column_indices);
    }
    if (!(told = turn_await(state, turn, members, &sum))) return;
  }
}

#else
/* One level from the lists, by as many work-groups as there are. */
KERNEL expand_level(uint turn, uint depth, uint light_capacity, uint heavy_capacity,
                    __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                    __global int *light, __global int2 *heavy, volatile __global uint *state,
                    volatile __global int *distances, __global int *predecessors) {
  LOCAL_ARRAY uint flags, size;
  if (get_local_id(0) == 0) flags = size = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  frontier_t now = frontier_of(turn, 0, &size, &flags, 0u, light, light_capacity, heavy, heavy_capacity, state);
  frontier_t next = frontier_of(turn + 1u, 0, &size, &flags, 0u, light, light_capacity, heavy, heavy_capacity, state);
  if (get_global_id(0) < 4) state[STATE_SIZES + SIZES * (turn + 2u & 3u) + get_global_id(0)] = 0u;
  const uint sub_group = (uint)get_global_id(0) / SUB_GROUP_SIZE, n_sub_groups = (uint)get_global_size(0) / SUB_GROUP_SIZE;
  row_t row = {0, 0, 0u};
  edges_t none = {{0}, {0}, {0u}, {0}};
  expand(first_batch(sub_group, now.sizes[0], n_sub_groups), row, none, 0u, 0u, 0, (int)depth, 0u, now.sizes[0], now.sizes[1],
         n_sub_groups, row_offsets, column_indices, distances, predecessors, now, next);
}

/* The bottom-up steps by launches of their own; the found are counted in sizes[3] of the turn after. */
KERNEL mark_level(int n, uint depth, volatile __global int *distances, __global uint *bits) {
  mark_frontier(n, (int)depth - 1, get_global_id(0), get_global_size(0), distances, bits);
}

KERNEL pull_level(int n, uint turn, uint depth, __global const offset_t *restrict in_offsets,
                  __global const int *restrict in_neighbors, __global const uint *bits, volatile __global uint *state,
                  volatile __global int *distances, __global int *predecessors) {
  if (get_global_id(0) < 4) state[STATE_SIZES + SIZES * (turn + 2u & 3u) + get_global_id(0)] = 0u;
  uint mine = sg_sum(pull(n, (int)depth, (long)get_global_id(0), (long)get_global_size(0), in_offsets, in_neighbors,
                          bits, distances, predecessors));
  if (sg_lane() == 0 && mine) fetch_add(state + STATE_SIZES + SIZES * (turn + 1u & 3u) + 3, mine);
}

KERNEL list_level(int n, uint turn, uint depth, uint light_capacity, uint heavy_capacity,
                  __global const offset_t *restrict row_offsets, __global int *light, __global int2 *heavy,
                  volatile __global uint *state, volatile __global int *distances) {
  LOCAL_ARRAY uint flags;
  if (get_local_id(0) == 0) flags = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  frontier_t now = frontier_of(turn, 0, 0, &flags, 0u, light, light_capacity, heavy, heavy_capacity, state);
  list_depth(n, (int)depth - 1, (long)get_global_id(0), (long)get_global_size(0), row_offsets, distances, now);
}
#endif
