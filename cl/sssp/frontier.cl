/* Shortest paths by near and far: vertices whose distance dropped below a threshold are expanded turn by turn, those
 * above it wait in a pile; when none are near, the threshold rises by delta.
 *
 * distances[v] only falls.  Whoever lowers it below the threshold puts v into the next frontier; who lowers it for the
 * first time, but not as far, into the pile, where v stands until the threshold has passed it.
 * LIGHT_FIRST 1: delta-stepping.  Edges that weigh less than delta are relaxed at once, the others when the bucket is
 * empty, and then once for each vertex that left it (`settled`).
 * Races: a queued vertex is expanded with the distance that it was queued with, or not at all if it has a lesser one by
 * now, with which it was queued again; a listed one with the distance behind the barrier.
 *
 * After A. Davidson, S. Baxter, M. Garland, J. Owens, "Work-efficient parallel GPU methods for single-source
 * shortest paths", IPDPS 2014, and U. Meyer, P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm",
 * J. Algorithms 49, 2003; the width of buckets is adapted as K. Wang, D. Fussell, C. Lin, "A fast work-efficient SSSP
 * algorithm for GPUs", PPoPP 2021, do.
 */
#include "traversal/distances.h"
#define WITH_DISTANCES 1
#include "traversal/queues.h"

#ifndef LIGHT_FIRST
#define LIGHT_FIRST 0
#endif
#ifndef FEW_ROWS                 /* with fewer in an average turn, buckets grow once the pile shrinks */
#define FEW_ROWS 4096u
#endif
/* Words of the state behind those of levels.h. */
#define STATE_PILES 320          /* size of the pile: four words in turn by its number, 32 apart */
#define STATE_WORKED 448         /* rows expanded since it was last looked through, likewise */
#define STATE_SETTLED 576        /* sizes of the list of settled vertices */
#define STATE_OVERFLOW 608
#define STATE_ALIVE 609          /* the last launch of a work-group alone that left something to do */
#define PATH_STATE_WORDS 640
/* Words of `progress`: the least distance left in each of four piles, then where a search that stopped goes on. */
#define PROGRESS_MODE 4
#define PROGRESS_PILE 5
#define PROGRESS_THRESHOLD 6
#define PROGRESS_DELTA 7
#define PROGRESS_TURN 8
#define PROGRESS_NEAR_TURNS 9    /* since the pile was last looked through */
#define PROGRESS_LAST_SIZE 10    /* of the pile */
#define PROGRESS_WORDS 11
/* What a turn does. */
#define NEAR 0                   /* expand the frontier */
#define SYNC 1                   /* nothing: so that all see the pile and the settled */
#define SETTLED 2                /* relax the heavy edges of the settled */
#define PILE 3                   /* look through the pile */
#define DONE 4

typedef struct { dist_t threshold, limit; float delta; int heavy; } phase_t;
typedef struct { __global int *vertices; volatile __global uint *size; } pile_t;

/* Every lane calls: append the vertices k of which bit k of wanted is set. */
INLINE void append(const int *vertex, uint wanted, pile_t pile) {
  const uint count = popcount(wanted), before = sg_exclusive_sum(count);
  const uint all = sg_broadcast(before + count, SUB_GROUP_SIZE - 1);
  if (!all) return;
  uint slot = 0u;
  if (sg_lane() == 0) slot = fetch_add(pile.size, all);
  slot = sg_broadcast(slot, 0u) + before;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    if (wanted >> k & 1u) pile.vertices[slot++] = vertex[k];
}

typedef struct {
  __global const offset_t *restrict row_offsets;
  __global const int *restrict column_indices;
  __global const weight_t *restrict edge_weights;
  volatile __global dist_t *distances;
} search_t;

INLINE void weigh(weight_t *weights, const edges_t *edges, const search_t *on) {
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) weights[k] = edges->u[k] >= 0 ? weight_of(on->edge_weights, edges->e[k]) : (weight_t)0;
}

/* Put the vertices k of which bit k of near is set into the next frontier. */
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

