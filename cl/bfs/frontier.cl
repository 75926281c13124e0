/* Breadth-first search, level by level: top-down from the frontier, and bottom-up from the unreached vertices where
 * that looks at fewer edges.
 *
 * A work-item takes edges of its sub-group's rows, or bottom-up every stride-th vertex.  distances[v] is -1 until v is
 * reached; the work-item that reaches v writes predecessors[v].
 * Races: a vertex is reached by one compare-exchange.  Top-down, the load before it may see an old -1; the
 * compare-exchange then fails.  Bottom-up each vertex has one writer.
 *
 * After S. Beamer, K. Asanović, D. Patterson, "Direction-optimizing breadth-first search", SC 2012, and D. Merrill,
 * M. Garland, A. Grimshaw, "Scalable GPU graph traversal", PPoPP 2012.
 */
#ifndef BOTTOM_UP
#define BOTTOM_UP 1
#endif
#define COUNT_EDGES BOTTOM_UP
#include "traversal/turn.h"

#define UNREACHED -1
#ifndef ONE_LAUNCH               /* 0: the host launches each level */
#define ONE_LAUNCH 1
#endif
#ifndef LONE_ENTRIES             /* entries of a row that a lane looks at alone */
#define LONE_ENTRIES 64
#endif
#ifndef HUB_ENTRIES              /* the work-group reads longer rows together, after its sub-groups have read theirs */
#define HUB_ENTRIES 16384
#endif
#define MOST_HUBS 16             /* rows that a work-group keeps; sub-groups read further ones alone */
#define PULLED 4                 /* vertices whose distances and rows a lane looks up together */

/* The result of a search.  The rows are passed separately: a compiler sees that nothing writes them only while they are
 * parameters of the kernel, and loses sight of that in a struct. */
typedef struct {
  volatile __global int *distances;
  __global int *predecessors;
} tree_t;

/* Every lane calls: reach the far ends of the edges, and push the ones that were new.  look: 1 loads the distance
 * before the atomic, since most far ends are reached already. */
