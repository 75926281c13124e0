/* Breadth-first search by one work-item: vertices wait in a queue, in the order in which they are reached.
 *
 * It takes over the frontier that stands in the lists of a turn, and stops after a level that found many vertices; it
 * counts their edges, and either other kernels go on from there or it does itself.  It has no races.
 */
#include "traversal/levels.h"

/* Words of `place`, where a search that stopped goes on. */
#define PLACE_HEAD 0             /* the first vertex in the queue that waits */
#define PLACE_END 1              /* the end of its level */
#define PLACE_TAIL 2             /* the end of the queue */
#define PLACE_DEPTH 3            /* of the vertices that it reaches */
#define PLACE_EDGES 4            /* that were looked at */
#define PLACE_NEXT 5             /* edges of the next level */
#define PLACE_WORDS 6
#define ROWS_AHEAD 24            /* whose offsets are fetched; entries half as far */

KERNEL search_queue(int resumed, uint turn, uint depth, uint max_depth, ulong most_rows, long budget,
                    uint light_capacity, uint heavy_capacity, __global const offset_t *restrict row_offsets,
                    __global const int *restrict column_indices, __global const int *restrict light,
                    __global const int2 *restrict heavy, __global uint *restrict state, __global ulong *restrict place,
                    __global int *restrict queue, __global int *restrict distances, __global int *restrict predecessors) {
  if (get_global_id(0)) return;
  ulong head = 0ul, end = 0ul, tail = 0ul, edges = 0ul, next = 0ul;
  if (resumed) {
    head = place[PLACE_HEAD];
    tail = place[PLACE_TAIL];
    end = place[PLACE_END] == head ? tail : place[PLACE_END];
    depth = (uint)place[PLACE_DEPTH];
    edges = place[PLACE_EDGES];
  } else {
    const ulong set = turn & 1u;
    __global uint *sizes = state + STATE_SIZES + SIZES * (turn & 3u);
    for (uint i = 0u; i < sizes[0]; i++) queue[tail++] = light[light_capacity * set + i];
    for (uint i = 0u; i < sizes[1]; i++)
      if (heavy[heavy_capacity * set + i].y == 0) queue[tail++] = heavy[heavy_capacity * set + i].x;
    end = tail;
    sizes = state + STATE_SIZES + SIZES * (turn + 2u & 3u);
    for (uint k = 0u; k < 4u; k++) sizes[k] = 0u;
  }
  while (head < tail && depth <= max_depth) {
    for (; head < end && budget > 0; head++) {
      FETCH_AHEAD(row_offsets + queue[min(head + ROWS_AHEAD, tail - 1ul)]);
      FETCH_AHEAD(column_indices + row_offsets[queue[min(head + ROWS_AHEAD / 2, tail - 1ul)]]);
      const int v = queue[head];
      const offset_t first = row_offsets[v], last = row_offsets[v + 1];
      for (offset_t e = first; e < last; e++) {
        const int u = column_indices[e];
        if (distances[u] >= 0) continue;
        distances[u] = (int)depth;
        predecessors[u] = v;
        queue[tail++] = u;
      }
      budget -= last - first + 1;
      edges += (ulong)(last - first);
    }
    if (head < end) break;
    depth++;
    if (tail - head > most_rows) {
      for (ulong i = head; i < tail; i++) next += (ulong)(row_offsets[queue[i] + 1] - row_offsets[queue[i]]);
      break;
    }
    end = tail;
  }
  place[PLACE_HEAD] = head;
  place[PLACE_END] = end;
  place[PLACE_TAIL] = tail;
  place[PLACE_DEPTH] = depth;
  place[PLACE_EDGES] = edges;
  place[PLACE_NEXT] = next;
}
