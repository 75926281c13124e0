/* SGD with a lock on each vertex: a slot locks the user and the item of a rating, steps, and unlocks.
 *
 * A sub-group takes a chunk of consecutive ratings, and each of its slots takes the next rating as soon as it is free.  A
 * slot that does not get both locks tries again in the next turn.  After some turns it defers its rating to the next pass.
 * Late passes have only ratings of few vertices.  There, chunks stay long, so that few slots compete for the locks of
 * these vertices, and a slot tries for more turns.
 *
 * sizes: lengths of N_LISTS lists.  Pass k reads list k % N_LISTS, fills list k + 1, and clears the length of list k + 2.
 * Pass 0 takes the ratings themselves.  Lock words are read while others change them; rows are accessed under locks only.
 * Reference: R. Kaleem et al., "Synchronization Trade-offs in GPU Implementations of Graph Algorithms", IPDPS 2016
 * (EL).
 */
#include "common/worklist.h"
#include "factorization/locks.h"
#include "factorization/model.h"

#ifndef RATINGS_PER_SLOT         /* least number of ratings per slot; short passes use fewer slots */
#define RATINGS_PER_SLOT 32
#endif
#ifndef FIRST_TURNS              /* turns in pass 0; they double with every later pass, up to MOST_TURNS */
#define FIRST_TURNS 2
#endif
#ifndef MOST_TURNS
#define MOST_TURNS 256
#endif

/* Step on ratings begin … end - 1, or if is_list on the ratings whose numbers `list` has there. */
INLINE void step_on_each(model_t m, const uint pass, const ulong begin, const ulong end, const int is_list,
                         const __global offset_t *list, const __global int *users, const __global int *items,
                         const __global value_t *values, volatile __global uint *user_locks,
                         volatile __global uint *item_locks, __global uint *sizes, __global offset_t *deferred) {
  volatile __global uint *n_deferred = sizes + (pass + 1u) % N_LISTS;
  const uint most_turns = min((uint)MOST_TURNS, (uint)FIRST_TURNS << min(pass, 16u));
  const ulong n_sub_groups = get_num_groups(0) * SUB_GROUPS_PER_GROUP;
  const ulong share = (end - begin + n_sub_groups - 1ul) / n_sub_groups;
  const ulong chunk = max(share, (ulong)(RATINGS_PER_SLOT * SLOTS_PER_SUB_GROUP));
  ulong next = begin + chunk * (get_group_id(0) * SUB_GROUPS_PER_GROUP + sg_in_group());
  const ulong last = min(end, next + chunk);
  if (get_global_id(0) == 0) sizes[(pass + 2u) % N_LISTS] = 0u;

  offset_t k = 0;
  int user = 0, item = 0, busy = 0;
  value_t value = NO_VALUE;
  uint turns = 0u;
  for (;;) {
    if (next < last) {
      const lane_mask_t idle = sg_ballot(!busy);
      const ulong at = next + lane_count(idle & lanes_below_mask()) / LANES;
      if (!busy && at < last) {
        k = is_list ? list[at] : (offset_t)at;
        user = users[k];
        item = items[k];
        value = values[k];
        busy = 1;
        turns = 0u;
      }
      next += lane_count(idle) / LANES;
    }
    if (!sg_any(busy)) break;
    int locked = busy && slot_lane() == 0 && lock_both(user_locks + user, item_locks + item);
    locked = sg_broadcast(locked, sg_lane() - slot_lane());
    sg_sync();
    update_rating(m, locked, user, item, value);
    sg_sync();
    if (locked && slot_lane() == 0) unlock_both(user_locks + user, item_locks + item);
    const int gives_up = busy && !locked && ++turns >= most_turns;
    const uint place = push_sub_group(n_deferred, gives_up && slot_lane() == 0);
    if (gives_up && slot_lane() == 0) deferred[place] = k;
    busy = busy && !locked && !gives_up;
  }
}

KERNEL lock_all(const offset_t begin, const offset_t end, const __global int *restrict users,
                const __global int *restrict items, const __global value_t *restrict values, MODEL_PARAMS,
                volatile __global uint *user_locks, volatile __global uint *item_locks, __global uint *sizes,
                __global offset_t *restrict deferred) {
  model_t m = MODEL;
  step_on_each(m, 0u, (ulong)begin, (ulong)end, 0, deferred, users, items, values, user_locks, item_locks, sizes,
               deferred);
}

KERNEL lock_deferred(const uint pass_number, const __global offset_t *restrict list, const __global int *restrict users,
                     const __global int *restrict items, const __global value_t *restrict values, MODEL_PARAMS,
                     volatile __global uint *user_locks, volatile __global uint *item_locks, __global uint *sizes,
                     __global offset_t *restrict deferred) {
  model_t m = MODEL;
  const ulong end = (ulong)sizes[pass_number % N_LISTS];
  step_on_each(m, pass_number, 0ul, end, 1, list, users, items, values, user_locks, item_locks, sizes, deferred);
}
