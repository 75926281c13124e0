/* The rank of a component's root among the roots, from a bitmap of the roots and the number of roots before each word. */
#ifndef CLGRAPH_COMPONENTS_NUMBERING_H
#define CLGRAPH_COMPONENTS_NUMBERING_H
#include "common/types.h"

/* Word 0 of the bitmap begins at vertex `origin`. */
INLINE int rank_of(int root, int origin, __global const uint *roots, __global const int *rank) {
  const int w = (root - origin) >> 5;
  return rank[w] + (int)popcount(roots[w] & ((1u << ((root - origin) & 31)) - 1u));
}
#endif
