/* Shortest paths by near and far: vertices whose distance dropped below a threshold are expanded turn by turn, those
 * above it wait in a pile; when none are near, the threshold rises by delta.
 *
 * distances[v] only falls.  queued[v] is the turn for which v was last put into a frontier, so that it stands there
 * once; in_pile[v] is 1 while v stands in the pile.
 * LIGHT_FIRST 1: delta-stepping.  Edges that weigh less than delta are relaxed at once, the others when the bucket is
 * empty, and then once for each vertex that left it (`settled`; settled_in[v] is the phase in which it was listed).
 * Races: a vertex is expanded with a distance read after the barrier behind which all lowering of the turn before
 * lies; what is lowered later queues it again.
 *
 * After A. Davidson, S. Baxter, M. Garland, J. Owens, "Work-efficient parallel GPU methods for single-source
 * shortest paths", IPDPS 2014, and U. Meyer, P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm",
 * J. Algorithms 49, 2003; the width of buckets is adapted as K. Wang, D. Fussell, C. Lin, "A fast work-efficient SSSP
 * algorithm for GPUs", PPoPP 2021, do.
 */
#include "traversal/distances.h"
#include "traversal/queues.h"

#ifndef LIGHT_FIRST
#define LIGHT_FIRST 0
#endif
#ifndef ADAPT
#define ADAPT 1
#endif
#ifndef FEW_ROWS                 /* a turn: with fewer on average the buckets grow */
#define FEW_ROWS 4096u
#endif
#ifndef MANY_ROWS                /* with more they shrink */
#define MANY_ROWS 65536u
#endif
/* Words of the state behind those of levels.h; of each, four in turn by the number of the pile, 32 apart. */
#define STATE_PILES 320          /* sizes of the pile */
#define STATE_WORKED 448         /* rows expanded since the pile was last looked through */
#define STATE_SETTLED 576        /* sizes of the list of settled vertices */
#define STATE_OVERFLOW 608
#define PATH_STATE_WORDS 640
/* Words of `progress`: the least distance left in each of four piles, then where a search that stopped goes on. */
#define PROGRESS_MODE 4
#define PROGRESS_PILE 5
#define PROGRESS_THRESHOLD 6
#define PROGRESS_DELTA 7
#define PROGRESS_TURN 8
#define PROGRESS_WORDS 9
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

/* Every lane calls: relax the edges, d being the distance of the vertex of this lane's row. */
INLINE void relax(const edges_t *edges, dist_t d, phase_t phase, uint turn, int look,
                  __global const offset_t *restrict row_offsets, __global const weight_t *restrict edge_weights,
                  volatile __global dist_t *distances, volatile __global uint *queued, volatile __global uint *in_pile,
                  frontier_t next, pile_t pile, int *overflow) {
  row_t found[STEPS];
  dist_t reached[STEPS];
  uint near = 0u, far = 0u;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    weight_t w = edges->u[k] >= 0 ? weight_of(edge_weights, edges->e[k]) : (weight_t)0;
    int wanted = edges->u[k] >= 0 && (!LIGHT_FIRST || (w >= phase.delta) == phase.heavy);
    dist_t from = sg_broadcast(d, edges->slot[k]);
    reached[k] = wanted && from != FAR_AWAY ? extend(from, w, overflow) : FAR_AWAY;
    if (reached[k] > phase.limit) reached[k] = FAR_AWAY;
    found[k].vertex = edges->u[k];
    found[k].begin = 0;
    found[k].length = 0u;
  }
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    if (reached[k] == FAR_AWAY) continue;
    int u = edges->u[k], lowered = look ? lower_to(distances + u, reached[k]) : fetch_min(distances + u, reached[k]) > reached[k];
    if (lowered && reached[k] < phase.threshold) near |= 1u << k;
    if (lowered && reached[k] >= phase.threshold) far |= 1u << k;
  }
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    if (near >> k & 1u) {
      if (exchange(queued + edges->u[k], turn) == turn) near &= ~(1u << k);
#if !ONLY_SHORT_ROWS
      found[k] = row_of_vertex(edges->u[k], row_offsets);
      if (!has_more(found[k])) near &= ~(1u << k);
#endif
    } else if (far >> k & 1u) {
      if (load_relaxed(in_pile + edges->u[k]) || exchange(in_pile + edges->u[k], 1u)) far &= ~(1u << k);
    }
  }
  push(found, near, next);
  append(edges->u, far, pile);
}

