/* Device-scope atomics, racy loads and stores, and fences: one vocabulary over every vendor.
 *
 *   fetch_{add,min,max,and,or}(p, v)   relaxed read-modify-write, returns the old value
 *   exchange(p, v)  compare_exchange(p, expected, desired)  return the old value
 *       int, uint in __global and __local memory; long, ulong in __global memory where
 *       DEV_HAS_INT64_ATOMICS; the order is relaxed, the scope the device (work-group for __local)
 *   load_relaxed(p), store_relaxed(p, v)
 *       coherent over the device: a value is never older than one this work-item has seen, and the
 *       compiler neither drops, repeats nor hoists the access
 *   load_relaxed_if(wanted, p), fetch_min_if(wanted, p, v), exchange_if(wanted, p, v),
 *   compare_exchange_if(wanted, p, expected, desired)
 *       do nothing and give 0 unless wanted; for words in __global memory, the minimum of unsigned ones only.  On
 *       NVIDIA they have no branch, since behind branches each of several accesses ends before the next begins
 *   load_stale(p)
 *       may come from a cache that other compute units do not update, but is still performed where it
 *       stands: for monotone data (union-find parents) for which any earlier value will do.
 *       Never wait for a change with it.
 *   load_stale4(p), store_relaxed4(p, v)
 *       four consecutive ints at once, 16-byte aligned; each of them as load_stale and store_relaxed
 *   load_once(p)        a plain load of data that lanes side by side read once: it leaves the caches to other data
 *   lower_to(p, v)      min that looks first; 1 if this call lowered *p (up to 100x on a hot word)
 *   fence_device()      acquire-release, device scope, __global memory
 *   spin_pause()        between two looks at a word: a CPU's core may run another work-item meanwhile
 *   float_add(p, v)  relaxed, result unused
 *   try_lock(p), unlock(p)  on a uint that is 0 when free; a critical section is ordered by them.
 *       Loop as  while (sg_any(!done)) if (!done && try_lock(l)) { ...; unlock(l); done = 1; }
 *       with a bound on the turns: a lane that spins alone waits for its lockstep neighbour for ever.
 */
#ifndef CLGRAPH_ATOMICS_H
#define CLGRAPH_ATOMICS_H
#include "common/types.h"

#define ATOMICS_CL12 1           /* OpenCL 1.x atomic_*; legal on CPUs and on NVIDIA */
#define ATOMICS_C11 2            /* OpenCL 2.0 *_explicit */
#define ATOMICS_HOST 3           /* GNU __atomic, host build */
#define LOADS_VOLATILE 1
#define LOADS_C11 2
#define LOADS_PTX 3              /* scoped loads of sm_70 and later */
#define LOADS_ATOMIC 4           /* an atomic or with 0: for race detectors that know no relaxed load */
#define LOADS_HOST 5
#define FLOAT_ADD_CAS 1
#define FLOAT_ADD_PTX 2
#define FLOAT_ADD_EXT 3          /* cl_ext_float_atomics */
#define FLOAT_ADD_AMDGCN 4
#ifndef DEV_ATOMICS
#define DEV_ATOMICS ATOMICS_CL12
#endif
#ifndef DEV_LOADS
#define DEV_LOADS LOADS_VOLATILE
#endif
#ifndef DEV_FLOAT_ADD
#define DEV_FLOAT_ADD FLOAT_ADD_CAS
#endif
#ifndef SCHEDULE_POINT           /* the seeded scheduler: it may switch work-items before an access, ... */
#define SCHEDULE_POINT(p)
#define UPDATE_(p) SCHEDULE_POINT(p)  /* ... keeps what a word held before it is read and written in one step, */
#define STORE_(p) SCHEDULE_POINT(p)   /* ... or written, */
#define AS_SEEN_(p, v) (v)       /* ... gives a load one of the values that no fence rules out, */
#define FENCE_                   /* ... and learns of fences */
#endif

#if DEV_HAS_INT64_ATOMICS && DEV_ATOMICS != ATOMICS_HOST
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#endif
#if DEV_FLOAT_ADD == FLOAT_ADD_EXT
#pragma OPENCL EXTENSION cl_ext_float_atomics : enable
#endif