INLINE void visit(const edges_t *edges, int depth, int look, tree_t on, frontier_t next,
                  __global const offset_t *restrict row_offsets) {
  entry_t found[STEPS];
  uint length[STEPS], wanted = 0u;
  int was[STEPS];                /* all loads are on their way before one is waited for, and then all atomics */
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    found[k].vertex = edges->u[k];
    length[k] = 0u;
    was[k] = look ? load_relaxed_if(edges->u[k] >= 0, on.distances + edges->u[k]) : UNREACHED;
  }
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    was[k] = compare_exchange_if(edges->u[k] >= 0 && was[k] == UNREACHED, on.distances + edges->u[k], UNREACHED, depth);
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    if (was[k] == UNREACHED) {
      on.predecessors[edges->u[k]] = edges->v[k];
      wanted |= 1u << k;
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

/* Every sub-group calls: expand its share of this turn's frontier.  The edges of its first own rows are already loaded
 * in `at`. */
INLINE void expand(share_t share, lanes_t at, int depth, tree_t on, frontier_t now, frontier_t next,
                   __global const offset_t *restrict row_offsets, __global const int *restrict column_indices) {
  batch_t batch = first_batch(share);
  int ahead = share.own > 0u;
  entry_t own;
  if (ahead) batch.own = WG_SIZE;
  while (ahead || next_batch(&batch, &at.row, &own, now, share, row_offsets)) {
    if (!ahead) sum_lengths(&at);
    for (uint first = 0u; first < at.total; first += STEPS * SUB_GROUP_SIZE) {
      if (!ahead || first) look_up(&at, first, column_indices);
      visit(&at.edges, depth, batch.own >= share.own && !ahead, on, next, row_offsets);
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
  const frontiers_t all = {0, 0, &flags, light, heavy, light_capacity, heavy_capacity, state};
  frontier_t lists = frontier_of(0u, 0u, &all);
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

/* The first entry of [e, end), by stride, that is in the frontier; -1 if there is none. */
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

/* Every lane calls: find an entry of [e, end) that is in the frontier, -1 if there is none.  The lanes read four
 * entries each, then move on by `stride`. */
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

INLINE int keep_hub(int v, __local hubs_t *hubs) {
  const uint slot = fetch_add(&hubs->size, 1u);
  if (slot >= MOST_HUBS) return 0;
  hubs->vertex[slot] = v;
  hubs->by[slot] = -1;
  return 1;
}

/* Every work-item calls: read the rows that were kept.  Returns as pull does. */
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

/* Unreached vertices look for a neighbour in the frontier, among the sources of edges to them.  Vertices with long rows
 * are kept for the work-group.  Returns how many this work-item reached; *left becomes 1 if a vertex with entries stays
 * unreached. */
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

/* Every sub-group calls: list the vertices that were reached at this depth. */
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
#if BOTTOM_UP
/* Every work-item calls: arrive without a queue, wait for the others, and begin the next turn; 0 ends the search. */
INLINE uint next_turn(turn_t *turn, volatile __local uint *flags) {
  if (get_local_id(0) == 0) {
    turn_arrive(turn->state, turn->number, turn->cleared, LISTED | *flags, turn->sum);
    *flags = 0u;
  }
  uint told = await_others(turn);
  turn->number++;
  if (told) begin_turn(turn);
  return told;
}

/* Every work-item calls: search levels from the unreached vertices, two turns each, until the frontier has less than
 * 1/beta of the vertices; the turn after that lists the last level.  Returns the depth of the listed vertices; 0 ends
 * the search. */
INLINE uint search_bottom_up(turn_t *turn, int n, uint depth, uint max_depth, uint beta, tree_t on, const frontiers_t *all,
                             __global uint *bits, __local uint *reached, __local hubs_t *hubs, __global const offset_t *restrict row_offsets,
                             __global const offset_t *restrict in_offsets, __global const int *restrict in_neighbors) {
  const long item = (long)turn->sub_group * SUB_GROUP_SIZE + sg_lane(), n_items = (long)turn->n_sub_groups * SUB_GROUP_SIZE;
  uint n_reached;
  do {
    mark_frontier(n, (int)depth - 1, (size_t)item, (size_t)n_items, on.distances, bits);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (!next_turn(turn, all->flags)) return 0u;
    int left = 0;
    uint mine = pull(n, (int)depth, item, n_items, on, bits, hubs, in_offsets, in_neighbors, &left);
    mine = sg_sum(mine + pull_hubs((int)depth, on, bits, hubs, in_offsets, in_neighbors, &left));
    if (sg_lane() == 0 && mine) fetch_add(reached, mine);
    if (sg_any(left) && sg_lane() == 0) fetch_or(all->flags, HAS_OWN);  /* tells here that somebody is left */
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
      if (*reached) fetch_add(turn->state + STATE_SIZES + SIZES * (turn->number + 1u & 3u) + 3, *reached);
      *reached = 0u;
    }
    if (!next_turn(turn, all->flags)) return 0u;
    if (!(turn->told / HAS_OWN % 1024u)) return 0u;
    n_reached = load_relaxed(turn->state + STATE_SIZES + SIZES * (turn->number & 3u) + 3);
    depth++;
    if (!n_reached || depth > max_depth) return 0u;
  } while ((ulong)n_reached * beta > (ulong)n);
  list_depth(n, (int)depth - 1, item, n_items, row_offsets, on.distances, frontier_of(turn->number + 1u, 0u, all));
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    turn_arrive(turn->state, turn->number, turn->cleared, LISTED, turn->sum);
    all->queue_sizes[0] = all->queue_sizes[1] = *all->flags = 0u;
  }
  turn->n_own = 0u;
  return await_others(turn) ? depth - 1u : 0u;
}
#endif

/* The search in one launch.  Bottom-up once the frontier has more than 1 / alpha of the unexplored edges, top-down again
 * once it has less than 1 / beta of the vertices. */
KERNEL search(int n, uint max_depth, uint alpha, uint beta, offset_t m, uint light_capacity, uint heavy_capacity,
              __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
              __global const offset_t *restrict in_offsets, __global const int *restrict in_neighbors,
              __global int *light, __global int2 *heavy, __global uint *bits, volatile __global uint *state,
              volatile __global int *distances, __global int *predecessors) {
  LOCAL_ARRAY entry_t queues[2 * QUEUE_ROWS];
  LOCAL_ARRAY uint sizes[2], sum, flags, reached;
  LOCAL_ARRAY hubs_t hubs;
  if (get_local_id(0) == 0) sizes[0] = sizes[1] = flags = reached = hubs.size = 0u;
  GRID_ENTER(state + STATE_CONTROL)
  const tree_t on = {distances, predecessors};
  const frontiers_t all = {queues, sizes, &flags, light, heavy, light_capacity, heavy_capacity, state};
#if BOTTOM_UP
  ulong explored = 0ul;
#endif
  turn_t turn = first_turn(0u, member, members, &sum, state);
  lanes_t at;                    /* the first own rows; their edges are loaded while the group waits at the barrier */
  at.before = at.total = 0u;
  for (uint depth = 1u; depth <= max_depth; turn.number++, depth++) {
    begin_turn(&turn);
    const frontier_t next = frontier_of(turn.number + 1u, QUEUE_ROWS, &all), now = frontier_of(turn.number, 0u, &all);
    const share_t share = share_of(&turn, now);
#if BOTTOM_UP
    if (turn.told >= LISTED) {
      uint n_edges = load_relaxed(now.sizes + 2);
      explored += n_edges;
      if ((ulong)n_edges * alpha > (ulong)m - min(explored, (ulong)m)) {
        depth = search_bottom_up(&turn, n, depth, max_depth, beta, on, &all, bits, &reached, &hubs, row_offsets,
                                 in_offsets, in_neighbors);
        if (!depth) return;
        continue;
      }
    }
#endif
    expand(share, at, (int)depth, on, now, next, row_offsets, column_indices);
    close_and_arrive(&turn, KEPT_ROWS, 0u, now, next, row_offsets);
    if (turn.n_own) {
      entry_t own;
      first_own_row(&at.row, &own, &turn, next, row_offsets);
      sum_lengths(&at);
      look_up(&at, 0u, column_indices);
    }
    if (!await_others(&turn)) return;
  }
}

#else
/* One level from the lists, by any number of work-groups. */
KERNEL expand_level(uint turn, uint depth, uint light_capacity, uint heavy_capacity,
                    __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                    __global int *light, __global int2 *heavy, volatile __global uint *state,
                    volatile __global int *distances, __global int *predecessors) {
  LOCAL_ARRAY uint flags, size;
  if (get_local_id(0) == 0) flags = size = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  const tree_t on = {distances, predecessors};
  const frontiers_t all = {0, &size, &flags, light, heavy, light_capacity, heavy_capacity, state};
  const frontier_t now = frontier_of(turn, 0u, &all);
  frontier_t next = frontier_of(turn + 1u, 0u, &all);
  next.size = &size;             /* there are no queues */
  if (get_global_id(0) < 4) state[STATE_SIZES + SIZES * (turn + 2u & 3u) + get_global_id(0)] = 0u;
  const share_t share = {0u, now.sizes[0], now.sizes[1], (uint)get_global_id(0) / SUB_GROUP_SIZE,
                         (uint)get_global_size(0) / SUB_GROUP_SIZE};
  const lanes_t none = {{0, 0, 0u}, 0u, 0u, {{0}, {0}, {0u}, {0}}};
  expand(share, none, (int)depth, on, now, next, row_offsets, column_indices);
}

/* The bottom-up steps in launches of their own.  sizes[3] of the turn after counts the vertices found. */
KERNEL mark_level(int n, uint depth, volatile __global int *distances, __global uint *bits) {
  mark_frontier(n, (int)depth - 1, get_global_id(0), get_global_size(0), distances, bits);
}

KERNEL pull_level(int n, uint turn, uint depth, __global const offset_t *restrict in_offsets,
                  __global const int *restrict in_neighbors, __global const uint *bits, volatile __global uint *state,
                  volatile __global int *distances, __global int *predecessors) {
  LOCAL_ARRAY hubs_t hubs;
  if (get_local_id(0) == 0) hubs.size = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_global_id(0) < 4) state[STATE_SIZES + SIZES * (turn + 2u & 3u) + get_global_id(0)] = 0u;
  const tree_t on = {distances, predecessors};
  int left = 0;                  /* not used: the host reads how many were reached */
  uint mine = pull(n, (int)depth, (long)get_global_id(0), (long)get_global_size(0), on, bits, &hubs, in_offsets, in_neighbors,
                   &left);
  mine = sg_sum(mine + pull_hubs((int)depth, on, bits, &hubs, in_offsets, in_neighbors, &left));
  if (sg_lane() == 0 && mine) fetch_add(state + STATE_SIZES + SIZES * (turn + 1u & 3u) + 3, mine);
}

KERNEL list_level(int n, uint turn, uint depth, uint light_capacity, uint heavy_capacity,
                  __global const offset_t *restrict row_offsets, __global int *light, __global int2 *heavy,
                  volatile __global uint *state, volatile __global int *distances) {
  LOCAL_ARRAY uint flags;
  if (get_local_id(0) == 0) flags = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  const frontiers_t all = {0, 0, &flags, light, heavy, light_capacity, heavy_capacity, state};
  list_depth(n, (int)depth - 1, (long)get_global_id(0), (long)get_global_size(0), row_offsets, distances,
             frontier_of(turn, 0u, &all));
}
#endif
