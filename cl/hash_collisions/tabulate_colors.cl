/* Evaluates every hash of every vertex once and prepares the run; a work-item takes a vertex.
 *
 * A vertex has HASH_STRIDE colours of type COLOR_T.  If REVERSED, their bits are reversed: in sorted order, colours with
 * most low bits in common are then adjacent.
 */
#include "hash_collisions/prepare.h"

#ifndef HASH_STRIDE
#define HASH_STRIDE 16
#endif
#ifndef COLOR_T
#define COLOR_T ushort
#endif
#ifndef REVERSED
#define REVERSED 0
#endif

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
