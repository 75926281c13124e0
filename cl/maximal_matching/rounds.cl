/* A maximal matching of locally dominant edges, round after round.
 *
 * A vertex chooses its best edge to a neighbour without a mate (edges.h).  Two vertices that choose each other become mates.
 * A vertex whose choice has found another mate chooses again.  So the matching is the one that a sequential greedy
 * algorithm makes, which takes the edges in their order, whatever the timing.
 *
 *   choices[v]  the neighbour that v has chosen, NOBODY at first, NOTHING_LEFT in the end if v stays single
 *   mates[v]    the mate of v, or NOBODY; the vertex writes its own
 *   lists       two lists of n vertices that are undecided: a round reads one and writes the other
 *   mate_weights[v]  the weight of the edge to the choice of v
 *   long_rows   the vertices with more than LONG_ROW entries, whose choices work-groups make
 *   state       words below
 *
 * A lane takes a vertex.  Teams of TEAM lanes go along the rows of the vertices that choose.
 *
 * Races: choices and mates are read while others write them.  While v has no mate, c keeps its choice of v, so v may
 * trust any value of choices[c] that is v.  Then mates[v] is c, which tells c that its choice is not taken by another: a
 * look at choices[v] could find an older value.  A mate that is not seen yet only delays a decision.
 *
 * After F. Manne, R. Bisseling, "A parallel approximation algorithm for the weighted maximum matching problem", PPAM 2007.
 */
#include "common/shares.h"
#include "common/worklist.h"
#include "maximal_matching/edges.h"

#ifndef TEAM                     /* lanes of a team: a power of two, at most the sub-group size */
#define TEAM 1u
#endif
#ifndef TRIES                    /* tries of a vertex in a round */
#define TRIES 1
#endif
#ifndef LONG_ROW                 /* entries of a row; 0: no row is long */
#define LONG_ROW 0
#endif
#define TEAMS (SUB_GROUP_SIZE / TEAM)  /* teams of a sub-group */

#define STATE_LISTED 0           /* three slots that take turns: lengths of lists; one is read, one counts, one is reset */
#define STATE_LONG 3             /* number of long rows */
#define STATE_MATCHED 4          /* number of edges of the matching */
#define STATE_ROUNDS 5           /* number of rounds that had vertices to try */
#define STATE_WORDS 6

INLINE int is_long(int v, graph_t on) { return LONG_ROW && on.row_offsets[v + 1] - on.row_offsets[v] > LONG_ROW; }

KERNEL start(int n, __global const offset_t *restrict row_offsets, __global int *restrict mates,
             __global int *restrict choices, __global uint *restrict state) {
  for (uint i = get_global_id(0); i < STATE_WORDS; i += get_global_size(0)) state[i] = i == STATE_LISTED ? (uint)n : 0u;
  const share_t share = share_of((uint)n);
  for (uint v = share.first + sg_lane(); v < share.end; v += share.step) {
    mates[v] = NOBODY;
    choices[v] = row_offsets[v + 1] > row_offsets[v] ? NOBODY : NOTHING_LEFT;
  }
}

KERNEL list_long_rows(int n, __global const offset_t *restrict row_offsets, __global int *restrict long_rows,
                      volatile __global uint *state) {
  const int v = get_global_id(0), wanted = v < n && row_offsets[min(v, n - 1) + 1] - row_offsets[min(v, n - 1)] > LONG_ROW;
  const uint slot = push_sub_group(state + STATE_LONG, wanted);
  if (wanted) long_rows[slot] = v;
}

/* Returns 1 if v has to choose (again).  choice: its choice so far. */
INLINE int must_choose(int v, int choice, graph_t on) {
  if (choice < 0) return choice == NOBODY;
  const int mate = load_relaxed(on.mates + choice);
  return mate != NOBODY && mate != v;
}

/* Write the choice of v, and the weight of the edge to it. */
INLINE void write_choice(int v, edge_t best, volatile __global int *choices, __global weight_t *mate_weights) {
  store_relaxed(choices + v, best.u);
  if (WEIGHT_KIND != WEIGHT_NONE) mate_weights[v] = bits_of(best.weight);
}

