/* Breadth-first search on CPUs: vertices wait in queues, in the order in which they are reached.
 *
 * It takes over the frontier that stands in the lists of a turn, and stops after a level that found many vertices; it
 * counts their edges, and either other kernels go on from there or it does itself.
 * The group that starts first leads. Of a level that is wide enough it gives a share to each group that has joined, and
 * every member pushes to a queue of its own. It waits for nobody who has not joined, so groups may start in any order,
 * also one after the other. A member may be late because another process has its core; then the leader goes on alone.
 * Races: two members may reach a vertex in the same level. Both write the same distance and a right predecessor, and
 * both push the vertex. A member never pushes one twice, since it sees what it has written.
 */
#include "traversal/levels.h"

#ifndef MEMBERS                  /* the most groups that search together */
#define MEMBERS 2
#endif
/* Words of `place`, where a search that stopped goes on. */
#define PLACE_DEPTH 0            /* of the vertices that it reaches */
#define PLACE_EDGES 1            /* that were looked at */
#define PLACE_NEXT 2             /* edges of the next level */
#define PLACE_EXPANDED 3         /* vertices of the level */
#define PLACE_LEFT 4             /* vertices of the level that wait */
#define PLACE_STATUS 5
#define PLACE_SEGMENTS 6
#define PLACE_WORDS (PLACE_SEGMENTS + 3 * MEMBERS)
/* Words of `meeting`, which outlives launches; two lines apart from each other. */
#define MEET_ARRIVED 0           /* groups, in all launches */
#define MEET_ENDED 32            /* launches whose search is over */
#define MEET_TURN 64             /* the number of the last share that was given out, and how many take part */
#define MEET_SHARE 65
#define MEET_JOINED 96           /* of each member: the launch that it has joined */
#define MEET_DONE 97             /* its last share */
#define MEET_TAIL 98             /* the end of its queue */
#define MEET_EDGES 99            /* that it looked at */
#define MEETING_WORDS (MEET_JOINED + 32 * MEMBERS)
#define MEMBERS_MASK 15u

#define ROWS_AHEAD 24ul          /* whose offsets are fetched; entries half as far */
#ifndef SHARED_ROWS              /* that are worth a meeting */
#define SHARED_ROWS 64ul
#endif
#ifndef MOST_ROWS                /* of a share: rows differ in length, and nobody shall wait for long */
#define MOST_ROWS (4096ul * MEMBERS)
#endif
#ifndef LATE                     /* looks at the word of a member after which the leader goes on alone */
#define LATE (1ul << 15)
#endif
#ifndef PATIENCE                 /* looks after which a wait ends */
#define PATIENCE (1ul << 34)
#endif

/* Part of a level: positions in the row of all its segments, one of which lies in each queue. */
typedef struct {
  uint depth, first, last;       /* depth: of the vertices that are reached */
  struct { uint begin, end, tail; } segments[MEMBERS];  /* tail: the end of the queue */
} share_of_level_t;

/* What all members search, and the queues, which are n apart. */
typedef struct {
  __global const offset_t *row_offsets;
  __global const int *column_indices;
  volatile __global int *distances, *predecessors;
  __global int *queues;
  ulong n;
} search_t;

/* Expand the vertices from … end of one queue and push what they reach to `queue`, whose new end is returned. */
INLINE ulong expand(__global const int *from, __global const int *end, uint depth, search_t in, __global int *queue,
                    ulong tail, ulong *edges) {
  for (; from < end; from++) {
    __global const int *last = (from >= queue && from < queue + tail ? queue + tail : end) - 1;
    FETCH_AHEAD(in.row_offsets + from[min(ROWS_AHEAD, (ulong)(last - from))]);
    FETCH_AHEAD(in.column_indices + in.row_offsets[from[min(ROWS_AHEAD / 2ul, (ulong)(last - from))]]);
    const int v = *from;
    const offset_t begin = in.row_offsets[v], stop = in.row_offsets[v + 1];
    for (offset_t e = begin; e < stop; e++) {
      const int u = in.column_indices[e];
      if (load_relaxed(in.distances + u) >= 0) continue;
      store_relaxed(in.distances + u, (int)depth);
      store_relaxed(in.predecessors + u, v);
      queue[tail++] = u;
    }
    *edges += (ulong)(stop - begin);
  }
  return tail;
}

/* Expand what one of the members has of a share, and return how many edges that were. tail: the end of its queue. */
INLINE ulong expand_share(const share_of_level_t *share, uint member, uint members, search_t in, uint *tail) {
  const ulong size = share->last - share->first;
  const ulong first = share->first + size * member / members, end = share->first + size * (member + 1u) / members;
  ulong before = 0ul, edges = 0ul, pushed = *tail;
#pragma unroll
  for (uint k = 0u; k < MEMBERS; k++) {
    __global const int *segment = in.queues + in.n * k + share->segments[k].begin;
    const ulong length = share->segments[k].end - share->segments[k].begin;
    const ulong from = max(first, before), to = min(end, before + length);
    if (from < to)
      pushed = expand(segment + (from - before), segment + (to - before), share->depth, in, in.queues + in.n * member,
                      pushed, &edges);
    before += length;
  }
  *tail = (uint)pushed;
  return edges;
}

