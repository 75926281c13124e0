/* Moving vertices: a round moves about half of the active vertices of a level to the communities where they gain most.
 *
 *   clear_level        a lane a vertex: empties its community, and makes the vertex active
 *   fill_level         a lane a vertex: adds its strengths to its community
 *   measure_rows       a sub-group a vertex: adds its weight inside communities to the state
 *   list_long_rows     a lane a vertex: lists it if its row is long
 *   decide             A team a vertex.  A hash of vertex and round says whether the vertex takes part.  It looks at the
 *                      communities of its neighbours, and writes the best one if that is better than its own.
 *   apply_moves        a lane a vertex: moves it, and changes the sums of both communities
 *   measure_moves      a sub-group a moved vertex: adds the change of the weight inside communities to the state, and makes
 *                      neighbours in other communities active
 *   measure_communities  a lane a community: adds its product of strengths to the state
 *   undo_moves         a lane a vertex: takes its last move back
 *
 * A vertex decides by the communities at the beginning of the round, and half of the vertices keep still, so two neighbours
 * rarely swap places.  A vertex alone in its community joins another such vertex only if that has the lower number.  The
 * host undoes a round that lowers the quality, which is an exact integer.
 *
 * Races: lanes of a sub-group share a table, see row_table.h.  Sums change by atomic additions, so their order does not
 * matter.  All writers of an active word write 1.  Everything else that a launch reads was written by an earlier launch,
 * or by the same lane.
 *
 * After V. Blondel et al., "Fast unfolding of communities in large networks", J. Stat. Mech. 2008; V. Traag, L. Waltman,
 * N. van Eck, "From Louvain to Leiden", Scientific Reports 9, 2019; H. Lu, M. Halappanavar, A. Kalyanaraman, "Parallel
 * heuristics for scalable community detection", Parallel Computing 47, 2015.
 */
#include "communities/rows.h"

#define SUMS_PARAMETERS volatile __global long *out_sums, volatile __global long *in_sums, volatile __global int *sizes

KERNEL clear_level(uint n, SUMS_PARAMETERS, __global int *active) {
  FOR_EACH_OF_LANE(v, n) {
    if (v >= n) continue;
    out_sums[v] = 0l;
    if (DIRECTED) in_sums[v] = 0l;
    sizes[v] = 0;
    active[v] = 1;
  }
}

/* Move a vertex of strengths out and in to, or with sign -1 from, community c. */
INLINE void add_to(int c, int sign, long out, long in, SUMS_PARAMETERS) {
  fetch_add(out_sums + c, sign * out);
  if (DIRECTED) fetch_add(in_sums + c, sign * in);
  fetch_add(sizes + c, sign);
}

KERNEL fill_level(uint n, __global const int *labels, __global const long *out_strengths,
                  __global const long *in_strengths, SUMS_PARAMETERS) {
  FOR_EACH_OF_LANE(v, n) {
    if (v < n) add_to(labels[v], 1, out_strengths[v], in_strengths[v], out_sums, in_sums, sizes);
  }
}

KERNEL measure_rows(LEVEL_PARAMETERS, uint round, __global const int *labels, volatile __global long *state) {
  long inside = 0l;
  FOR_EACH_OF_SUB_GROUP(v, n) {
    const int own = labels[v];
    for (int e = row_offsets[v] + (int)sg_lane(); e < row_offsets[v + 1u]; e += SUB_GROUP_SIZE) {
      const int u = column_indices[e];
      if (labels[u] == own) inside += (u == (int)v ? LOOP_FACTOR : 1) * weight_of(is_unit, entry_weights, e);
    }
  }
  inside = sg_sum(inside);
  if (sg_lane() == 0 && inside) fetch_add(state + round * ROUND_WORDS + ROUND_WEIGHT, inside);
}

/* List the rows of more than long_row entries. */
KERNEL list_long_rows(uint n, uint long_row, __global const int *row_offsets, __global int *long_rows,
                      volatile __global uint *n_long_rows) {
  FOR_EACH_OF_LANE(v, n) {
    if (v < n && (uint)(row_offsets[v + 1u] - row_offsets[v]) > long_row)
      long_rows[fetch_add(n_long_rows, 1u)] = (int)v;
  }
}

