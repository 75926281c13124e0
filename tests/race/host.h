/* OpenCL C words as C++, enough to compile the kernels of cl/ for the host.
 *
 * A lane (threads.cpp, scheduler.cpp) includes this, says what a launch and a barrier are, and includes the
 * cases; tests/test_races.py copies cl/ and turns vector literals (int4)(...) into make_int4(...), the one
 * thing that macros cannot.
 */
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#define HOST_BUILD 1
#define DEV_IS_CPU 1
#define DEV_HAS_INT64_ATOMICS 1
#define DEV_ATOMICS ATOMICS_HOST
#define DEV_LOADS LOADS_HOST
#ifndef WG_SIZE
#define WG_SIZE 16
#endif
#define __global
#define __local
#define __constant
#define restrict __restrict__
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2

typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned long ulong;

/* ---- the place of the running work-item, set by the lane */
struct Place {
  size_t id, n;
};
static Place &place();
static inline size_t get_global_id(int) { return place().id; }
static inline size_t get_global_size(int) { return place().n; }
static inline size_t get_local_id(int) { return place().id % WG_SIZE; }
static inline size_t get_local_size(int) { return WG_SIZE; }
static inline size_t get_group_id(int) { return place().id / WG_SIZE; }
static inline size_t get_num_groups(int) { return place().n / WG_SIZE; }
static void barrier(int);

/* Run *body* as n_items work-items, rounded up to whole groups.  Kernels with barriers or local memory run
 * one group at a time, its work-items together. */
enum Grouping { INDEPENDENT, WITH_BARRIERS };
static void launch(size_t n_items, const std::function<void()> &body, Grouping grouping = INDEPENDENT);

/* ---- arithmetic */
static inline uint clz(uint x) { return x ? __builtin_clz(x) : 32; }
static inline ulong clz(ulong x) { return x ? __builtin_clzl(x) : 64; }
static inline uint popcount(uint x) { return __builtin_popcount(x); }
static inline ulong popcount(ulong x) { return __builtin_popcountl(x); }
static inline ulong rotate(ulong x, ulong bits) { return x << bits | x >> (64 - bits); }
template <class T> static inline T max(T a, T b) { return a > b ? a : b; }
template <class T> static inline T min(T a, T b) { return a < b ? a : b; }
static inline uint as_uint(float x) { uint word; memcpy(&word, &x, 4); return word; }
static inline float as_float(uint word) { float x; memcpy(&x, &word, 4); return x; }
static inline float mad(float a, float b, float c) { return a * b + c; }

typedef int int2 __attribute__((ext_vector_type(2)));
typedef uint uint2 __attribute__((ext_vector_type(2)));
typedef int int4 __attribute__((ext_vector_type(4)));  /* clang's: members, operators and comparisons as in OpenCL C */
typedef uint uint4 __attribute__((ext_vector_type(4)));
typedef long long4 __attribute__((ext_vector_type(4)));
static inline int2 make_int2(int x, int y) { int2 v = {x, y}; return v; }
static inline uint2 make_uint2(uint x, uint y) { uint2 v = {x, y}; return v; }
static inline void vstore2(uint2 v, size_t i, uint *p) { p[2 * i] = v.x; p[2 * i + 1] = v.y; }
static inline int4 make_int4(int x, int y, int z, int w) { int4 v = {x, y, z, w}; return v; }
static inline uint4 make_uint4(uint x, uint y, uint z, uint w) { uint4 v = {x, y, z, w}; return v; }
static inline long4 make_long4(long x, long y, long z, long w) { long4 v = {x, y, z, w}; return v; }
static inline int4 min(int4 a, int4 b) { return a < b ? a : b; }
static inline int all(int4 v) { return (v.x & v.y & v.z & v.w) < 0; }
static inline int any(int4 v) { return (v.x | v.y | v.z | v.w) < 0; }

/* ---- what a case may draw from: the same numbers for the same seed */
struct Random {
  ulong state;
  explicit Random(ulong seed) : state(seed * 0x9e3779b97f4a7c15ul | 1ul) {}
  ulong next() {
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    return state;
  }
  uint below(uint n) { return (uint)((next() >> 11) % n); }
};

struct Case {
  const char *name;
  bool (*right)(Random &random, ulong seed);  /* runs the kernels, compares with a sequential answer */
};
