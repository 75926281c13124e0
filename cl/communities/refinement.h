/* The phases of refinement, for the work-groups of a place.  refine.cl has the kernels. */
#ifndef CLGRAPH_COMMUNITIES_REFINEMENT_H
#define CLGRAPH_COMMUNITIES_REFINEMENT_H
#include "communities/tables.h"

/* The groups, and the sums of their strengths. */
typedef struct {
  volatile __global int *of;
  volatile __global long *out_sums, *in_sums;
  volatile __global int *sizes;
} groups_t;
typedef struct {
  level_t level;
  long_rows_t long_rows;
  slots_t slots;
  groups_t groups;
  uint seed;
  ulong factor, resolution;
  __global const long *out_strengths, *in_strengths;
  volatile __global const long *out_sums, *in_sums;
  __global const int *labels;
  __global int *targets;
} refined_t;
ALWAYS_INLINE void start_all(const refined_t *r, place_t place) {
  const uint n = r->level.n;
  FOR_EACH_AT(place, v, n) {
    if (v >= n) continue;
    r->groups.of[v] = (int)v;
    r->groups.out_sums[v] = r->out_strengths[v];
    if (DIRECTED) r->groups.in_sums[v] = r->in_strengths[v];
    r->groups.sizes[v] = 1;
  }
}

INLINE int is_head(uint salt, uint v) { return (int)(mixed(salt ^ v) & 1u); }
INLINE int may_join(const refined_t *r, uint v, uint round) {
  return r->groups.of[v] == (int)v && r->groups.sizes[v] == 1 && is_head(salt_of(r->seed, round), v);
}

/* A vertex that may join a group: its strengths times the resolution, and the best group so far. */
typedef struct { ulong out_loss, in_loss; uint salt; choice_t best; } joiner_t;
INLINE joiner_t joiner_of(const refined_t *r, uint v, uint round) {
  joiner_t joiner;
  joiner.out_loss = r->resolution * (ulong)r->out_strengths[v];
  joiner.in_loss = DIRECTED ? r->resolution * (ulong)r->in_strengths[v] : 0ul;
  joiner.salt = salt_of(r->seed, round);
  joiner.best = no_choice();
  return joiner;
}
/* Weigh a group: it may be joined if no vertex leaves it, and if that gains more than 0. */
INLINE void weigh_group(const refined_t *r, joiner_t *joiner, part_t part) {
  const int c = part.group;
  if (c == NOBODY || (r->groups.sizes[c] == 1 && is_head(joiner->salt, (uint)c))) return;
  choice_t other;
  const long out_sum = r->groups.out_sums[c], in_sum = DIRECTED ? r->groups.in_sums[c] : out_sum;
  other.gain = gain_of(r->factor, part.weight, joiner->out_loss, joiner->in_loss, out_sum, in_sum);
  other.community = c;
  const int gains = other.gain.hi >= 0l && (other.gain.hi || other.gain.lo);
  if (gains && is_better(other, joiner->best, joiner->salt)) joiner->best = other;
}
/* Returns whether the weight from v to its community is at least the expected one. */
INLINE int is_connected(const refined_t *r, uint v, const joiner_t *joiner, long inside) {
  const int community = r->labels[v];
  const long out_sum = r->out_sums[community] - r->out_strengths[v];
  const long in_sum = DIRECTED ? r->in_sums[community] - r->in_strengths[v] : out_sum;
  return gain_of(r->factor, inside, joiner->out_loss, joiner->in_loss, out_sum, in_sum).hi >= 0l;
}