INLINE table_t table_of_row(LEVEL_PARAMETERS, uint v, uint row_room, __global const int *labels,
                            volatile __global int *keys, volatile __global long *weights) {
  const table_t table = empty_table(row_offsets, v, row_room, keys, weights);
  for (int e = row_offsets[v] + (int)TEAM_LANE; e < row_offsets[v + 1u]; e += TEAM) {
    const int u = column_indices[e];
    if (u != (int)v) insert(table.keys, table.weights, table.room, labels[u], weight_of(is_unit, entry_weights, e));
  }
  team_sync();
  return table;
}

#define SUMS_READ __global const long *out_sums, __global const long *in_sums, __global const int *sizes
/* The community of a vertex, and its strengths times the resolution. */
typedef struct { int own, is_alone; ulong out_loss, in_loss; } mover_t;

/* Replace *best if the community of a part gives a greater gain.  Returns the weight to the vertex's own community. */
INLINE long weigh(mover_t m, part_t part, uint seed, uint round, ulong factor, SUMS_READ, choice_t *best) {
  const int c = part.group;
  if (c == m.own) return part.weight;
  if (c == NOBODY || (m.is_alone && c > m.own && sizes[c] == 1)) return 0l;
  const choice_t other = {gain_of(factor, part.weight, m.out_loss, m.in_loss, out_sums[c], in_sums[c]),
                          round_hash(seed, round, ~(uint)c), c};
  if (is_better(other, *best)) *best = other;
  return 0l;
}

KERNEL decide(LEVEL_PARAMETERS, LONG_ROWS_PARAMETERS, uint row_room, uint round, uint seed, uint rarity, ulong factor,
              ulong resolution, __global const long *out_strengths, __global const long *in_strengths, SUMS_READ,
              __global const int *labels, __global int *active, __global int *targets, volatile __global int *keys,
              volatile __global long *weights) {
  TEAM_SCRATCH
  CHOICE_SCRATCH
  FOR_EACH_OF_TEAM(v, n, row_offsets) {
    const int takes_part = active[v] && (round_hash(seed, round, v) & rarity) == 0u;
    team_sync();                 /* lanes have read the active word that lane 0 clears */
    if (TEAM_LANE == 0) {
      targets[v] = NOBODY;
      if (takes_part) active[v] = 0;
    }
    if (!takes_part) continue;
    const long out = out_strengths[v], in = in_strengths[v];
    const int own = labels[v];
    const mover_t mover = {own, sizes[own] == 1, resolution * (ulong)out, resolution * (ulong)in};
    choice_t best = {{0l, 0ul}, 0u, NOBODY};
    long to_own = 0l;
    const uint begin = (uint)row_offsets[v], degree = (uint)row_offsets[v + 1u] - begin;
    if (IN_REGISTERS && degree <= SUB_GROUP_SIZE) {
      const int e = (int)(begin + min(sg_lane(), max(degree, 1u) - 1u)), u = degree ? column_indices[e] : (int)v;
      const int has_entry = sg_lane() < degree && u != (int)v;
      const part_t part = part_of_lane(has_entry ? labels[u] : NOBODY, has_entry ? weight_of(is_unit, entry_weights, e) : 0l,
                                       degree);
      to_own = weigh(mover, part, seed, round, factor, out_sums, in_sums, sizes, &best);
    } else {
      const table_t table = table_of_row(n, is_unit, row_offsets, column_indices, entry_weights, v, row_room, labels, keys,
                                         weights);
      for (uint k = TEAM_LANE; k < table.room; k += TEAM) {
        const part_t part = {load_relaxed(table.keys + k), load_relaxed(table.weights + k)};
        to_own += weigh(mover, part, seed, round, factor, out_sums, in_sums, sizes, &best);
      }
    }
    best = best_of_team(best);
    to_own = team_sum(to_own);
    const wide_t stay =
        gain_of(factor, to_own, mover.out_loss, mover.in_loss, out_sums[own] - out, in_sums[own] - in);
    if (TEAM_LANE == 0 && best.community >= 0 && is_greater(best.gain, stay)) targets[v] = best.community;
    team_sync();
  }
}

