/* Shortest paths by near and far vertices.  Vertices whose distance dropped below a threshold are near and are expanded
 * turn by turn; the others wait in a pile.  When none is near, the threshold rises by delta.  A vertex leaves the pile
 * once, so it needs no stamp when it does.
 *
 * A work-item takes edges of its sub-group's rows, or vertices of the pile.
 * distances[v] only falls.  A work-item that lowers it below the threshold puts v into the next frontier.  One that
 * lowers it for the first time, but not as far, puts v into the pile, where it stays until the threshold has passed it.
 * LIGHT_FIRST 1: delta-stepping.  Edges that weigh less than delta are relaxed at once.  The others are relaxed when
 * the bucket is empty, once for each vertex that left it (`settled`).
 * Races: a queued vertex is expanded with the distance that it was queued with.  If it has a lesser one by now, it was
 * queued again with that, and this entry is skipped.  A listed vertex is expanded with its distance after the barrier.
 *
 * After A. Davidson, S. Baxter, M. Garland, J. Owens, "Work-efficient parallel GPU methods for single-source
 * shortest paths", IPDPS 2014, and U. Meyer, P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm",
 * J. Algorithms 49, 2003; the width of buckets is adapted as K. Wang, D. Fussell, C. Lin, "A fast work-efficient SSSP
 * algorithm for GPUs", PPoPP 2021, do.
 */
#include "traversal/distances.h"
#define WITH_DISTANCES 1
#include "traversal/turn.h"

#ifndef LIGHT_FIRST
#define LIGHT_FIRST 0
#endif
#ifndef DROP_LEAVES              /* 1: keep leaves out of the pile, at the cost of reading the row of each far vertex */
#define DROP_LEAVES 0
#endif
#ifndef FEW_ROWS                 /* if an average turn expands fewer rows and the pile shrinks, buckets grow */
#define FEW_ROWS 4096u
#endif
#ifndef LARGE_PILE               /* a pile of n / LARGE_PILE or more is looked through in the order of all vertices */
#define LARGE_PILE 4u
#endif
/* Words of the state after the words of levels.h. */
#define STATE_PILES 320          /* size of the pile: four words in turn by its number, 32 apart */
#define STATE_WORKED 448         /* rows expanded since the pile was last looked through; four words likewise */
#define STATE_SETTLED 576        /* sizes of the list of settled vertices */
#define STATE_OVERFLOW 608
#define STATE_ALIVE 609          /* the last launch of a work-group alone that left work */
#define PATH_STATE_WORDS 640
/* Words of `progress`: the least distance left in each of four piles, then the place where a stopped search goes on. */
#define PROGRESS_MODE 4
#define PROGRESS_PILE 5
#define PROGRESS_THRESHOLD 6
#define PROGRESS_DELTA 7
#define PROGRESS_TURN 8
#define PROGRESS_NEAR_TURNS 9    /* turns that expanded near vertices since the pile was last looked through */
#define PROGRESS_LAST_SIZE 10    /* size of the pile at that time */
#define PROGRESS_WORDS 11
/* The modes of a turn. */
#define NEAR 0                   /* expand the frontier */
#define SYNC 1                   /* do nothing, so that all groups see the pile and the settled vertices */
#define SETTLED 2                /* relax the heavy edges of the settled */
#define PILE 3                   /* look through the pile */

typedef struct { dist_t threshold, limit; float delta; int heavy; } phase_t;
/* The arrays of the piles, and the items that a sub-group holds back from the one in use. */
typedef struct { __global int *items; __local int *held; } piles_t;

INLINE list_t pile_of(uint number, int n, piles_t piles, volatile __global uint *state) {
  list_t pile = {piles.items + (ulong)n * (number & 1u), state + STATE_PILES + 32u * (number & 3u), piles.held};
  return pile;
}

typedef struct {
  __global const offset_t *restrict row_offsets;
  __global const int *restrict column_indices;
  __global const weight_t *restrict edge_weights;
  volatile __global dist_t *distances;
} search_t;

