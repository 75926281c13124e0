/* Evaluates every hash of every vertex once, clears the counters, and cuts the rows into tiles; a work-item a vertex.
 *
 * Tiles: row r lies at position row_offsets[r] + r, and tile t holds the rows from position t * TILE_STEP to
 * (t + 1) * TILE_STEP - 1: tile_rows[t] is the first of them, tile_rows[n_tiles] = n.
 *
 * tabulate_planes: bit planes (planes.h): the 16 x 16 bits of the colours are transposed by four rounds of exchanges
 * between words; H. S. Warren, "Hacker's Delight", section 7-3.
 * tabulate_colors: HASH_STRIDE colours a vertex, of type COLOR_T, the bits reversed if REVERSED: sorted, colours then
 * stand beside those that share most of their low bits.
 */
#include "coloring/planes.h"

#ifndef TILE_STEP
#define TILE_STEP 4096
#endif
#ifndef HASH_STRIDE
#define HASH_STRIDE 16
#endif
#ifndef COLOR_T
#define COLOR_T ushort
#endif
#ifndef REVERSED
#define REVERSED 0
#endif

INLINE void prepare(int n, int n_tiles, __global const offset_t *restrict row_offsets, __global int *restrict tile_rows,
                    __global uint *restrict counters) {
  size_t i = get_global_id(0);
  for (size_t c = i; c < 3 * N_COUNTERS; c += get_global_size(0)) counters[c] = 0u;
  if (i > (size_t)n) return;
  long tile = i ? (row_offsets[i - 1] + (long)i - 1) / TILE_STEP + 1 : 0, last = (row_offsets[i] + (long)i) / TILE_STEP;
  for (; tile <= last; tile++) tile_rows[tile] = (int)i;
  if (i == (size_t)n) tile_rows[n_tiles] = n;
}

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

/* Bit b of all colours; b is a constant. */
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

KERNEL tabulate_colors(int n, int n_tiles, __global const offset_t *restrict row_offsets,
                       __global int *restrict tile_rows, __global uint *restrict counters,
                       __global COLOR_T *restrict colors) {
  prepare(n, n_tiles, row_offsets, tile_rows, counters);
  size_t v = get_global_id(0);
  if (v >= (size_t)n) return;
  uint hashed[HASH_STRIDE] = {0u};
  hash_all((uint)v, hashed);
  #pragma unroll
  for (int k = 0; k < HASH_STRIDE; k++) {
#if REVERSED
    uint color = reversed_bits(hashed[k]) >> (32 - MAX_BITS);
#else
    uint color = hashed[k] & ((1u << MAX_BITS) - 1u);
#endif
    colors[v * HASH_STRIDE + k] = (COLOR_T)color;
  }
}
