/* The vertices that a sub-group takes: SUB_GROUP_SIZE per step, in the order of their places (orders.h), turn after turn.
 * Some places have no vertex.  If PASSES, sub-groups do not run in step anyway, and a share is a range of numbers.  In
 * arrays a share has room for all of its vertices.
 */
#ifndef CLGRAPH_VERTEX_SHARES_H
#define CLGRAPH_VERTEX_SHARES_H
#include "common/subgroup.h"
#include "color/orders.h"

#ifndef PASSES                   /* passes of a launch over its queues; 0: until they are empty, all groups at once */
#define PASSES 0u
#endif

typedef struct {
  order_t order;
  uint n;                        /* number of all vertices */
  uint number, total;            /* number of this sub-group, and of all sub-groups */
  uint steps;
  uint pieces;                   /* pieces of a turn, SUB_GROUP_SIZE places each; every total-th is this sub-group's */
  size_t part;                   /* index of its first item in arrays */
  __global const uint *blocks;   /* blocks in their order in a turn, then empty ones up to whole pieces */
} share_t;
typedef struct { uint turn, piece; } step_t;

INLINE share_t share_of(order_t order, __global const uint *blocks, uint n, uint number, uint total) {
  share_t own;
  own.order = order;
  own.blocks = blocks;
  own.n = n;
  own.number = number;
  own.total = total;
  if (PASSES) {
    own.pieces = 0u;
    own.steps = (n + total * SUB_GROUP_SIZE - 1u) / (total * SUB_GROUP_SIZE);
    own.part = (size_t)number * own.steps * SUB_GROUP_SIZE;
    return own;
  }
  const uint n_blocks = ((n - 1u) >> (PHASE_BITS + order.phase_bits + order.tile_bits)) + 1u;
  own.pieces = (n_blocks * PHASE_SIZE + SUB_GROUP_SIZE - 1u) / SUB_GROUP_SIZE;
  const uint turns = 1u << (order.tile_bits + order.phase_bits), least = own.pieces / total, extra = own.pieces % total;
  own.steps = turns * (least + (number < extra));
  own.part = (size_t)(number * least + min(number, extra)) * turns * SUB_GROUP_SIZE;
  return own;
}
INLINE step_t first_step(const share_t *own) {
  step_t step = {0u, own->number};
  return step;
}
/* A share as a range of numbers: the vertex of this lane in a step; n if there is none. */
INLINE uint vertex_by_number(const share_t *own, uint t) {
  return min(own->n, (uint)own->part + t * SUB_GROUP_SIZE + sg_lane());
}
/* The vertex of this lane in *step, which moves on to the next one; n if there is none. */
INLINE uint next_vertex(const share_t *own, step_t *step) {
  if (PASSES) return vertex_by_number(own, step->turn++);
  const uint turn = step->turn, i = step->piece * SUB_GROUP_SIZE + sg_lane();
  step->piece += own->total;
  if (step->piece >= own->pieces) {
    step->piece = own->number;
    step->turn++;
  }
  if (!is_by_place(own->order)) return min(own->n, turn * own->pieces * SUB_GROUP_SIZE + i);
  return min(own->n, vertex_at(own->order, turn, own->blocks[i >> PHASE_BITS], i & (PHASE_SIZE - 1u)));
}
#endif