typedef struct {
  __global const offset_t *restrict row_offsets;
  __global const int *restrict column_indices;
  __global const weight_t *restrict edge_weights;
  volatile __global dist_t *distances;
  volatile __global uint *queued, *in_pile, *settled_in;
} search_t;

/* Every lane calls: list the vertices of these rows for the heavy edges, once a phase. */
INLINE void settle(row_t row, uint number, const search_t *on, frontier_t settled) {
#if LIGHT_FIRST
  int wanted = row.length && exchange(on->settled_in + row.vertex, number + 1u) != number + 1u;
  if (!sg_any(wanted)) return;
  if (wanted) row = row_of_vertex(row.vertex, on->row_offsets);
  list_rows(row, wanted, settled);
#endif
}

/* Every sub-group calls: expand what it takes of a frontier; the edges of its first rows are looked up if ahead. */
INLINE void expand(batch_t at, row_t row, edges_t edges, uint before, uint total, int ahead, uint n_own, uint n_light,
                   uint n_heavy, uint number, phase_t phase, uint turn, uint n_sub_groups, const search_t *on,
                   frontier_t now, frontier_t next, frontier_t settled, pile_t pile, int *overflow) {
  if (ahead) at.own = WG_SIZE;
  while (ahead || next_batch(&at, &row, now, n_own, n_light, n_heavy, n_sub_groups, on->row_offsets)) {
    if (!ahead) {
      before = sg_exclusive_sum(row.length);
      total = sg_broadcast(before + row.length, SUB_GROUP_SIZE - 1);
    }
    if (!phase.heavy) settle(row, number, on, settled);
    dist_t d = row.length ? load_relaxed(on->distances + row.vertex) : FAR_AWAY;
    for (uint first = 0u; first < total; first += STEPS * SUB_GROUP_SIZE) {
      if (!ahead || first) look_up(&edges, row, before, total, first, on->column_indices);
      relax(&edges, d, phase, turn, at.own >= n_own && !ahead, on->row_offsets, on->edge_weights, on->distances, on->queued,
            on->in_pile, next, pile, overflow);
    }
    ahead = 0;
  }
}

/* Every sub-group calls: vertices of the pile that are near now go to the frontier, the others to the next pile. */
INLINE void look_through(pile_t from, uint size, pile_t to, dist_t floor, phase_t phase, uint turn, uint sub_group,
                         uint n_sub_groups, const search_t *on, frontier_t next, volatile __global dist_t *least) {
  dist_t lowest = FAR_AWAY;
  for (ulong base = (ulong)sub_group * STEPS * SUB_GROUP_SIZE; base < size; base += (ulong)n_sub_groups * STEPS * SUB_GROUP_SIZE) {
    int vertex[STEPS];
    uint near = 0u, far = 0u;
    row_t found[STEPS];
#pragma unroll
    for (uint k = 0u; k < STEPS; k++) {
      ulong i = base + k * SUB_GROUP_SIZE + sg_lane();
      vertex[k] = i < size ? load_relaxed(from.vertices + i) : -1;
    }
#pragma unroll
    for (uint k = 0u; k < STEPS; k++) {
      found[k].vertex = vertex[k];
      found[k].begin = 0;
      found[k].length = 0u;
      if (vertex[k] < 0) continue;
      dist_t d = load_relaxed(on->distances + vertex[k]);
      if (d >= phase.threshold) {
        far |= 1u << k;
        lowest = min(lowest, d);
      } else {
        store_relaxed(on->in_pile + vertex[k], 0u);
        if (d >= floor) near |= 1u << k;
      }
    }
#pragma unroll
    for (uint k = 0u; k < STEPS; k++) {
      if (!(near >> k & 1u)) continue;
      if (exchange(on->queued + vertex[k], turn) == turn) near &= ~(1u << k);
#if !ONLY_SHORT_ROWS
      found[k] = row_of_vertex(vertex[k], on->row_offsets);
      if (!has_more(found[k])) near &= ~(1u << k);
#endif
    }
    push(found, near, next);
    append(vertex, far, to);
  }
  lowest = sg_least(lowest);
  if (sg_lane() == 0 && lowest != FAR_AWAY) lower_to(least, lowest);
}