INLINE void weigh(weight_t *weights, const edges_t *edges, const search_t *on) {
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    weights[k] = WEIGHT_KIND == WEIGHT_NONE ? (weight_t)1 : edges->u[k] >= 0 ? load_once(on->edge_weights + edges->e[k]) : (weight_t)0;
}

/* Put those vertices k into the next frontier for which bit k of near is set. */
INLINE void push_near(const entry_t *found, uint near, frontier_t next, const search_t *on) {
  uint length[STEPS];
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    length[k] = 0u;
#if !ONLY_SHORT_ROWS
    if (!(near >> k & 1u)) continue;
    row_t row = row_of_vertex(found[k].vertex, on->row_offsets);
    length[k] = row.length;
    if (!has_more(row)) near &= ~(1u << k);
#endif
  }
  push(found, length, near, next);
}

/* Every lane calls: relax the edges.  d is the distance of the vertex of this lane's row. */
INLINE void relax(const edges_t *edges, const weight_t *weights, dist_t d, phase_t phase, int look, const search_t *on,
                  frontier_t next, list_t pile, int *overflow) {
  entry_t found[STEPS];
  uint near = 0u, far = 0u;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    int wanted = edges->u[k] >= 0;
#if LIGHT_FIRST
    wanted = wanted && (weights[k] >= phase.delta) == phase.heavy;
#endif
    dist_t from = sg_broadcast(d, edges->slot[k]);
    found[k].vertex = edges->u[k];
    found[k].d = wanted ? extend(from, weights[k], overflow) : FAR_AWAY;
    if (found[k].d > phase.limit) found[k].d = FAR_AWAY;
  }
  dist_t was[STEPS];             /* all loads are issued before one is waited for, and then all atomics */
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    was[k] = look ? load_relaxed_if(found[k].d != FAR_AWAY, on->distances + edges->u[k]) : FAR_AWAY;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    was[k] = fetch_min_if(was[k] > found[k].d, on->distances + edges->u[k], found[k].d);
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    if (was[k] > found[k].d && found[k].d < phase.threshold) near |= 1u << k;
    if (was[k] == FAR_AWAY && found[k].d >= phase.threshold) far |= 1u << k;
  }
#if DROP_LEAVES
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    if ((far >> k & 1u) && !has_more(row_of_vertex(found[k].vertex, on->row_offsets))) far &= ~(1u << k);
#endif
  push_near(found, near, next, on);
  append(edges->u, far, pile);
}

/* Every lane calls with its row and, if that comes from the queue, its entry there.  Returns the distance to expand
 * from; the row's length becomes 0 if it is not to be expanded. */
INLINE dist_t distance_of(row_t *row, entry_t own, const search_t *on) {
  dist_t d = row->length ? load_relaxed(on->distances + row->vertex) : FAR_AWAY;
  if (own.vertex >= 0 && d < own.d) row->length = 0u;
  return d;
}

/* Edges that a sub-group relaxes next, with the distances of their rows' vertices and with their weights. */
typedef struct { lanes_t lanes; dist_t d; weight_t weights[STEPS]; } relaxed_t;

/* Every sub-group calls: expand its share of a frontier.  The edges of its first own rows are already loaded in
 * `at`. */
INLINE void expand(share_t share, relaxed_t at, phase_t phase, const search_t *on, frontier_t now, frontier_t next,
                   frontier_t settled, list_t pile, int *overflow) {
  batch_t batch = first_batch(share);
  int ahead = share.own > 0u;
  entry_t own;
  if (ahead) batch.own = WG_SIZE;
  while (ahead || next_batch(&batch, &at.lanes.row, &own, now, share, on->row_offsets)) {
    if (!ahead) {
      at.d = distance_of(&at.lanes.row, own, on);
      sum_lengths(&at.lanes);
    }
#if LIGHT_FIRST
    if (!phase.heavy && sg_any(at.lanes.row.length)) {  /* a piece stands for its whole row */
      row_t whole = at.lanes.row;
      if (whole.length) whole = row_of_vertex(whole.vertex, on->row_offsets);
      list_row(whole, at.lanes.row.length != 0u, settled);
    }
#endif
    for (uint first = 0u; first < at.lanes.total; first += STEPS * SUB_GROUP_SIZE) {
      if (!ahead || first) {
        look_up(&at.lanes, first, on->column_indices);
        weigh(at.weights, &at.lanes.edges, on);
      }
      relax(&at.lanes.edges, at.weights, at.d, phase, batch.own >= share.own && !ahead, on, next, pile, overflow);
    }
    ahead = 0;
  }
  release(pile, 0u);
}

