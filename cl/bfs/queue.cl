/* Breadth-first search on CPUs, top-down: vertices wait in queues, in the order in which they are reached.
 *
 * `place` tells which vertices wait. A search stops after a level that found many vertices, and counts their edges. Then
 * the host launches another kernel, or this one again. `meeting.h` describes how several work-groups share a search.
 */
#include "bfs/meeting.h"
#include "bfs/place.h"

#ifndef BLOCK_ROWS               /* rows of a queue that a work-group of expand_queue takes at a time */
#define BLOCK_ROWS 64u
#endif
#ifndef HELD                     /* vertices that it buffers before it takes slots in the queue */
#define HELD 256u
#endif

/* Each work-item initializes an equal part of all vertices. */
KERNEL initialize(int n, __global int *restrict distances, __global int *restrict predecessors) {
  const long items = (long)get_global_size(0), item = (long)get_global_id(0);
  const long first = n * item / items, end = n * (item + 1) / items;
  for (long v = first; v < end; v++) distances[v] = UNREACHED;
  for (long v = first; v < end; v++) predecessors[v] = NO_PREDECESSOR;
}

/* One work-item puts the sources into the first queue. */
KERNEL start(int n_sources, __global const int *restrict sources, __global const offset_t *restrict row_offsets,
             __global int *restrict queue, __global int *restrict distances, __global ulong *restrict place) {
  ulong rows = 0ul, edges = 0ul;
  for (int i = 0; i < n_sources; i++) {
    const int s = sources[i];
    if (distances[s] != UNREACHED) continue;
    distances[s] = 0;
    queue[rows++] = s;
    edges += (ulong)(row_offsets[s + 1] - row_offsets[s]);
  }
  one_segment(place, 1ul, 0ul, rows, edges, rows);
}

#ifndef PUSH_COST                /* time of an entry top-down, relative to an entry that is looked at bottom-up */
#define PUSH_COST 2ul
#endif

/* Whether to expand a level of `next` of all m edges bottom-up; `edges` is how many the levels before had, and `waiting`
 * how many vertices are unreached.  Each of these costs an entry, and looks at all its neighbours,
 * or on average at m / next of them, until one is in the level. */
INLINE int is_bottom_up(ulong edges, ulong next, ulong m, ulong waiting, ulong alpha) {
  const ulong left = m - min(m, edges + next);
  return alpha * next > left && PUSH_COST * next > waiting + min(left, waiting * (m / max(next, 1ul)));
}

/* Returns the number of edges of the vertices in the queues of a level. */
INLINE ulong edges_of_level(const share_of_level_t *level, __global const int *queue, search_t in) {
  ulong edges = 0ul;
#pragma unroll
  for (uint k = 0u; k < MEMBERS; k++)
    for (ulong i = level->segments[k].begin; i < level->segments[k].end; i++) {
      const int v = queue[in.n * k + i];
      edges += (ulong)(in.row_offsets[v + 1] - in.row_offsets[v]);
    }
  return edges;
}

INLINE void read_segments(share_of_level_t *level, __global const ulong *words) {
#pragma unroll
  for (uint k = 0u; k < MEMBERS; k++) {
    level->segments[k].begin = (uint)words[3 * k];
    level->segments[k].end = (uint)words[3 * k + 1];
    level->segments[k].tail = (uint)words[3 * k + 2];
  }
}

INLINE void write_segments(const share_of_level_t *level, __global ulong *words) {
#pragma unroll
  for (uint k = 0u; k < MEMBERS; k++) {
    words[3 * k] = level->segments[k].begin;
    words[3 * k + 1] = level->segments[k].end;
    words[3 * k + 2] = level->segments[k].tail;
  }
}

/* Search until no vertex waits, the budget is used up, a level has more than most_rows vertices, or one with more than
 * least_rows is better expanded bottom-up.  place then has the edges of the level. */
KERNEL search_queue(int n, ulong m, uint max_depth, ulong most_rows, ulong least_rows, ulong alpha, long budget,
                    __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                    __global ulong *restrict place, volatile __global uint *meeting, __global int *queue,
                    volatile __global int *distances, volatile __global int *predecessors) {
  const uint groups = (uint)get_num_groups(0), ticket = fetch_add(meeting + MEET_ARRIVED, 1u);
  const uint launch = ticket / groups, member = ticket % groups;
  const search_t in = {row_offsets, column_indices, distances, predecessors, queue, (ulong)n};
  if (member) {
    follow(member, launch, meeting, in);
    return;
  }
  share_of_level_t level;
  uint depth = (uint)place[PLACE_DEPTH], most = MEMBERS, status = STATUS_OK;
  ulong edges = place[PLACE_EDGES], reached = place[PLACE_REACHED], next = 0ul;
  ulong expanded = place[PLACE_EXPANDED], rows = expanded + place[PLACE_LEFT];
  read_segments(&level, place + PLACE_SEGMENTS);
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
    const ulong before = rows;
    rows = next_level(&level);
    reached += rows;
    // Levels of small worlds grow fast. Others are not worth the time in which their edges are counted.
    if (rows <= most_rows && (rows <= least_rows || 2ul * rows < 3ul * before)) continue;
    next = edges_of_level(&level, queue, in);
    if (rows > most_rows || is_bottom_up(edges, next, m, in.n - reached, alpha)) break;
  }
  place[PLACE_STATUS] = status;
  place[PLACE_DEPTH] = depth;
  place[PLACE_EDGES] = edges;
  place[PLACE_NEXT] = next;
  place[PLACE_EXPANDED] = expanded;
  place[PLACE_LEFT] = rows - expanded;
  place[PLACE_REACHED] = reached;
  write_segments(&level, place + PLACE_SEGMENTS);
  store_relaxed(meeting + MEET_ENDED, launch + 1u);
}

/* Move the `held` vertices to the end of the queue; *tail is its end. */
INLINE void push_held(__global const int *held, uint size, __global int *queue, volatile __global uint *tail) {
  const uint at = fetch_add(tail, size);
  for (uint k = 0u; k < size; k++) queue[at + k] = held[k];
}

/* Any number of work-groups expand a wide level of one queue, whose vertices are at first … end; tail is `end` before.
 * found[group] becomes the edges of the vertices that the group reached.
 * Races: a vertex is reached by one compare-exchange. */
KERNEL expand_queue(uint depth, uint first, uint end, __global const offset_t *restrict row_offsets,
                    __global const int *restrict column_indices, __global int *queue, volatile __global uint *tail,
                    volatile __global int *distances, __global int *restrict predecessors, __global int *restrict held,
                    __global ulong *restrict found) {
  uint n_held = 0u;
  ulong edges = 0ul;
  held += HELD * get_group_id(0);
  for (ulong base = first + (ulong)BLOCK_ROWS * get_group_id(0); base < end; base += (ulong)BLOCK_ROWS * get_num_groups(0))
    for (ulong i = base; i < min((ulong)end, base + BLOCK_ROWS); i++) {
      const int v = queue[i];
      for (offset_t e = row_offsets[v]; e < row_offsets[v + 1]; e++) {
        const int u = column_indices[e];
        if (load_relaxed(distances + u) != UNREACHED) continue;
        if (compare_exchange(distances + u, UNREACHED, (int)depth) != UNREACHED) continue;
        predecessors[u] = v;
        edges += (ulong)(row_offsets[u + 1] - row_offsets[u]);
        held[n_held++] = u;
        if (n_held < HELD) continue;
        push_held(held, n_held, queue, tail);
        n_held = 0u;
      }
    }
  if (n_held) push_held(held, n_held, queue, tail);
  found[get_group_id(0)] = edges;
}