KERNEL initialize(int n, __global dist_t *restrict distances, __global uint *restrict queued, __global uint *restrict in_pile,
                  __global uint *restrict settled_in, __global uint *restrict state, __global dist_t *restrict progress) {
  int i = get_global_id(0);
  if (i < PATH_STATE_WORDS) state[i] = 0u;
  if (i < PROGRESS_WORDS) progress[i] = i < 4 ? FAR_AWAY : 0;
  if (i >= n) return;
  distances[i] = FAR_AWAY;
  queued[i] = in_pile[i] = 0u;
#if LIGHT_FIRST
  settled_in[i] = 0u;
#endif
}

KERNEL start(int n_sources, float delta, ulong light_capacity, ulong heavy_capacity, __global const int *restrict sources,
             __global const offset_t *restrict row_offsets, __global int *light, __global int2 *heavy,
             volatile __global uint *state, volatile __global dist_t *distances, __global dist_t *progress) {
  LOCAL_ARRAY uint flags;
  if (get_local_id(0) == 0) flags = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_global_id(0) == 0) {
    progress[PROGRESS_THRESHOLD] = bucket_end(0, delta);
    progress[PROGRESS_DELTA] = as_uint(delta);
  }
  frontier_t lists = frontier_of(0u, 0, 0, &flags, 0u, light, light_capacity, heavy, heavy_capacity, state);
  for (int i = get_global_id(0); sg_any(i < n_sources); i += (int)get_global_size(0)) {
    int s = i < n_sources ? sources[i] : 0;
    int first = i < n_sources && fetch_min(distances + s, (dist_t)0) != 0;
    row_t row = row_of_vertex(s, row_offsets);
    if (sg_any(first)) list_rows(row, first, lists);
  }
}

