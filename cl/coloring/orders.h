/* The order in which a greedy colouring takes the vertices, as 32-bit priorities: higher goes first, of equals the
 * vertex of the lower number.
 *
 *   natural        by number
 *   random         by a hash of the number; the hash is a bijection, so there are no equals
 *   largest_first  by degree in the high bits, equal degrees by the high bits of the hash
 */
#ifndef CLGRAPH_ORDERS_H
#define CLGRAPH_ORDERS_H
#include "coloring/hashes.h"

#define ORDER_NATURAL 0
#define ORDER_RANDOM 1
#define ORDER_LARGEST_FIRST 2

/* shift: how many bits are left of 32 beside the largest degree. */
INLINE uint priority_of(int order, int v, uint degree, uint shift, uint key) {
  uint hashed = hash_murmur3((uint)v ^ key);
  if (order == ORDER_NATURAL) return ~(uint)v;
  if (order == ORDER_RANDOM) return hashed;
  return degree << shift | hashed >> (32u - shift);
}
/* Does u, of priority p, go before v, of priority q? */
INLINE int goes_before(uint p, int u, uint q, int v) { return p > q || (p == q && u < v); }
#endif
