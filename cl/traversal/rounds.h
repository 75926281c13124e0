/* Shortest paths as a fixed point: in each round all reached vertices relax their edges, until a round lowers no
 * distance.
 *
 * ATOMIC 1: a distance is lowered by an atomic min.
 * ATOMIC 0: it is lowered by a load and a store.  Race: if two work-items loaded the same distance, the one with the
 * longer path may store last, and the other's store is lost.  The fixed point is right all the same:
 *   - Every stored distance is the length of an existing path, so none is too short.
 *   - A work-item stores less than it loaded, and the loaded value was there when the round began or was stored since.
 *     By induction, every value that a round stores is less than the value at the round's beginning.  So distances only
 *     fall from one round to the next, the rounds end, and a distance that is right when a round begins stays.
 *   - A work-item that stores sets STATE_CHANGED.  In a round without a store, every edge was compared with constant
 *     distances, and no edge could lower any, so they are right.  A lost update is repeated before that, because rounds
 *     read all vertices, not only changed ones.
 * Loads and stores of whole words are enough: CPUs and GPUs do not tear them.  Loads may come from a cache that does
 * not see stores of the same round; its value was there when the round began, or later.  A vertex may relax its edges
 * with a distance that is overwritten meanwhile; the work-item that lowered it has then set STATE_CHANGED, so there is
 * another round.
 */
#ifndef CLGRAPH_TRAVERSAL_ROUNDS_H
#define CLGRAPH_TRAVERSAL_ROUNDS_H
#include "traversal/distances.h"

#ifndef ATOMIC
#define ATOMIC 0
#endif
#ifndef BALANCE                  /* 1: count in `work` the edges that each work-group reads */
#define BALANCE 0
#endif
#define STATE_CHANGED 0          /* the last round that lowered a distance; rounds count from 1 */
#define STATE_OVERFLOW 1
#define STATE_PIECES 2           /* pieces of long rows that a round left to a second launch: word r mod 4 for round r */
#define STATE_CHILD_GROUPS 6     /* work-groups that a round launched from the device: word r mod 4 for round r */
#define STATE_WORDS 10

/* Returns 1 if the search had ended before this round.  The host enqueues further rounds without knowing that. */
INLINE int is_over(uint round, volatile __global uint *state) { return load_relaxed(state + STATE_CHANGED) + 1u < round; }

/* Relax every stride-th of the edges [e, end) from a vertex at distance d. */
INLINE void relax_edges(dist_t d, offset_t e, offset_t end, offset_t stride, uint round, dist_t limit,
                        __global const int *restrict column_indices, __global const weight_t *restrict edge_weights,
                        volatile __global uint *state, volatile __global dist_t *distances) {
  int overflow = 0, lowered = 0;
  for (; e < end; e += stride) {
    const dist_t reached = extend(d, weight_of(edge_weights, e), &overflow);
    volatile __global dist_t *to = distances + column_indices[e];
    if (reached > limit) continue;
#if ATOMIC
    lowered |= load_stale(to) > reached && fetch_min(to, reached) > reached;
#else
    if (load_stale(to) > reached) {
      store_relaxed(to, reached);
      lowered = 1;
    }
#endif
  }
  if (lowered) store_relaxed(state + STATE_CHANGED, round);
  if (overflow) store_relaxed(state + STATE_OVERFLOW, 1u);
}

INLINE void count_edges(uint edges, volatile __global uint *work) {
#if BALANCE
  if (edges) fetch_add(work, edges);
#endif
}
#endif
