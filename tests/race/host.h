/* OpenCL C words as C++, enough to compile the kernels of cl/ for the host.
 *
 * A lane (threads.cpp, scheduler.cpp) includes this, says what a launch and a barrier are, and includes the
 * cases; tests/test_races.py copies cl/ and turns vector literals (int4)(...) into make_int4(...), the one
 * thing that macros cannot.
 */
#pragma once
#include "library.h"

#define HOST_BUILD 1
#ifndef DEV_IS_CPU
#define DEV_IS_CPU 1
#endif
#define DEV_HAS_INT64_ATOMICS 1
#define DEV_ATOMICS ATOMICS_HOST
#define DEV_LOADS LOADS_HOST
#ifndef WG_SIZE
#define WG_SIZE 16
#endif
#ifndef DEV_SUB_GROUP_SIZE
#define DEV_SUB_GROUP_SIZE 1
#endif
#define __global
#define __local
#define __constant
#define restrict __restrict__
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2

#ifndef SPINS                    /* turns for which a work-item waits for another one */
#define SPINS 100000000u
#endif
static unsigned spin_limit = SPINS;
#define SPIN_LIMIT spin_limit

typedef unsigned char uchar;
typedef unsigned short ushort;
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
static void barrier(int flags);

/* Run *body* as n_items work-items, rounded up to whole groups.  Of kernels with barriers or local memory whole groups
 * run: under the scheduler several together, as threads one at a time. */
enum Grouping { INDEPENDENT, WITH_BARRIERS };
static void launch(size_t n_items, const std::function<void()> &body, Grouping grouping = INDEPENDENT);

/* Run *body* as the one group that came of two: it must give up soon.  door: the word where groups join, for which the
 * one does not wait, since there are no more to come. */
static void launch_alone(uint *door, const std::function<void()> &body) {
  *door = 1;
  spin_limit = 1100;  /* waits look at the status word after every 1024 turns */
  launch(1, body, WG_SIZE == 1 ? INDEPENDENT : WITH_BARRIERS);
  spin_limit = SPINS;
}

/* ---- arithmetic */
static inline uint clz(uint x) { return x ? __builtin_clz(x) : 32; }
static inline ulong clz(ulong x) { return x ? __builtin_clzl(x) : 64; }
static inline uint popcount(uint x) { return __builtin_popcount(x); }
static inline ulong popcount(ulong x) { return __builtin_popcountl(x); }
static inline ulong rotate(ulong x, ulong bits) { return x << bits | x >> (64 - bits); }
static inline uint rotate(uint x, uint bits) { return x << bits | x >> (32 - bits); }
static inline uint mul_hi(uint a, uint b) { return (uint)((ulong)a * b >> 32); }
static inline ulong mul_hi(ulong a, ulong b) { return (ulong)((unsigned __int128)a * b >> 64); }
static inline uint bitselect(uint a, uint b, uint mask) { return (a & ~mask) | (b & mask); }
template <class T> static inline T max(T a, T b) { return a > b ? a : b; }
template <class T> static inline T min(T a, T b) { return a < b ? a : b; }
static inline uint as_uint(float x) { uint word; memcpy(&word, &x, 4); return word; }
static inline int as_int(float x) { return (int)as_uint(x); }
static inline float as_float(uint word) { float x; memcpy(&x, &word, 4); return x; }
static inline ulong as_ulong(double x) { ulong word; memcpy(&word, &x, 8); return word; }
static inline double as_double(ulong word) { double x; memcpy(&x, &word, 8); return x; }
static inline int clamp(int x, int least, int most) { return x < least ? least : x > most ? most : x; }
using std::exp2;
using std::fabs;
using std::fmax;
using std::fmin;
using std::sqrt;
using std::log2;
using std::nextafter;
static inline float mad(float a, float b, float c) { return a * b + c; }

typedef int int2 __attribute__((ext_vector_type(2)));
typedef uint uint2 __attribute__((ext_vector_type(2)));
typedef float float2 __attribute__((ext_vector_type(2)));
typedef double double2 __attribute__((ext_vector_type(2)));
typedef int int4 __attribute__((ext_vector_type(4)));  /* clang's: members, operators and comparisons as in OpenCL C */
typedef uint uint4 __attribute__((ext_vector_type(4)));
typedef long long4 __attribute__((ext_vector_type(4)));
static inline int2 make_int2(int x, int y) { int2 v = {x, y}; return v; }
static inline uint2 make_uint2(uint x, uint y) { uint2 v = {x, y}; return v; }
static inline float2 make_float2(float x, float y) { float2 v = {x, y}; return v; }
static inline double2 make_double2(double x, double y) { double2 v = {x, y}; return v; }
static inline void vstore2(uint2 v, size_t i, uint *p) { p[2 * i] = v.x; p[2 * i + 1] = v.y; }
static inline int4 make_int4(int x, int y, int z, int w) { int4 v = {x, y, z, w}; return v; }
static inline uint4 make_uint4(uint x, uint y, uint z, uint w) { uint4 v = {x, y, z, w}; return v; }
static inline long4 make_long4(long x, long y, long z, long w) { long4 v = {x, y, z, w}; return v; }
static inline int4 min(int4 a, int4 b) { return a < b ? a : b; }
static inline int all(int4 v) { return (v.x & v.y & v.z & v.w) < 0; }
static inline int any(int4 v) { return (v.x | v.y | v.z | v.w) < 0; }

