/* The order in which a greedy colouring takes the vertices, as 32-bit priorities.  The vertex of the higher priority
 * goes first; if priorities are equal, the vertex of the lower number does.
 *
 *   natural        By number.
 *   random         By a hash of the number.  The hash is a bijection, so no two are equal.
 *   interleaved    By place, see below.
 *   many_first     Vertices with FEW_COLORS entries or more go first, by place, then the others, by place.
 *   largest_first  By degree, in the high bits.  Degrees below FEW_COLORS count as equal, because such vertices never need
 *                  more colours.  Equal degrees go by place, as far as there are bits.
 *
 * Places have two aims.  Vertices that are processed at the same time should have few edges between them, and vertices
 * that are processed earlier should also be earlier in the order.  The vertices are cut into blocks of 2 ** tile_bits
 * tiles.  A turn takes a tile of each block, and every second vertex of it (many_first: every fourth), which is a phase
 * of the tile.  The next turns take the other phases of the tile, then the next tile of the block, cyclically.
 * Neighbouring blocks begin with very different tiles and have very different positions in a turn.  Both are multiples
 * of the golden ratio, so that there is no long chain of neighbours in which each waits for the next.
 *
 * A place consists of the number of the turn, the block's position in it (block_bits), and the number in the phase.  It
 * is below 2 ** 31.
 */
#ifndef CLGRAPH_ORDERS_H
#define CLGRAPH_ORDERS_H
#include "common/hashes.h"

#define ORDER_NATURAL 0
#define ORDER_RANDOM 1
#define ORDER_INTERLEAVED 2
#define ORDER_LARGEST_FIRST 3
#define ORDER_MANY_FIRST 4
#define ORDER_SMALLEST_LAST 5    /* its priorities are given */
#define FEW_COLORS 4u

#ifndef PHASE_BITS
#define PHASE_BITS 5u
#endif
#define PHASE_SIZE (1u << PHASE_BITS)
#define GOLDEN 0x9e3779b9u       /* 2 ** 32 divided by the golden ratio */

typedef struct {
  int number;
  uint shift;                    /* bits of 32 that the largest degree leaves free: 1 … 31 */
  uint phase_bits;               /* a tile has 2 ** phase_bits phases */
  uint tile_bits;                /* a block has 2 ** tile_bits tiles */
  uint block_bits;               /* there are at most 2 ** block_bits blocks, some of which may have no vertices */
  uint key;                      /* computed from the seed */
} order_t;

/* Returns the order, with a number that the compiler knows if the program defines ORDER. */
INLINE order_t known_order(order_t order) {
#ifdef ORDER
  order.number = ORDER;
#endif
  return order;
}

INLINE uint low_bits(uint count) { return count < 32u ? (1u << count) - 1u : UINT_MAX; }

INLINE int is_by_place(order_t order) { return order.number >= ORDER_INTERLEAVED && order.number <= ORDER_MANY_FIRST; }

/* arrival_of returns the position of a block in a turn, begin_of the tile with which the block begins. */
INLINE uint arrival_of(order_t order, uint block) {
  const uint step = (GOLDEN >> 1 >> (31u - order.block_bits)) | 1u;
  return (block * step + order.key) & low_bits(order.block_bits);
}
INLINE uint begin_of(order_t order, uint arrival) { return arrival << order.tile_bits >> order.block_bits; }

INLINE uint place_of(order_t order, uint v) {
  const uint tile = v >> (PHASE_BITS + order.phase_bits), arrival = arrival_of(order, tile >> order.tile_bits);
  const uint turn = (tile - begin_of(order, arrival)) & low_bits(order.tile_bits);
  const uint phase = (v + order.key) & low_bits(order.phase_bits), in_phase = (v >> order.phase_bits) & (PHASE_SIZE - 1u);
  return ((turn << order.phase_bits | phase) << order.block_bits | arrival) << PHASE_BITS | in_phase;
}
/* Returns vertex number i of the phase that a turn takes of a block. */
INLINE uint vertex_at(order_t order, uint turn, uint block, uint i) {
  const uint k = (turn >> order.phase_bits) + begin_of(order, arrival_of(order, block));
  const uint tile = block << order.tile_bits | (k & low_bits(order.tile_bits));
  return (tile << PHASE_BITS | i) << order.phase_bits | ((turn - order.key) & low_bits(order.phase_bits));
}

INLINE uint priority_of(order_t order, int v, uint degree) {
  if (order.number == ORDER_NATURAL) return ~(uint)v;
  if (order.number == ORDER_RANDOM) return hash_murmur3((uint)v ^ order.key);
  const uint place = place_of(order, (uint)v);
  if (order.number == ORDER_INTERLEAVED) return ~place;
  if (order.number == ORDER_MANY_FIRST) return (degree < FEW_COLORS ? UINT_MAX >> 1 : UINT_MAX) - place;
  const uint bits = order.tile_bits + order.phase_bits + order.block_bits + PHASE_BITS;
  return (degree < FEW_COLORS ? 0u : degree) << order.shift | ~(place << (32u - bits)) >> (32u - order.shift);
}
/* Returns 1 if u, of priority p, goes before v, of priority q. */
INLINE int goes_before(uint p, int u, uint q, int v) { return p > q || (p == q && u < v); }
#endif