KERNEL apply_moves(uint n, uint round, __global const int *targets, __global const long *out_strengths,
                   __global const long *in_strengths, SUMS_PARAMETERS, __global int *labels, __global int *previous,
                   volatile __global long *state) {
  long moved = 0l;
  FOR_EACH_OF_LANE(v, n) {
    if (v >= n || targets[v] == NOBODY) continue;
    previous[v] = labels[v];
    labels[v] = targets[v];
    add_to(previous[v], -1, out_strengths[v], in_strengths[v], out_sums, in_sums, sizes);
    add_to(targets[v], 1, out_strengths[v], in_strengths[v], out_sums, in_sums, sizes);
    moved++;
  }
  moved = sg_sum(moved);
  if (sg_lane() == 0 && moved) fetch_add(state + round * ROUND_WORDS + ROUND_MOVED, moved);
}

KERNEL measure_moves(LEVEL_PARAMETERS, uint round, __global const int *labels, __global const int *previous,
                     __global const int *targets, volatile __global int *active, volatile __global long *state) {
  long change = 0l;
  FOR_EACH_OF_SUB_GROUP(v, n) {
    if (targets[v] == NOBODY) continue;
    const int own = labels[v], before = previous[v];
    for (int e = row_offsets[v] + (int)sg_lane(); e < row_offsets[v + 1u]; e += SUB_GROUP_SIZE) {
      const int u = column_indices[e];
      if (u == (int)v) continue;
      const int its_own = labels[u], has_moved = targets[u] != NOBODY, its_before = has_moved ? previous[u] : its_own;
      /* Each edge has two entries.  If the other end has not moved, its row is not visited. */
      const int times = (has_moved ? 1 : 2) * ((own == its_own) - (before == its_before));
      change += times * weight_of(is_unit, entry_weights, e);
      if (its_own != own) store_relaxed(active + u, 1);
    }
  }
  change = sg_sum(change);
  if (sg_lane() == 0 && change) fetch_add(state + round * ROUND_WORDS + ROUND_WEIGHT, change);
}

KERNEL measure_communities(uint n, uint round, __global const long *out_sums, __global const long *in_sums,
                           __global const int *active, volatile __global long *state) {
  long high = 0l, middle = 0l, low = 0l, is_active = 0l;
  FOR_EACH_OF_LANE(c, n) {
    if (c >= n) continue;
    is_active += active[c];
    const long a = out_sums[c], b = in_sums[c];
    if (!a && !b) continue;
    high += (a >> 20) * (b >> 20);
    middle += (a >> 20) * (b & 0xfffff) + (b >> 20) * (a & 0xfffff);
    low += (a & 0xfffff) * (b & 0xfffff);
  }
  high = sg_sum(high);
  middle = sg_sum(middle);
  low = sg_sum(low);
  is_active = sg_sum(is_active);
  if (sg_lane() != 0) return;
  volatile __global long *words = state + round * ROUND_WORDS;
  fetch_add(words + ROUND_HIGH, high);
  fetch_add(words + ROUND_MIDDLE, middle);
  fetch_add(words + ROUND_LOW, low);
  fetch_add(words + ROUND_ACTIVE, is_active);
}

KERNEL undo_moves(uint n, __global const int *targets, __global const int *previous, __global const long *out_strengths,
                  __global const long *in_strengths, SUMS_PARAMETERS, __global int *labels, __global int *active) {
  FOR_EACH_OF_LANE(v, n) {
    if (v >= n || targets[v] == NOBODY) continue;
    add_to(targets[v], -1, out_strengths[v], in_strengths[v], out_sums, in_sums, sizes);
    add_to(previous[v], 1, out_strengths[v], in_strengths[v], out_sums, in_sums, sizes);
    labels[v] = previous[v];
    active[v] = 1;
  }
}
