/* The turns of a search in one launch; a breadth-first search makes one for each level.
 *
 * In a turn a work-group expands its share of the frontier, closes its queue of the next one, arrives at the barrier,
 * looks up the edges of the first rows that it keeps, and only then waits for the others.  docs/protocols/bfs_queues.md
 * draws this.
 */
#ifndef CLGRAPH_TRAVERSAL_TURN_H
#define CLGRAPH_TRAVERSAL_TURN_H
#include "traversal/queues.h"

/* The state of a work-group. */
typedef struct {
  volatile __global uint *state;
  __local uint *sum;             /* sum of the flags of all groups */
  uint members, sub_group, n_sub_groups;
  uint first_own;                /* this lane's first row in the own queue; sub-groups take turns at its rows */
  int clears;                    /* 1 if this work-item clears the words that come into use two turns later */
  uint number, cleared;
  uint told;                     /* sum of all groups' flags, from the barrier of the turn before */
  uint n_own;                    /* rows that the group has kept for this turn */
} turn_t;

INLINE turn_t first_turn(uint number, uint member, uint members, __local uint *sum, volatile __global uint *state) {
  turn_t turn = {state, sum, members, sg_in_group() * members + member, members * SUB_GROUPS_PER_GROUP,
                 sg_lane() * SUB_GROUPS_PER_GROUP + sg_in_group(), member == 0u && get_local_id(0) == 0, number, 0u, LISTED, 0u};
  return turn;
}

/* Every work-item calls, early in a turn. */
INLINE void begin_turn(turn_t *turn) { turn->cleared = turn->clears ? clear_turn(turn->state, turn->number) : 0u; }

/* The frontier of this turn.  The lists are only read if a group has written to them.  Their sizes are complete: additions
 * to them ended with the turn before. */
INLINE share_t share_of(const turn_t *turn, frontier_t now) {
  share_t share = {turn->n_own, 0u, 0u, turn->sub_group, turn->n_sub_groups};
  if (turn->told >= LISTED) {
    share.light = load_relaxed(now.sizes);
    if (!ONLY_SHORT_ROWS) share.heavy = load_relaxed(now.sizes + 1);
  }
  return share;
}

/* Every work-item calls: close the queue of the next frontier, of which the group keeps at most `most` rows, and
 * arrive.  One work-item reads and clears the group's flags: close_queue ended with a barrier, and the group sets flags
 * again only behind the barrier of await_others. */
INLINE void close_and_arrive(turn_t *turn, uint most, uint flags, frontier_t now, frontier_t next,
                             __global const offset_t *restrict row_offsets) {
  turn->n_own = close_queue(next, most, row_offsets);
  if (get_local_id(0) == 0) {
    turn_arrive(turn->state, turn->number, turn->cleared, *next.flags | (turn->n_own ? HAS_OWN : 0u) | flags, turn->sum);
    *next.flags = 0u;
    *now.size = 0u;              /* the emptied queue takes the frontier after the next */
  }
}

/* Finds the row of the group's queue that a lane expands first, and its entry there; a row of length 0 if none is left. */
INLINE void first_own_row(row_t *row, entry_t *own, const turn_t *turn, frontier_t next,
                          __global const offset_t *restrict row_offsets) {
  row->length = 0u;
  own->vertex = -1;
  if (turn->first_own < turn->n_own) {
    *own = next.rows[turn->first_own];
    *row = row_of_vertex(own->vertex, row_offsets);
  }
}

/* Every work-item calls.  0 ends the search: either nothing is left, or a wait timed out. */
INLINE uint await_others(turn_t *turn) { return turn->told = turn_await(turn->state, turn->number, turn->members, turn->sum); }
#endif