/* The search in one launch, or of one work-group until `last_turn`. */
KERNEL search(int n, uint last_turn, dist_t limit, ulong light_capacity, ulong heavy_capacity, ulong settled_capacity,
              __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
              __global const weight_t *restrict edge_weights, __global int *light, __global int2 *heavy,
              __global int *settled_light, __global int2 *settled_heavy, __global int *piles, volatile __global uint *queued,
              volatile __global uint *in_pile, volatile __global uint *settled_in, volatile __global uint *state,
              volatile __global dist_t *distances, volatile __global dist_t *progress) {
  LOCAL_ARRAY row_t queues[2 * QUEUE_ROWS];
  LOCAL_ARRAY uint sizes[2], sum, flags, unused;
  if (get_local_id(0) == 0) sizes[0] = sizes[1] = flags = unused = 0u;
#if ALONE
  const uint member = 0u, members = 1u;
  barrier(CLK_LOCAL_MEM_FENCE);
#else
  GRID_ENTER(state + STATE_CONTROL)
#endif
  const search_t on = {row_offsets, column_indices, edge_weights, distances, queued, in_pile, settled_in};
  const uint lane = sg_lane();
  const uint sub_group = sg_in_group() * members + member, n_sub_groups = members * SUB_GROUPS_PER_GROUP;
  const int clears = member == 0u && get_local_id(0) == 0;
  const uint own_row = lane * SUB_GROUPS_PER_GROUP + sg_in_group();
  uint number = (uint)progress[PROGRESS_PILE], mode = (uint)progress[PROGRESS_MODE], turn = (uint)progress[PROGRESS_TURN];
  phase_t phase = {progress[PROGRESS_THRESHOLD], limit, as_float((uint)progress[PROGRESS_DELTA]), 0};
  uint told = LISTED, n_own = 0u, before = 0u, total = 0u, n_turns = 0u;
  int overflow = 0;
  row_t row = {0, 0, 0u};
  edges_t edges;
  for (; mode != DONE; turn++) {
    uint cleared = clears ? clear_turn(state, turn) : 0u;
    frontier_t now = frontier_of(turn, queues, sizes, &flags, 0u, light, light_capacity, heavy, heavy_capacity, state);
    frontier_t next = frontier_of(turn + 1u, queues, sizes, &flags, QUEUE_ROWS, light, light_capacity, heavy, heavy_capacity, state);
    frontier_t settled = {0, 0, &unused, 0u, settled_light, settled_heavy, state + STATE_SETTLED};
    pile_t pile = {piles + (ulong)n * (number & 1u), state + STATE_PILES + 32u * (number & 3u)};
    const uint stamp = turn + 1u;
    uint n_light = 0u, n_heavy = 0u;
    if (mode == NEAR) {
      n_turns++;
      if (told >= LISTED) {
        n_light = load_relaxed(now.sizes);
        if (!ONLY_SHORT_ROWS) n_heavy = load_relaxed(now.sizes + 1);
      }
      if (ADAPT && get_local_id(0) == 0) {
        uint worked = n_own + (member == 0u ? n_light + n_heavy : 0u);
        if (worked) fetch_add(state + STATE_WORKED + 32u * (number & 3u), worked);
      }
    } else if (mode == SETTLED) {
      n_light = load_relaxed(settled.sizes);
      n_heavy = load_relaxed(settled.sizes + 1);
    }
    if (mode == NEAR || mode == SETTLED) {
      phase.heavy = mode == SETTLED;
      expand(first_batch(sub_group, n_light, n_sub_groups), row, edges, before, total, n_own > 0u, n_own, n_light, n_heavy,
             number, phase, stamp, n_sub_groups, &on, phase.heavy ? settled : now, next, settled, pile, &overflow);
      phase.heavy = 0;
    } else if (mode == PILE) {
      uint size = load_relaxed(pile.size);
      if (!size) break;
#if ADAPT
      uint worked = load_relaxed(state + STATE_WORKED + 32u * (number & 3u));
      if (n_turns) phase.delta *= worked < FEW_ROWS * n_turns ? 2.0f : worked > MANY_ROWS * n_turns ? 0.5f : 1.0f;
      phase.delta = fmin(phase.delta, 1e30f);
#endif
      dist_t floor = phase.threshold, from = n_turns ? floor : max(floor, load_relaxed(progress + (number + 3u & 3u)));
      phase.threshold = bucket_end(from, phase.delta);
      n_turns = 0u;
      number++;
      pile_t rest = {piles + (ulong)n * (number & 1u), state + STATE_PILES + 32u * (number & 3u)};
      look_through(pile, size, rest, floor, phase, stamp, sub_group, n_sub_groups, &on, next, progress + (number + 3u & 3u));
      if (clears) {              /* for the pile after the next */
        exchange(state + STATE_PILES + 32u * (number + 1u & 3u), 0u);
        exchange(state + STATE_WORKED + 32u * (number + 1u & 3u), 0u);
        store_relaxed(progress + (number & 3u), FAR_AWAY);
        for (uint k = 0u; k < 3u; k++) exchange(settled.sizes + k, 0u);
      }
    }
    const int stops = ALONE && turn >= last_turn;
    n_own = close_queue(next, stops ? 0u : KEPT_ROWS, stops);
    if (get_local_id(0) == 0) {
      turn_arrive(state, turn, cleared, flags | (n_own ? HAS_OWN : 0u) | (mode == NEAR ? 0u : LISTED), &sum);
      flags = 0u;
      *now.size = 0u;
    }
    total = row.length = 0u;
    if (n_own) {
      if (own_row < n_own) row = ONLY_SHORT_ROWS ? row_of_vertex(next.rows[own_row].vertex, row_offsets) : next.rows[own_row];
      before = sg_exclusive_sum(row.length);
      total = sg_broadcast(before + row.length, SUB_GROUP_SIZE - 1);
      look_up(&edges, row, before, total, 0u, column_indices);
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
    progress[PROGRESS_MODE] = mode;
    progress[PROGRESS_PILE] = number;
    progress[PROGRESS_THRESHOLD] = phase.threshold;
    progress[PROGRESS_DELTA] = as_uint(phase.delta);
    progress[PROGRESS_TURN] = turn + 1u;
  }
}
