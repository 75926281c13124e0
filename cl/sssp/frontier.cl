/* Shortest paths by near and far vertices.  Vertices whose distance fell below a threshold are near and are expanded
 * turn by turn.  The others wait in a list, the pile.  When no vertex is near, the threshold rises by delta.  A vertex
 * leaves the pile only once, so it needs no stamp then.
 *
 * A work-item takes edges of its sub-group's rows, or vertices of the pile.
 * distances[v] only falls.  A work-item that lowers it below the threshold puts v into the next frontier.  A work-item
 * that lowers it for the first time, but not below the threshold, puts v into the pile.  There v stays until the
 * threshold has passed its distance.
 * LIGHT_FIRST 1: delta-stepping.  Edges that weigh less than delta are relaxed at once.  The others are relaxed when
 * the bucket is empty, once for each vertex that left it (`settled`).
 * docs/protocols/bfs_queues.md draws the turns, and the modes of shortest paths.
 * Races: a vertex from a queue is expanded with the distance in its entry.  If its distance has fallen since, it was
 * queued again with the smaller one, and this entry is skipped.  A vertex from a list is expanded with its distance
 * after the barrier.
 *
 * After A. Davidson, S. Baxter, M. Garland, J. Owens, "Work-efficient parallel GPU methods for single-source
 * shortest paths", IPDPS 2014, and U. Meyer, P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm",
 * J. Algorithms 49, 2003.  The width of buckets is adapted as in K. Wang, D. Fussell, C. Lin, "A fast work-efficient SSSP
 * algorithm for GPUs", PPoPP 2021.
 */
#include "sssp/piles.h"

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

