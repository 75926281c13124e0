/* A few work-groups, one per core, search wide levels of a breadth-first search together. Each has a queue of its own.
 *
 * The group that starts first leads. It divides a level that is wide enough into shares. Each group that has joined
 * expands a part of every share and pushes the vertices that it reaches to its own queue. The leader never waits for a
 * group that has not joined, so groups may start in any order, even one after the other. A member may be late because
 * another process has its core; the leader then goes on alone.
 * Races: two members may reach a vertex in the same level. Both write the same distance and a right predecessor, and
 * both push the vertex. A member never pushes a vertex twice, since it sees its own writes.
 */
#ifndef CLGRAPH_BFS_MEETING_H
#define CLGRAPH_BFS_MEETING_H
#include "traversal/levels.h"

#ifndef MEMBERS                  /* greatest number of groups that search together */
#define MEMBERS 2
#endif
#ifndef UNCHECKED                /* 1: columns may be out of range; a share may hold vertices that are only checked */
#define UNCHECKED 0
#endif
/* Words of `meeting`, which outlives launches. Its groups of words are 128 bytes, or two cache lines, apart. */
#define MEET_ARRIVED 0           /* number of groups that have arrived, in all launches */
#define MEET_ENDED 32            /* number of launches that have ended their search */
#define MEET_TURN 64             /* the number of the last share, and how many members take part */
#define MEET_SHARE 65
#define MEET_JOINED 96           /* the launch that each member has joined */
#define MEET_DONE 97             /* the last share that it has done */
#define MEET_TAIL 98             /* the end of its queue */
#define MEET_EDGES 99            /* edges that it read in that share */
#define MEETING_WORDS (MEET_JOINED + 32 * MEMBERS)
#define MEMBERS_MASK 15u

#define ROWS_AHEAD 24ul          /* rows whose offsets are prefetched; their entries are prefetched half as far ahead */
#ifndef SHARED_ROWS              /* the leader expands smaller shares alone */
#define SHARED_ROWS 64ul
#endif
#ifndef MOST_ROWS                /* rows of a share. Few, because rows differ in length and the leader waits for all. */
#define MOST_ROWS (4096ul * MEMBERS)
#endif
#ifndef LATE                     /* after this many reads of a member's word, the leader goes on alone */
#ifdef DEV_SPIN_PAUSE            /* a read takes longer with a pause */
#define LATE (1ul << 13)
#else
#define LATE (1ul << 15)
#endif
#endif
#ifndef PATIENCE                 /* reads after which a member's wait ends. One core may search long before a wide level. */
#define PATIENCE (1ul << 33)
#endif

/* Part of a level. Positions count through all segments of the level; each queue has one segment. */
typedef struct {
  uint depth, first, last;       /* depth: the distance of the vertices that are reached */
  struct { uint begin, end, tail; } segments[MEMBERS];  /* tail: the end of the queue */
} share_of_level_t;

/* The input and output of the search, and the queues, which are n entries apart. */
typedef struct {
  __global const offset_t *row_offsets;
  __global const int *column_indices;
  volatile __global int *distances, *predecessors;
  __global int *queues;
  ulong n;
#if UNCHECKED
  volatile __global uint *wrong;  /* becomes 1 if offsets decrease or a column is not a vertex */
  uint max_depth;
#endif
} search_t;

#if UNCHECKED
#define SHARE_OF_OFFSETS 0u      /* depths of shares of all vertices instead of a level */
#define SHARE_OF_UNREACHED (~0u)

/* Initialize vertices first … end as unreached, and check that their offsets do not decrease. */
INLINE void begin_with(ulong first, ulong end, search_t in) {
  __global int *distances = (__global int *)in.distances, *predecessors = (__global int *)in.predecessors;
  uint falls = 0u;
  for (ulong v = first; v < end; v++) falls |= in.row_offsets[v + 1] < in.row_offsets[v];
  for (ulong v = first; v < end; v++) distances[v] = -1;
  for (ulong v = first; v < end; v++) predecessors[v] = NO_PREDECESSOR;
  if (falls) store_relaxed(in.wrong, 1u);
}

