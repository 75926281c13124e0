/* The order in which a greedy colouring takes the vertices, as 32-bit priorities: higher goes first, of equals the
 * vertex of the lower number.
 *
 *   natural        by number
 *   random         by a hash of the number; the hash is a bijection, so there are no equals
 *   interleaved    by place, see below
 *   many_first     those of FEW_COLORS entries and more, by place, then the others, by place
 *   largest_first  by degree in the high bits, where those below FEW_COLORS count as equal, since such vertices need no
 *                  more colours in any order; equal degrees by place, as far as there are bits
 *
 * Places let vertices that are processed at the same time have few edges between them, and those processed before go
 * before in the order, too.  The vertices are cut into blocks of 2 ** tile_bits tiles.  A turn takes a tile of each
 * block, and of it each second vertex (many_first: each fourth): turns go through the phases of a tile, then to the next
 * tile of the block, cyclically.  Where a block begins, and when it comes in a turn, differs most between neighbouring
 * blocks: both go by multiples of the golden ratio, so that no long row of neighbours waits one for the other.
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
  uint shift;                    /* the bits that are left of 32 beside the largest degree: 1 … 31 */
  uint phase_bits;               /* of the phases of a tile */
  uint tile_bits;                /* of a tile's number in its block */
  uint n_blocks;
  uint key;
} order_t;
#define ORDER_ARGS                                                                                    \
  int order_number, uint order_shift, uint order_phase_bits, uint order_tile_bits, uint order_n_blocks, uint order_key
#define MAKE_ORDER(name)                                                                              \
  order_t name;                                                                                       \
  name.number = order_number; name.shift = order_shift; name.phase_bits = order_phase_bits;           \
  name.tile_bits = order_tile_bits; name.n_blocks = order_n_blocks; name.key = order_key

INLINE uint low_bits(uint count) { return count < 32u ? (1u << count) - 1u : UINT_MAX; }

/* When a block comes in a turn, as a fraction of 2 ** 32; and the tile with which it begins. */
INLINE uint block_turn(order_t order, uint block) { return block * 0x9e3779b9u + order.key; }
INLINE uint begin_of(order_t order, uint block) {
  return (uint)((ulong)block_turn(order, block) << order.tile_bits >> 32);
}
INLINE uint block_of(order_t order, uint v) { return v / PHASE_SIZE >> order.phase_bits >> order.tile_bits; }
INLINE uint turn_of(order_t order, uint v) {
  const uint k = (v / PHASE_SIZE >> order.phase_bits) - begin_of(order, block_of(order, v));
  return (k & low_bits(order.tile_bits)) << order.phase_bits | ((v + order.key) & low_bits(order.phase_bits));
}
INLINE uint in_phase(order_t order, uint v) { return (v >> order.phase_bits) % PHASE_SIZE; }
/* The vertex of a turn and a block that is number i of its phase. */
INLINE uint vertex_at(order_t order, uint turn, uint block, uint i) {
  const uint k = (turn >> order.phase_bits) + begin_of(order, block);
  const uint tile = block << order.tile_bits | (k & low_bits(order.tile_bits));
  return (tile * PHASE_SIZE + i) << order.phase_bits | ((turn - order.key) & low_bits(order.phase_bits));
}

INLINE uint priority_of(order_t order, int v, uint degree) {
  if (order.number == ORDER_NATURAL) return ~(uint)v;
  if (order.number == ORDER_RANDOM) return hash_murmur3((uint)v ^ order.key);
  const uint bits = order.tile_bits + order.phase_bits, comes = block_turn(order, block_of(order, (uint)v)) >> bits;
  const uint place = turn_of(order, (uint)v) << (32u - bits) | (comes & ~(PHASE_SIZE - 1u)) | in_phase(order, (uint)v);
  if (order.number == ORDER_INTERLEAVED) return ~place;
  if (order.number == ORDER_MANY_FIRST) return (degree < FEW_COLORS ? 0u : 0x80000000u) | ~place >> 1;
  return (degree < FEW_COLORS ? 0u : degree) << order.shift | ~place >> (32u - order.shift);
}
/* Does u, of priority p, go before v, of priority q? */
INLINE int goes_before(uint p, int u, uint q, int v) { return p > q || (p == q && u < v); }
#endif
