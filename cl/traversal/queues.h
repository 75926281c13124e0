/* Frontiers of breadth-first searches and of shortest paths.  docs/protocols/bfs_queues.md draws them.
 *
 * A frontier is stored in three places:
 *   own    a queue in local memory for each work-group.  With it, a level of a small frontier takes only a grid barrier
 *          and three dependent accesses: the neighbour, its distance, its row.
 *   light  a list of vertices in global memory.  It takes the queues' overflow, and is divided evenly among sub-groups.
 *   heavy  a list of pieces of long rows.
 * A turn reads one frontier and writes the next one.  Races are only between writers, which take slots by atomic
 * additions.  The barrier of the turn separates writing from reading.
 */
#ifndef CLGRAPH_TRAVERSAL_QUEUES_H
#define CLGRAPH_TRAVERSAL_QUEUES_H
#include "traversal/levels.h"
#include "traversal/lists.h"

#ifndef QUEUE_ROWS               /* rows that fit in a work-group's own queue */
#define QUEUE_ROWS (2 * WG_SIZE)
#endif
#ifndef KEPT_ROWS                /* a group with more rows keeps KEPT_ROWS / 2 and lists the others */
#define KEPT_ROWS (QUEUE_ROWS / 16)
#endif
#ifndef OWN_LENGTH               /* longer rows go to the lists */
#define OWN_LENGTH 64
#endif
#ifndef COUNT_EDGES              /* 1: count the edges of listed rows in sizes[2] */
#define COUNT_EDGES 0
#endif
#ifndef WITH_DISTANCES           /* 1: queues hold the distance at which a vertex was found; needs a type dist_t */
#define WITH_DISTANCES 0
#endif

/* A found vertex. */
typedef struct {
  int vertex;
#if WITH_DISTANCES
  dist_t d;
#endif
} entry_t;

/* The next frontier.  rows and size are the work-group's own queue, of which `room` may be used.  sizes[0] counts the
 * vertices in light, sizes[1] the pieces in heavy, sizes[2] the edges of both.
 * With distances, a vertex may be in queues several times, each time with a smaller distance, but only once in the
 * lists: listed_in[v] is the stamp of the turn in which it was listed.  listed_in is 0 if no vertex is found twice. */
typedef struct {
  __local entry_t *rows;
  volatile __local uint *size, *flags;
  uint room;
  __global int *light;
  __global int2 *heavy;          /* vertex, number of the piece */
  volatile __global uint *sizes;
  __local int *held;             /* buffer of the sub-group for light */
#if WITH_DISTANCES
  volatile __global uint *listed_in;
  uint stamp;
#endif
} frontier_t;

/* The storage of all frontiers: two lists of each kind and two queues of the work-group, used alternately. */
typedef struct {
  __local entry_t *queues;
  volatile __local uint *queue_sizes, *flags;
  __global int *light;
  __global int2 *heavy;
  uint light_capacity, heavy_capacity;
  volatile __global uint *state;
} frontiers_t;

/* Returns the frontier that this turn reads and the turn before writes. */
INLINE frontier_t frontier_of(uint turn, uint room, const frontiers_t *all) {
  frontier_t frontier = {all->queues + QUEUE_ROWS * (turn & 1u), all->queue_sizes + (turn & 1u), all->flags, room,
                         all->light + all->light_capacity * (turn & 1u), all->heavy + all->heavy_capacity * (turn & 1u),
                         all->state + STATE_SIZES + SIZES * (turn & 3u)};
  return frontier;
}

/* The frontier's size: rows of the group's own queue and entries of the lists; and the number of this sub-group among
 * all sub-groups that share the lists. */
typedef struct { uint own, light, heavy, sub_group, n_sub_groups; } share_t;

/* The progress of a sub-group in its share: it takes SUB_GROUP_SIZE rows at a time, first from the own queue, then from
 * the lists. */
typedef struct { uint own, light, heavy; } batch_t;

/* Rows of `light` that a sub-group takes at a time.  A short list is taken in small batches, so that all sub-groups get
 * some. */
INLINE uint rows_at_once(share_t of) { return min((of.light + of.n_sub_groups - 1u) / of.n_sub_groups, (uint)SUB_GROUP_SIZE); }

/* Every lane of the sub-group calls, and gets a row, or a row of length 0.  *own is its entry if the row comes from the
 * queue.  Returns 0 after the last batch.
 * No race: the entries were written in the turn before, and the barrier of the turn stands between. */
