/* Frontiers of breadth-first searches and of shortest paths, and how their edges are spread over lanes.
 *
 * A frontier is stored in three places.  `own`: a queue of each work-group in local memory, so that a small frontier
 * takes only a device-wide barrier and three dependent accesses a level: the neighbour, its distance, its row.
 * `light`: a list of vertices in global memory, which takes the overflow and is dealt out evenly.  `heavy`: a list of
 * pieces of long rows.
 * The lanes of a sub-group take the edges of up to SUB_GROUP_SIZE rows together; each finds its row by binary search
 * in their prefix sums.
 */
#ifndef CLGRAPH_TRAVERSAL_QUEUES_H
#define CLGRAPH_TRAVERSAL_QUEUES_H
#include "traversal/levels.h"
#include "common/subgroup.h"

#ifndef STEPS                    /* edges a lane has in flight */
#define STEPS 4
#endif
#ifndef QUEUE_ROWS               /* rows that fit in a work-group's own queue */
#define QUEUE_ROWS (2 * WG_SIZE)
#endif
#ifndef KEPT_ROWS                /* a group with more rows keeps KEPT_ROWS / 2 and lists the others */
#define KEPT_ROWS (QUEUE_ROWS / 16)
#endif
#ifndef OWN_LENGTH               /* longer rows go to the lists */
#define OWN_LENGTH 64
#endif
#ifndef PIECE                    /* longer rows are split into pieces of this many edges */
#define PIECE 128
#endif
#ifndef ONLY_SHORT_ROWS          /* 1: no row is longer than PIECE */
#define ONLY_SHORT_ROWS 0
#endif
#ifndef SKIP_LEAVES              /* 1: the only edge of a vertex of degree 1 leads back (undirected) */
#define SKIP_LEAVES 0
#endif
#ifndef HELD                     /* items that a sub-group buffers before it appends them to a list by one atomic */
#define HELD 0
#endif
#ifndef COUNT_EDGES              /* 1: count the edges of listed rows in sizes[2] */
#define COUNT_EDGES 0
#endif
#ifndef WITH_DISTANCES           /* 1: queues hold the distance at which a vertex was found; needs a type dist_t */
#define WITH_DISTANCES 0
#endif

typedef struct { int vertex; offset_t begin; uint length; } row_t;

/* A found vertex. */
typedef struct {
  int vertex;
#if WITH_DISTANCES
  dist_t d;
#endif
} entry_t;

/* The edges that a lane looks at next: entry e, from vertex v of the lane `slot` to u.  u is -1 if there is none. */
typedef struct { int v[STEPS], u[STEPS]; uint slot[STEPS]; offset_t e[STEPS]; } edges_t;

/* A list in global memory, and the items that a sub-group has buffered for it: held[0] counts them.  held is 0 without
 * a buffer. */
typedef struct { __global int *items; volatile __global uint *size; __local int *held; } list_t;
#define HELD_WORDS (HELD + 1)

/* Every lane calls: write the buffered items to the list, and return the first of `more` slots behind them. */
INLINE uint release(list_t to, uint more) {
  uint count = 0u, base = 0u;
  if (to.held) {
    sg_sync();
    count = (uint)to.held[0];
  }
  if (!(count + more)) return 0u;
  if (sg_lane() == 0) base = fetch_add(to.size, count + more);
  base = sg_broadcast(base, 0u);
  for (uint i = sg_lane(); i < count; i += SUB_GROUP_SIZE) to.items[base + i] = to.held[1u + i];
  if (count) {
    sg_sync();
    if (sg_lane() == 0) to.held[0] = 0;
  }
  return base + count;
}

/* Every lane calls: append those items k for which bit k of wanted is set. */
INLINE void append(const int *item, uint wanted, list_t to) {
  const uint count = popcount(wanted), before = sg_exclusive_sum(count);
  const uint all = sg_broadcast(before + count, SUB_GROUP_SIZE - 1);
  if (!all) return;
  uint slot;
  if (to.held) {
    sg_sync();
    const uint held = (uint)to.held[0];
    if (held + all <= HELD) {
      sg_sync();
      if (sg_lane() == 0) to.held[0] = (int)(held + all);
      slot = 1u + held + before;
#pragma unroll
      for (uint k = 0u; k < STEPS; k++)
        if (wanted >> k & 1u) to.held[slot++] = item[k];
      return;
    }
  }
  slot = release(to, all) + before;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    if (wanted >> k & 1u) to.items[slot++] = item[k];
}

/* The next frontier.  rows and size are the work-group's own queue, of which `room` may be used.  sizes[0] counts the
 * vertices in light, sizes[1] the pieces in heavy, sizes[2] the edges of both.
 * With distances a vertex may stand in queues several times, each time with a lesser one, but only once in the lists:
 * listed_in[v] is the stamp with which it was listed.  listed_in is 0 if no vertex is found twice. */
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

/* The storage of all turns' frontiers: two lists of each kind, and two queues of the work-group. */
typedef struct {
  __local entry_t *queues;
  volatile __local uint *queue_sizes, *flags;
  __global int *light;
  __global int2 *heavy;
  uint light_capacity, heavy_capacity;
  volatile __global uint *state;
} frontiers_t;

