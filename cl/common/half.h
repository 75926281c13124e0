/* Loads and stores four numbers of half precision as floats.  In memory they are 8 aligned bytes.
 *
 * vloada_half4 would be enough, but without cl_khr_fp16 NVIDIA's compiler turns it into four accesses of 2 bytes.  So on
 * NVIDIA the words are converted by PTX.
 */
#ifndef CLGRAPH_HALF_H
#define CLGRAPH_HALF_H
#include "common/types.h"

#if DEV_NVIDIA_SM >= 53
INLINE float4 halves_to_floats(uint2 words) {
  float4 v;
  __asm__("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }" : "=f"(v.x), "=f"(v.y) : "r"(words.x));
  __asm__("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }" : "=f"(v.z), "=f"(v.w) : "r"(words.y));
  return v;
}
INLINE uint2 floats_to_halves(float4 v) {
  uint2 words;
  __asm__("{ .reg .b16 l, h; cvt.rn.f16.f32 l, %1; cvt.rn.f16.f32 h, %2; mov.b32 %0, {l, h}; }" : "=r"(words.x) : "f"(v.x), "f"(v.y));
  __asm__("{ .reg .b16 l, h; cvt.rn.f16.f32 l, %1; cvt.rn.f16.f32 h, %2; mov.b32 %0, {l, h}; }" : "=r"(words.y) : "f"(v.z), "f"(v.w));
  return words;
}
INLINE float4 load_half4(const __global half *p) { return halves_to_floats(*(const __global uint2 *)p); }
INLINE void store_half4(float4 v, __global half *p) { *(__global uint2 *)p = floats_to_halves(v); }
#else
INLINE float4 halves_to_floats(uint2 words) { return vload_half4(0, (const __private half *)&words); }
INLINE uint2 floats_to_halves(float4 v) { uint2 words; vstore_half4_rte(v, 0, (__private half *)&words); return words; }
INLINE float4 load_half4(const __global half *p) { return vloada_half4(0, p); }
INLINE void store_half4(float4 v, __global half *p) { vstorea_half4_rte(v, 0, p); }
#endif
#endif
