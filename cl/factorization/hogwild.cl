/* SGD without locks: a slot takes a rating (model.h), even if other slots work on its user or item.
 *
 * The baseline that does NOT keep the serial semantics: steps that share a vertex at the same time read old rows
 * and overwrite each other, so updates get lost.  On sparse ratings in random order few do, and the method still
 * converges.  All races are between load_stale and store_relaxed of RACY_ROWS.
 * Reference: F. Niu, B. Recht, C. Re, S. Wright, "Hogwild!: A Lock-Free Approach to Parallelizing Stochastic
 * Gradient Descent", NIPS 2011.
 */
#define RACY_ROWS 1
#include "factorization/model.h"

KERNEL hogwild(const offset_t begin, const offset_t end, const __global int *restrict users,
               const __global int *restrict items, const __global value_t *restrict values, MODEL_PARAMS) {
  model_t m = MODEL;
  const offset_t k = begin + (offset_t)(get_global_id(0) / LANES);
  const int active = k < end;
  update_rating(m, active, active ? users[k] : 0, active ? items[k] : 0, active ? values[k] : NO_VALUE);
}
