/* Memory: streaming, independent random loads, and a chain of dependent loads.  Plain loads, no races. */
#include "common/random.h"

/* A work-item reads 64 bytes and writes 4; its group reads 64 * WG_SIZE consecutive bytes.  The launch has exact size. */
KERNEL stream(const __global uint4 *restrict items, __global uint *restrict out) {
  size_t first = (size_t)get_group_id(0) * 4 * WG_SIZE + get_local_id(0);
  uint4 s = items[first] + items[first + WG_SIZE] + items[first + 2 * WG_SIZE] + items[first + 3 * WG_SIZE];
  out[get_global_id(0)] = s.x + s.y + s.z + s.w;
}

/* `turns` random 4-byte loads that do not wait for each other; out[item] is their sum. */
KERNEL gather(uint turns, uint n_words, uint seed, const __global uint *restrict items, __global uint *restrict out) {
  uint item = get_global_id(0), sum = 0u;
  uint x = random_uint(random_key(seed), item);
  for (uint turn = 0u; turn < turns; turn++) {
    sum += items[mul_hi(x, n_words)];
    x = x * 1664525u + 1013904223u;
  }
  out[item] = sum;
}

/* One cycle through all 2^bits words in a scrambled order: next[s(i)] = s(i + 1), where s multiplies by an
 * odd number and folds the upper half into the lower, twice.  Each step can be undone, so s is a
 * permutation; written by position, so that building it streams. */
#define ODD 2654435769u
#define ODD_INVERSE 340573321u   /* ODD * ODD_INVERSE = 1 modulo 2^32 */
INLINE uint fold(uint x, uint bits) { return x ^ (x >> ((bits + 1u) / 2u)); }
INLINE uint scramble(uint i, uint bits, uint mask) {
  return fold((fold((i * ODD) & mask, bits) * ODD) & mask, bits);
}
INLINE uint unscramble(uint p, uint bits, uint mask) {
  return (fold((fold(p, bits) * ODD_INVERSE) & mask, bits) * ODD_INVERSE) & mask;
}
KERNEL make_cycle(uint bits, __global uint *restrict next) {
  uint mask = (1u << bits) - 1u;
  for (uint p = get_global_id(0); p <= mask; p += get_global_size(0))
    next[p] = scramble((unscramble(p, bits, mask) + 1u) & mask, bits, mask);
}

/* One work-item follows the cycle for `turns` loads. */
KERNEL chase(uint turns, uint start, const __global uint *restrict next, __global uint *restrict out) {
  if (get_global_id(0)) return;
  uint p = start;
  for (uint turn = 0u; turn < turns; turn++) p = next[p];
  out[0] = p;
}
