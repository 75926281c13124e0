/* The order in which a greedy colouring takes the vertices, as 32-bit priorities: higher goes first, of equals the
 * vertex of the lower number.
 *
 *   natural        by number
 *   random         by a hash of the number; the hash is a bijection, so there are no equals
 *   interleaved    by place, see below
 *   many_first     those of FEW_COLORS entries and more, by place, then the others, by place
 *   largest_first  by degree in the high bits, where those below FEW_COLORS count as equal, since such vertices need no
 *                  more colours in any order; equal degrees by place, or, where there are too few bits for that, by the
 *                  tile and phase of the place, and then by the high bits of the hash
 *
 * Places let vertices that are processed at the same time have few edges between them, and those processed before go
 * before in the order, too.  The vertices are cut into blocks of 2 ** tile_bits tiles.  First comes a tile of each
 * block, then another of each block, and so on, cyclically; where a block begins differs most between neighbouring
 * blocks.  Of these tiles each second vertex (many_first: each
 * fourth) comes first, then those after them, and so on.
 */
#ifndef CLGRAPH_ORDERS_H
#define CLGRAPH_ORDERS_H
#include "coloring/hashes.h"

#define ORDER_NATURAL 0
#define ORDER_RANDOM 1
#define ORDER_INTERLEAVED 2
#define ORDER_LARGEST_FIRST 3
#define ORDER_MANY_FIRST 4
#define FEW_COLORS 4u

#ifndef PHASE_SIZE               /* clgraph/algorithms/coloring/orders.py has the same */
#define PHASE_SIZE 32u
#endif

typedef struct {
  int number;
  uint shift;                    /* the bits that are left of 32 beside the largest degree */
  uint phase_bits;               /* of the phases of a tile */
  uint tile_bits;                /* of a tile's number in its block */
  uint n_blocks;
  uint spare_bits;               /* the bits of 32 that places leave; 0: there are too few for places */
  uint key;                      /* of hashes */
} order_t;
#define ORDER_ARGS                                                                                    \
  int order_number, uint order_shift, uint order_phase_bits, uint order_tile_bits, uint order_n_blocks, \
  uint order_spare_bits, uint order_key
#define MAKE_ORDER(name)                                                                              \
  order_t name;                                                                                       \
  name.number = order_number; name.shift = order_shift; name.phase_bits = order_phase_bits;           \
  name.tile_bits = order_tile_bits; name.n_blocks = order_n_blocks;                                   \
  name.spare_bits = order_spare_bits; name.key = order_key

INLINE uint low_bits(uint count) { return count < 32u ? (1u << count) - 1u : UINT_MAX; }

/* Where a block begins: at multiples of the golden ratio. */
INLINE uint begin_of(order_t order, uint block) {
  return (uint)((ulong)(block * 0x9e3779b9u + order.key) << order.tile_bits >> 32);
}
/* The turn in which a vertex comes: that of its tile in the block, and its phase. */
INLINE uint turn_of(order_t order, uint v) {
  const uint tile = v / PHASE_SIZE >> order.phase_bits, k = tile - begin_of(order, tile >> order.tile_bits);
  return (k & low_bits(order.tile_bits)) << order.phase_bits | ((v + order.key) & low_bits(order.phase_bits));
}
INLINE uint place_of(order_t order, uint v) {
  const uint block = v / PHASE_SIZE >> order.phase_bits >> order.tile_bits;
  return (turn_of(order, v) * order.n_blocks + block) * PHASE_SIZE + (v >> order.phase_bits) % PHASE_SIZE;
}
/* The vertex of a place. */
INLINE uint vertex_at(order_t order, uint place) {
  const uint i = place / PHASE_SIZE, turn = i / order.n_blocks, block = i - turn * order.n_blocks;
  const uint k = (turn >> order.phase_bits) + begin_of(order, block);
  const uint tile = block << order.tile_bits | (k & low_bits(order.tile_bits));
  return (tile * PHASE_SIZE + place % PHASE_SIZE) << order.phase_bits | ((turn - order.key) & low_bits(order.phase_bits));
}
INLINE uint priority_of(order_t order, int v, uint degree) {
  const uint bits = order.tile_bits + order.phase_bits;
  if (order.number == ORDER_NATURAL) return ~(uint)v;
  if (order.number == ORDER_RANDOM) return hash_murmur3((uint)v ^ order.key);
  const uint place = order.spare_bits ? place_of(order, (uint)v) << order.spare_bits
                                      : turn_of(order, (uint)v) << (32u - bits);
  const uint tie = order.spare_bits ? ~place : ~place ^ hash_murmur3((uint)v ^ order.key) >> bits;
  if (order.number == ORDER_INTERLEAVED) return tie;
  if (order.number == ORDER_MANY_FIRST) return (degree < FEW_COLORS ? 0u : 0x80000000u) | tie >> 1;
  return (degree < FEW_COLORS ? 0u : degree) << order.shift | tie >> (32u - order.shift);
}
/* Does u, of priority p, go before v, of priority q? */
INLINE int goes_before(uint p, int u, uint q, int v) { return p > q || (p == q && u < v); }
#endif
