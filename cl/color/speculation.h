/* Rows and run state of speculative colouring; speculative.cl explains the method.
 *
 * tentative[v] is the colour that v tries, colors[v] the colour that other vertices avoid.  If both are the same buffer,
 * vertices avoid colours that others take at the same time, as far as they see them, so few vertices conflict.  If they
 * are two buffers, no vertex sees the colours of its round, and the check copies the colours that stay.  This takes more
 * rounds, but gives the same result in every run.
 *
 * A team takes a row that is too long for a work-item: a sub-group, or a work-group if GROUP_TEAM is 1.
 */
#ifndef CLGRAPH_SPECULATION_H
#define CLGRAPH_SPECULATION_H
#include "common/grid_barrier.h"
#include "common/worklist.h"
#include "color/orders.h"

#ifndef GROUP_TEAM
#define GROUP_TEAM 0
#endif

#define NO_COLOR -1
#define STATE_WORDS 64
#define STATE_SIZES 0            /* sizes of the lists: N_SIZES words, used in turn */
#define N_SIZES 3u
#define STATE_CONFLICTS 4        /* vertices that lost in the first check */
#define STATE_ROUNDS 5           /* rounds that followed that check */
#define STATE_EDGE_ROUNDS 6      /* number of rounds over the edges (edge_rounds.cl) before the first check */
#define STATE_ALIVE 7            /* the last round that left losers, if the host drives the rounds */
#define STATE_CONTROL 32         /* words of the grid barrier */
#define STATE_STATUS (STATE_CONTROL + GRID_STATUS)

#if GROUP_TEAM
#define TEAM WG_SIZE
#define team_lane() ((uint)get_local_id(0))
#define team_sync() barrier(CLK_LOCAL_MEM_FENCE)
#else
#define TEAM SUB_GROUP_SIZE
#define team_lane() sg_lane()
#define team_sync() sg_sync()
#endif

/* Rows, and the order that compares their vertices. */
typedef struct {
  order_t order;                 /* if it does not determine the priorities, they are in ranks */
  __global const offset_t *row_offsets;
  __global const int *column_indices;
  __global const uint *ranks;
} rows_t;

INLINE rows_t rows_of(order_t order, __global const offset_t *row_offsets, __global const int *column_indices,
                      __global const uint *ranks) {
  rows_t rows;
  rows.order = order;
  rows.row_offsets = row_offsets;
  rows.column_indices = column_indices;
  rows.ranks = ranks;
  return rows;
}
INLINE uint degree_of(const rows_t *rows, int v) { return (uint)(rows->row_offsets[v + 1] - rows->row_offsets[v]); }
INLINE uint priority(const rows_t *rows, int v) {
  if (rows->order.number > ORDER_MANY_FIRST) return rows->ranks[v];
  return priority_of(rows->order, v, rows->order.number >= ORDER_LARGEST_FIRST ? degree_of(rows, v) : 0u);
}
INLINE int loses(const rows_t *rows, int v, int u) {
  return u != v && goes_before(priority(rows, u), u, priority(rows, v), v);
}
#endif
