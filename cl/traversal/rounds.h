/* Shortest paths as a fixed point: rounds over all vertices in which those that are reached relax their edges, until a
 * round lowers no distance.
 *
 * ATOMIC 1: a distance is lowered by an atomic min.
 * ATOMIC 0: it is lowered by a load and a store.  Race: of two work-items that saw the same distance the one with the
 * longer way may store last, and what the other one stored is lost.  The fixed point is right all the same:
 *   - Every distance stored is the length of a path that exists, so none is too short.
 *   - Whoever stores, stores less than what it loaded, and that stood there when the round began or was stored since.  By
 *     induction whatever a round stores is less than what it found.  So distances only fall from one round to the next,
 *     the rounds end, and a distance that is right when a round begins stays.
 *   - Whoever stores says so (STATE_CHANGED).  In a round of which nobody says so every edge was compared with distances
 *     that stood still, and no edge could lower any: they are right.  A lowering that was lost is tried again before that,
 *     since rounds look at all vertices, not only at those that changed.
 * Loads and stores of whole words are enough: CPUs and GPUs do not tear them.  Loads may come from a cache that does not
 * see what others store in the same round; what it gives stood there when the round began or later.  A vertex may relax its
 * edges with a distance that is overwritten meanwhile; then whoever lowered it asks for another round.
 */
#ifndef CLGRAPH_TRAVERSAL_ROUNDS_H
#define CLGRAPH_TRAVERSAL_ROUNDS_H
#include "traversal/distances.h"

#ifndef ATOMIC
#define ATOMIC 0
#endif
#ifndef BALANCE                  /* 1: count the edges that each work-group looks at in `work` */
#define BALANCE 0
#endif
#define STATE_CHANGED 0          /* the last round that lowered a distance; rounds count from 1 */
#define STATE_OVERFLOW 1
#define STATE_PIECES 2           /* four counts in turn: pieces of long rows that a round left to a second launch */
#define STATE_CHILD_GROUPS 6     /* the same of work-groups that a round launched from the device */
#define STATE_WORDS 10

/* Whether the rounds have ended before this one, which the host enqueued without knowing. */
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
