/* Predictions, and the sum of squared errors, each times its rating's weight if WEIGHTED: a slot takes a rating, work-groups stride over them.
 *
 * Each work-group writes one partial sum, so the total does not depend on the order in which groups run.
 */
#include "factorization/model.h"

INLINE float prediction(model_t m, int active, int user, int item) {
  float part = 0.0f, known = m.mean;
  if (active) {
    part = lane_dot(load_row(m.user_rows, user), load_row(m.item_rows, item));
#if BIASES
    known += m.user_biases[user] + m.item_biases[item];
#endif
  }
  return known + slot_sum(part);
}

KERNEL predict(const offset_t n, const __global int *restrict users, const __global int *restrict items, MODEL_PARAMS,
               __global float *restrict predictions) {
  model_t m = MODEL;
  const offset_t k = (offset_t)(get_global_id(0) / LANES);
  const int active = k < n;
  float value = prediction(m, active, active ? users[k] : 0, active ? items[k] : 0);
  if (active && slot_lane() == 0) predictions[k] = value;
}

KERNEL squared_errors(const offset_t n, const __global int *restrict users, const __global int *restrict items,
                      const __global value_t *restrict values, MODEL_PARAMS, __global float *restrict partial) {
  LOCAL_ARRAY float sums[WG_SIZE];
  model_t m = MODEL;
  const offset_t stride = (offset_t)(get_num_groups(0) * SLOTS_PER_GROUP);
  float sum = 0.0f, lost = 0.0f;             /* Kahan: a group may add up millions of terms */
  for (offset_t base = (offset_t)(get_group_id(0) * SLOTS_PER_GROUP); base < n; base += stride) {
    const offset_t k = base + (offset_t)slot_in_group();
    const int active = k < n;
    float error = prediction(m, active, active ? users[k] : 0, active ? items[k] : 0);
    const value_t value = active ? values[k] : NO_VALUE;
    error -= RATING(value);
    float square = active && slot_lane() == 0 ? WEIGHTED_BY(value, error * error) : 0.0f;
    float term = square - lost, next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  const uint me = (uint)get_local_id(0);
  sums[me] = sum;
  for (uint half_size = WG_SIZE / 2; half_size; half_size >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < half_size) sums[me] += sums[me + half_size];
  }
  if (me == 0) partial[get_group_id(0)] = sums[0];
}