/* Every sub-group calls: vertices of the pile that are near now go to the frontier, the others to the next pile.  If
 * `from` has no items, it stands for all vertices. */
INLINE void look_through(list_t from, uint size, list_t to, dist_t floor, phase_t phase, uint sub_group,
                         uint n_sub_groups, const search_t *on, frontier_t next, volatile __global dist_t *least) {
  dist_t lowest = FAR_AWAY;
  for (uint base = sub_group * STEPS * SUB_GROUP_SIZE; base < size; base += n_sub_groups * STEPS * SUB_GROUP_SIZE) {
    int vertex[STEPS];
    uint near = 0u, far = 0u;
    entry_t found[STEPS];
#pragma unroll
    for (uint k = 0u; k < STEPS; k++) {
      const uint i = base + k * SUB_GROUP_SIZE + sg_lane();
      vertex[k] = i >= size ? -1 : from.items ? load_relaxed(from.items + i) : (int)i;
    }
#pragma unroll
    for (uint k = 0u; k < STEPS; k++) {
      found[k].vertex = vertex[k];
      found[k].d = vertex[k] >= 0 ? load_relaxed(on->distances + vertex[k]) : FAR_AWAY;
      if (found[k].d == FAR_AWAY) continue;
      if (found[k].d >= phase.threshold) {
#if DROP_LEAVES
        if (!from.items && !has_more(row_of_vertex(vertex[k], on->row_offsets))) continue;
#endif
        far |= 1u << k;
        lowest = min(lowest, found[k].d);
      } else if (found[k].d >= floor) {
        near |= 1u << k;
      }
    }
    push_near(found, near, next, on);
    append(vertex, far, to);
  }
  release(to, 0u);
  lowest = sg_least(lowest);
  if (sg_lane() == 0 && lowest != FAR_AWAY) lower_to(least, lowest);
}

/* The present state of a search. */
typedef struct {
  uint mode, pile;               /* mode of the turn; number of the pile */
  uint n_turns;                  /* turns that expanded near vertices since the pile was last looked through */
  uint last_size;                /* size of the pile at that time */
  phase_t phase;
} place_t;

INLINE place_t place_of(volatile __global const dist_t *progress, dist_t limit) {
  place_t at = {(uint)progress[PROGRESS_MODE], (uint)progress[PROGRESS_PILE], (uint)progress[PROGRESS_NEAR_TURNS],
                ALONE ? (uint)progress[PROGRESS_LAST_SIZE] : 0u,
                {progress[PROGRESS_THRESHOLD], limit, as_float((uint)progress[PROGRESS_DELTA]), 0}};
  return at;
}

INLINE void keep_place(const place_t *at, uint turn, volatile __global dist_t *progress) {
  progress[PROGRESS_MODE] = at->mode;
  progress[PROGRESS_PILE] = at->pile;
  progress[PROGRESS_THRESHOLD] = at->phase.threshold;
  progress[PROGRESS_DELTA] = as_uint(at->phase.delta);
  progress[PROGRESS_TURN] = turn;
  progress[PROGRESS_NEAR_TURNS] = at->n_turns;
  progress[PROGRESS_LAST_SIZE] = at->last_size;
}

/* Every work-item calls: raise the threshold and look through the pile.  Returns 0 if the pile is empty.  Buckets grow
 * while the pile shrinks and turns have little to do.  If no vertex was near, the bucket begins at the least distance
 * left. */
