/* Predecessors on shortest paths, from the distances: of the vertices before v on a shortest path the least.
 *
 * An edge that makes the distance grow cannot close a loop, so `find` takes any.  Edges that do not (weights of zero,
 * or too small for a float) could: `find_level` lets a vertex without a predecessor take only such as had one in an
 * earlier round.  rounds[v] is the round in which v got its predecessor, 1 for sources and those of `find`.
 */
#include "traversal/distances.h"
#include "traversal/queues.h"

#define STATE_FOUND 0
#define NOBODY 0x7fffffff

KERNEL start(int n, __global int *restrict predecessors,
             __global int *restrict rounds) {
  int v = get_global_id(0);
  if (v >= n) return;
  predecessors[v] = NOBODY;
  rounds[v] = 0;
}

KERNEL mark_sources(int n_sources, __global const int *restrict sources, __global int *restrict rounds) {
  int i = get_global_id(0);
  if (i < n_sources) rounds[sources[i]] = 1;
}

/* A sub-group takes as many rows as it is wide. */
#define FOR_TIGHT_EDGES(BODY)                                                                         \
  int v_ = get_global_id(0), at_overflow_ = 0;                                                        \
  row_t row = {0, 0, 0u};                                                                             \
  dist_t d = FAR_AWAY;                                                                                \
  if (v_ < n) d = distances[v_];                                                                      \
  if (d != FAR_AWAY) row = row_of_vertex(v_, row_offsets);                                            \
  const uint before = sg_exclusive_sum(row.length), total = sg_broadcast(before + row.length, SUB_GROUP_SIZE - 1); \
  edges_t edges;                                                                                      \
  for (uint first = 0u; first < total; first += STEPS * SUB_GROUP_SIZE) {                             \
    look_up(&edges, row, before, total, first, column_indices);                                       \
    for (int k = 0; k < STEPS; k++) {                                                                 \
      const int v = edges.v[k], u = edges.u[k];                                                       \
      const dist_t from = sg_broadcast(d, edges.slot[k]);                                             \
      if (u < 0) continue;                                                                            \
      const dist_t to = distances[u];                                                                 \
      if (to != FAR_AWAY && extend(from, weight_of(edge_weights, edges.e[k]), &at_overflow_) == to) { BODY } \
    }                                                                                                 \
  }

KERNEL find(int n, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
            __global const weight_t *restrict edge_weights, __global const dist_t *restrict distances,
            volatile __global int *predecessors, volatile __global int *rounds) {
  FOR_TIGHT_EDGES(
    if (from < to) {
      lower_to(predecessors + u, v);
      store_relaxed(rounds + u, 1);
    }
  )
}

KERNEL find_level(int n, int round, __global const offset_t *restrict row_offsets,
                  __global const int *restrict column_indices, __global const weight_t *restrict edge_weights,
                  __global const dist_t *restrict distances, volatile __global int *predecessors,
                  volatile __global int *rounds, volatile __global uint *state) {
  FOR_TIGHT_EDGES(
    int of_v = load_relaxed(rounds + v);
    if (from == to && of_v > 0 && of_v < round) {
      int of_u = load_relaxed(rounds + u);
      if (of_u == 0 || of_u == round) {
        lower_to(predecessors + u, v);
        store_relaxed(rounds + u, round);
        store_relaxed(state + STATE_FOUND, (uint)round);
      }
    }
  )
}

KERNEL finish(int n, __global int *restrict predecessors) {
  int v = get_global_id(0);
  if (v < n && predecessors[v] == NOBODY) predecessors[v] = -9999;
}