/* A lane chooses for a vertex of a short row. */
INLINE void choose_alone(const refined_t *r, uint v, uint round) {
  joiner_t joiner = joiner_of(r, v, round);
  short_row_t row;
  long inside = 0l;
  const int begin = r->level.row_offsets[v], degree = r->level.row_offsets[v + 1u] - begin, community = r->labels[v];
#pragma unroll
  for (uint i = 0u; i < LANE_ROW; i++) {
    row.groups[i] = NOBODY;
    row.weights[i] = 0l;
    if ((int)i >= degree) continue;
    const int e = begin + (int)i, u = r->level.columns[e];
    if (u == (int)v || r->labels[u] != community) continue;
    row.groups[i] = r->groups.of[u];
    row.weights[i] = weight_of(&r->level, e);
    inside += row.weights[i];
  }
  if (is_connected(r, v, &joiner, inside)) {
    merge_groups(&row);
#pragma unroll
    for (uint i = 0u; i < LANE_ROW; i++) {
      const part_t part = {row.groups[i], row.weights[i]};
      weigh_group(r, &joiner, part);
    }
  }
  r->targets[v] = joiner.best.community;
}

/* A team chooses for a vertex. */
INLINE void choose_together(int by_group, const refined_t *r, uint v, uint slot_begin, uint round, place_t place,
                            __local scratch_t *scratch) {
  joiner_t joiner = joiner_of(r, v, round);
  table_t table = table_of_row(by_group, v, slot_begin, &r->level, &r->slots, place, scratch);
  const uint lane = lane_of_team(by_group), lanes = lanes_of_team(by_group);
  const int community = r->labels[v];
  long inside = 0l;
  FOR_EACH_FOUR(e, r->level.row_offsets[v] + (int)lane, r->level.row_offsets[v + 1u], (int)lanes) {
    int u[4], is_inside[4];
    FOUR_TIMES(i) {
      const int at = FOURTH(e, i, (int)lanes);
      u[i] = at < end_ ? r->level.columns[at] : (int)v;
      is_inside[i] = u[i] != (int)v && r->labels[u[i]] == community;
    }
    FOUR_TIMES(i) {
      if (!is_inside[i]) continue;
      const long weight = weight_of(&r->level, FOURTH(e, i, (int)lanes));
      add(&table, r->groups.of[u[i]], weight);
      inside += weight;
    }
  }
  meet(by_group);
  inside = sum_of_team(by_group, inside, scratch);
  const int connected = is_connected(r, v, &joiner, inside);
  const uint room = room_of(&table);
  for (uint k = lane; k < room; k += lanes) {
    const part_t part = take(&table, k);  /* This also empties slots in global memory. */
    if (connected) weigh_group(r, &joiner, part);
  }
  joiner.best = best_of_team(by_group, joiner.best, joiner.salt, scratch);
  if (lane == 0) r->targets[v] = joiner.best.community;
  meet(by_group);
}

ALWAYS_INLINE void choose_all(const refined_t *r, uint round, place_t place, __local scratch_t *scratch) {
  const uint n = r->level.n;
  FOR_EACH_AT(place, v, n) {
    const uint degree = v < n ? degree_of(&r->level, v) : 0u;
    const int joining = v < n && degree <= LONG_ROW && may_join(r, v, round);
    if (v < n && degree <= LONG_ROW) r->targets[v] = NOBODY;
    if (joining && degree <= LANE_ROW) choose_alone(r, v, round);
    FOR_EACH_MIDDLE_ROW(w, v, joining ? degree : 0u) choose_together(0, r, w, 0u, round, place, scratch);
  }
  FOR_EACH_LONG_ROW_OF(r->long_rows, i, v, place) {
    if (get_local_id(0) == 0) r->targets[v] = NOBODY;
    if (may_join(r, v, round)) choose_together(1, r, v, r->long_rows.slot_begins[i], round, place, scratch);
  }
}

ALWAYS_INLINE void join_all(const refined_t *r, place_t place) {
  const uint n = r->level.n;
  FOR_EACH_AT(place, v, n) {
    if (v >= n || r->targets[v] == NOBODY) continue;
    const int to = r->targets[v];
    const long out = r->out_strengths[v];
    r->groups.of[v] = to;
    fetch_add(r->groups.out_sums + to, out);
    if (DIRECTED) fetch_add(r->groups.in_sums + to, r->in_strengths[v]);
    fetch_add(r->groups.sizes + to, 1);
    r->groups.out_sums[v] = 0l;  /* No vertex joins a group whose only vertex leaves. */
    if (DIRECTED) r->groups.in_sums[v] = 0l;
    r->groups.sizes[v] = 0;
  }
}
#endif