INLINE int open_bucket(place_t *at, const turn_t *turn, int n, piles_t piles, const search_t *on, frontier_t next,
                       frontier_t settled, volatile __global dist_t *progress) {
  list_t pile = pile_of(at->pile, n, piles, turn->state);
  const uint size = load_relaxed(pile.size);
  if (!size) return 0;
  const uint worked = load_relaxed(turn->state + STATE_WORKED + 32u * (at->pile & 3u));
  if (size < at->last_size && worked < (ulong)FEW_ROWS * at->n_turns) at->phase.delta = fmin(2.0f * at->phase.delta, 1e30f);
  at->last_size = size;
  const dist_t floor = at->phase.threshold;
  const dist_t from = at->n_turns ? floor : max(floor, load_relaxed(progress + (at->pile + 3u & 3u)));
  at->phase.threshold = bucket_end(from, at->phase.delta);
  at->n_turns = 0u;
  at->pile++;
  const int is_large = !ALONE && size >= (uint)n / LARGE_PILE;
  if (is_large) pile.items = 0;
  look_through(pile, is_large ? (uint)n : size, pile_of(at->pile, n, piles, turn->state), floor, at->phase, turn->sub_group,
               turn->n_sub_groups, on, next, progress + (at->pile + 3u & 3u));
  if (turn->clears) {            /* clear the words of the pile after the next */
    exchange(turn->state + STATE_PILES + 32u * (at->pile + 1u & 3u), 0u);
    exchange(turn->state + STATE_WORKED + 32u * (at->pile + 1u & 3u), 0u);
    store_relaxed(progress + (at->pile & 3u), FAR_AWAY);
    for (uint k = 0u; LIGHT_FIRST && k < 3u; k++) exchange(settled.sizes + k, 0u);
  }
  return 1;
}

KERNEL initialize(int n, __global dist_t *restrict distances, __global uint *restrict listed_in,
                  __global uint *restrict settled_in, __global uint *restrict state, __global dist_t *restrict progress) {
  int i = get_global_id(0);
  for (int k = i; k < PATH_STATE_WORDS; k += (int)get_global_size(0)) state[k] = 0u;
  for (int k = i; k < PROGRESS_WORDS; k += (int)get_global_size(0)) progress[k] = k < 4 ? FAR_AWAY : 0;
  if (i >= n) return;
  distances[i] = FAR_AWAY;
  listed_in[i] = 0u;
#if LIGHT_FIRST
  settled_in[i] = 0u;
#endif
}

KERNEL start(int n_sources, float delta, uint light_capacity, uint heavy_capacity, __global const int *restrict sources,
             __global const offset_t *restrict row_offsets, __global int *light, __global int2 *heavy,
             volatile __global uint *listed_in, volatile __global uint *state, volatile __global dist_t *distances,
             __global dist_t *progress) {
  LOCAL_ARRAY uint flags;
  if (get_local_id(0) == 0) flags = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_global_id(0) == 0) {
    progress[PROGRESS_THRESHOLD] = bucket_end(0, delta);
    progress[PROGRESS_DELTA] = as_uint(delta);
  }
  const frontiers_t all = {0, 0, &flags, light, heavy, light_capacity, heavy_capacity, state};
  frontier_t lists = frontier_of(0u, 0u, &all);
  lists.listed_in = listed_in;
  lists.stamp = 1u;
  for (int i = get_global_id(0); sg_any(i < n_sources); i += (int)get_global_size(0)) {
    int s = i < n_sources ? sources[i] : 0;
    int first = i < n_sources && fetch_min(distances + s, (dist_t)0) != 0;
    row_t row = row_of_vertex(s, row_offsets);
    if (sg_any(first)) list_row(row, first, lists);
  }
}