KERNEL choose_long(uint round, uint key, __global const offset_t *row_offsets, __global const int *column_indices,
                   __global const weight_t *edge_weights, __global const int *restrict long_rows,
                   volatile __global int *mates, volatile __global int *choices, __global weight_t *mate_weights,
                   __global const uint *restrict state) {
  LOCAL_ARRAY edge_t best_of[SUB_GROUPS_PER_GROUP];
  LOCAL_ARRAY int wanted;
  const graph_t on = {row_offsets, column_indices, edge_weights, mates, key};
  const uint n_long = state[STATE_LISTED + round % 3u] ? state[STATE_LONG] : 0u;
  for (uint i = get_group_id(0); i < n_long; i += get_num_groups(0)) {
    const int v = long_rows[i];
    if (get_local_id(0) == 0)
      wanted = load_relaxed(mates + v) == NOBODY && must_choose(v, load_relaxed(choices + v), on);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (wanted) {
      const edge_t best = best_of_lanes(best_edge(v, get_local_id(0), WG_SIZE, round == 0u, on), SUB_GROUP_SIZE);
      if (sg_lane() == 0u) best_of[sg_in_group()] = best;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (wanted && get_local_id(0) == 0) {
      edge_t best = best_of[0];
      for (uint k = 1u; k < SUB_GROUPS_PER_GROUP; k++)
        if (is_better(best_of[k], best)) best = best_of[k];
      write_choice(v, best, choices, mate_weights);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

/* Returns the best edge of the lane's vertex v, for each lane that chooses.  Each team goes along the row of one of these
 * vertices at a time.  Every lane calls. */
INLINE edge_t best_of_rows(int v, int chooses, int is_fresh, graph_t on) {
  edge_t best = {0u, 0u, NOTHING_LEFT};
  for (lane_mask_t left = sg_ballot(chooses); left;) {
    const uint team = sg_lane() / TEAM;
    lane_mask_t rest = left;
    for (uint i = 0u; i < team; i++) rest &= rest - 1u;
    const int u = sg_broadcast(v, rest ? lowest_lane(rest) : 0u);
    edge_t found = {0u, 0u, NOTHING_LEFT};
    if (rest) found = best_edge(u, sg_lane() % TEAM, TEAM, is_fresh, on);
    found = best_of_lanes(found, TEAM);
    const uint before = lane_count(left & lanes_below_mask()), from = before < TEAMS ? before * TEAM : 0u;
    const edge_t mine = {sg_broadcast(found.weight, from), sg_broadcast(found.hash, from), sg_broadcast(found.u, from)};
    if (before < TEAMS && (left >> sg_lane() & 1u)) best = mine;
    for (uint i = 0u; i < TEAMS; i++) left &= left - 1u;
  }
  return best;
}

/* Let the vertex of each lane that is open choose if it has to, and make it the mate of its choice if that has chosen it.
 * Every lane calls.  Returns 1 if the vertex is still open. */
INLINE int try_vertex(int v, int is_open, int is_fresh, volatile __global int *choices,
                      __global weight_t *mate_weights, graph_t on) {
  int choice = is_open ? load_relaxed(choices + v) : NOTHING_LEFT;
  const int chooses = is_open && must_choose(v, choice, on) && !is_long(v, on);
  const edge_t best = best_of_rows(v, chooses, is_fresh, on);
  if (chooses) {
    choice = best.u;
    write_choice(v, best, choices, mate_weights);
  }
  if (choice < 0) return is_open && choice == NOBODY;
  if (load_relaxed(choices + choice) != v) return 1;
  store_relaxed(on.mates + v, choice);
  return 0;
}

/* Try the undecided vertices, in the first round all, and list each that stays undecided. */
KERNEL run_round(int n, uint round, uint key, __global const offset_t *row_offsets, __global const int *column_indices,
                 __global const weight_t *edge_weights, volatile __global int *mates, volatile __global int *choices,
                 __global weight_t *mate_weights, __global int *lists, volatile __global uint *state) {
  const graph_t on = {row_offsets, column_indices, edge_weights, mates, key};
  const uint size = load_relaxed(state + STATE_LISTED + round % 3u);
  __global const int *list = lists + (round % 2u) * (size_t)n;
  __global int *next_list = lists + ((round + 1u) % 2u) * (size_t)n;
  if (get_global_id(0) == 0) {
    store_relaxed(state + STATE_LISTED + (round + 2u) % 3u, 0u);
    if (size) store_relaxed(state + STATE_ROUNDS, round + 1u);
  }
  const list_share_t share = share_of_list(size, get_group_id(0), get_num_groups(0));
  for (uint i = share.first; i < share.end; i += share.step) {
    const uint item = i + sg_lane() * share.stride;
    int v = (int)item, is_open = item < share.end;
    if (round && is_open) v = list[item];
    for (int k = 0; k < TRIES && sg_any(is_open); k++)
      is_open = try_vertex(v, is_open, round == 0u && k == 0, choices, mate_weights, on);
    const uint slot = push_sub_group(state + STATE_LISTED + (round + 1u) % 3u, is_open);
    if (is_open) next_list[slot] = v;
  }
}

/* Count the edges of the matching, and keep the weight of each at its end of the lower number only. */
KERNEL weigh(int n, __global const int *restrict mates, __global weight_t *restrict mate_weights,
             volatile __global uint *state) {
  const share_t share = share_of((uint)n);
  uint count = 0u;
  for (uint v = share.first + sg_lane(); v < share.end; v += share.step) {
    const int is_first = mates[v] > (int)v;
    count += (uint)is_first;
    if (WEIGHT_KIND != WEIGHT_NONE && !is_first) mate_weights[v] = 0u;
  }
  count = sg_sum(count);
  if (sg_lane() == 0u && count) fetch_add(state + STATE_MATCHED, count);
}
