/* The costs of a launch and of a lock. */
#include "common/atomics.h"
#include "common/random.h"

/* Writes a word, so that a read-back has something to wait for. */
KERNEL touch(uint value, __global uint *out) {
  if (get_global_id(0) == 0) out[0] = value;
}

/* One work-item takes and frees `turns` locks, at random among n_locks.  No other work-item uses them, so one try each is
 * enough and nothing spins.  out[0]: the number of locks that it got, which is `turns`. */
KERNEL lock(uint turns, uint n_locks, uint seed, volatile __global uint *locks, __global uint *out) {
  if (get_global_id(0)) return;
  uint x = random_uint(random_key(seed), 0), acquired = 0u;
  for (uint turn = 0u; turn < turns; turn++) {
    volatile __global uint *p = locks + mul_hi(x, n_locks);
    x = x * 1664525u + 1013904223u;
    if (try_lock(p)) {
      acquired++;
      unlock(p);
    }
  }
  out[0] = acquired;
}
