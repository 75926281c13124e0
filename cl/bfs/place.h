/* Where a breadth-first search on a CPU stands between two launches: the words of `place`. */
#ifndef CLGRAPH_BFS_PLACE_H
#define CLGRAPH_BFS_PLACE_H
#include "common/status.h"

#ifndef MEMBERS                  /* queues */
#define MEMBERS 2
#endif
#define UNREACHED -1
#define PLACE_DEPTH 0            /* depth of the vertices that are reached next */
#define PLACE_EDGES 1            /* edges looked at so far */
#define PLACE_NEXT 2             /* edges of the next level */
#define PLACE_EXPANDED 3         /* vertices of the level that are expanded */
#define PLACE_LEFT 4             /* vertices of the level that still wait */
#define PLACE_STATUS 5
#define PLACE_REACHED 6          /* vertices that are reached */
#define PLACE_SEGMENTS 7         /* of each queue: where the level begins and ends, and where the queue ends */
#define PLACE_WORDS (PLACE_SEGMENTS + 3 * MEMBERS)

/* A level of `rows` vertices with `next` edges is at the beginning of the first queue; the other queues are empty. */
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
