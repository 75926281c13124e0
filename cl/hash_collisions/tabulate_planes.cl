/* Evaluates every hash of every vertex once, as bit planes (planes.h), and prepares the run; a work-item takes a vertex.
 *
 * The 16 x 16 bits of the colours are transposed by four rounds of exchanges between words: H. S. Warren, "Hacker's
 * Delight", section 7-3.
 */
#include "hash_collisions/planes.h"
#include "hash_collisions/prepare.h"

/* pairs[j]: in the low half bits shift + j of all colours, in the high half bits shift + j + 8. */
INLINE void transpose(const uint *hashed, uint shift, uint *pairs) {
  #pragma unroll
  for (int j = 0; j < 8; j++) {
    uint x = ((hashed[j] >> shift) & 0xffffu) | (hashed[j + 8] >> shift) << 16;
    pairs[j] = (x & 0xff0000ffu) | ((x >> 8) & 0xff00u) | ((x & 0xff00u) << 8);
  }
#define EXCHANGE_(step, mask)                                     \
  _Pragma("unroll")                                               \
  for (int j = 0; j < 8; j++)                                     \
    if (!(j & step)) {                                            \
      uint a = pairs[j], b = pairs[j + step];                     \
      pairs[j] = (a & mask) | ((b & mask) << step);               \
      pairs[j + step] = ((a >> step) & mask) | (b & ~mask);       \
    }
  EXCHANGE_(4, 0x0f0f0f0fu)
  EXCHANGE_(2, 0x33333333u)
  EXCHANGE_(1, 0x55555555u)
#undef EXCHANGE_
}

/* Returns bit b of all colours; b is a constant. */
INLINE uint plane(const uint *low, const uint *high, int b) {
  if (b < 0) return 0u;
  uint pair = b < 16 ? low[b & 7] : high[b & 7];
  return b & 8 ? pair >> 16 : pair & 0xffffu;
}

KERNEL tabulate_planes(int n, int n_tiles, __global const offset_t *restrict row_offsets,
                       __global int *restrict tile_rows, __global uint *restrict counters,
                       __global uint *restrict planes) {
  prepare(n, n_tiles, row_offsets, tile_rows, counters);
  int v = get_global_id(0);
  if (v >= n) return;
  uint hashed[16] = {0u}, low[8], high[8], words[TABLE_WORDS];
  hash_all((uint)v, hashed);
  transpose(hashed, 0, low);
  transpose(hashed, 16, high);
#define MAKE_WORD_(word, a, b) words[word] = plane(low, high, a) | plane(low, high, b) << 16;
  PLANE_LIST(MAKE_WORD_)
#undef MAKE_WORD_
  store_planes(n, v, words, planes);
}
