/* Atomic updates of single words, in each dialect of atomics: the first part of the vocabulary that atomics.h lists.
 *
 * The first macros choose the dialect.  The host defines DEV_ATOMICS, DEV_LOADS and DEV_FLOAT_ADD for its device.  The
 * seeded scheduler of the tests defines SCHEDULE_POINT and the macros below it; otherwise they are empty.
 */
#ifndef CLGRAPH_ATOMIC_UPDATES_H
#define CLGRAPH_ATOMIC_UPDATES_H
#include "common/types.h"

#define ATOMICS_CL12 1           /* OpenCL 1.x atomic_*; legal on CPUs and on NVIDIA */
#define ATOMICS_C11 2            /* OpenCL 2.0 *_explicit */
#define ATOMICS_HOST 3           /* GNU __atomic, host build */
#define LOADS_VOLATILE 1
#define LOADS_C11 2
#define LOADS_PTX 3              /* scoped loads of sm_70 and later */
#define LOADS_ATOMIC 4           /* an atomic OR with 0, for race detectors without relaxed loads */
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
#ifndef SCHEDULE_POINT           /* hooks of the seeded scheduler: it may switch work-items before an access, ... */
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
#endif