/* Every lane calls: relax the edges, d being the distance of the vertex of this lane's row. */
INLINE void relax(const edges_t *edges, const weight_t *weights, dist_t d, phase_t phase, int look, const search_t *on,
                  frontier_t next, pile_t pile, int *overflow) {
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
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    volatile __global dist_t *at = on->distances + edges->u[k];
    if (found[k].d == FAR_AWAY || (look && load_relaxed(at) <= found[k].d)) continue;
    dist_t was = fetch_min(at, found[k].d);
    if (was > found[k].d && found[k].d < phase.threshold) near |= 1u << k;
    if (was == FAR_AWAY && found[k].d >= phase.threshold) far |= 1u << k;
  }
  push_near(found, near, next, on);
  append(edges->u, far, pile);
}

/* Every lane calls with its row and, if that is of its queue, the entry there: whether it is to be expanded, and from
 * which distance. */
INLINE dist_t distance_of(row_t *row, entry_t own, const search_t *on) {
  dist_t d = row->length ? load_relaxed(on->distances + row->vertex) : FAR_AWAY;
  if (own.vertex >= 0 && d < own.d) row->length = 0u;
  return d;
}

/* Every sub-group calls: expand what it takes of a frontier; the edges of its first rows are looked up if ahead. */
INLINE void expand(batch_t at, row_t row, dist_t d, edges_t edges, weight_t *weights, uint before, uint total, int ahead,
                   uint n_own, uint n_light, uint n_heavy, phase_t phase, uint n_sub_groups, const search_t *on,
                   frontier_t now, frontier_t next, frontier_t settled, pile_t pile, int *overflow) {
  entry_t own;
  if (ahead) at.own = WG_SIZE;
  while (ahead || next_batch(&at, &row, &own, now, n_own, n_light, n_heavy, n_sub_groups, on->row_offsets)) {
    if (!ahead) {
      d = distance_of(&row, own, on);
      before = sg_exclusive_sum(row.length);
      total = sg_broadcast(before + row.length, SUB_GROUP_SIZE - 1);
    }
#if LIGHT_FIRST
    if (!phase.heavy && sg_any(row.length)) {  /* a piece stands for its whole row */
      row_t whole = row;
      if (row.length) whole = row_of_vertex(row.vertex, on->row_offsets);
      list_row(whole, row.length != 0u, settled);
    }
#endif
    for (uint first = 0u; first < total; first += STEPS * SUB_GROUP_SIZE) {
      if (!ahead || first) {
        look_up(&edges, row, before, total, first, on->column_indices);
        weigh(weights, &edges, on);
      }
      relax(&edges, weights, d, phase, at.own >= n_own && !ahead, on, next, pile, overflow);
    }
    ahead = 0;
  }
}

/* Every sub-group calls: vertices of the pile that are near now go to the frontier, the others to the next pile. */
INLINE void look_through(pile_t from, uint size, pile_t to, dist_t floor, phase_t phase, uint sub_group,
                         uint n_sub_groups, const search_t *on, frontier_t next, volatile __global dist_t *least) {
  dist_t lowest = FAR_AWAY;
  for (ulong base = (ulong)sub_group * STEPS * SUB_GROUP_SIZE; base < size; base += (ulong)n_sub_groups * STEPS * SUB_GROUP_SIZE) {
    int vertex[STEPS];
    uint near = 0u, far = 0u;
    entry_t found[STEPS];
#pragma unroll
    for (uint k = 0u; k < STEPS; k++) {
      ulong i = base + k * SUB_GROUP_SIZE + sg_lane();
      vertex[k] = i < size ? load_relaxed(from.vertices + i) : -1;
    }
#pragma unroll
    for (uint k = 0u; k < STEPS; k++) {
      found[k].vertex = vertex[k];
      found[k].d = vertex[k] >= 0 ? load_relaxed(on->distances + vertex[k]) : 0;
      if (vertex[k] < 0) continue;
      if (found[k].d >= phase.threshold) {
        far |= 1u << k;
        lowest = min(lowest, found[k].d);
      } else if (found[k].d >= floor) {
        near |= 1u << k;
      }
    }
    push_near(found, near, next, on);
    append(vertex, far, to);
  }
  lowest = sg_least(lowest);
  if (sg_lane() == 0 && lowest != FAR_AWAY) lower_to(least, lowest);
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
  frontier_t lists = frontier_of(0u, 0, 0, &flags, 0u, light, light_capacity, heavy, heavy_capacity, state);
  lists.listed_in = listed_in;
  lists.stamp = 1u;
  for (int i = get_global_id(0); sg_any(i < n_sources); i += (int)get_global_size(0)) {
    int s = i < n_sources ? sources[i] : 0;
    int first = i < n_sources && fetch_min(distances + s, (dist_t)0) != 0;
    row_t row = row_of_vertex(s, row_offsets);
    if (sg_any(first)) list_row(row, first, lists);
  }
}

