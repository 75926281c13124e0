/* Supersteps of ratings of which no two share a vertex: a slot takes a rating (model.h).
 *
 * Between supersteps stands a kernel boundary.  There are no races.
 * Reference: R. Kaleem et al., "Synchronization Trade-offs in GPU Implementations of Graph Algorithms", IPDPS 2016
 * (AGM-E, Diag).
 */
#include "factorization/model.h"

KERNEL superstep(const offset_t begin, const offset_t end, const __global int *restrict users,
                 const __global int *restrict items, const __global float *restrict values, MODEL_PARAMS) {
  model_t m = MODEL;
  const offset_t k = begin + (offset_t)(get_global_id(0) / LANES);
  const int active = k < end;
  update_rating(m, active, active ? users[k] : 0, active ? items[k] : 0, active ? values[k] : 0.0f);
}