/* The frontier of a turn; it is written in the turn before. */
INLINE frontier_t frontier_of(uint turn, uint room, const frontiers_t *all) {
  frontier_t frontier = {all->queues + QUEUE_ROWS * (turn & 1u), all->queue_sizes + (turn & 1u), all->flags, room,
                         all->light + all->light_capacity * (turn & 1u), all->heavy + all->heavy_capacity * (turn & 1u),
                         all->state + STATE_SIZES + SIZES * (turn & 3u)};
  return frontier;
}

INLINE row_t row_of_vertex(int v, __global const offset_t *restrict row_offsets) {
  row_t row;
  row.vertex = v;
  row.begin = row_offsets[v];
  row.length = (uint)min(row_offsets[v + 1] - row.begin, (offset_t)0x7fffffff);
  return row;
}

/* Leaves (SKIP_LEAVES) and isolated vertices have no further vertex to reach. */
INLINE int has_more(row_t row) { return row.length > (uint)SKIP_LEAVES; }

INLINE row_t piece_of_row(int2 piece, __global const offset_t *restrict row_offsets) {
  row_t row = row_of_vertex(piece.x, row_offsets);
  uint skipped = (uint)piece.y * PIECE;
  row.begin += skipped;
  row.length = min(row.length - skipped, (uint)PIECE);
  return row;
}

/* The rows of a sub-group's lanes: each lane has its own row, the sum of the lengths before it, and the sum of all; and
 * the edges that it looks at next. */
typedef struct { row_t row; uint before, total; edges_t edges; } lanes_t;

/* Every lane calls, once it has its row. */
INLINE void sum_lengths(lanes_t *at) {
  at->before = sg_exclusive_sum(at->row.length);
  at->total = sg_broadcast(at->before + at->row.length, SUB_GROUP_SIZE - 1);
}

/* Every lane calls: the lanes get the edges from number `first` on. */
INLINE void look_up(lanes_t *at, uint first, __global const int *restrict column_indices) {
  edges_t *edges = &at->edges;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    uint number = first + k * SUB_GROUP_SIZE + sg_lane(), slot = 0u;
    for (uint step = SUB_GROUP_SIZE / 2; step; step >>= 1)
      if (sg_broadcast(at->before, slot + step) <= number) slot += step;
    edges->slot[k] = slot;
    edges->e[k] = sg_broadcast(at->row.begin, slot) + (offset_t)(number - sg_broadcast(at->before, slot));
    edges->v[k] = sg_broadcast(at->row.vertex, slot);
    edges->u[k] = number < at->total ? load_once(column_indices + edges->e[k]) : -1;
  }
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
 * queue.  Returns 0 after the last batch. */
INLINE int next_batch(batch_t *at, row_t *row, entry_t *own, frontier_t now, share_t of,
                      __global const offset_t *restrict row_offsets) {
  const uint lane = sg_lane();
  row->length = 0u;
  own->vertex = -1;
  if (at->own < of.own) {        /* the sub-groups take turns at the rows */
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

/* Every lane calls: put those vertices k into the lists for which bit k of wanted is set. */
INLINE void list_rows(const entry_t *found, const uint *length, uint wanted, frontier_t next) {
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
    if (heavy >> k & 1u) pieces += (length[k] + PIECE - 1u) / PIECE;
#if COUNT_EDGES
  uint edges = 0u;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    if (wanted >> k & 1u) edges += length[k];
  edges = sg_sum(edges);
  if (sg_lane() == 0 && edges) fetch_add(next.sizes + 2, edges);
#endif
  if (!sg_any(pieces)) return;
  const uint pieces_before = sg_exclusive_sum(pieces), all_pieces = sg_broadcast(pieces_before + pieces, SUB_GROUP_SIZE - 1);
  uint slot = 0u;
  if (sg_lane() == 0) slot = fetch_add(next.sizes + 1, all_pieces);
  slot = sg_broadcast(slot, 0u) + pieces_before;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    const uint n_pieces = heavy >> k & 1u ? (length[k] + PIECE - 1u) / PIECE : 0u;
    for (uint piece = 0u; n_pieces <= SUB_GROUP_SIZE && piece < n_pieces; piece++)
      next.heavy[slot + piece] = (int2)(found[k].vertex, (int)piece);
    for (lane_mask_t hubs = sg_ballot(n_pieces > SUB_GROUP_SIZE); hubs; hubs &= hubs - 1) {
      const uint owner = lowest_lane(hubs), all_of_it = sg_broadcast(n_pieces, owner), from = sg_broadcast(slot, owner);
      const int vertex = sg_broadcast(found[k].vertex, owner);
      for (uint piece = sg_lane(); piece < all_of_it; piece += SUB_GROUP_SIZE)
        next.heavy[from + piece] = (int2)(vertex, (int)piece);
    }
    slot += n_pieces;
  }
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

/* Every lane calls: put those vertices k, with rows of this length, into the next frontier for which bit k of wanted is
 * set.  Vertices with short rows go to the own queue while it has room.  With ONLY_SHORT_ROWS no length is read. */
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

/* Every work-item calls, once its group has no more to push in this turn.  Returns how many rows the group keeps.  A
 * group with more than `most` rows keeps most / 2 and lists the others, so that its queue has room for many turns:
 * turns without lists are cheap.  With 0 it lists all. */
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
