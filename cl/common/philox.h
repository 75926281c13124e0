/* Counter-based random words, the same as in clgraph/data/graphs/philox.py: Philox4x64-10 of J. K. Salmon, M. A. Moraes,
 * R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011. */
#ifndef CLGRAPH_PHILOX_H
#define CLGRAPH_PHILOX_H
#include "common/types.h"

/* Returns the four words of block b of a stream. */
INLINE ulong4 philox(ulong b, ulong stream, ulong key0, ulong key1) {
  ulong4 x = (ulong4)(b, stream, 0ul, 0ul);
  #pragma unroll 5  /* the keys of all ten rounds take more scalar registers than AMD's GPUs have */
  for (int k = 0; k < 10; k++) {
    const ulong high0 = mul_hi(0xd2e7470ee14c6c93ul, x.x), low0 = 0xd2e7470ee14c6c93ul * x.x;
    const ulong high1 = mul_hi(0xca5a826395121157ul, x.z), low1 = 0xca5a826395121157ul * x.z;
    x = (ulong4)(high1 ^ x.y ^ key0, low1, high0 ^ x.w ^ key1, low0);
    key0 += 0x9e3779b97f4a7c15ul;
    key1 += 0xbb67ae8584caa73bul;
  }
  return x;
}
/* Returns the k-th 16 bits of a word, counted from the lowest. */
INLINE uint short_of(ulong word, int k) { return (uint)(word >> (16 * k)) & 0xffffu; }
#endif
