/* Sub-groups of SUB_GROUP_SIZE lanes: NVIDIA warps (PTX), AMD waves (amdgcn builtins), cl_khr_subgroups, and sub-groups of
 * one lane on CPUs, with the same functions:
 *
 *   sg_lane()  sg_in_group()                sg_sync()  orders memory accesses of the lanes
 *   sg_ballot(predicate) -> lane_mask_t      sg_any(p)  sg_all(p)
 *   sg_broadcast(x, lane)  sg_xor(x, mask)
 *   sg_sum(x)  sg_least(x)  sg_greatest(x)  sg_exclusive_sum(x)
 *       for int, uint, long, ulong, float; any bits of a predicate count
 *   lanes_below_mask()  lowest_lane(mask)  highest_lane(mask)  lane_count(mask)
 *
 * Contract: every lane of the sub-group must call (uniform control flow inside it), and no lane has returned.  Loops around
 * the calls run while sg_any(cond).  The size of a work-group is a multiple of the width; any other size does not compile.
 * The exception is a group of one work-item: its sub-group has one lane on every device.
 */
#ifndef CLGRAPH_SUBGROUP_H
#define CLGRAPH_SUBGROUP_H
#include "common/types.h"

#define SUB_GROUP_SINGLE 1
#define SUB_GROUP_PTX 2
#define SUB_GROUP_KHR 3
#define SUB_GROUP_AMDGCN 4
#define SUB_GROUP_HOST 5         /* lanes that are threads or fibres: tests/race defines the words */
#ifndef DEV_SUB_GROUP
#define DEV_SUB_GROUP SUB_GROUP_SINGLE
#endif
#ifndef DEV_SUB_GROUP_SIZE
#define DEV_SUB_GROUP_SIZE 1
#endif
#if WG_SIZE == 1
#define SUB_GROUP SUB_GROUP_SINGLE
#define SUB_GROUP_SIZE 1
#else
#define SUB_GROUP DEV_SUB_GROUP
#define SUB_GROUP_SIZE DEV_SUB_GROUP_SIZE
#endif
#if WG_SIZE % SUB_GROUP_SIZE
#error "WG_SIZE is not a multiple of the sub-group width: sums over a group would leave work-items out"
#endif
#define SUB_GROUPS_PER_GROUP (WG_SIZE / SUB_GROUP_SIZE)

#if SUB_GROUP_SIZE > 32
typedef ulong lane_mask_t;
#else
typedef uint lane_mask_t;
#endif
INLINE uint lowest_lane(uint m) { return 31u - (uint)clz(m & (0u - m)); }   /* m != 0 */
INLINE uint lowest_lane(ulong m) { return 63u - (uint)clz(m & (0ul - m)); }
INLINE uint highest_lane(uint m) { return 31u - (uint)clz(m); }             /* m != 0 */
INLINE uint highest_lane(ulong m) { return 63u - (uint)clz(m); }
INLINE uint lane_count(uint m) { return popcount(m); }
INLINE uint lane_count(ulong m) { return (uint)popcount(m); }

#if SUB_GROUP == SUB_GROUP_SINGLE
#if SUB_GROUP_SIZE != 1
#error "SUB_GROUP_SINGLE has one lane"
#endif
INLINE uint sg_lane(void) { return 0u; }  /* a function: clang warns of a constant beside && */
#define sg_in_group() ((uint)get_local_id(0))
#define sg_sync()
#define sg_ballot(p) ((lane_mask_t)((p) != 0))
#define sg_any(p) ((p) != 0)
#define sg_all(p) ((p) != 0)
#define lanes_below_mask() ((lane_mask_t)0)
#define DEFINE_SINGLE_(T)          /* functions: an argument is evaluated once, as on wider devices */ \
  INLINE T sg_broadcast(T x, uint lane) { return x; }                                                 \
  INLINE T sg_xor(T x, uint mask) { return x; }                                                       \
  INLINE T sg_sum(T x) { return x; }                                                                  \
  INLINE T sg_least(T x) { return x; }                                                                \
  INLINE T sg_greatest(T x) { return x; }                                                             \
  INLINE T sg_exclusive_sum(T x) { return (T)0; }
DEFINE_SINGLE_(int)
DEFINE_SINGLE_(uint)
DEFINE_SINGLE_(long)
DEFINE_SINGLE_(ulong)
DEFINE_SINGLE_(float)

