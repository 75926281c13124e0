/* Refinement: divides each community of a level into connected groups, which become the vertices of the next level.
 *
 *   start_refinement  a lane a vertex: makes it a group
 *   choose_group      A team a vertex that is alone.  A coin of vertex and round says whether it may join a group.  It
 *                     looks at the groups of its neighbours in its own community, and writes the one where it gains most,
 *                     if it gains at all.
 *   join_groups       a lane a vertex: joins it to its choice
 *
 * A vertex joins only a group that no vertex leaves in the same round: one with several members, since only single
 * vertices join others, or a single vertex whose coin says that it stays.  So a group is connected: each member had a
 * neighbour in it when it joined.  As in Leiden, a vertex takes part only if it is well connected to its community.
 *
 * Races: as in move.cl.
 *
 * After V. Traag, L. Waltman, N. van Eck, "From Louvain to Leiden", Scientific Reports 9, 2019.
 */
#include "communities/rows.h"

#define GROUPS_PARAMETERS volatile __global int *groups, volatile __global long *out_group_sums, \
                          volatile __global long *in_group_sums, volatile __global int *group_sizes

KERNEL start_refinement(uint n, __global const long *out_strengths, __global const long *in_strengths, GROUPS_PARAMETERS) {
  FOR_EACH_OF_LANE(v, n) {
    if (v >= n) continue;
    groups[v] = (int)v;
    out_group_sums[v] = out_strengths[v];
    if (DIRECTED) in_group_sums[v] = in_strengths[v];
    group_sizes[v] = 1;
  }
}

INLINE int joins(uint seed, uint round, uint v) { return (int)(round_hash(seed, round, v) & 1u); }

/* Replace *best if the group of a part may be joined, and gives a greater gain above 0. */
INLINE void weigh_group(part_t part, ulong out_loss, ulong in_loss, uint seed, uint round, ulong factor,
                        __global const long *out_group_sums, __global const long *in_group_sums,
                        __global const int *group_sizes, choice_t *best) {
  const int c = part.group;
  if (c == NOBODY || (group_sizes[c] == 1 && joins(seed, round, (uint)c))) return;
  const choice_t other = {gain_of(factor, part.weight, out_loss, in_loss, out_group_sums[c], in_group_sums[c]),
                          round_hash(seed, round, ~(uint)c), c};
  if (other.gain.hi >= 0l && (other.gain.hi || other.gain.lo) && is_better(other, *best)) *best = other;
}

KERNEL choose_group(LEVEL_PARAMETERS, LONG_ROWS_PARAMETERS, uint row_room, uint round, uint seed, ulong factor,
                    ulong resolution, __global const long *out_strengths, __global const long *in_strengths,
                    __global const long *out_sums, __global const long *in_sums, __global const int *labels,
                    __global const int *groups, __global const long *out_group_sums, __global const long *in_group_sums,
                    __global const int *group_sizes, __global int *targets, volatile __global int *keys,
                    volatile __global long *weights) {
  TEAM_SCRATCH
  CHOICE_SCRATCH
  FOR_EACH_OF_TEAM(v, n, row_offsets) {
    if (TEAM_LANE == 0) targets[v] = NOBODY;
    if (groups[v] != (int)v || group_sizes[v] != 1 || !joins(seed, round, v)) continue;
    const uint begin = (uint)row_offsets[v], degree = (uint)row_offsets[v + 1u] - begin;
    const int community = labels[v], is_short = IN_REGISTERS && degree <= SUB_GROUP_SIZE;
    table_t table = {keys, weights, 0u};
    part_t part = {NOBODY, 0l};
    long inside = 0l;
    if (!is_short) table = empty_table(row_offsets, v, row_room, keys, weights);
    for (uint k = TEAM_LANE; k < degree; k += TEAM) {
      const int e = (int)(begin + k), u = column_indices[e];
      if (u == (int)v || labels[u] != community) continue;
      part.weight = weight_of(is_unit, entry_weights, e);
      part.group = groups[u];
      inside += part.weight;
      if (!is_short) insert(table.keys, table.weights, table.room, part.group, part.weight);
    }
    team_sync();
    inside = team_sum(inside);
    const long out = out_strengths[v], in = in_strengths[v];
    const ulong out_loss = resolution * (ulong)out, in_loss = resolution * (ulong)in;
    const wide_t connected = gain_of(factor, inside, out_loss, in_loss, out_sums[community] - out, in_sums[community] - in);
    choice_t best = {{0l, 0ul}, 0u, NOBODY};
    if (is_short) part = part_of_lane(part.group, part.weight, degree);
    for (uint k = is_short ? 0u : TEAM_LANE; k < (is_short ? 1u : table.room) && connected.hi >= 0l; k += TEAM) {
      if (!is_short) {
        part.group = load_relaxed(table.keys + k);
        part.weight = load_relaxed(table.weights + k);
      }
      weigh_group(part, out_loss, in_loss, seed, round, factor, out_group_sums, in_group_sums, group_sizes, &best);
    }
    best = best_of_team(best);
    if (TEAM_LANE == 0) targets[v] = best.community;
    team_sync();
  }
}

KERNEL join_groups(uint n, __global const int *targets, __global const long *out_strengths,
                   __global const long *in_strengths, GROUPS_PARAMETERS) {
  FOR_EACH_OF_LANE(v, n) {
    if (v >= n || targets[v] == NOBODY) continue;
    const int to = targets[v];
    groups[v] = to;
    fetch_add(out_group_sums + to, out_strengths[v]);
    if (DIRECTED) fetch_add(in_group_sums + to, in_strengths[v]);
    fetch_add(group_sizes + to, 1);
    fetch_add(group_sizes + v, -1);
    fetch_add(out_group_sums + v, -out_strengths[v]);
    if (DIRECTED) fetch_add(in_group_sums + v, -in_strengths[v]);
  }
}
