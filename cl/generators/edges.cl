/* Draw the ends of edges, and write both entries of each as keys: row above column, each of *bits* bits.
 *
 * A work-item draws the edges of one block of random words at a time: two edges of a uniform random graph, sixteen of
 * R-MAT, where stream l has the blocks of level l.  The keys will be sorted, so they may be written in any order; on GPUs
 * lanes write consecutive keys.  A self-loop, or an edge beyond the last, is written as the largest key, which is itself a
 * self-loop.
 */
#include "common/philox.h"
#include "generators/chunk.h"

#define NO_EDGE(bits) ((1ul << (2 * (bits))) - 1)

INLINE void write_edge(__global ulong *keys, long place, long step, ulong u, ulong v, int is_edge, int bits) {
  const int is_proper = is_edge && u != v;
  keys[place] = is_proper ? u << bits | v : NO_EDGE(bits);
  keys[place + step] = is_proper ? v << bits | u : NO_EDGE(bits);
}
/* The position of the first entry of edge k of block b, with *size* edges in a block, and the distance to the second
 * entry. */
#if DEV_IS_CPU
#define PLACE(b, k, size, n_blocks) (2 * ((b) * (size) + (k)))
#define STEP(n_blocks) 1l
#else
#define PLACE(b, k, size, n_blocks) (2 * (k) * (n_blocks) + (b))
#define STEP(n_blocks) (n_blocks)
#endif

KERNEL uniform(long n_blocks, long n_edges, uint n, int bits, ulong key0, ulong key1, __global ulong *restrict keys) {
  FOR_CHUNK(b, n_blocks) {
    const ulong4 words = philox((ulong)b, 0ul, key0, key1);
    write_edge(keys, PLACE(b, 0, 2, n_blocks), STEP(n_blocks), mul_hi(words.x, (ulong)n), mul_hi(words.y, (ulong)n),
               2 * b < n_edges, bits);
    write_edge(keys, PLACE(b, 1, 2, n_blocks), STEP(n_blocks), mul_hi(words.z, (ulong)n), mul_hi(words.w, (ulong)n),
               2 * b + 1 < n_edges, bits);
  }
}

/* at_a, at_ab, at_abc: the ends of the first three quadrants; scramble: factor and summand of each of n_rounds rounds */
KERNEL rmat(long n_blocks, long n_edges, int scale, int at_a, int at_ab, int at_abc, int n_rounds, ulong key0,
            ulong key1, const __global uint *restrict scramble, __global ulong *restrict keys) {
  const uint mask = (1u << scale) - 1u, half_bits = (uint)(scale + 1) / 2u;
  FOR_CHUNK(b, n_blocks) {
    uint8 u[2], v[2];
    #pragma unroll
    for (int k = 0; k < 2; k++) u[k] = v[k] = (uint8)(0u);
    for (int level = 0; level < scale; level++) {
      const ulong4 words = philox((ulong)b, (ulong)level, key0, key1);
      const int8 draws[2] = {convert_int8(as_ushort8(words.lo)), convert_int8(as_ushort8(words.hi))};
      #pragma unroll
      for (int k = 0; k < 2; k++) {
        /* -1 where the draw is at or above a threshold: this arithmetic takes fewer registers than masks */
        const int8 down = (at_ab - 1 - draws[k]) >> 31;
        const int8 right = ((at_a - 1 - draws[k]) >> 31) ^ down ^ ((at_abc - 1 - draws[k]) >> 31);
        u[k] = u[k] + u[k] - as_uint8(down);
        v[k] = v[k] + v[k] - as_uint8(right);
      }
    }
    for (int round = 0; round < n_rounds; round++) {
      const uint factor = scramble[2 * round], summand = scramble[2 * round + 1];
      #pragma unroll
      for (int k = 0; k < 2; k++) {
        u[k] = (u[k] * factor + summand) & mask;
        v[k] = (v[k] * factor + summand) & mask;
        u[k] ^= u[k] >> half_bits;
        v[k] ^= v[k] >> half_bits;
      }
    }
    #pragma unroll
    for (int k = 0; k < 2; k++) {
      uint us[8], vs[8];
      vstore8(u[k], 0, us);
      vstore8(v[k], 0, vs);
      #pragma unroll
      for (int e = 0; e < 8; e++)
        write_edge(keys, PLACE(b, 8 * k + e, 16, n_blocks), STEP(n_blocks), us[e], vs[e], 16 * b + 8 * k + e < n_edges,
                   scale);
    }
  }
}
