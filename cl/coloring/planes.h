/* Colours of a vertex as bit planes: TABLE_WORDS words, of which each half holds a bit of every one of up to 16 hashes.
 *
 * WORDS = N_WIDTHS / 2, rounded up.  The low half of word i and layer l is bit l of those by which width i exceeds
 * the width before it, the high half the same of width i + WORDS; where a width has fewer, both vertices of a pair
 * have zeros there.  PLANE_LIST(X) is X(word, low, high): the bits of the colours that the halves hold, or -1.
 * In memory the words come four by four, then what is left over, so that a vertex's are few vector loads.
 */
#ifndef CLGRAPH_PLANES_H
#define CLGRAPH_PLANES_H
#include "coloring/counters.h"

#ifndef LAYERS
#define LAYERS 1
#define PLANE_LIST(X) X(0, 0, 5) X(1, 1, 6) X(2, 2, 7) X(3, 3, 8) X(4, 4, 9)
#endif
#define WORDS ((N_WIDTHS + 1) / 2)
#define TABLE_WORDS (WORDS * LAYERS)
#define QUADS (TABLE_WORDS / 4)
#define REST (TABLE_WORDS % 4)

INLINE void load_planes(int n, int v, __global const uint *restrict planes, uint *words) {
  #pragma unroll
  for (int q = 0; q < QUADS; q++) {
    uint4 four = ((__global const uint4 *)planes)[(size_t)q * n + v];
    words[4 * q] = four.x; words[4 * q + 1] = four.y; words[4 * q + 2] = four.z; words[4 * q + 3] = four.w;
  }
#if REST
  __global const uint *rest = planes + (size_t)(4 * QUADS) * n;
#if REST == 1
  words[4 * QUADS] = rest[v];
#elif REST == 2
  uint2 two = ((__global const uint2 *)rest)[v];
  words[4 * QUADS] = two.x; words[4 * QUADS + 1] = two.y;
#else
  uint4 three = ((__global const uint4 *)rest)[v];
  words[4 * QUADS] = three.x; words[4 * QUADS + 1] = three.y; words[4 * QUADS + 2] = three.z;
#endif
#endif
}

INLINE void store_planes(int n, int v, const uint *words, __global uint *restrict planes) {
  #pragma unroll
  for (int q = 0; q < QUADS; q++)
    ((__global uint4 *)planes)[(size_t)q * n + v] =
        (uint4)(words[4 * q], words[4 * q + 1], words[4 * q + 2], words[4 * q + 3]);
#if REST
  __global uint *rest = planes + (size_t)(4 * QUADS) * n;
#if REST == 1
  rest[v] = words[4 * QUADS];
#elif REST == 2
  ((__global uint2 *)rest)[v] = (uint2)(words[4 * QUADS], words[4 * QUADS + 1]);
#else
  ((__global uint4 *)rest)[v] = (uint4)(words[4 * QUADS], words[4 * QUADS + 1], words[4 * QUADS + 2], 0u);
#endif
#endif
}
#endif
