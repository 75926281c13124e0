/* Hash functions of vertices, the same as in clgraph/data/graphs/vertex_hashes.py, which names their origins.
 *
 * The program defines HASH_LIST(X) as X(k, name) for each of its N_HASHES functions.  hash_all fills an array with their
 * values, hash_one evaluates one of them.
 */
#ifndef CLGRAPH_HASHES_H
#define CLGRAPH_HASHES_H
#include "common/types.h"

#ifndef N_HASHES
#define N_HASHES 15
#define HASH_LIST(X) \
  X(0, murmur3) X(1, fibonacci) X(2, xorshift) X(3, tabulation) X(4, lowbias32) X(5, splitmix64) X(6, jenkins) \
  X(7, wang) X(8, mueller) X(9, pcg) X(10, fnv1a) X(11, xxhash32) X(12, one_at_a_time) X(13, identity) \
  X(14, bit_reversal)
#endif

INLINE uint reversed_bits(uint x) {
  x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
  x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
  x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
  x = ((x >> 8) & 0x00ff00ffu) | ((x & 0x00ff00ffu) << 8);
  return rotate(x, 16u);
}

INLINE uint hash_murmur3(uint x) {
  x = (x ^ (x >> 16)) * 0x85ebca6bu;
  x = (x ^ (x >> 13)) * 0xc2b2ae35u;
  return x ^ (x >> 16);
}
INLINE uint hash_fibonacci(uint x) { return reversed_bits(x * 0x9e3779b9u); }
INLINE uint hash_xorshift(uint x) {
  x ^= x << 13;
  x ^= x >> 17;
  return x ^ (x << 5);
}
INLINE uint hash_tabulation(uint x) {
  return hash_murmur3((x & 255u) + 1u) ^ hash_murmur3(((x >> 8) & 255u) + 257u) ^
         hash_murmur3(((x >> 16) & 255u) + 513u) ^ hash_murmur3((x >> 24) + 769u);
}
INLINE uint hash_lowbias32(uint x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}
INLINE uint hash_splitmix64(uint x) {
  ulong z = x + 0x9e3779b97f4a7c15ul;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ul;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebul;
  return (uint)(z ^ (z >> 31));
}
INLINE uint hash_jenkins(uint x) {
  x = (x + 0x7ed55d16u) + (x << 12);
  x = (x ^ 0xc761c23cu) ^ (x >> 19);
  x = (x + 0x165667b1u) + (x << 5);
  x = (x + 0xd3a2646cu) ^ (x << 9);
  x = (x + 0xfd7046c5u) + (x << 3);
  return (x ^ 0xb55a4f09u) ^ (x >> 16);
}
INLINE uint hash_wang(uint x) {
  x = (x ^ 61u) ^ (x >> 16);
  x += x << 3;
  x = (x ^ (x >> 4)) * 0x27d4eb2du;
  return x ^ (x >> 15);
}
INLINE uint hash_mueller(uint x) {
  x = (x ^ (x >> 16)) * 0x45d9f3bu;
  x = (x ^ (x >> 16)) * 0x45d9f3bu;
  return x ^ (x >> 16);
}
INLINE uint hash_pcg(uint x) {
  uint state = x * 747796405u + 2891336453u;
  uint word = ((state >> ((state >> 28) + 4u)) ^ state) * 277803737u;
  return (word >> 22) ^ word;
}
INLINE uint hash_fnv1a(uint x) {
  uint hashed = (0x811c9dc5u ^ (x & 255u)) * 0x01000193u;
  hashed = (hashed ^ ((x >> 8) & 255u)) * 0x01000193u;
  hashed = (hashed ^ ((x >> 16) & 255u)) * 0x01000193u;
  return (hashed ^ (x >> 24)) * 0x01000193u;
}
INLINE uint hash_xxhash32(uint x) {
  x = rotate(0x165667b5u + x * 0xc2b2ae3du, 17u) * 0x27d4eb2fu;
  x = (x ^ (x >> 15)) * 0x85ebca77u;
  x = (x ^ (x >> 13)) * 0xc2b2ae3du;
  return x ^ (x >> 16);
}
INLINE uint hash_one_at_a_time(uint x) {
  uint hashed = 0u;
  for (uint byte = 0u; byte < 32u; byte += 8u) {
    hashed += (x >> byte) & 255u;
    hashed += hashed << 10;
    hashed ^= hashed >> 6;
  }
  hashed += hashed << 3;
  hashed ^= hashed >> 11;
  return hashed + (hashed << 15);
}
INLINE uint hash_identity(uint x) { return x; }
INLINE uint hash_bit_reversal(uint x) { return (x & 0xffff0000u) | (reversed_bits(x) >> 16); }
INLINE uint hash_triple32(uint x) {
  x = (x ^ (x >> 17)) * 0xed5ad4bbu;
  x = (x ^ (x >> 11)) * 0xac4c1b51u;
  x = (x ^ (x >> 15)) * 0x31848babu;
  return x ^ (x >> 14);
}
INLINE uint hash_crc32c(uint x) {
  x = ~x;
  for (int bit = 0; bit < 32; bit++) x = (x >> 1) ^ (x & 1u ? 0x82f63b78u : 0u);
  return ~x;
}
INLINE uint hash_gray(uint x) { return x ^ (x >> 1); }

INLINE void hash_all(uint v, uint *hashed) {
#define HASH_INTO_(k, name) hashed[k] = hash_##name(v);
  HASH_LIST(HASH_INTO_)
#undef HASH_INTO_
}

INLINE uint hash_one(uint k, uint v) {
#define HASH_CASE_(index, name) case index: return hash_##name(v);
  switch (k) { HASH_LIST(HASH_CASE_) }
#undef HASH_CASE_
  return 0u;
}
#endif
