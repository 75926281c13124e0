/* The colours of a vertex as bit planes: TABLE_WORDS words, each half of which has one bit of each of up to 16 hashes.
 *
 * WORDS = N_WIDTHS / 2, rounded up.  Width i has some more bits than the width before it.  The low half of word i in layer
 * l is bit l of these additional bits; the high half is the same for width i + WORDS.  If a width has fewer bits than
 * layers, the words of all vertices have zeros there.  PLANE_LIST(X) is X(word, low, high) for each word: the bits of the
 * colours in its halves, or -1.
 * In memory the words are grouped by four, then the rest, so that a vertex takes few vector loads.  SIDE_BY_SIDE 1: a
 * vertex has all its words in a record of its own, which fits a cache sector; this suits neighbours with far numbers.
 * SIDE_BY_SIDE 0: each group of words is an array over all vertices, which needs less memory.
 */
#ifndef CLGRAPH_PLANES_H
#define CLGRAPH_PLANES_H
#include "hash_collisions/counters.h"

#ifndef LAYERS
#define LAYERS 1
#define PLANE_LIST(X) X(0, 0, 5) X(1, 1, 6) X(2, 2, 7) X(3, 3, 8) X(4, 4, 9)
#endif
#define WORDS ((N_WIDTHS + 1) / 2)
#define TABLE_WORDS (WORDS * LAYERS)
#define QUADS (TABLE_WORDS / 4)
#define REST (TABLE_WORDS % 4)   /* words left over; 3 take the room of 4 */
#define RECORD ((TABLE_WORDS + 7) / 8 * 8)
#ifndef SIDE_BY_SIDE
#define SIDE_BY_SIDE 0
#endif
#define IN_RECORDS (SIDE_BY_SIDE && TABLE_WORDS > 4)
#if IN_RECORDS                   /* words of a vertex in memory */
#define STORED_WORDS RECORD
#elif REST == 3
#define STORED_WORDS (TABLE_WORDS + 1)
#else
#define STORED_WORDS TABLE_WORDS
#endif

#if IN_RECORDS                 /* words of vertex v, from number w on */
#define WORDS_AT(T, w) ((__global T *)(planes + (size_t)v * RECORD + (w)))
#else
#define WORDS_AT(T, w) ((__global T *)(planes + (size_t)(w) * n) + v)
#endif

INLINE void load_planes(int n, int v, __global const uint *restrict planes, uint *words) {
  #pragma unroll
  for (int q = 0; q < QUADS; q++) {
    uint4 four = *WORDS_AT(const uint4, 4 * q);
    words[4 * q] = four.x; words[4 * q + 1] = four.y; words[4 * q + 2] = four.z; words[4 * q + 3] = four.w;
  }
#if REST == 1
  words[4 * QUADS] = *WORDS_AT(const uint, 4 * QUADS);
#elif REST == 2
  uint2 two = *WORDS_AT(const uint2, 4 * QUADS);
  words[4 * QUADS] = two.x; words[4 * QUADS + 1] = two.y;
#elif REST == 3
  uint4 three = *WORDS_AT(const uint4, 4 * QUADS);
  words[4 * QUADS] = three.x; words[4 * QUADS + 1] = three.y; words[4 * QUADS + 2] = three.z;
#endif
}

INLINE void store_planes(int n, int v, const uint *words, __global uint *restrict planes) {
  #pragma unroll
  for (int q = 0; q < QUADS; q++)
    *WORDS_AT(uint4, 4 * q) = (uint4)(words[4 * q], words[4 * q + 1], words[4 * q + 2], words[4 * q + 3]);
#if REST == 1
  *WORDS_AT(uint, 4 * QUADS) = words[4 * QUADS];
#elif REST == 2
  *WORDS_AT(uint2, 4 * QUADS) = (uint2)(words[4 * QUADS], words[4 * QUADS + 1]);
#elif REST == 3
  *WORDS_AT(uint4, 4 * QUADS) = (uint4)(words[4 * QUADS], words[4 * QUADS + 1], words[4 * QUADS + 2], 0u);
#endif
}
#endif
