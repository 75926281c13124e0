/* SGD in supersteps.  The ratings of a superstep share no vertex.  A slot takes a rating (model.h).
 *
 * Superstep s has the ratings offsets[s] … offsets[s + 1] - 1.  Supersteps are separated by a kernel boundary (superstep),
 * by a barrier of a single work-group that makes them all (superstep_tail), or by a grid barrier (superstep_grid).  The
 * list of ratings does not change, so a slot reads its next rating before it makes a step.
 * There are no races.
 *
 * Reference: R. Kaleem et al., "Synchronization Trade-offs in GPU Implementations of Graph Algorithms", IPDPS 2016
 * (AGM-E, Diag).
 */
#include "common/grid_barrier.h"
#include "factorization/model.h"

typedef struct { int active, user, item; value_t value; } rating_t;

#define RATING_PARAMS const __global int *restrict users, const __global int *restrict items, \
  const __global value_t *restrict values

INLINE rating_t rating_at(offset_t k, offset_t end, RATING_PARAMS) {
  rating_t r = {k < end, 0, 0, NO_VALUE};
  if (r.active) {
    r.user = users[k];
    r.item = items[k];
    r.value = values[k];
  }
  return r;
}
INLINE void step_on(model_t m, rating_t r) { update_rating(m, r.active, r.user, r.item, r.value); }

KERNEL superstep(const offset_t begin, const offset_t end, RATING_PARAMS, MODEL_PARAMS) {
  model_t m = MODEL;
  step_on(m, rating_at(begin + (offset_t)(get_global_id(0) / LANES), end, users, items, values));
}

/* Supersteps first … last - 1 by one work-group, whose slots have already read their ratings of the first one. */
INLINE void tail(model_t m, uint first, uint last, rating_t r, const __global offset_t *restrict offsets, RATING_PARAMS) {
  const offset_t slot = (offset_t)slot_in_group();
  offset_t begin = offsets[first], end = offsets[first + 1u], next_end = offsets[min(first + 2u, last)];
  for (uint s = first; s < last; s++) {
    const offset_t after_next = offsets[min(s + 3u, last)];
    const rating_t next = rating_at(end + slot, next_end, users, items, values);
    step_on(m, r);
    for (offset_t base = begin + SLOTS_PER_GROUP; base < end; base += SLOTS_PER_GROUP)
      step_on(m, rating_at(base + slot, end, users, items, values));
    barrier(CLK_GLOBAL_MEM_FENCE);
    r = next;
    begin = end;
    end = next_end;
    next_end = after_next;
  }
}

KERNEL superstep_tail(const uint first, const uint last, const __global offset_t *restrict offsets, RATING_PARAMS,
                      MODEL_PARAMS) {
  model_t m = MODEL;
  const rating_t r = rating_at(offsets[first] + (offset_t)slot_in_group(), offsets[first + 1u], users, items, values);
  tail(m, first, last, r, offsets, users, items, values);
}

/* Segments first … last - 1 by all resident work-groups.  A segment is one superstep, or several consecutive small ones,
 * which one group makes while the others wait.  Segment g has supersteps segments[g] … segments[g + 1] - 1.  status is
 * set when a wait times out. */
KERNEL superstep_grid(const uint first, const uint last, const __global uint *restrict segments,
                      const __global offset_t *restrict offsets, RATING_PARAMS, MODEL_PARAMS,
                      volatile __global uint *control, volatile __global uint *status) {
  LOCAL_ARRAY int passed;
  GRID_ENTER(control)
  model_t m = MODEL;
  const offset_t mine = (offset_t)member * SLOTS_PER_GROUP + (offset_t)slot_in_group();
  const offset_t stride = (offset_t)members * SLOTS_PER_GROUP;
  uint s = segments[first], next_s = segments[first + 1u];
  offset_t begin = offsets[s], end = offsets[s + 1u];
  rating_t r = rating_at(begin + mine, end, users, items, values);
  for (uint g = first; g < last; g++) {
    const int is_last = g + 1u == last;
    const uint after_next = is_last ? next_s : segments[g + 2u];
    const offset_t next_begin = is_last ? end : offsets[next_s], next_end = is_last ? end : offsets[next_s + 1u];
    const rating_t next = rating_at(next_begin + mine, next_end, users, items, values);
    if (next_s - s == 1u) {
      step_on(m, r);
      for (offset_t base = begin + stride; base < end; base += stride)
        step_on(m, rating_at(base + mine, end, users, items, values));
    } else if (member == 0u) {
      tail(m, s, next_s, r, offsets, users, items, values);
    }
    if (!grid_barrier(control, members, &passed)) {
      if (get_local_id(0) == 0) report_status(status, STATUS_TIMEOUT);
      return;
    }
    r = next;
    s = next_s;
    next_s = after_next;
    begin = next_begin;
    end = next_end;
  }
}