/* The search in one launch; or launch number `round` of a single work-group, which makes at most `most_turns` turns. */
KERNEL search(int n, uint round, uint most_turns, dist_t limit, uint light_capacity, uint heavy_capacity,
              __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
              __global const weight_t *restrict edge_weights, __global int *light, __global int2 *heavy,
              __global int *settled_light, __global int2 *settled_heavy, __global int *piles, volatile __global uint *listed_in,
              volatile __global uint *settled_in, volatile __global uint *state,
              volatile __global dist_t *distances, volatile __global dist_t *progress) {
  LOCAL_ARRAY entry_t queues[2 * QUEUE_ROWS];
  LOCAL_ARRAY uint sizes[2], sum, flags, unused;
  LOCAL_ARRAY int held[2 * HELD_WORDS * SUB_GROUPS_PER_GROUP];
  if (get_local_id(0) == 0) sizes[0] = sizes[1] = flags = unused = 0u;
#if ALONE
  const uint member = 0u, members = 1u;
  barrier(CLK_LOCAL_MEM_FENCE);
#else
  GRID_ENTER(state + STATE_CONTROL)
#endif
  __local int *const near = held + 2 * HELD_WORDS * sg_in_group(), *const far = near + HELD_WORDS;
  if (sg_lane() == 0) near[0] = far[0] = 0;
  const piles_t both = {piles, HELD ? far : 0};
  const search_t on = {row_offsets, column_indices, edge_weights, distances};
  const frontiers_t all = {queues, sizes, &flags, light, heavy, light_capacity, heavy_capacity, state};
  place_t at = place_of(progress, limit);
  turn_t turn = first_turn((uint)progress[PROGRESS_TURN], member, members, &sum, state);
  const uint begun = turn.number;
  relaxed_t ahead;               /* the first own rows; their edges are loaded while the group waits at the barrier */
  int overflow = 0;
  ahead.d = FAR_AWAY;
  for (;; turn.number++) {
    begin_turn(&turn);
    const frontier_t now = frontier_of(turn.number, 0u, &all);
    frontier_t next = frontier_of(turn.number + 1u, QUEUE_ROWS, &all);
    const frontier_t settled = {0, 0, &unused, 0u, settled_light, settled_heavy, state + STATE_SETTLED, 0, settled_in,
                                at.pile + 1u};
    next.listed_in = at.mode == PILE ? 0 : listed_in;
    next.stamp = turn.number + 2u;
    next.held = HELD ? near : 0;
    const list_t pile = pile_of(at.pile, n, both, state);
    const int settles = LIGHT_FIRST && at.mode == SETTLED;
    if ((at.mode == NEAR) | settles) {
      share_t share = {turn.n_own, 0u, 0u, turn.sub_group, turn.n_sub_groups};
      if (settles) {
        share.light = load_relaxed(settled.sizes);
        share.heavy = load_relaxed(settled.sizes + 1);
      } else {
        at.n_turns++;
        share = share_of(&turn, now);
        if (get_local_id(0) == 0) {
          uint worked = share.own + (member == 0u ? share.light + share.heavy : 0u);
          if (worked) fetch_add(state + STATE_WORKED + 32u * (at.pile & 3u), worked);
        }
      }
      at.phase.heavy = settles;
      expand(share, ahead, at.phase, &on, settles ? settled : now, next, settled, pile, &overflow);
      at.phase.heavy = 0;
    } else if (at.mode == PILE && !open_bucket(&at, &turn, n, both, &on, next, settled, progress)) {
      break;
    }
    const int stops = ALONE && turn.number - begun == most_turns - 1u;
    close_and_arrive(&turn, stops ? 0u : KEPT_ROWS, at.mode == NEAR ? 0u : LISTED, now, next, row_offsets);
    if (turn.n_own) {
      entry_t own;
      first_own_row(&ahead.lanes.row, &own, &turn, next, row_offsets);
      ahead.d = distance_of(&ahead.lanes.row, own, &on);
      sum_lengths(&ahead.lanes);
      look_up(&ahead.lanes, 0u, column_indices);
      weigh(ahead.weights, &ahead.lanes.edges, &on);
    }
    await_others(&turn);
    if (at.mode == NEAR) {
      at.mode = turn.told ? NEAR : SYNC;
    } else {
      if (!turn.told) break;     /* a time-out */
      int some = turn.told / HAS_OWN % 1024u != 0u || load_relaxed(next.sizes) || load_relaxed(next.sizes + 1);
      at.mode = some ? NEAR : LIGHT_FIRST && at.mode == SYNC ? SETTLED : PILE;
    }
    if (stops) break;
  }
  if (overflow) store_relaxed(state + STATE_OVERFLOW, 1u);
  if (ALONE && get_local_id(0) == 0) {
    if (turn.number - begun == most_turns - 1u) state[STATE_ALIVE] = round;
    keep_place(&at, turn.number + 1u, progress);
  }
}