INLINE int next_batch(batch_t *at, row_t *row, entry_t *own, frontier_t now, share_t of,
                      __global const offset_t *restrict row_offsets) {
  const uint lane = sg_lane();
  row->length = 0u;
  own->vertex = -1;
  if (at->own < of.own) {        /* the sub-groups alternate in batches of rows */
    uint i = at->own + lane * SUB_GROUPS_PER_GROUP + sg_in_group();
    if (i < of.own) {
      *own = now.rows[i];
      *row = row_of_vertex(own->vertex, row_offsets);
    }
    at->own += WG_SIZE;
  } else if (at->light < of.light) {
    uint n_rows = rows_at_once(of);
    if (lane < n_rows && at->light + lane < of.light)
      *row = row_of_vertex(load_relaxed(now.light + at->light + lane), row_offsets);
    at->light += min(of.n_sub_groups * n_rows, of.light);
  } else if (at->heavy < of.heavy) {
    if (lane == 0) *row = piece_of_row(now.heavy[at->heavy], row_offsets);
    at->heavy += min(of.n_sub_groups, of.heavy);
  } else {
    return 0;
  }
  return 1;
}

INLINE batch_t first_batch(share_t of) {
  batch_t at = {0u, of.sub_group * rows_at_once(of), of.sub_group};
  return at;
}

INLINE list_t light_of(frontier_t next) {
  list_t light = {next.light, next.sizes, next.held};
  return light;
}

/* Every lane calls: return the wanted vertices that no work-item has listed in this turn.
 * Race: several work-items may find a vertex in one turn, each with another distance.  The first exchange returns an
 * older stamp, and all others this turn's, so one work-item lists the vertex. */
INLINE uint not_yet_listed(const entry_t *found, uint wanted, frontier_t next) {
#if WITH_DISTANCES
  if (next.listed_in) {
    uint was[STEPS];             /* all exchanges are issued before one is waited for */
#pragma unroll
    for (uint k = 0u; k < STEPS; k++)
      was[k] = exchange_if(wanted >> k & 1u, next.listed_in + found[k].vertex, next.stamp);
#pragma unroll
    for (uint k = 0u; k < STEPS; k++)
      if (was[k] == next.stamp) wanted &= ~(1u << k);
  }
#endif
  return wanted;
}

#if !ONLY_SHORT_ROWS
INLINE uint pieces_of(uint length) { return (length + PIECE - 1u) / PIECE; }

/* Every lane calls: add the lengths of the wanted rows to sizes[2].  All groups add, and read the sum a turn later. */
INLINE void count_listed_edges(const uint *length, uint wanted, frontier_t next) {
  uint edges = 0u;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    if (wanted >> k & 1u) edges += length[k];
  edges = sg_sum(edges);
  if (sg_lane() == 0 && edges) fetch_add(next.sizes + 2, edges);
}

/* Every lane calls: write the pieces of one row from `slot` on.  A row of more than SUB_GROUP_SIZE pieces is written by
 * all lanes together. */
INLINE void write_pieces(int vertex, uint n_pieces, uint slot, frontier_t next) {
  for (uint piece = 0u; n_pieces <= SUB_GROUP_SIZE && piece < n_pieces; piece++)
    next.heavy[slot + piece] = (int2)(vertex, (int)piece);
  for (lane_mask_t hubs = sg_ballot(n_pieces > SUB_GROUP_SIZE); hubs; hubs &= hubs - 1) {
    const uint owner = lowest_lane(hubs), all_of_it = sg_broadcast(n_pieces, owner), from = sg_broadcast(slot, owner);
    const int hub = sg_broadcast(vertex, owner);
    for (uint piece = sg_lane(); piece < all_of_it; piece += SUB_GROUP_SIZE)
      next.heavy[from + piece] = (int2)(hub, (int)piece);
  }
}

/* Every lane calls: put the rows of each vertex k for which bit k of heavy is set into `heavy`, `pieces` pieces in all
 * for this lane.
 * Race: as in release, one addition gives the sub-group slots of its own. */
INLINE void list_pieces(const entry_t *found, const uint *length, uint heavy, uint pieces, frontier_t next) {
  const uint pieces_before = sg_exclusive_sum(pieces), all_pieces = sg_broadcast(pieces_before + pieces, SUB_GROUP_SIZE - 1);
  uint slot = 0u;
  if (sg_lane() == 0) slot = fetch_add(next.sizes + 1, all_pieces);
  slot = sg_broadcast(slot, 0u) + pieces_before;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    const uint n_pieces = heavy >> k & 1u ? pieces_of(length[k]) : 0u;
    write_pieces(found[k].vertex, n_pieces, slot, next);
    slot += n_pieces;
  }
}
#endif