#elif SUB_GROUP == SUB_GROUP_PTX
#define FULL_WARP "0xffffffff"
INLINE uint sg_lane(void) { uint l; __asm__("mov.u32 %0, %%laneid;" : "=r"(l)); return l; }
INLINE uint lanes_below_mask(void) { uint m; __asm__("mov.u32 %0, %%lanemask_lt;" : "=r"(m)); return m; }
#define sg_in_group() ((uint)get_local_id(0) >> 5)
INLINE void sg_sync(void) { __asm__ volatile("bar.warp.sync " FULL_WARP ";" ::: "memory"); }
INLINE uint ballot_ptx_(int p) {
  uint m;
  __asm__ volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, " FULL_WARP "; }" : "=r"(m) : "r"(p));
  return m;
}
#define sg_ballot(p) ballot_ptx_((p) != 0)     /* != 0 here: a 64-bit predicate would lose its high word */
#define sg_any(p) (sg_ballot(p) != 0u)
#define sg_all(p) (sg_ballot(p) == 0xffffffffu)
INLINE uint sg_broadcast(uint x, uint lane) {
  uint r; __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, " FULL_WARP ";" : "=r"(r) : "r"(x), "r"(lane)); return r; }
INLINE uint sg_xor(uint x, uint mask) {
  uint r; __asm__ volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, " FULL_WARP ";" : "=r"(r) : "r"(x), "r"(mask)); return r; }
#if DEV_NVIDIA_SM >= 80          /* one instruction from Ampere on */
#define HAS_REDUX 1
#define DEFINE_REDUX_(T, NAME, SUFFIX)                                                                \
  INLINE T sg_##NAME(T x) { T r; __asm__ volatile("redux.sync." SUFFIX " %0, %1, " FULL_WARP ";" : "=r"(r) : "r"(x)); return r; }
DEFINE_REDUX_(uint, sum, "add.u32")
DEFINE_REDUX_(int, sum, "add.s32")
DEFINE_REDUX_(uint, least, "min.u32")
DEFINE_REDUX_(int, least, "min.s32")
DEFINE_REDUX_(uint, greatest, "max.u32")
DEFINE_REDUX_(int, greatest, "max.s32")
#endif
#define SUB_GROUP_BUILT_FROM_SHUFFLES 1

#elif SUB_GROUP == SUB_GROUP_KHR
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#define sg_lane() ((uint)get_sub_group_local_id())
#define sg_in_group() ((uint)get_sub_group_id())
#define sg_sync() sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define lanes_below_mask() ((lane_mask_t)((1ul << get_sub_group_local_id()) - 1ul))
INLINE lane_mask_t ballot_khr_(int p) {
  uint4 b = sub_group_ballot(p);
#if SUB_GROUP_SIZE > 32
  return ((ulong)b.y << 32) | b.x;
#else
  return b.x;
#endif
}
#define sg_ballot(p) ballot_khr_((p) != 0)
#define sg_any(p) (sub_group_any((p) != 0) != 0)
#define sg_all(p) (sub_group_all((p) != 0) != 0)
#define sg_broadcast(x, lane) sub_group_shuffle(x, lane)   /* sub_group_broadcast wants a uniform lane */
#define sg_xor(x, mask) sub_group_shuffle_xor(x, mask)
#define sg_sum(x) sub_group_reduce_add(x)
#define sg_least(x) sub_group_reduce_min(x)
#define sg_greatest(x) sub_group_reduce_max(x)
#define sg_exclusive_sum(x) sub_group_scan_exclusive_add(x)

#elif SUB_GROUP == SUB_GROUP_AMDGCN
#if SUB_GROUP_SIZE != 32 && SUB_GROUP_SIZE != 64
#error "a sub-group of SUB_GROUP_AMDGCN is a wave, or half of a wave of 64"
#endif
#ifdef __AMDGCN_WAVEFRONT_SIZE   /* clang up to 20 defines it */
#define WAVE_SIZE_ __AMDGCN_WAVEFRONT_SIZE
#else
#define WAVE_SIZE_ __builtin_amdgcn_wavefrontsize()
#endif
INLINE uint wave_lane_(void) { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
#if SUB_GROUP_SIZE == 64
#if defined(__AMDGCN_WAVEFRONT_SIZE) && __AMDGCN_WAVEFRONT_SIZE != 64
#error "DEV_SUB_GROUP_SIZE is not the wave size this is compiled for"
#endif
#if defined(__GFX10__) || defined(__GFX11__)
#error "ds_bpermute reaches only 32 lanes here: the sub-groups of a wave of 64 are its halves (runtime/driver/quirks.py)"
#endif
#define sg_lane() wave_lane_()
#define first_lane_() 0u
#else                            /* a wave of 32, or either half of a wave of 64 */
#define sg_lane() (wave_lane_() & 31u)
#define first_lane_() (WAVE_SIZE_ == 64 ? wave_lane_() & 32u : 0u)
#endif
#if __AMDGCN_WAVEFRONT_SIZE == 32 && __has_builtin(__builtin_amdgcn_ballot_w32)
#define wave_ballot_(p) __builtin_amdgcn_ballot_w32(p)
#elif __AMDGCN_WAVEFRONT_SIZE == 64 && __has_builtin(__builtin_amdgcn_ballot_w64)
#define wave_ballot_(p) __builtin_amdgcn_ballot_w64(p)
#else                            /* an integer comparison of all lanes; predicate 33 is "ne" */
#define wave_ballot_(p) __builtin_amdgcn_uicmp((uint)(p), 0u, 33)
#endif
#define sg_ballot(p) ((lane_mask_t)(wave_ballot_((p) != 0) >> first_lane_()))
#define sg_in_group() ((uint)get_local_id(0) / SUB_GROUP_SIZE)
INLINE void sg_sync(void) {      /* lanes run in lockstep; the fences keep the compiler from moving memory accesses */
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
#define sg_any(p) (sg_ballot(p) != 0)
#define sg_all(p) (sg_ballot(!(p)) == 0)
#define lanes_below_mask() ((lane_mask_t)((1ul << sg_lane()) - 1ul))
INLINE uint sg_broadcast(uint x, uint lane) {
  return (uint)__builtin_amdgcn_ds_bpermute((int)((first_lane_() + lane) << 2), (int)x);
}
INLINE uint sg_xor(uint x, uint mask) { return sg_broadcast(x, sg_lane() ^ mask); }
#define SUB_GROUP_BUILT_FROM_SHUFFLES 1
#endif

#ifdef SUB_GROUP_BUILT_FROM_SHUFFLES
#define DEFINE_SHUFFLE32_(T, TO, FROM)                                                                \
  INLINE T sg_broadcast(T x, uint lane) { return FROM(sg_broadcast(TO(x), lane)); }     \
  INLINE T sg_xor(T x, uint mask) { return FROM(sg_xor(TO(x), mask)); }
#define DEFINE_SHUFFLE64_(T, FROM)                                                                    \
  INLINE T sg_broadcast(T x, uint lane) { uint2 v = as_uint2(x);                               \
    return FROM((uint2)(sg_broadcast(v.x, lane), sg_broadcast(v.y, lane))); }           \
  INLINE T sg_xor(T x, uint mask) { uint2 v = as_uint2(x);                                     \
    return FROM((uint2)(sg_xor(v.x, mask), sg_xor(v.y, mask))); }
DEFINE_SHUFFLE32_(int, as_uint, as_int)
DEFINE_SHUFFLE32_(float, as_uint, as_float)
DEFINE_SHUFFLE64_(long, as_long)
DEFINE_SHUFFLE64_(ulong, as_ulong)
#define DEFINE_REDUCTION_(T, NAME, EXPR)                                                              \
  INLINE T sg_##NAME(T a) {                                                                    \
    for (uint m = SUB_GROUP_SIZE / 2; m; m >>= 1) { T b = sg_xor(a, m); a = EXPR; } return a; }
#define DEFINE_REDUCTIONS_(T)                                                                         \
  DEFINE_REDUCTION_(T, sum, a + b) DEFINE_REDUCTION_(T, least, (b < a ? b : a)) DEFINE_REDUCTION_(T, greatest, (b > a ? b : a))
#ifndef HAS_REDUX
DEFINE_REDUCTIONS_(int)
DEFINE_REDUCTIONS_(uint)
#endif
DEFINE_REDUCTIONS_(long)
DEFINE_REDUCTIONS_(ulong)
DEFINE_REDUCTIONS_(float)
#define DEFINE_EXCLUSIVE_SUM_(T)                                                                      \
  INLINE T sg_exclusive_sum(T x) {                                                             \
    uint lane = sg_lane(); T sum = x;                                                          \
    for (uint d = 1; d < SUB_GROUP_SIZE; d <<= 1) {                                                   \
      T below = sg_broadcast(sum, (lane - d) & (SUB_GROUP_SIZE - 1)); if (lane >= d) sum += below; } \
    return sum - x; }
DEFINE_EXCLUSIVE_SUM_(int)
DEFINE_EXCLUSIVE_SUM_(uint)
DEFINE_EXCLUSIVE_SUM_(long)
DEFINE_EXCLUSIVE_SUM_(ulong)
#undef DEFINE_EXCLUSIVE_SUM_
INLINE float sg_exclusive_sum(float x) {  /* no subtraction: it would round */
  uint lane = sg_lane(); float sum = x;
  for (uint d = 1; d < SUB_GROUP_SIZE; d <<= 1) {
    float below = sg_broadcast(sum, (lane - d) & (SUB_GROUP_SIZE - 1)); if (lane >= d) sum += below; }
  float before = sg_broadcast(sum, (lane - 1) & (SUB_GROUP_SIZE - 1));
  return lane ? before : 0.0f;
}
#endif
#endif
