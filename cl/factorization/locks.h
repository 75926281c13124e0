/* Locks on vertices: one word each, 0 when free.  They are like try_lock and unlock of atomics.h, but several locks
 * share one fence, because a fence costs the same as reading a row from memory.
 *
 *   take_lock(p)     1 if this call took it; looks first, since a failing atomic holds up the holder's unlock
 *   drop_lock(p)     frees it
 *   fence_locks()    between taking locks and reading what they guard, and between writing that and dropping them
 *   lock_both(u, i)  both or none, the user first, with the fence.  The holder of an item has its user, too, and will
 *                    finish.  So of all slots that try at a time one succeeds, and none waits for ever.
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