/* Every lane calls: put each vertex k for which bit k of wanted is set into a list: vertices with long rows into `heavy`,
 * the others into `light`.  The flag LISTED makes the work-item that arrives for the group fence first; it is in local
 * memory, where several sub-groups may set it. */
INLINE void list_rows(const entry_t *found, const uint *length, uint wanted, frontier_t next) {
  wanted = not_yet_listed(found, wanted, next);
  uint light = wanted;
  int vertex[STEPS];
#if !ONLY_SHORT_ROWS
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) light &= ~((uint)(length[k] > PIECE) << k);
#endif
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) vertex[k] = found[k].vertex;
  if (sg_lane() == 0) fetch_or(next.flags, LISTED);
  append(vertex, light, light_of(next));
#if !ONLY_SHORT_ROWS
  uint heavy = wanted & ~light, pieces = 0u;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    if (heavy >> k & 1u) pieces += pieces_of(length[k]);
#if COUNT_EDGES
  count_listed_edges(length, wanted, next);
#endif
  if (sg_any(pieces)) list_pieces(found, length, heavy, pieces, next);
#endif
}

/* Every lane calls; lanes with *wanted* list their row. */
INLINE void list_row(row_t row, int wanted, frontier_t lists) {
  entry_t found[STEPS];
  uint length[STEPS];
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    found[k].vertex = row.vertex;
    length[k] = row.length;
  }
  list_rows(found, length, wanted ? 1u : 0u, lists);
}

/* Every lane calls: put each vertex k for which bit k of wanted is set into the next frontier; length[k] is its degree.
 * Vertices with short rows go to the own queue while it has room, and to the lists once it is full.  With
 * ONLY_SHORT_ROWS no length is read.
 * Race: the sub-groups of the group add to the queue's size at the same time.  The addition gives each slots of its own.
 * The size may come to exceed `room`; close_queue cuts it. */
INLINE void push(const entry_t *found, const uint *length, uint wanted, frontier_t next) {
  uint is_short = wanted, slot;
#if !ONLY_SHORT_ROWS
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) is_short &= ~((uint)(length[k] > OWN_LENGTH) << k);
#endif
  const uint count = popcount(is_short), before = sg_exclusive_sum(count);
  const uint all = sg_broadcast(before + count, SUB_GROUP_SIZE - 1);
  uint base = 0u;
  if (all && sg_lane() == 0) base = fetch_add(next.size, all);
  slot = sg_broadcast(base, 0u) + before;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    if (!(is_short >> k & 1u)) continue;
    if (slot < next.room) {
      next.rows[slot] = found[k];
      wanted &= ~(1u << k);
    }
    slot++;
  }
  if (sg_any(wanted)) list_rows(found, length, wanted, next);
}

/* Every work-item calls, once its group has no more to push in this turn.  Returns the number of rows that the group
 * keeps.  A group with more than `most` rows keeps most / 2 and lists the others.  Then its queue has room for many
 * turns, and turns without lists are cheap.  With most = 0 it lists all.
 * The first barrier lets the group see all rows and the size; the second completes the flags and lists of the group before
 * one work-item arrives for it. */
INLINE uint close_queue(frontier_t next, uint most, __global const offset_t *restrict row_offsets) {
  release(light_of(next), 0u);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  const uint size = min(*next.size, next.room), kept = most / 2u;
  if (size <= most) return size;
  for (uint first = kept + STEPS * SUB_GROUP_SIZE * sg_in_group(); first < size; first += STEPS * WG_SIZE) {
    entry_t given[STEPS];
    uint length[STEPS], wanted = 0u;
#pragma unroll
    for (uint k = 0u; k < STEPS; k++) {
      uint i = first + k * SUB_GROUP_SIZE + sg_lane();
      given[k] = next.rows[min(i, size - 1u)];
      length[k] = COUNT_EDGES && i < size ? row_of_vertex(given[k].vertex, row_offsets).length : 0u;
      wanted |= (uint)(i < size) << k;
    }
    list_rows(given, length, wanted, next);
  }
  release(light_of(next), 0u);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  return kept;
}
#endif