KERNEL start(int n_sources, float delta, uint few_rows, uint light_capacity, uint heavy_capacity,
             __global const int *restrict sources, __global const offset_t *restrict row_offsets, __global int *light,
             __global int2 *heavy, volatile __global uint *listed_in, volatile __global uint *state,
             volatile __global dist_t *distances, __global dist_t *progress) {
  LOCAL_ARRAY uint flags;
  if (get_local_id(0) == 0) flags = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_global_id(0) == 0) {
    progress[PROGRESS_THRESHOLD] = bucket_end(0, delta);
    progress[PROGRESS_FEW_ROWS] = few_rows;
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

/* The storage of a search: the frontiers, the lists of settled vertices, the piles, and the buffer of near vertices. */
typedef struct {
  frontiers_t frontiers;
  __local uint *unused;          /* flags of the lists of settled vertices, which are never read */
  __global int *settled_light;
  __global int2 *settled_heavy;
  volatile __global uint *settled_in, *listed_in;
  piles_t piles;
  __local int *held;
} storage_t;

INLINE frontier_t settled_of(uint pile, const storage_t *in) {
  const frontier_t settled = {0, 0, in->unused, 0u, in->settled_light, in->settled_heavy,
                              in->frontiers.state + STATE_SETTLED, 0, in->settled_in, pile + 1u};
  return settled;
}

/* Returns the frontier that this turn writes.  A vertex leaves the pile only once, so it needs no stamp then. */
INLINE frontier_t next_frontier(uint turn, uint mode, const storage_t *in) {
  frontier_t next = frontier_of(turn + 1u, QUEUE_ROWS, &in->frontiers);
  next.listed_in = mode == PILE ? 0 : in->listed_in;
  next.stamp = turn + 2u;
  next.held = HELD ? in->held : 0;
  return next;
}

/* Every work-item calls: the rows that it expands in this turn, of the settled vertices or of the frontier.
 * Race: groups add to STATE_WORKED, which all read some turns later, when the pile is opened. */
INLINE share_t choose_share(place_t *at, int settles, const turn_t *turn, frontier_t now, frontier_t settled) {
  share_t share = {turn->n_own, 0u, 0u, turn->sub_group, turn->n_sub_groups};
  if (settles) {
    share.light = load_relaxed(settled.sizes);
    share.heavy = load_relaxed(settled.sizes + 1);
  } else {
    at->n_turns++;
    share = share_of(turn, now);
    if (get_local_id(0) == 0) {
      uint worked = share.own + (turn->clears ? share.light + share.heavy : 0u);
      if (worked) fetch_add(turn->state + STATE_WORKED + 32u * (at->pile & 3u), worked);
    }
  }
  return share;
}

INLINE phase_t phase_of(const place_t *at, int settles) {
  phase_t phase = at->phase;
  phase.heavy = settles;
  return phase;
}

/* Every lane calls between arriving and waiting: look up the edges of its first own row.  No other group writes that
 * queue.  The distance may still fall; this only costs extra work (distance_of). */
INLINE void look_ahead(relaxed_t *ahead, const turn_t *turn, frontier_t next, const search_t *on) {
  entry_t own;
  first_own_row(&ahead->lanes.row, &own, turn, next, on->row_offsets);
  ahead->d = distance_of(&ahead->lanes.row, own, on);
  sum_lengths(&ahead->lanes);
  look_up(&ahead->lanes, 0u, on->column_indices);
  weigh(ahead->weights, &ahead->lanes.edges, on);
}

/* Every work-item calls behind the barrier of the turn: choose what the next turn does.  Returns 0 after a time-out.
 * All see the same sum of flags and the same sizes, so all choose alike. */
INLINE int choose_mode(place_t *at, turn_t turn, frontier_t next) {
  if (at->mode == NEAR) {
    at->mode = turn.told ? NEAR : SYNC;
  } else {
    if (!turn.told) return 0;
    int some = turn.told / HAS_OWN % 1024u != 0u || load_relaxed(next.sizes) || load_relaxed(next.sizes + 1);
    at->mode = some ? NEAR : LIGHT_FIRST && at->mode == SYNC ? SETTLED : PILE;
  }
  return 1;
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
  const search_t on = {row_offsets, column_indices, edge_weights, distances};
  const storage_t in = {{queues, sizes, &flags, light, heavy, light_capacity, heavy_capacity, state}, &unused,
                        settled_light, settled_heavy, settled_in, listed_in, {piles, HELD ? far : 0}, near};
  place_t at = place_of(progress, limit);
  turn_t turn = first_turn((uint)progress[PROGRESS_TURN], member, members, &sum, state);
  const uint begun = turn.number;
  relaxed_t ahead;               /* the first own rows; their edges are loaded while the group waits at the barrier */
  int overflow = 0;
  ahead.d = FAR_AWAY;
  for (;; turn.number++) {
    begin_turn(&turn);
    const frontier_t now = frontier_of(turn.number, 0u, &in.frontiers), settled = settled_of(at.pile, &in);
    const frontier_t next = next_frontier(turn.number, at.mode, &in);
    const int settles = LIGHT_FIRST && at.mode == SETTLED;
    if ((at.mode == NEAR) | settles) {
      const list_t pile = pile_of(at.pile, n, in.piles, state);
      const share_t share = choose_share(&at, settles, &turn, now, settled);
      expand(share, ahead, phase_of(&at, settles), &on, settles ? settled : now, next, settled, pile, &overflow);
    } else if (at.mode == PILE && !open_bucket(&at, &turn, n, in.piles, &on, next, settled, progress)) {
      break;
    }
    const int stops = ALONE && turn.number - begun == most_turns - 1u;
    close_and_arrive(&turn, stops ? 0u : KEPT_ROWS, at.mode == NEAR ? 0u : LISTED, now, next, row_offsets);
    if (turn.n_own) look_ahead(&ahead, &turn, next, &on);
    await_others(&turn);
    if (!choose_mode(&at, turn, next)) break;
    if (stops) break;
  }
  if (overflow) store_relaxed(state + STATE_OVERFLOW, 1u);
  if (ALONE && get_local_id(0) == 0 && turn.number - begun == most_turns - 1u) state[STATE_ALIVE] = round;
  if (ALONE && get_local_id(0) == 0) keep_place(&at, turn.number + 1u, progress);
}