/* A member does its part of each share until the search of this launch is over. */
INLINE void follow(uint member, uint launch, volatile __global uint *meeting, search_t in) {
  volatile __global uint *given = meeting + MEET_SHARE, *own = meeting + 32u * member;
  share_of_level_t share;
  uint seen = load_relaxed(own + MEET_DONE);  /* of launches before: it has done all that were given to it */
  store_relaxed(own + MEET_JOINED, launch + 1u);
  for (ulong spin = 0ul; spin < PATIENCE; spin++) {
    const uint turn = load_relaxed(meeting + MEET_TURN);
    if (turn == seen && load_relaxed(meeting + MEET_ENDED) != launch) return;
    if (turn == seen) continue;
    seen = turn;
    spin = 0ul;
    if (member >= (turn & MEMBERS_MASK)) continue;
    fence_device();
    share.depth = load_relaxed(given);
    share.first = load_relaxed(given + 1);
    share.last = load_relaxed(given + 2);
    uint tail = load_relaxed(given + 3u * member + 5u);
#pragma unroll
    for (uint k = 0u; k < MEMBERS; k++) {
      share.segments[k].begin = load_relaxed(given + 3 * k + 3);
      share.segments[k].end = load_relaxed(given + 3 * k + 4);
    }
    const ulong edges = expand_share(&share, member, turn & MEMBERS_MASK, in, &tail);
    store_relaxed(own + MEET_TAIL, tail);
    store_relaxed(own + MEET_EDGES, (uint)min(edges, 0xfffffffful));
    fence_device();
    store_relaxed(own + MEET_DONE, turn);
  }
}

/* Expand a share together with the members that have joined, and return how many edges that were. At most `most` take
 * part; that becomes 1, and the others leave, when one was late. */
INLINE ulong lead(share_of_level_t *share, uint *most, uint launch, volatile __global uint *meeting, search_t in,
                  __global ulong *place) {
  uint members = 1u;
  if (share->last - share->first >= SHARED_ROWS)
    while (members < *most && load_relaxed(meeting + MEET_JOINED + 32u * members) == launch + 1u) members++;
  if (members == 1u) return expand_share(share, 0u, 1u, in, &share->segments[0].tail);
  volatile __global uint *given = meeting + MEET_SHARE;
  const uint turn = ((load_relaxed(meeting + MEET_TURN) | MEMBERS_MASK) + 1u) | members;
  store_relaxed(given, share->depth);
  store_relaxed(given + 1, share->first);
  store_relaxed(given + 2, share->last);
#pragma unroll
  for (uint k = 0u; k < MEMBERS; k++) {
    store_relaxed(given + 3 * k + 3, share->segments[k].begin);
    store_relaxed(given + 3 * k + 4, share->segments[k].end);
    store_relaxed(given + 3 * k + 5, share->segments[k].tail);
  }
  fence_device();
  store_relaxed(meeting + MEET_TURN, turn);
  ulong edges = expand_share(share, 0u, members, in, &share->segments[0].tail);
#pragma unroll
  for (uint k = 1u; k < MEMBERS; k++) {
    if (k >= members) break;
    volatile __global uint *word = meeting + 32u * k;
    ulong spin = 0ul;
    while (load_relaxed(word + MEET_DONE) != turn && spin < PATIENCE) spin++;
    if (spin >= PATIENCE) place[PLACE_STATUS] = STATUS_TIMEOUT;
    if (spin >= LATE) *most = 1u;
    fence_device();
    share->segments[k].tail = load_relaxed(word + MEET_TAIL);
    edges += load_relaxed(word + MEET_EDGES);
  }
  if (*most == 1u) store_relaxed(meeting + MEET_ENDED, launch + 1u);
  return edges;
}

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
  place[PLACE_STATUS] = STATUS_OK;
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
      const ulong looked_at = lead(&level, &most, launch, meeting, in, place);
      edges += looked_at;
      budget -= (long)(looked_at + level.last - level.first);
      if (place[PLACE_STATUS] != STATUS_OK) budget = 0;
    }
    if (expanded < rows) break;
    depth++;
    expanded = rows = 0ul;
#pragma unroll
    for (uint k = 0u; k < MEMBERS; k++) {
      level.segments[k].begin = level.segments[k].end;
      level.segments[k].end = level.segments[k].tail;
      rows += level.segments[k].end - level.segments[k].begin;
    }
    if (rows <= most_rows) continue;
#pragma unroll
    for (uint k = 0u; k < MEMBERS; k++)
      for (ulong i = level.segments[k].begin; i < level.segments[k].end; i++) {
        const int v = queue[in.n * k + i];
        next += (ulong)(row_offsets[v + 1] - row_offsets[v]);
      }
    break;
  }
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
