/* Names that every kernel uses.  The host prepends definitions of the DEV_* facts and the tunables.  With the defaults here
 * a kernel can also be compiled offline and run under other tools. */
#ifndef CLGRAPH_TYPES_H
#define CLGRAPH_TYPES_H

#ifndef WG_SIZE
#define WG_SIZE 256
#endif
#ifndef DEV_IS_CPU
#define DEV_IS_CPU 0
#endif
#ifndef DEV_HAS_INT64_ATOMICS
#define DEV_HAS_INT64_ATOMICS 0
#endif
#ifndef DEV_HAS_FP64
#define DEV_HAS_FP64 0
#endif
#ifndef DEV_LOCAL_MEM_BYTES
#define DEV_LOCAL_MEM_BYTES 32768
#endif
#ifndef DEV_KERNEL_ATTRIBUTE
#define DEV_KERNEL_ATTRIBUTE
#endif
#ifndef DEV_NVIDIA_SM
#define DEV_NVIDIA_SM 0
#endif
#ifndef OFFSET_T                 /* type of row_offsets: int, or long near 2^31 entries and beyond */
#define OFFSET_T int
#endif

#ifdef HOST_BUILD                /* the kernels as C++ under a sanitizer or a seeded scheduler */
#define INLINE static inline
#define ALWAYS_INLINE INLINE
#define KERNEL extern "C" void
#if WG_SIZE == 1                 /* groups of one work-item run interleaved, so each has its own arrays on its stack */
#define LOCAL_ARRAY
#else
#define LOCAL_ARRAY static __attribute__((section("local_memory")))
#endif
#else
#define INLINE static inline __attribute__((overloadable))
#define ALWAYS_INLINE INLINE __attribute__((always_inline))
#define KERNEL __kernel DEV_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(WG_SIZE, 1, 1))) void
#define LOCAL_ARRAY __local      /* declares local memory at the head of a kernel */
#endif

/* Barriers of a work-group, for its local memory or for all memory.  A work-item that is alone in its group needs none, and
 * PoCL compiles a kernel with many barriers for minutes. */
#if WG_SIZE == 1
#define local_barrier()
#define group_barrier()
#else
#define local_barrier() barrier(CLK_LOCAL_MEM_FENCE)
#define group_barrier() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif

/* Prefetch the cache line at p. */
#ifdef HOST_BUILD
#define FETCH_AHEAD(p)
#elif DEV_IS_CPU && !DEV_NVIDIA_SM && !defined(__SPIR__)  /* PoCL, where prefetch does nothing */
#define FETCH_AHEAD(p) __builtin_prefetch((const __private void *)(size_t)(p))
#else
#define FETCH_AHEAD(p) prefetch(p, 1)
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
typedef OFFSET_T offset_t;
typedef PASTE(OFFSET_T, 4) offset4_t;

#endif