/* The search in one launch; or launch number `round` of a work-group alone, which makes at most `most_turns`. */
KERNEL search(int n, uint round, uint most_turns, dist_t limit, uint light_capacity, uint heavy_capacity,
              __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
              __global const weight_t *restrict edge_weights, __global int *light, __global int2 *heavy,
              __global int *settled_light, __global int2 *settled_heavy, __global int *piles, volatile __global uint *listed_in,
              volatile __global uint *settled_in, volatile __global uint *state,
              volatile __global dist_t *distances, volatile __global dist_t *progress) {
  LOCAL_ARRAY entry_t queues[2 * QUEUE_ROWS];
  LOCAL_ARRAY uint sizes[2], sum, flags, unused;
  if (get_local_id(0) == 0) sizes[0] = sizes[1] = flags = unused = 0u;
#if ALONE
  const uint member = 0u, members = 1u;
  barrier(CLK_LOCAL_MEM_FENCE);
#else
  GRID_ENTER(state + STATE_CONTROL)
#endif
  const search_t on = {row_offsets, column_indices, edge_weights, distances};
  const uint lane = sg_lane();
  const uint sub_group = sg_in_group() * members + member, n_sub_groups = members * SUB_GROUPS_PER_GROUP;
  const int clears = member == 0u && get_local_id(0) == 0;
  const uint own_row = lane * SUB_GROUPS_PER_GROUP + sg_in_group();
  uint number = (uint)progress[PROGRESS_PILE], mode = (uint)progress[PROGRESS_MODE], turn = (uint)progress[PROGRESS_TURN];
  const uint first_turn = turn;
  uint n_turns = (uint)progress[PROGRESS_NEAR_TURNS];
  uint last_size = ALONE ? (uint)progress[PROGRESS_LAST_SIZE] : 0u;
  phase_t phase = {progress[PROGRESS_THRESHOLD], limit, as_float((uint)progress[PROGRESS_DELTA]), 0};
  uint told = LISTED, n_own = 0u, before = 0u, total = 0u;
  int overflow = 0;
  row_t row = {0, 0, 0u};
  edges_t edges;
  weight_t weights[STEPS];
  dist_t d = FAR_AWAY;
  for (; mode != DONE; turn++) {
    uint cleared = clears ? clear_turn(state, turn) : 0u;
    frontier_t now = frontier_of(turn, queues, sizes, &flags, 0u, light, light_capacity, heavy, heavy_capacity, state);
    frontier_t next = frontier_of(turn + 1u, queues, sizes, &flags, QUEUE_ROWS, light, light_capacity, heavy, heavy_capacity, state);
    frontier_t settled = {0, 0, &unused, 0u, settled_light, settled_heavy, state + STATE_SETTLED, settled_in, number + 1u};
    pile_t pile = {piles + (ulong)n * (number & 1u), state + STATE_PILES + 32u * (number & 3u)};
    next.listed_in = listed_in;
    next.stamp = turn + 2u;
    int settles = LIGHT_FIRST && mode == SETTLED;
    uint n_light = 0u, n_heavy = 0u;
    if (mode == NEAR) {
      n_turns++;
      if (told >= LISTED) {
        n_light = load_relaxed(now.sizes);
        if (!ONLY_SHORT_ROWS) n_heavy = load_relaxed(now.sizes + 1);
      }
      if (get_local_id(0) == 0) {
        uint worked = n_own + (member == 0u ? n_light + n_heavy : 0u);
        if (worked) fetch_add(state + STATE_WORKED + 32u * (number & 3u), worked);
      }
    } else if (settles) {
      n_light = load_relaxed(settled.sizes);
      n_heavy = load_relaxed(settled.sizes + 1);
    }
    if (mode == NEAR || settles) {
      phase.heavy = settles;
      expand(first_batch(sub_group, n_light, n_sub_groups), row, d, edges, weights, before, total, n_own > 0u, n_own,
             n_light, n_heavy, phase, n_sub_groups, &on, phase.heavy ? settled : now, next, settled, pile, &overflow);
      phase.heavy = 0;
    } else if (mode == PILE) {
      uint size = load_relaxed(pile.size);
      if (!size) break;
      uint worked = load_relaxed(state + STATE_WORKED + 32u * (number & 3u));
      if (size < last_size && worked < (ulong)FEW_ROWS * n_turns) phase.delta = fmin(2.0f * phase.delta, 1e30f);
      last_size = size;
      dist_t floor = phase.threshold, from = n_turns ? floor : max(floor, load_relaxed(progress + (number + 3u & 3u)));
      phase.threshold = bucket_end(from, phase.delta);
      n_turns = 0u;
      number++;
      pile_t rest = {piles + (ulong)n * (number & 1u), state + STATE_PILES + 32u * (number & 3u)};
      look_through(pile, size, rest, floor, phase, sub_group, n_sub_groups, &on, next, progress + (number + 3u & 3u));
      if (clears) {              /* for the pile after the next */
        exchange(state + STATE_PILES + 32u * (number + 1u & 3u), 0u);
        exchange(state + STATE_WORKED + 32u * (number + 1u & 3u), 0u);
        store_relaxed(progress + (number & 3u), FAR_AWAY);
        for (uint k = 0u; LIGHT_FIRST && k < 3u; k++) exchange(settled.sizes + k, 0u);
      }
    }
    const int stops = ALONE && turn - first_turn == most_turns - 1u;
    n_own = close_queue(next, stops ? 0u : KEPT_ROWS, row_offsets);
    if (get_local_id(0) == 0) {
      turn_arrive(state, turn, cleared, flags | (n_own ? HAS_OWN : 0u) | (mode == NEAR ? 0u : LISTED), &sum);
      flags = 0u;
      *now.size = 0u;
    }
    total = row.length = 0u;
    if (n_own) {
      entry_t own = {-1, 0};
      if (own_row < n_own) {
        own = next.rows[own_row];
        row = row_of_vertex(own.vertex, row_offsets);
      }
      d = distance_of(&row, own, &on);
      before = sg_exclusive_sum(row.length);
      total = sg_broadcast(before + row.length, SUB_GROUP_SIZE - 1);
      look_up(&edges, row, before, total, 0u, column_indices);
      weigh(weights, &edges, &on);
    }
    told = turn_await(state, turn, members, &sum);
    if (mode == NEAR) {
      mode = told ? NEAR : SYNC;
    } else {
      if (!told) break;          /* a time-out */
      int some = told / HAS_OWN % 1024u != 0u || load_relaxed(next.sizes) || load_relaxed(next.sizes + 1);
      mode = some ? NEAR : LIGHT_FIRST && mode == SYNC ? SETTLED : PILE;
    }
    if (stops) break;
  }
  if (overflow) store_relaxed(state + STATE_OVERFLOW, 1u);
  if (ALONE && get_local_id(0) == 0) {
    if (turn - first_turn == most_turns - 1u) state[STATE_ALIVE] = round;
    progress[PROGRESS_MODE] = mode;
    progress[PROGRESS_PILE] = number;
    progress[PROGRESS_THRESHOLD] = phase.threshold;
    progress[PROGRESS_DELTA] = as_uint(phase.delta);
    progress[PROGRESS_TURN] = turn + 1u;
    progress[PROGRESS_NEAR_TURNS] = n_turns;
    progress[PROGRESS_LAST_SIZE] = last_size;
  }
}
