/* Loads and stores of words that other work-items may write: the second part of the vocabulary that atomics.h lists.
 *
 * Each function is defined once for every dialect of DEV_LOADS.  The conditional functions (load_relaxed_if and the like)
 * include updates, because these too are predicated instructions in PTX.
 */
#ifndef CLGRAPH_RACY_LOADS_H
#define CLGRAPH_RACY_LOADS_H
#include "common/atomic_updates.h"

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
 * serve it.  The asm is volatile so that the front end does not move it either. */
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
#endif