/* Check the entries of those vertices among first … end that the search did not expand. */
INLINE void check_unreached(ulong first, ulong end, search_t in) {
  __global const int *distances = (__global const int *)in.distances;
  uint largest = 0u;
  for (ulong v = first; v < end; v++)
    if ((uint)distances[v] >= in.max_depth)
      for (offset_t e = in.row_offsets[v]; e < in.row_offsets[v + 1]; e++)
        largest = max(largest, (uint)in.column_indices[e]);
  if (largest >= in.n) store_relaxed(in.wrong, 1u);
}
#endif

/* Expand the vertices from … end of one queue, and push the vertices that they reach to `queue`. Returns its new
 * end. */
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
#if UNCHECKED
      if ((uint)u >= in.n) {
        store_relaxed(in.wrong, 1u);
        continue;
      }
#endif
      if (load_relaxed(in.distances + u) >= 0) continue;
      store_relaxed(in.distances + u, (int)depth);
      store_relaxed(in.predecessors + u, v);
      queue[tail++] = u;
    }
    *edges += (ulong)(stop - begin);
  }
  return tail;
}

/* Expand a member's part of a share, and return the number of edges. tail: the end of its queue. */
INLINE ulong expand_share(const share_of_level_t *share, uint member, uint members, search_t in, uint *tail) {
  const ulong size = share->last - share->first;
  const ulong first = share->first + size * member / members, end = share->first + size * (member + 1u) / members;
#if UNCHECKED
  if (share->depth == SHARE_OF_OFFSETS) begin_with(first, end, in);
  if (share->depth == SHARE_OF_UNREACHED) check_unreached(first, end, in);
  if (share->depth == SHARE_OF_OFFSETS || share->depth == SHARE_OF_UNREACHED) return 0ul;
#endif
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
  uint seen = load_relaxed(own + MEET_DONE);  /* the last share of earlier launches, which are all done */
  store_relaxed(own + MEET_JOINED, launch + 1u);
  for (ulong spin = 0ul; spin < PATIENCE; spin++) {
    const uint turn = load_relaxed(meeting + MEET_TURN);
    if (turn == seen && load_relaxed(meeting + MEET_ENDED) != launch) return;
    if (turn == seen) {
      spin_pause();
      continue;
    }
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

/* Expand a share together with the members that have joined, and return the number of edges. At most `most` members
 * take part. If a member was late, `most` becomes 1 and the others leave. */
INLINE ulong lead(share_of_level_t *share, uint *most, uint launch, volatile __global uint *meeting, search_t in,
                  uint *status) {
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
    for (; load_relaxed(word + MEET_DONE) != turn && spin < PATIENCE; spin++) spin_pause();
    if (spin >= PATIENCE) *status = STATUS_TIMEOUT;
    if (spin >= LATE) *most = 1u;
    fence_device();
    share->segments[k].tail = load_relaxed(word + MEET_TAIL);
    edges += load_relaxed(word + MEET_EDGES);
  }
  if (*most == 1u) store_relaxed(meeting + MEET_ENDED, launch + 1u);
  return edges;
}

/* Go on to the vertices that this level pushed to the queues, and return their number. */
INLINE ulong next_level(share_of_level_t *share) {
  ulong rows = 0ul;
#pragma unroll
  for (uint k = 0u; k < MEMBERS; k++) {
    share->segments[k].begin = share->segments[k].end;
    share->segments[k].end = share->segments[k].tail;
    rows += share->segments[k].end - share->segments[k].begin;
  }
  return rows;
}

#if UNCHECKED
/* Lead the group through all *rows* of a level, or through all vertices, one share after the other. */
INLINE void lead_all(share_of_level_t *share, uint depth, ulong rows, uint *most, uint launch,
                     volatile __global uint *meeting, search_t in, uint *status) {
  share->depth = depth;
  for (ulong first = 0ul; first < rows && *status == STATUS_OK; first = share->last) {
    share->first = (uint)first;
    share->last = (uint)min(rows, first + MOST_ROWS);
    lead(share, most, launch, meeting, in, status);
  }
}
#endif
#endif
