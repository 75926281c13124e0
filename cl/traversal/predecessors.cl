/* Find predecessors on shortest paths from the distances: the predecessor of v is the least vertex that may precede it.
 *
 * An edge that increases the distance cannot be part of a cycle of predecessors, so `find` may take any such edge.  An
 * edge that adds nothing (its weight is zero, or lost when rounding) could close a cycle.  Such edges are followed in
 * rounds, which begin at sources and at vertices that have a predecessor.  A vertex without a predecessor takes the
 * least vertex of the round before that has such an edge to it.
 * rounds[v] is the round in which v got its predecessor; it is 1 for sources and for vertices that `find` reached.
 * Round 2 reads all vertices; a later round reads the list that the round before has made.
 * Races: exactly one work-item sets rounds[u], and it lists u.  All work-items of that round may lower predecessors[u].
 */
#include "traversal/distances.h"
#include "traversal/queues.h"
#include "common/worklist.h"

#define STATE_LISTED 0           /* four sizes of lists; round r uses word r mod 4 */
#define STATE_ROUND 4            /* the next round */
#define FOLLOW_STATE_WORDS 5
#define NOBODY 0x7fffffff

KERNEL start(int n, __global int *restrict predecessors, __global int *restrict rounds, __global uint *restrict state) {
  int v = get_global_id(0);
  for (int k = v; k < FOLLOW_STATE_WORDS; k += (int)get_global_size(0)) state[k] = k == STATE_ROUND ? 3u : 0u;
  if (v >= n) return;
  predecessors[v] = NOBODY;
  rounds[v] = 0;
}

KERNEL mark_sources(int n_sources, __global const int *restrict sources, volatile __global int *rounds) {
  int i = get_global_id(0);
  if (i < n_sources) store_relaxed(rounds + sources[i], 1);  /* there may be duplicates */
}

/* Every lane calls with a vertex, or -1, and executes BODY for each edge from v to u.  is_tight: the edge lies on a
 * shortest path. */
#define FOR_EDGES(VERTEX, BODY)                                                                       \
  int at_overflow_ = 0;                                                                               \
  dist_t d = FAR_AWAY;                                                                                \
  lanes_t at;                                                                                         \
  at.row.length = 0u;                                                                                 \
  if (VERTEX >= 0) d = distances[VERTEX];                                                             \
  if (d != FAR_AWAY) at.row = row_of_vertex(VERTEX, row_offsets);                                     \
  sum_lengths(&at);                                                                                   \
  for (uint first = 0u; first < at.total; first += STEPS * SUB_GROUP_SIZE) {                          \
    look_up(&at, first, column_indices);                                                              \
    for (int k = 0; k < STEPS; k++) {                                                                 \
      const int v = at.edges.v[k], u = at.edges.u[k];                                                 \
      const dist_t from = sg_broadcast(d, at.edges.slot[k]), to = u < 0 ? FAR_AWAY : distances[u];    \
      const int is_tight =                                                                            \
          to != FAR_AWAY && extend(from, weight_of(edge_weights, at.edges.e[k]), &at_overflow_) == to; \
      BODY                                                                                            \
    }                                                                                                 \
  }

KERNEL find(int n, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
            __global const weight_t *restrict edge_weights, __global const dist_t *restrict distances,
            volatile __global int *predecessors, volatile __global int *rounds) {
  const int vertex = get_global_id(0) < (size_t)n ? (int)get_global_id(0) : -1;
  FOR_EDGES(vertex,
    if (is_tight && from < to) {
      lower_to(predecessors + u, v);
      store_relaxed(rounds + u, 1);
    }
  )
}

/* Every lane calls with a vertex of the round before, or -1. */
INLINE void follow(int vertex, int round, __global const offset_t *restrict row_offsets,
                   __global const int *restrict column_indices, __global const weight_t *restrict edge_weights,
                   __global const dist_t *restrict distances, volatile __global int *predecessors,
                   volatile __global int *rounds, volatile __global uint *size, __global int *list) {
  FOR_EDGES(vertex,
    int is_first = 0;
    if (is_tight && from == to) {
      int of_u = load_relaxed(rounds + u);
      if (of_u == 0) is_first = (of_u = compare_exchange(rounds + u, 0, round)) == 0;
      if (is_first || of_u == round) lower_to(predecessors + u, v);
    }
    uint slot = push_sub_group(size, is_first);
    if (is_first) list[slot] = u;
  )
}

/* Round 2. */
KERNEL follow_all(int n, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                  __global const weight_t *restrict edge_weights, __global const dist_t *restrict distances,
                  volatile __global int *predecessors, volatile __global int *rounds, __global int *lists,
                  volatile __global uint *state) {
  const int v = get_global_id(0), is_found = v < n && load_relaxed(rounds + v) == 1;
  follow(is_found ? v : -1, 2, row_offsets, column_indices, edge_weights, distances, predecessors, rounds,
         state + STATE_LISTED + 2, lists);
}

/* One round by all work-groups.  A single work-group also runs later rounds, up to the last, while no list is longer
 * than most. */
KERNEL follow_lists(int n, int round, int last, uint most, __global const offset_t *restrict row_offsets,
                    __global const int *restrict column_indices, __global const weight_t *restrict edge_weights,
                    __global const dist_t *restrict distances, volatile __global int *predecessors,
                    volatile __global int *rounds, __global int *lists, volatile __global uint *state) {
  volatile __global uint *sizes = state + STATE_LISTED;
  const uint lane = sg_lane(), sub_group = (uint)get_group_id(0) * SUB_GROUPS_PER_GROUP + sg_in_group();
  uint size;
  do {
    __global int *list = lists + (size_t)n * (round - 1 & 1);
    size = load_relaxed(sizes + (round - 1 & 3));
    if (get_global_id(0) == 0) store_relaxed(sizes + (round + 1 & 3), 0u);
    for (uint base = sub_group * SUB_GROUP_SIZE; base < size; base += (uint)get_global_size(0)) {
      int v = base + lane < size ? list[base + lane] : -1;
      follow(v, round, row_offsets, column_indices, edge_weights, distances, predecessors, rounds, sizes + (round & 3),
             lists + (size_t)n * (round & 1));
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    size = load_relaxed(sizes + (round & 3));
    round++;
  } while (round <= last && size && size <= most);
  if (get_global_id(0) == 0) state[STATE_ROUND] = (uint)round;
}

KERNEL finish(int n, __global int *restrict predecessors) {
  int v = get_global_id(0);
  if (v < n && predecessors[v] == NOBODY) predecessors[v] = NO_PREDECESSOR;
}
