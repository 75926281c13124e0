/* Requests of vertices to move to parts, in a buffer for each part.  The refinements `buffered` and `permutations` share
 * this file.
 *
 * A candidate of label propagation requests its target part if that is in the direction of the turn: in odd turns vertices
 * move to parts of greater number, in even turns to parts of lesser number.  So no two vertices swap their parts.
 *
 * request_words has COUNTS, PLACED and BEGINS for each part: the number of its requests, the number that are already in
 * its buffer, and the position in the array `requests` at which the buffer begins.  The first two are 0 before and after
 * a turn.
 */
#ifndef CLGRAPH_REQUESTS_H
#define CLGRAPH_REQUESTS_H
#include "partition/moving.h"
#include "primitives/group_scan.h"

#define COUNTS 0
#define PLACED 1
#define BEGINS 2
#define REQUEST_ARRAYS 3
#define OF_REQUESTS(k) (request_words + (size_t)(k) * n_parts)
#define REQUEST_PARAMETERS                                                                            \
  uint n_parts, uint room, LEVELS_PARAMETERS, __global int *work, __global int *parts_work, \
  __global int *histogram, __global uint *state, __global int *request_words, \
  __global int *requests
#define REQUESTED                                                                                     \
  refined_t r;                                                                                        \
  r.n_parts = n_parts; r.room = room; r.member = (uint)get_group_id(0); r.members = (uint)get_num_groups(0); \
  r.work = work; r.parts_work = parts_work; r.histogram = histogram; r.state = state;                 \
  const uint mode = state[REFINE_MODE], stamp = state[REFINE_STAMP];
/* Clears the counts of a part after its group has read them. */
#define FORGET_REQUESTS(p)                                                                            \
  group_barrier();                                                                                    \
  if (get_local_id(0) == 0) OF_REQUESTS(COUNTS)[p] = OF_REQUESTS(PLACED)[p] = 0;

/* Returns a key that is greater for greater gains and different for all vertices. */
INLINE ulong request_key(const refined_t *r, int v, uint stamp) {
  return ((ulong)((uint)ARRAY(r, GAIN)[v] ^ 0x80000000u) << 32) | mixed((uint)v ^ stamp * 0x9e3779b9u);
}

INLINE void accept_request(const refined_t *r, int v, uint stamp, batch_t *movers) {
  ARRAY(r, FROM)[v] = ARRAY(r, PART)[v];
  ARRAY(r, MOVED)[v] = (int)stamp;
  push(r, movers, MOVERS, REFINE_MOVERS, v);
}
#endif
