/* Counter-based random numbers: a pure function of (seed, counter), so every device and every order of
 * execution draws the same numbers.  squares32: B. Widynski, "Squares: A Fast Counter-Based RNG", 2020. */
#ifndef CLGRAPH_RANDOM_H
#define CLGRAPH_RANDOM_H
#include "common/types.h"

/* Returns a good key for any seed, even a small one: murmur3's 64-bit finaliser, made odd. */
INLINE ulong random_key(ulong seed) {
  ulong x = seed + 0x9e3779b97f4a7c15ul;
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdul;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ul;
  return (x ^ (x >> 33)) | 1ul;
}
INLINE uint random_uint(ulong key, ulong counter) {
  ulong x = counter * key, y = x, z = y + key;
  x = rotate(x * x + y, 32ul);
  x = rotate(x * x + z, 32ul);
  x = rotate(x * x + y, 32ul);
  return (uint)((x * x + z) >> 32);
}
/* Returns a uniform number in [0, n), as the high word of a product; the bias is below n / 2^32. */
INLINE uint random_below(ulong key, ulong counter, uint n) {
  return (uint)(((ulong)random_uint(key, counter) * n) >> 32);
}
/* Returns a uniform number in [0, 1) with 24 bits. */
INLINE float random_float(ulong key, ulong counter) { return (float)(random_uint(key, counter) >> 8) * 0x1p-24f; }
#endif
