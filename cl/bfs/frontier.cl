/* Breadth-first search, level by level: top-down from the frontier, or bottom-up from the unreached vertices if that
 * reads fewer edges.
 *
 * A work-item takes edges of its sub-group's rows, or bottom-up every stride-th vertex.  distances[v] is -1 until v is
 * reached; the work-item that reaches v writes predecessors[v].
 * Races: top-down, work-items compete for a vertex by compare-exchange (visit).  Bottom-up each vertex has one writer
 * (pull).  Barriers of the grid separate levels; docs/protocols/bfs_queues.md draws a level and lists the state words.
 *
 * After S. Beamer, K. Asanović, D. Patterson, "Direction-optimizing breadth-first search", SC 2012, and D. Merrill,
 * M. Garland, A. Grimshaw, "Scalable GPU graph traversal", PPoPP 2012.
 */
#ifndef BOTTOM_UP
#define BOTTOM_UP 1
#endif
#define COUNT_EDGES BOTTOM_UP
#include "bfs/top_down.h"
#include "bfs/pull.h"

#ifndef ONE_LAUNCH               /* 0: the host launches each level */
#define ONE_LAUNCH 1
#endif

KERNEL initialize(int n, __global int *restrict distances, __global int *restrict predecessors, __global uint *restrict state) {
  int i = get_global_id(0);
  for (int k = i; k < STATE_WORDS; k += (int)get_global_size(0)) state[k] = 0u;
  if (i >= n) return;
  distances[i] = UNREACHED;
  predecessors[i] = NO_PREDECESSOR;
}

/* The first frontier, in the lists.  Race: a source may be named twice; the compare-exchange lets one work-item list it. */
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

#if ONE_LAUNCH
#if BOTTOM_UP
/* Every work-item calls after a barrier of its group: arrive without a queue, wait for the others, and begin the next
 * turn.  A result of 0 ends the search. */
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

/* The arrays of a bottom-up level: the frontier as bits; and in local memory the number of vertices that the group has
 * reached, and its hubs. */
typedef struct {
  __global uint *bits;
  __local uint *reached;
  __local hubs_t *hubs;
} pulled_t;

/* Every work-item calls: add `mine`, the vertices that it has reached, to the group's count, and set HAS_OWN if a vertex
 * is left.  Then the group's work-item 0 adds the count to sizes[3] of the next turn.
 * Race: sub-groups add to one local word, groups to one global word.  Both are read only after a barrier. */
INLINE void count_reached(const turn_t *turn, uint mine, int left, const frontiers_t *all, pulled_t on) {
  if (sg_lane() == 0 && mine) fetch_add(on.reached, mine);
  if (sg_any(left) && sg_lane() == 0) fetch_or(all->flags, HAS_OWN);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    if (*on.reached) fetch_add(turn->state + STATE_SIZES + SIZES * (turn->number + 1u & 3u) + 3, *on.reached);
    *on.reached = 0u;
  }
}

/* Every work-item calls: list the last level that was reached bottom-up, and begin again with empty queues.  A result of
 * 0 ends the search. */
INLINE uint return_to_lists(turn_t *turn, int n, uint depth, tree_t on, const frontiers_t *all,
                            __global const offset_t *restrict row_offsets) {
  const long item = (long)turn->sub_group * SUB_GROUP_SIZE + sg_lane(), n_items = (long)turn->n_sub_groups * SUB_GROUP_SIZE;
  list_depth(n, (int)depth - 1, item, n_items, row_offsets, on.distances, frontier_of(turn->number + 1u, 0u, all));
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    turn_arrive(turn->state, turn->number, turn->cleared, LISTED, turn->sum);
    all->queue_sizes[0] = all->queue_sizes[1] = *all->flags = 0u;
  }
  turn->n_own = 0u;
  return await_others(turn) ? depth - 1u : 0u;
}

/* Every work-item calls: search levels from the unreached vertices, two turns each, until the frontier has less than
 * 1/beta of the vertices.  The turn after that lists the last level.  Returns the depth of the listed vertices; a result
 * of 0 ends the search. */
INLINE uint search_bottom_up(turn_t *turn, int n, uint depth, uint max_depth, uint beta, tree_t on, const frontiers_t *all,
                             pulled_t pulled, __global const offset_t *restrict row_offsets,
                             __global const offset_t *restrict in_offsets, __global const int *restrict in_neighbors) {
  const long item = (long)turn->sub_group * SUB_GROUP_SIZE + sg_lane(), n_items = (long)turn->n_sub_groups * SUB_GROUP_SIZE;
  uint n_reached;
  do {
    mark_frontier(n, (int)depth - 1, (size_t)item, (size_t)n_items, on.distances, pulled.bits);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (!next_turn(turn, all->flags)) return 0u;
    int left = 0;
    uint mine = pull(n, (int)depth, item, n_items, on, pulled.bits, pulled.hubs, in_offsets, in_neighbors, &left);
    mine = sg_sum(mine + pull_hubs((int)depth, on, pulled.bits, pulled.hubs, in_offsets, in_neighbors, &left));
    count_reached(turn, mine, left, all, pulled);
    if (!next_turn(turn, all->flags)) return 0u;
    if (!(turn->told / HAS_OWN % 1024u)) return 0u;
    n_reached = load_relaxed(turn->state + STATE_SIZES + SIZES * (turn->number & 3u) + 3);
    depth++;
    if (!n_reached || depth > max_depth) return 0u;
  } while ((ulong)n_reached * beta > (ulong)n);
  return return_to_lists(turn, n, depth, on, all, row_offsets);
}
#endif

/* The whole search in one launch.  It goes bottom-up once the frontier has more than 1 / alpha of the unexplored edges,
 * and top-down again once it has less than 1 / beta of the vertices. */
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
  const pulled_t pulled = {bits, &reached, &hubs};
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
    if (turn.told >= LISTED) {   /* this size does not change in this turn, so all groups decide alike */
      const uint n_edges = load_relaxed(now.sizes + 2);
      explored += n_edges;
      if ((ulong)n_edges * alpha > (ulong)m - min(explored, (ulong)m)) {
        depth = search_bottom_up(&turn, n, depth, max_depth, beta, on, &all, pulled, row_offsets, in_offsets, in_neighbors);
        if (!depth) return;
        continue;
      }
    }
#endif
    expand(share, at, (int)depth, on, now, next, row_offsets, column_indices);
    close_and_arrive(&turn, KEPT_ROWS, 0u, now, next, row_offsets);
    if (turn.n_own) {            /* look up edges of the own rows, which no other group writes, while others arrive */
      entry_t own;
      first_own_row(&at.row, &own, &turn, next, row_offsets);
      sum_lengths(&at);
      look_up(&at, 0u, column_indices);
    }
    if (!await_others(&turn)) return;
  }
}

#else
/* One level from the lists, by any number of work-groups.  The end of the launch is the barrier, so plain loads of the
 * sizes are enough.  The kernel clears the sizes of the turn after the next. */
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
