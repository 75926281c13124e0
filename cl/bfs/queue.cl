/* Breadth-first search on CPUs: vertices wait in queues, in the order in which they are reached.
 *
 * It starts from the frontier in the lists of a turn, and stops after a level that found many vertices. It counts their
 * edges; then either other kernels go on, or this one is launched again. `meeting.h` describes how several work-groups
 * share a search.
 */
#include "bfs/meeting.h"

/* Words of `place`, where a search that stopped goes on. */
#define PLACE_DEPTH 0            /* depth of the vertices that are reached next */
#define PLACE_EDGES 1            /* edges looked at so far */
#define PLACE_NEXT 2             /* edges of the next level */
#define PLACE_EXPANDED 3         /* vertices of the level that are expanded */
#define PLACE_LEFT 4             /* vertices of the level that still wait */
#define PLACE_STATUS 5
#define PLACE_SEGMENTS 6
#define PLACE_WORDS (PLACE_SEGMENTS + 3 * MEMBERS)

KERNEL search_queue(int n, int resumed, uint turn, uint depth, uint max_depth, ulong most_rows, long budget,
                    uint light_capacity, uint heavy_capacity, __global const offset_t *restrict row_offsets,
                    __global const int *restrict column_indices, __global const int *restrict light,
                    __global const int2 *restrict heavy, __global uint *restrict state, __global ulong *restrict place,
                    volatile __global uint *meeting, __global int *queue, volatile __global int *distances,
                    volatile __global int *predecessors) {
  const uint groups = (uint)get_num_groups(0), ticket = fetch_add(meeting + MEET_ARRIVED, 1u);
  const uint launch = ticket / groups, member = ticket % groups;
  const search_t in = {row_offsets, column_indices, distances, predecessors, queue, (ulong)n};
  if (member) {
    follow(member, launch, meeting, in);
    return;
  }
  share_of_level_t level;
  ulong edges = 0ul, next = 0ul, expanded = 0ul, rows = 0ul;
  uint most = MEMBERS;
  uint status = STATUS_OK;
  if (resumed) {
    depth = (uint)place[PLACE_DEPTH];
    edges = place[PLACE_EDGES];
    expanded = place[PLACE_EXPANDED];
    rows = expanded + place[PLACE_LEFT];
  } else {
    const ulong set = turn & 1u;
    __global uint *sizes = state + STATE_SIZES + SIZES * (turn & 3u);
    for (uint i = 0u; i < sizes[0]; i++) queue[rows++] = light[light_capacity * set + i];
    for (uint i = 0u; i < sizes[1]; i++)
      if (heavy[heavy_capacity * set + i].y == 0) queue[rows++] = heavy[heavy_capacity * set + i].x;
    sizes = state + STATE_SIZES + SIZES * (turn + 2u & 3u);
    for (uint k = 0u; k < 4u; k++) sizes[k] = 0u;
  }
#pragma unroll
  for (uint k = 0u; k < MEMBERS; k++) {
    __global const ulong *words = place + PLACE_SEGMENTS + 3 * k;
    level.segments[k].begin = resumed ? (uint)words[0] : 0u;
    level.segments[k].end = resumed ? (uint)words[1] : k ? 0u : (uint)rows;
    level.segments[k].tail = resumed ? (uint)words[2] : level.segments[k].end;
  }
  while (rows && depth <= max_depth) {
    level.depth = depth;
    for (; expanded < rows && budget > 0; expanded = level.last) {
      level.first = (uint)expanded;
      level.last = (uint)min(rows, expanded + MOST_ROWS);
      const ulong looked_at = lead(&level, &most, launch, meeting, in, &status);
      edges += looked_at;
      budget -= (long)(looked_at + level.last - level.first);
      if (status != STATUS_OK) budget = 0;
    }
    if (expanded < rows) break;
    depth++;
    expanded = 0ul;
    rows = next_level(&level);
    if (rows <= most_rows) continue;
#pragma unroll
    for (uint k = 0u; k < MEMBERS; k++)
      for (ulong i = level.segments[k].begin; i < level.segments[k].end; i++) {
        const int v = queue[in.n * k + i];
        next += (ulong)(row_offsets[v + 1] - row_offsets[v]);
      }
    break;
  }
  place[PLACE_STATUS] = status;
  place[PLACE_DEPTH] = depth;
  place[PLACE_EDGES] = edges;
  place[PLACE_NEXT] = next;
  place[PLACE_EXPANDED] = expanded;
  place[PLACE_LEFT] = rows - expanded;
#pragma unroll
  for (uint k = 0u; k < MEMBERS; k++) {
    place[PLACE_SEGMENTS + 3 * k] = level.segments[k].begin;
    place[PLACE_SEGMENTS + 3 * k + 1] = level.segments[k].end;
    place[PLACE_SEGMENTS + 3 * k + 2] = level.segments[k].tail;
  }
  store_relaxed(meeting + MEET_ENDED, launch + 1u);
}