/* ---- sub-groups of several lanes, each a work-item of its own: they meet in every word.  By default a word orders no
 * memory accesses for ThreadSanitizer; a kernel that relies on it for reads before writes needs WORDS_ORDER 1. */
#ifndef WORDS_ORDER
#define WORDS_ORDER 0
#endif
#if DEV_SUB_GROUP_SIZE > 1
#define DEV_SUB_GROUP SUB_GROUP_HOST
#define LANES_ DEV_SUB_GROUP_SIZE
static void meet(bool orders);   /* A barrier of the running sub-group.  orders: it orders memory accesses, too. */
static ulong *lane_words();      /* The sub-group's words, one for each lane. */

/* What *find* makes of the values of all lanes. */
template <class T, class Find> static inline auto of_lanes(T x, Find find) {
  ulong *words = lane_words(), bits = 0;
  memcpy(&bits, &x, sizeof x);
  __atomic_store_n(words + get_local_id(0) % LANES_, bits, __ATOMIC_RELAXED);
  meet(WORDS_ORDER);
  T values[LANES_];
  for (uint l = 0; l < LANES_; l++) {
    bits = __atomic_load_n(words + l, __ATOMIC_RELAXED);
    memcpy(values + l, &bits, sizeof x);
  }
  meet(WORDS_ORDER);
  return find(values);
}
static inline uint sg_lane() { return (uint)(get_local_id(0) % LANES_); }
static inline uint sg_in_group() { return (uint)(get_local_id(0) / LANES_); }
static inline void sg_sync() { meet(true); }
static inline uint sg_ballot(bool p) {
  return of_lanes((uint)p, [](const uint *all) { uint m = 0; for (uint l = 0; l < LANES_; l++) m |= all[l] << l; return m; });
}
#define sg_ballot(p) sg_ballot((p) != 0)
#define sg_any(p) (sg_ballot(p) != 0u)
#define sg_all(p) (sg_ballot(p) == (1u << LANES_) - 1u)
#define lanes_below_mask() ((1u << sg_lane()) - 1u)
template <class T> static inline T sg_broadcast(T x, uint lane) { return of_lanes(x, [=](const T *all) { return all[lane % LANES_]; }); }
template <class T> static inline T sg_xor(T x, uint mask) { return sg_broadcast(x, sg_lane() ^ mask); }
template <class T> static inline T sg_sum(T x) {
  return of_lanes(x, [](const T *all) { T sum = 0; for (uint l = 0; l < LANES_; l++) sum += all[l]; return sum; });
}
template <class T> static inline T sg_exclusive_sum(T x) {
  return of_lanes(x, [](const T *all) { T sum = 0; for (uint l = 0; l < sg_lane(); l++) sum += all[l]; return sum; });
}
template <class T> static inline T sg_least(T x) {
  return of_lanes(x, [](const T *all) { T m = all[0]; for (uint l = 1; l < LANES_; l++) m = min(m, all[l]); return m; });
}
template <class T> static inline T sg_greatest(T x) {
  return of_lanes(x, [](const T *all) { T m = all[0]; for (uint l = 1; l < LANES_; l++) m = max(m, all[l]); return m; });
}
#endif

/* An array that a kernel takes as a pointer. */
template <class T> struct Array : std::vector<T> {
  using std::vector<T>::vector;
  operator T *() { return this->data(); }
  operator const T *() const { return this->data(); }
  template <class I> T &operator[](I i) { return this->data()[i]; }
  template <class I> const T &operator[](I i) const { return this->data()[i]; }
};

/* Appends a row to CSR arrays. */
template <class Row> static void put_row(Array<int> &offsets, Array<int> &columns, const Row &row) {
  columns.insert(columns.end(), row.begin(), row.end());
  offsets.push_back((int)columns.size());
}

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
/* ONLY_CASE: the one case to build.  clang emits no code of functions that only the table of all cases names. */
#ifdef ONLY_CASE
#define cases all_cases
#endif