/* ---- read-modify-write */
#if DEV_ATOMICS == ATOMICS_CL12
#define DEFINE_ATOMICS_(T, SPACE, PREFIX)                                                             \
  INLINE T fetch_add(volatile SPACE T *p, T v) { return PREFIX##add(p, v); }                \
  INLINE T fetch_min(volatile SPACE T *p, T v) { return PREFIX##min(p, v); }                \
  INLINE T fetch_max(volatile SPACE T *p, T v) { return PREFIX##max(p, v); }                \
  INLINE T fetch_and(volatile SPACE T *p, T v) { return PREFIX##and(p, v); }                \
  INLINE T fetch_or(volatile SPACE T *p, T v) { return PREFIX##or(p, v); }                  \
  INLINE T exchange(volatile SPACE T *p, T v) { return PREFIX##xchg(p, v); }                       \
  INLINE T compare_exchange(volatile SPACE T *p, T expected, T desired) {                          \
    return PREFIX##cmpxchg(p, expected, desired); }
DEFINE_ATOMICS_(int, __global, atomic_)
DEFINE_ATOMICS_(uint, __global, atomic_)
DEFINE_ATOMICS_(int, __local, atomic_)
DEFINE_ATOMICS_(uint, __local, atomic_)
#if DEV_HAS_INT64_ATOMICS
DEFINE_ATOMICS_(long, __global, atom_)
DEFINE_ATOMICS_(ulong, __global, atom_)
#endif
#elif DEV_ATOMICS == ATOMICS_C11
#define C11_(OP, SPACE, A, ...) atomic_##OP##_explicit((volatile SPACE A *)p, __VA_ARGS__)
#define DEFINE_ATOMICS_(T, SPACE, A, SCOPE)                                                           \
  INLINE T fetch_add(volatile SPACE T *p, T v) { return C11_(fetch_add, SPACE, A, v, memory_order_relaxed, SCOPE); } \
  INLINE T fetch_min(volatile SPACE T *p, T v) { return C11_(fetch_min, SPACE, A, v, memory_order_relaxed, SCOPE); } \
  INLINE T fetch_max(volatile SPACE T *p, T v) { return C11_(fetch_max, SPACE, A, v, memory_order_relaxed, SCOPE); } \
  INLINE T fetch_and(volatile SPACE T *p, T v) { return C11_(fetch_and, SPACE, A, v, memory_order_relaxed, SCOPE); } \
  INLINE T fetch_or(volatile SPACE T *p, T v) { return C11_(fetch_or, SPACE, A, v, memory_order_relaxed, SCOPE); }   \
  INLINE T exchange(volatile SPACE T *p, T v) { return C11_(exchange, SPACE, A, v, memory_order_relaxed, SCOPE); }          \
  INLINE T compare_exchange(volatile SPACE T *p, T expected, T desired) {                          \
    C11_(compare_exchange_strong, SPACE, A, &expected, desired, memory_order_relaxed, memory_order_relaxed, SCOPE);            \
    return expected; }
DEFINE_ATOMICS_(int, __global, atomic_int, memory_scope_device)
DEFINE_ATOMICS_(uint, __global, atomic_uint, memory_scope_device)
DEFINE_ATOMICS_(int, __local, atomic_int, memory_scope_work_group)
DEFINE_ATOMICS_(uint, __local, atomic_uint, memory_scope_work_group)
#if DEV_HAS_INT64_ATOMICS
DEFINE_ATOMICS_(long, __global, atomic_long, memory_scope_device)
DEFINE_ATOMICS_(ulong, __global, atomic_ulong, memory_scope_device)
#endif
#else                            /* ATOMICS_HOST; __local is __global there */
#define HOST_MINMAX_(T, NAME, CMP)                                                                    \
  INLINE T fetch_##NAME(volatile T *p, T v) { UPDATE_(p)                                   \
    T old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                     \
    while (v CMP old && !__atomic_compare_exchange_n(p, &old, v, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {} \
    return old; }
#define DEFINE_ATOMICS_(T)                                                                            \
  INLINE T fetch_add(volatile T *p, T v) { UPDATE_(p) return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); } \
  INLINE T fetch_and(volatile T *p, T v) { UPDATE_(p) return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); } \
  INLINE T fetch_or(volatile T *p, T v) { UPDATE_(p) return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }   \
  INLINE T exchange(volatile T *p, T v) { UPDATE_(p) return __atomic_exchange_n(p, v, __ATOMIC_RELAXED); }        \
  INLINE T compare_exchange(volatile T *p, T expected, T desired) { UPDATE_(p)              \
    __atomic_compare_exchange_n(p, &expected, desired, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);        \
    return expected; }                                                                                \
  HOST_MINMAX_(T, min, <) HOST_MINMAX_(T, max, >)
DEFINE_ATOMICS_(int)
DEFINE_ATOMICS_(uint)
DEFINE_ATOMICS_(long)
DEFINE_ATOMICS_(ulong)
#endif

/* ---- racy loads and stores */
#if DEV_LOADS == LOADS_VOLATILE
#define DEFINE_LOADS_(T, A)                                                                           \
  INLINE T load_relaxed(const volatile __global T *p) { return *p; }                                  \
  INLINE T load_stale(const volatile __global T *p) { return *p; }                                    \
  INLINE void store_relaxed(volatile __global T *p, T v) { *p = v; }
#elif DEV_LOADS == LOADS_C11
#define DEFINE_LOADS_(T, A)                                                                           \
  INLINE T load_relaxed(const volatile __global T *p) {                                               \
    return atomic_load_explicit((volatile __global A *)p, memory_order_relaxed, memory_scope_device); } \
  INLINE T load_stale(const volatile __global T *p) {  /* work-group scope: the compute unit's own cache serves it */ \
    return atomic_load_explicit((volatile __global A *)p, memory_order_relaxed, memory_scope_work_group); } \
  INLINE void store_relaxed(volatile __global T *p, T v) {                                            \
    atomic_store_explicit((volatile __global A *)p, v, memory_order_relaxed, memory_scope_device); }
#elif DEV_LOADS == LOADS_PTX
/* A relaxed load of cta scope is a strong operation, so ptxas neither hoists nor merges it, yet L1 may
 * serve it.  The asm is volatile so that the front end keeps it where it stands, too. */
#ifndef STALE_PTX_
#define STALE_PTX_ "ld.relaxed.cta.global."
#endif
#define DEFINE_LOADS_PTX_(T, SUFFIX, R)                                                               \
  INLINE T load_relaxed(const volatile __global T *p) {                                               \
    T v; __asm__ volatile("ld.relaxed.gpu.global." SUFFIX " %0, [%1];" : "=" R(v) : "l"((ulong)p)); return v; } \
  INLINE T load_stale(const volatile __global T *p) {                                                 \
    T v; __asm__ volatile(STALE_PTX_ SUFFIX " %0, [%1];" : "=" R(v) : "l"((ulong)p)); return v; }     \
  INLINE void store_relaxed(volatile __global T *p, T v) {                                            \
    __asm__ volatile("st.relaxed.gpu.global." SUFFIX " [%0], %1;" :: "l"((ulong)p), R(v)); }
DEFINE_LOADS_PTX_(int, "s32", "r")
DEFINE_LOADS_PTX_(uint, "u32", "r")
DEFINE_LOADS_PTX_(long, "s64", "l")
DEFINE_LOADS_PTX_(ulong, "u64", "l")
DEFINE_LOADS_PTX_(float, "f32", "f")
#elif DEV_LOADS == LOADS_ATOMIC
#define DEFINE_LOADS_(T, A)                                                                           \
  INLINE T load_relaxed(const volatile __global T *p) { return fetch_or((volatile __global T *)p, (T)0); } \
  INLINE T load_stale(const volatile __global T *p) { return load_relaxed(p); }                       \
  INLINE void store_relaxed(volatile __global T *p, T v) { exchange(p, v); }
#else                            /* LOADS_HOST */
#define DEFINE_LOADS_(T, A)                                                                           \
  INLINE T load_relaxed(const volatile T *p) { SCHEDULE_POINT(p) T v; __atomic_load((volatile T *)p, &v, __ATOMIC_RELAXED); return AS_SEEN_(p, v); } \
  INLINE T load_stale(const volatile T *p) { return load_relaxed(p); }                                \
  INLINE void store_relaxed(volatile T *p, T v) { STORE_(p) __atomic_store(p, &v, __ATOMIC_RELAXED); }
#endif
#if DEV_LOADS != LOADS_PTX
DEFINE_LOADS_(int, atomic_int)
DEFINE_LOADS_(uint, atomic_uint)
#if DEV_HAS_INT64_ATOMICS || DEV_LOADS == LOADS_VOLATILE || DEV_LOADS == LOADS_HOST
DEFINE_LOADS_(long, atomic_long)
DEFINE_LOADS_(ulong, atomic_ulong)
#endif
#if DEV_LOADS == LOADS_ATOMIC
INLINE float load_relaxed(const volatile __global float *p) { return as_float(load_relaxed((const volatile __global uint *)p)); }
INLINE float load_stale(const volatile __global float *p) { return load_relaxed(p); }
INLINE void store_relaxed(volatile __global float *p, float v) { exchange((volatile __global uint *)p, as_uint(v)); }
#else
DEFINE_LOADS_(float, atomic_float)
#endif
#endif

#if DEV_LOADS == LOADS_PTX
#define DEFINE_LOAD_IF_(T, SUFFIX, R)                                                                 \
  INLINE T load_relaxed_if(int wanted, const volatile __global T *p) {                                \
    T v;                                                                                              \
    __asm__ volatile("{ .reg .pred q; setp.ne.s32 q, %1, 0; mov." SUFFIX " %0, 0; "                   \
                     "@q ld.relaxed.gpu.global." SUFFIX " %0, [%2]; }" : "=&" R(v) : "r"(wanted), "l"((ulong)p)); \
    return v; }
DEFINE_LOAD_IF_(int, "s32", "r")
DEFINE_LOAD_IF_(uint, "u32", "r")
DEFINE_LOAD_IF_(ulong, "u64", "l")
#define DEFINE_UPDATE_IF_(NAME, OPERATION, T, BITS, R)                                                \
  INLINE T NAME##_if(int wanted, volatile __global T *p, T v) {                                       \
    T old;                                                                                            \
    __asm__ volatile("{ .reg .pred q; setp.ne.s32 q, %1, 0; mov." BITS " %0, 0; "                     \
                     "@q atom.relaxed.gpu.global." OPERATION " %0, [%2], %3; }"                       \
                     : "=&" R(old) : "r"(wanted), "l"((ulong)p), R(v));                               \
    return old; }
DEFINE_UPDATE_IF_(fetch_min, "min.u32", uint, "b32", "r")
DEFINE_UPDATE_IF_(fetch_min, "min.u64", ulong, "b64", "l")
DEFINE_UPDATE_IF_(exchange, "exch.b32", uint, "b32", "r")
INLINE int compare_exchange_if(int wanted, volatile __global int *p, int expected, int desired) {
  int old;
  __asm__ volatile("{ .reg .pred q; setp.ne.s32 q, %1, 0; mov.b32 %0, 0; @q atom.relaxed.gpu.global.cas.b32 %0, [%2], %3, %4; }"
                   : "=&r"(old) : "r"(wanted), "l"((ulong)p), "r"(expected), "r"(desired));
  return old;
}
#else
#define DEFINE_IF_(T)                                                                                 \
  INLINE T load_relaxed_if(int wanted, const volatile __global T *p) { return wanted ? load_relaxed(p) : (T)0; }
#define DEFINE_UPDATE_IF_(T)                                                                          \
  INLINE T fetch_min_if(int wanted, volatile __global T *p, T v) { return wanted ? fetch_min(p, v) : (T)0; }
DEFINE_IF_(int)
DEFINE_IF_(uint)
#if DEV_HAS_INT64_ATOMICS || DEV_LOADS == LOADS_VOLATILE || DEV_LOADS == LOADS_HOST
DEFINE_IF_(ulong)
#endif
DEFINE_UPDATE_IF_(uint)
#if DEV_HAS_INT64_ATOMICS
DEFINE_UPDATE_IF_(ulong)
#endif
INLINE uint exchange_if(int wanted, volatile __global uint *p, uint v) { return wanted ? exchange(p, v) : 0u; }
INLINE int compare_exchange_if(int wanted, volatile __global int *p, int expected, int desired) {
  return wanted ? compare_exchange(p, expected, desired) : 0;
}
#endif

#if DEV_LOADS == LOADS_PTX
#define DEFINE_LOAD_ONCE_(T, SUFFIX, R)                                                               \
  INLINE T load_once(const __global T *p) {                                                           \
    T v; __asm__("ld.global.cs." SUFFIX " %0, [%1];" : "=" R(v) : "l"((ulong)p)); return v; }
DEFINE_LOAD_ONCE_(int, "s32", "r")
DEFINE_LOAD_ONCE_(uint, "u32", "r")
DEFINE_LOAD_ONCE_(long, "s64", "l")
DEFINE_LOAD_ONCE_(float, "f32", "f")
DEFINE_LOAD_ONCE_(double, "f64", "d")
#else
#define load_once(p) (*(p))
#endif

#if DEV_LOADS == LOADS_PTX
INLINE int4 load_stale4(const volatile __global int *p) {
  int4 v;
  __asm__ volatile(STALE_PTX_ "v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"((ulong)p));
  return v;
}
INLINE void store_relaxed4(volatile __global int *p, int4 v) {
  __asm__ volatile("st.relaxed.gpu.global.v4.s32 [%0], {%1, %2, %3, %4};" :: "l"((ulong)p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w));
}
#elif DEV_LOADS == LOADS_VOLATILE && !DEV_IS_CPU
INLINE int4 load_stale4(const volatile __global int *p) { return *(const volatile __global int4 *)p; }
INLINE void store_relaxed4(volatile __global int *p, int4 v) { *(volatile __global int4 *)p = v; }
#else
INLINE int4 load_stale4(const volatile __global int *p) {
  int4 v; v.x = load_stale(p); v.y = load_stale(p + 1); v.z = load_stale(p + 2); v.w = load_stale(p + 3); return v;
}
INLINE void store_relaxed4(volatile __global int *p, int4 v) {
  store_relaxed(p, v.x); store_relaxed(p + 1, v.y); store_relaxed(p + 2, v.z); store_relaxed(p + 3, v.w);
}
#endif

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
  static uint all_fences;        /* ThreadSanitizer does not follow fences: all meet on a word, which is a little stronger */
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
