/* The order in which a greedy colouring takes the vertices, as 32-bit priorities: higher goes first, of equals the
 * vertex of the lower number.
 *
 *   natural        by number
 *   random         by a hash of the number; the hash is a bijection, so there are no equals
 *   interleaved    by place, see below; equals by the high bits of the hash
 *   largest_first  by degree in the high bits, where those below FEW_COLORS count as equal, since such vertices need no
 *                  more colours in any order; equal degrees as interleaved, or, if MIXED, by the high bits of the hash
 *
 * Places let vertices that are processed at the same time have few edges between them, and those processed before go
 * before in the order, too.  The vertices are cut into blocks of 2 ** tile_bits tiles.  First comes a tile of each
 * block, then another of each block, and so on, cyclically; where a block begins differs most between neighbouring
 * blocks.  Of a tile each PHASES-th vertex comes first, then those after them, and so on.
 */
#ifndef CLGRAPH_ORDERS_H
#define CLGRAPH_ORDERS_H
#include "coloring/hashes.h"

#define ORDER_NATURAL 0
#define ORDER_RANDOM 1
#define ORDER_INTERLEAVED 2
#define ORDER_LARGEST_FIRST 3
#define ORDER_LARGEST_MIXED 4
#define FEW_COLORS 4u

#ifndef PHASE_BITS               /* clgraph/algorithms/coloring/orders.py has the same sizes */
#define PHASE_BITS 3u
#define PHASE_SIZE 32u
#endif
#define PHASES (1u << PHASE_BITS)
#define TILE (PHASE_SIZE * PHASES)

/* The bits that are left of 32 beside the largest degree, those of a tile's number in its block; the key of the hash. */
typedef struct {
  int number;
  uint shift, tile_bits, key;
} order_t;
#define ORDER_ARGS int order_number, uint order_shift, uint order_tile_bits, uint order_key
#define MAKE_ORDER(name)                                                                              \
  order_t name;                                                                                       \
  name.number = order_number; name.shift = order_shift;                                               \
  name.tile_bits = order_tile_bits; name.key = order_key

/* Where a block begins: at multiples of the golden ratio. */
INLINE uint block_turn(uint block, uint tile_bits) {
  return (uint)((ulong)(block * 0x9e3779b9u) << tile_bits >> 32);
}
INLINE uint place_of(order_t order, uint v) {
  const uint tile = v / TILE, begin = block_turn(tile >> order.tile_bits, order.tile_bits);
  return ((tile - begin) & ((1u << order.tile_bits) - 1u)) << PHASE_BITS | (v + order.key) % PHASES;
}
/* The tile that is number i in the order of places, if there are so many blocks. */
INLINE uint tile_at(order_t order, uint i, uint n_blocks) {
  const uint k = i / n_blocks, block = i - k * n_blocks;
  return (block << order.tile_bits) + ((k + block_turn(block, order.tile_bits)) & ((1u << order.tile_bits) - 1u));
}
/* The vertex of a tile that is number i of a phase. */
INLINE uint vertex_of(order_t order, uint tile, uint phase, uint i) {
  return tile * TILE + i * PHASES + (phase - order.key) % PHASES;
}

INLINE uint priority_of(order_t order, int v, uint degree) {
  const uint hashed = hash_murmur3((uint)v ^ order.key), bits = order.tile_bits + PHASE_BITS;
  if (order.number == ORDER_NATURAL) return ~(uint)v;
  if (order.number == ORDER_RANDOM) return hashed;
  uint tie = hashed;
  if (order.number != ORDER_LARGEST_MIXED) tie = ~place_of(order, (uint)v) << (32u - bits) | hashed >> bits;
  if (order.number == ORDER_INTERLEAVED) return tie;
  return (degree < FEW_COLORS ? 0u : degree) << order.shift | tie >> (32u - order.shift);
}
/* Does u, of priority p, go before v, of priority q? */
INLINE int goes_before(uint p, int u, uint q, int v) { return p > q || (p == q && u < v); }
#endif
