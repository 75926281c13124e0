/* Random points in a square of SIDE steps, ordered by cells along Morton's curve, and the pairs of near points.
 *
 * A point has x in the high and y in the low 32 bits.  A cell is at least as wide as the radius, so all points near a
 * point are in the nine cells around it; cell_begin[c] is the position of the first point of cell c in the order.
 */
#include "common/philox.h"
#include "generators/chunk.h"

#define COORDINATE_BITS 24
#ifndef SPATIAL                  /* 1: points are numbered in order; 0: as they were drawn */
#define SPATIAL 1
#endif
#if SPATIAL
#define ID(i) ((ulong)(i))
#else
#define ID(i) ((ulong)ids[i])
#endif

/* Returns the low 16 bits of x with a zero bit before each. */
INLINE uint spread(uint x) {
  x = (x | x << 8) & 0x00ff00ffu;
  x = (x | x << 4) & 0x0f0f0f0fu;
  x = (x | x << 2) & 0x33333333u;
  return (x | x << 1) & 0x55555555u;
}
INLINE uint cell_at(uint column, uint row) { return spread(column) | spread(row) << 1; }

KERNEL draw_points(long n, uint cell, ulong key0, ulong key1, __global ulong *restrict points,
                   __global uint *restrict cells, __global uint *restrict ids) {
  FOR_CHUNK(b, (n + 1) / 2) {
    const ulong4 words = philox((ulong)b, 0ul, key0, key1);
    for (long i = 2 * b; i < min(n, 2 * b + 2); i++) {
      const uint x = (uint)((i & 1 ? words.z : words.x) >> (64 - COORDINATE_BITS));
      const uint y = (uint)((i & 1 ? words.w : words.y) >> (64 - COORDINATE_BITS));
      points[i] = (ulong)x << 32 | y;
      cells[i] = cell_at(x / cell, y / cell);
      ids[i] = (uint)i;
    }
  }
}

KERNEL order_points(long n, const __global uint *restrict ids, const __global ulong *restrict points,
                    __global ulong *restrict ordered) {
  FOR_CHUNK(i, n) ordered[i] = points[ids[i]];
}

/* Count the points near point i of the order.  If *keys* is not 0, write the key of each pair: its row above *bits* bits. */
INLINE uint near_to(long i, uint cell, uint n_cells, ulong limit, int bits, const __global ulong *points,
                    const __global int *cell_begin, const __global uint *ids, __global ulong *keys) {
  const uint x = (uint)(points[i] >> 32), y = (uint)points[i], column = x / cell, row = y / cell;
  uint count = 0u;
  for (uint r = max(row, 1u) - 1u; r < min(row + 2u, n_cells); r++) {
    for (uint c = max(column, 1u) - 1u; c < min(column + 2u, n_cells); c++) {
      const uint at = cell_at(c, r);
      for (long j = cell_begin[at], end = cell_begin[at + 1]; j < end; j++) {
        const long dx = (long)(points[j] >> 32) - x, dy = (long)(uint)points[j] - y;
        if ((ulong)(dx * dx + dy * dy) > limit || j == i) continue;
        if (keys) keys[count] = (ulong)ID(i) << bits | ID(j);
        count++;
      }
    }
  }
  return count;
}

KERNEL count_near(long n, uint cell, uint n_cells, ulong limit, const __global ulong *restrict points,
                  const __global int *restrict cell_begin, const __global uint *restrict ids,
                  __global uint *restrict degrees) {
  FOR_CHUNK(i, n) degrees[i] = near_to(i, cell, n_cells, limit, 0, points, cell_begin, ids, 0);
}

KERNEL list_near(long n, uint cell, uint n_cells, ulong limit, int bits, const __global ulong *restrict points,
                 const __global int *restrict cell_begin, const __global uint *restrict ids,
                 const __global long *restrict begin, __global ulong *restrict keys) {
  FOR_CHUNK(i, n) near_to(i, cell, n_cells, limit, bits, points, cell_begin, ids, keys + begin[i]);
}
