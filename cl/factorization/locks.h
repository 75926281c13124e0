/* Locks on vertices: one word each, 0 when free.  They are like try_lock and unlock of atomics.h, but several locks
 * share one fence, because a fence costs the same as reading a row from memory.
 *
 *   take_lock(p)     returns 1 if this call took the lock; loads it first, because a failing atomic delays the unlock
 *   drop_lock(p)     frees the lock
 *   fence_locks()    must be between taking locks and reading guarded data, and between writing such data and unlocking
 *   lock_both(u, i)  takes both locks or none, the user's first, with the fence.  A slot that has an item's lock also has a
 *                    user's lock and will finish.  So among slots that try at the same time one succeeds, and none waits
 *                    for ever.
 *   unlock_both(u, i)
 */
#ifndef CLGRAPH_FACTORIZATION_LOCKS_H
#define CLGRAPH_FACTORIZATION_LOCKS_H
#include "common/atomics.h"

#define N_LISTS 3                /* lists of deferred ratings: a pass reads one, fills one, and clears one's length */

INLINE int take_lock(volatile __global uint *lock) { return !load_relaxed(lock) && !compare_exchange(lock, 0u, 1u); }
INLINE void drop_lock(volatile __global uint *lock) { store_relaxed(lock, 0u); }
INLINE void fence_locks(void) { fence_device(); }

INLINE int lock_both(volatile __global uint *user_lock, volatile __global uint *item_lock) {
  int locked = 0;
  if (!(load_relaxed(user_lock) | load_relaxed(item_lock)) && take_lock(user_lock)) {
    locked = take_lock(item_lock);
    if (!locked) drop_lock(user_lock);
  }
  if (locked) fence_locks();
  return locked;
}
INLINE void unlock_both(volatile __global uint *user_lock, volatile __global uint *item_lock) {
  fence_locks();
  drop_lock(item_lock);
  drop_lock(user_lock);
}
#endif
