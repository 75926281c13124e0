/* Device-scope atomics, racy loads and stores, and fences: the same functions for every vendor.
 *
 *   fetch_{add,min,max,and,or}(p, v)   relaxed read-modify-write, returns the old value
 *   exchange(p, v)  compare_exchange(p, expected, desired)  return the old value
 *       int, uint in __global and __local memory; long, ulong in __global memory where
 *       DEV_HAS_INT64_ATOMICS; the order is relaxed, the scope the device (work-group for __local)
 *   load_relaxed(p), store_relaxed(p, v)
 *       coherent over the device: a load never returns an older value than this work-item has seen before, and the
 *       compiler neither removes, repeats nor hoists the access
 *   load_relaxed_if(wanted, p), fetch_min_if(wanted, p, v), exchange_if(wanted, p, v),
 *   compare_exchange_if(wanted, p, expected, desired)
 *       do nothing and return 0 unless wanted; for words in __global memory, the minimum only of unsigned ones.  On
 *       NVIDIA they have no branch, because with branches each of several accesses ends before the next begins
 *   load_stale(p)
 *       may come from a cache that other compute units do not update, but is neither removed nor moved by the compiler.
 *       For monotone data (union-find parents), for which any earlier value is good enough.  Never use it to wait for a
 *       change.
 *   load_stale4(p), store_relaxed4(p, v)
 *       four consecutive ints at once, 16-byte aligned; each like load_stale and store_relaxed
 *   load_once(p)        a plain load of data that neighbouring lanes read once, and that caches need not keep
 *   lower_to(p, v)      a minimum that loads first; 1 if this call lowered *p (up to 100 times as fast on a hot word)
 *   fence_device()      acquire-release, device scope, __global memory
 *   spin_pause()        between two polls of a word: a CPU's core may run another work-item meanwhile
 *   float_add(p, v)  relaxed, result unused
 *   try_lock(p), unlock(p)  on a uint that is 0 when free; a critical section is ordered by them.
 *       Loop as  while (sg_any(!done)) if (!done && try_lock(l)) { ...; unlock(l); done = 1; }
 *       with a bound on the number of turns: a lane that spins alone may wait for ever for a lane in lockstep with it.
 */
#ifndef CLGRAPH_ATOMICS_H
#define CLGRAPH_ATOMICS_H
#include "common/atomic_updates.h"
#include "common/racy_loads.h"

#define DEFINE_LOWER_(T)                                                                              \
  INLINE int lower_to(volatile __global T *p, T v) { return load_relaxed(p) > v && fetch_min(p, v) > v; }
DEFINE_LOWER_(int)
DEFINE_LOWER_(uint)
#if DEV_HAS_INT64_ATOMICS
DEFINE_LOWER_(long)
DEFINE_LOWER_(ulong)
#endif

/* ---- order */
INLINE void fence_device(void) {
#if DEV_ATOMICS == ATOMICS_HOST
  FENCE_
  static uint all_fences;        /* ThreadSanitizer ignores fences, so all access one word, which is a little stronger */
  __atomic_fetch_add(&all_fences, 1u, __ATOMIC_ACQ_REL);
#elif DEV_NVIDIA_SM >= 70
  __asm__ volatile("fence.acq_rel.gpu;" ::: "memory");
#elif DEV_NVIDIA_SM
  __asm__ volatile("membar.gl;" ::: "memory");
#elif DEV_ATOMICS == ATOMICS_C11
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
#else
  mem_fence(CLK_GLOBAL_MEM_FENCE);  /* a full compiler and hardware fence on CPUs */
#endif
}

INLINE void spin_pause(void) {
#ifdef DEV_SPIN_PAUSE
  __asm__ volatile(DEV_SPIN_PAUSE);
#endif
}

INLINE int try_lock(volatile __global uint *lock) {
  int acquired = compare_exchange(lock, 0u, 1u) == 0u;
  if (acquired) fence_device();
  return acquired;
}
INLINE void unlock(volatile __global uint *lock) { fence_device(); exchange(lock, 0u); }

/* ---- float add */
INLINE void float_add_cas(volatile __global float *p, float v) {
  volatile __global uint *word = (volatile __global uint *)p;
  uint old = load_relaxed(word), seen;
  while ((seen = compare_exchange(word, old, as_uint(as_float(old) + v))) != old) old = seen;
}
INLINE void float_add(volatile __global float *p, float v) {
#if DEV_FLOAT_ADD == FLOAT_ADD_PTX
#if DEV_NVIDIA_SM >= 70
  __asm__ volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" :: "l"((ulong)p), "f"(v) : "memory");
#else
  __asm__ volatile("red.global.add.f32 [%0], %1;" :: "l"((ulong)p), "f"(v) : "memory");
#endif
#elif DEV_FLOAT_ADD == FLOAT_ADD_EXT
  atomic_fetch_add_explicit((volatile __global atomic_float *)p, v, memory_order_relaxed, memory_scope_device);
#elif DEV_FLOAT_ADD == FLOAT_ADD_AMDGCN
  __builtin_amdgcn_global_atomic_fadd_f32((__global float *)p, v);
#else
  float_add_cas(p, v);
#endif
}

/* Order-preserving keys: a float min is an unsigned min of these. */
INLINE uint float_to_key(float x) { uint b = as_uint(x); return b ^ ((b >> 31) ? 0xffffffffu : 0x80000000u); }
INLINE float key_to_float(uint k) { return as_float(k ^ ((k >> 31) ? 0x80000000u : 0xffffffffu)); }

#endif
