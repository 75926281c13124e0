/* The state of a breadth-first search on a CPU between two launches: the words of `place`. */
#ifndef CLGRAPH_BFS_PLACE_H
#define CLGRAPH_BFS_PLACE_H
#include "common/status.h"

#ifndef MEMBERS                  /* queues */
#define MEMBERS 2
#endif
#define UNREACHED -1
#define PLACE_DEPTH 0            /* depth of the vertices that are reached next */
#define PLACE_EDGES 1            /* edges read so far */
#define PLACE_NEXT 2             /* edges of the next level */
#define PLACE_EXPANDED 3         /* vertices of the level that have been expanded */
#define PLACE_LEFT 4             /* vertices of the level that have not been expanded yet */
#define PLACE_STATUS 5
#define PLACE_REACHED 6          /* vertices that are reached */
#define PLACE_SEGMENTS 7         /* per queue, three words: begin and end of the level, and end of the queue */
#define PLACE_WORDS (PLACE_SEGMENTS + 3 * MEMBERS)

/* Set the state to a level of `rows` vertices with `next` edges at the beginning of the first queue; the other queues
 * are empty. */
INLINE void one_segment(__global ulong *place, ulong depth, ulong edges, ulong rows, ulong next, ulong reached) {
  place[PLACE_DEPTH] = depth;
  place[PLACE_EDGES] = edges;
  place[PLACE_NEXT] = next;
  place[PLACE_EXPANDED] = 0ul;
  place[PLACE_LEFT] = rows;
  place[PLACE_STATUS] = STATUS_OK;
  place[PLACE_REACHED] = reached;
  for (uint k = 0u; k < 3u * MEMBERS; k++) place[PLACE_SEGMENTS + k] = k == 1u || k == 2u ? rows : 0ul;
}
#endif
