/* A round over all vertices, in which a work-item relaxes the edges of one vertex.  rounds.h explains why the rounds
 * end with the right distances, and which races they have.
 *
 * After R. Nasre, M. Burtscher, K. Pingali, "Data-driven versus topology-driven irregular computations on GPUs", IPDPS
 * 2013.
 */
#include "traversal/rounds.h"

/* n_words: the number of distances; a vertex that was split has several. */
KERNEL initialize(int n_words, __global dist_t *restrict distances, __global uint *restrict state) {
  int i = get_global_id(0);
  for (int k = i; k < STATE_WORDS; k += (int)get_global_size(0)) state[k] = 0u;
  if (i < n_words) distances[i] = FAR_AWAY;
}

KERNEL start(int n_sources, __global const int *restrict sources, volatile __global dist_t *distances) {
  int i = get_global_id(0);
  if (i < n_sources) store_relaxed(distances + sources[i], (dist_t)0);
}

KERNEL relax_vertices(int n, uint round, dist_t limit, __global const offset_t *restrict row_offsets,
                      __global const int *restrict column_indices, __global const weight_t *restrict edge_weights,
                      volatile __global uint *state, volatile __global dist_t *distances, volatile __global uint *work) {
  int v = get_global_id(0);
  if (v >= n || is_over(round, state)) return;
  const dist_t d = load_relaxed(distances + v);
  if (d == FAR_AWAY) return;
  const offset_t begin = row_offsets[v], end = row_offsets[v + 1];
  relax_edges(d, begin, end, 1, round, limit, column_indices, edge_weights, state, distances);
  count_edges((uint)(end - begin), work + get_group_id(0));
}
