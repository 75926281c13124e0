/* The phases of a round that moves vertices, and the comparison of its quality.  move.cl has the kernels. */
#ifndef CLGRAPH_COMMUNITIES_ROUNDS_H
#define CLGRAPH_COMMUNITIES_ROUNDS_H
#include "communities/hubs.h"

/* A lane decides for a vertex of a short row. */
INLINE void decide_alone(const moved_t *m, uint v, uint round) {
  mover_t mover = mover_of(m, v, round);
  short_row_t row;
  const int begin = m->level.row_offsets[v], degree = m->level.row_offsets[v + 1u] - begin;
#pragma unroll
  for (uint i = 0u; i < LANE_ROW; i++) {
    row.groups[i] = NOBODY;
    row.weights[i] = 0l;
    if ((int)i >= degree) continue;
    const int e = begin + (int)i, u = m->level.columns[e], c = m->labels[u];
    if (u == (int)v) continue;
    row.weights[i] = weight_of(&m->level, e);
    if (c == mover.own) mover.to_own += row.weights[i];
    else row.groups[i] = c;
  }
  merge_groups(&row);
#pragma unroll
  for (uint i = 0u; i < LANE_ROW; i++) {
    const part_t part = {row.groups[i], row.weights[i]};
    weigh(m, &mover, part);
  }
  write_target(m, v, &mover);
}

/* A team decides for a vertex. */
INLINE void decide_together(int by_group, const moved_t *m, uint v, uint round, place_t place, __local scratch_t *scratch) {
  mover_t mover = mover_of(m, v, round);
  table_t table = table_of_row(by_group, v, 0u, &m->level, &m->slots, place, scratch);
  const uint lane = lane_of_team(by_group), lanes = lanes_of_team(by_group);
  FOR_EACH_FOUR(e, m->level.row_offsets[v] + (int)lane, m->level.row_offsets[v + 1u], (int)lanes) {
    int c[4];
    long weight[4];
    FOUR_TIMES(i) {
      const int at = FOURTH(e, i, (int)lanes), is_entry = at < end_, u = is_entry ? m->level.columns[at] : (int)v;
      c[i] = u == (int)v ? NOBODY : m->labels[u];
      weight[i] = is_entry ? weight_of(&m->level, at) : 0l;
    }
    FOUR_TIMES(i) {
      if (c[i] == mover.own) mover.to_own += weight[i];
      else if (c[i] != NOBODY) add(&table, c[i], weight[i]);
    }
  }
  meet(by_group);
  const uint room = room_of(&table);
  for (uint k = lane; k < room; k += lanes) weigh(m, &mover, take(&table, k));
  mover.best = best_of_team(by_group, mover.best, mover.salt, scratch);
  mover.to_own = sum_of_team(by_group, mover.to_own, scratch);
  if (lane == 0) write_target(m, v, &mover);
  meet(by_group);
}

ALWAYS_INLINE void decide_all(const moved_t *m, uint round, uint rarity, place_t place, __local scratch_t *scratch) {
  const uint n = m->level.n;
  int waits = 0;                 /* whether an active vertex does not take part */
  FOR_EACH_AT(place, v, n) {
    const uint degree = v < n ? degree_of(&m->level, v) : 0u;
    int moves = 0;
    if (v < n && degree <= LONG_ROW) {
      const int is_active = m->active[v];
      moves = is_active && takes_part(m, v, round, rarity);
      waits |= is_active && !moves;
      if (moves) m->active[v] = 0;
      m->targets[v] = NOBODY;
    }
    if (moves && degree <= LANE_ROW) decide_alone(m, v, round);
    FOR_EACH_MIDDLE_ROW(w, v, moves ? degree : 0u) decide_together(0, m, w, round, place, scratch);
  }
  FOR_EACH_LONG_ROW_OF(m->long_rows, i, v, place) {
    if (degree_of(&m->level, v) > GROUP_SLOTS) continue;  /* a hub */
    const int is_active = m->active[v], moves = is_active && takes_part(m, v, round, rarity);
    meet(1);                     /* lanes have read the active word that lane 0 clears */
    if (get_local_id(0) == 0) {
      m->targets[v] = NOBODY;
      waits |= is_active && !moves;
      if (moves) m->active[v] = 0;
    }
    if (moves) decide_together(1, m, v, round, place, scratch);
  }
#if DIVIDES_ROWS
  insert_all_hubs(m, round, rarity, place, scratch);
#endif
  if (sg_any(waits) && sg_lane() == 0) store_relaxed(m->state + round * ROUND_WORDS + ROUND_ACTIVE, 1l);
}

ALWAYS_INLINE void apply_all(const moved_t *m, uint round, place_t place) {
  const uint n = m->level.n;
  long moved = 0l;
  FOR_EACH_AT(place, v, n) {
    if (v >= n || m->targets[v] == NOBODY) continue;
    const int from = m->labels[v], to = m->targets[v];
    m->previous[v] = from;
    m->labels[v] = to;
    add_to(&m->sums, from, -1, m->out_strengths[v], m->in_strengths[v]);
    add_to(&m->sums, to, 1, m->out_strengths[v], m->in_strengths[v]);
    moved++;
  }
  moved = sg_sum(moved);
  if (sg_lane() == 0 && moved) fetch_add(m->state + round * ROUND_WORDS + ROUND_MOVED, moved);
}

/* The change of the weight inside communities in a round, and whether it made vertices active. */
typedef struct { long weight; int has_active; } change_t;
INLINE void measure_row(const moved_t *m, uint v, uint lane, uint lanes, change_t *change) {
  const int own = m->labels[v], before = m->previous[v];
  FOR_EACH_FOUR(e, m->level.row_offsets[v] + (int)lane, m->level.row_offsets[v + 1u], (int)lanes) {
    int u[4], its_own[4], its_before[4], has_moved[4];
    FOUR_TIMES(i) {
      const int at = FOURTH(e, i, (int)lanes);
      u[i] = at < end_ ? m->level.columns[at] : (int)v;
      its_own[i] = m->labels[u[i]];
      has_moved[i] = m->targets[u[i]] != NOBODY;
    }
    FOUR_TIMES(i) {
      if (u[i] == (int)v) continue;
      its_before[i] = has_moved[i] ? m->previous[u[i]] : its_own[i];
      /* Each edge has two entries.  If the other end has not moved, its row is not visited. */
      const int times = (has_moved[i] ? 1 : 2) * ((own == its_own[i]) - (before == its_before[i]));
      change->weight += times * weight_of(&m->level, FOURTH(e, i, (int)lanes));
      if (its_own[i] != own) {
        store_relaxed(m->active + u[i], 1);
        change->has_active = 1;
      }
    }
  }
}

/* Add the products of the strengths of communities to the words of a round. */
INLINE void add_products(uint n, volatile __global const long *out_sums, volatile __global const long *in_sums,
                         volatile __global long *words, place_t place) {
  long high = 0l, middle = 0l, low = 0l;
  FOR_EACH_AT(place, c, n) {
    if (c >= n) continue;
    const long a = out_sums[c], b = DIRECTED ? in_sums[c] : a;
    if (!a && !b) continue;
    high += (a >> 20) * (b >> 20);
    middle += (a >> 20) * (b & 0xfffff) + (b >> 20) * (a & 0xfffff);
    low += (a & 0xfffff) * (b & 0xfffff);
  }
  high = sg_sum(high);
  middle = sg_sum(middle);
  low = sg_sum(low);
  if (sg_lane() != 0) return;
  if (high) fetch_add(words + ROUND_HIGH, high);
  if (middle) fetch_add(words + ROUND_MIDDLE, middle);
  if (low) fetch_add(words + ROUND_LOW, low);
}

ALWAYS_INLINE void measure_all(const moved_t *m, uint round, place_t place) {
  const uint n = m->level.n;
  volatile __global long *words = m->state + round * ROUND_WORDS;
  change_t change = {0l, 0};
  FOR_EACH_AT(place, v, n) {
    const uint degree = v < n && m->targets[v] != NOBODY ? degree_of(&m->level, v) : 0u;
    if (degree && degree <= LANE_ROW) measure_row(m, v, 0u, 1u, &change);
    FOR_EACH_MIDDLE_ROW(w, v, degree) measure_row(m, w, sg_lane(), SUB_GROUP_SIZE, &change);
  }
  FOR_EACH_LONG_ROW_OF(m->long_rows, i, v, place) {
    if (m->targets[v] != NOBODY) measure_row(m, v, (uint)get_local_id(0), WG_SIZE, &change);
  }
  change.weight = sg_sum(change.weight);
  if (sg_lane() == 0 && change.weight) fetch_add(words + ROUND_WEIGHT, change.weight);
  if (sg_any(change.has_active) && sg_lane() == 0) store_relaxed(words + ROUND_ACTIVE, 1l);
  add_products(n, m->sums.out, m->sums.in, words, place);
}

ALWAYS_INLINE void undo_all(const moved_t *m, place_t place) {
  const uint n = m->level.n;
  FOR_EACH_AT(place, v, n) {
    if (v >= n || m->targets[v] == NOBODY) continue;
    add_to(&m->sums, m->targets[v], -1, m->out_strengths[v], m->in_strengths[v]);
    add_to(&m->sums, m->previous[v], 1, m->out_strengths[v], m->in_strengths[v]);
    m->labels[v] = m->previous[v];
    m->active[v] = 1;
  }
}

/* Words of the array `search`, which holds a level's rounds so far.  Wide integers have two words, the high one first. */
#define SEARCH_ROUND 0           /* number of the next round; after the last one, of that */
#define SEARCH_DONE 1
#define SEARCH_UNDONE 2          /* 1 if the last round is undone */
#define SEARCH_RARITY 3          /* a vertex takes part in a round if its hash has none of these bits */
#define SEARCH_MOVED 4           /* moves of vertices so far */
#define SEARCH_INSIDE 5          /* weight inside communities */
#define SEARCH_PRODUCTS 6        /* sum of the products of strengths */
#define SEARCH_GAINS 8           /* quality after the last round but two, the last but one, and the last, as integers */
#define SEARCH_WORDS 14
#define MAX_RARITY 15
typedef struct {
  long round, is_done, is_undone, rarity, moved, inside;
  wide_t products, gains[3];
} search_t;
INLINE wide_t load_wide(volatile __global const long *words) {
  wide_t x;
  x.hi = words[0];
  x.lo = (ulong)words[1];
  return x;
}
INLINE void store_wide(volatile __global long *words, wide_t x) {
  words[0] = x.hi;
  words[1] = (long)x.lo;
}
INLINE search_t load_search(volatile __global const long *words) {
  search_t s;
  s.round = words[SEARCH_ROUND];
  s.is_done = words[SEARCH_DONE];
  s.is_undone = words[SEARCH_UNDONE];
  s.rarity = words[SEARCH_RARITY];
  s.moved = words[SEARCH_MOVED];
  s.inside = words[SEARCH_INSIDE];
  s.products = load_wide(words + SEARCH_PRODUCTS);
  for (int k = 0; k < 3; k++) s.gains[k] = load_wide(words + SEARCH_GAINS + 2 * k);
  return s;
}
INLINE void store_search(volatile __global long *words, const search_t *s) {
  words[SEARCH_ROUND] = s->round;
  words[SEARCH_DONE] = s->is_done;
  words[SEARCH_UNDONE] = s->is_undone;
  words[SEARCH_RARITY] = s->rarity;
  words[SEARCH_MOVED] = s->moved;
  words[SEARCH_INSIDE] = s->inside;
  store_wide(words + SEARCH_PRODUCTS, s->products);
  for (int k = 0; k < 3; k++) store_wide(words + SEARCH_GAINS + 2 * k, s->gains[k]);
}

/* Compare the quality with that before the round.  If it is lower, the round is undone, and the next one takes fewer
 * vertices.  penalty: the factor of the products of strengths. */
INLINE void judge(search_t *s, volatile __global const long *state, ulong factor, ulong penalty, wide_t least,
                  uint min_rounds) {
  volatile __global const long *words = state + s->round * ROUND_WORDS;
  const long inside = s->inside + load_relaxed(words + ROUND_WEIGHT);
  const ulong high = (ulong)load_relaxed(words + ROUND_HIGH), middle = (ulong)load_relaxed(words + ROUND_MIDDLE);
  const wide_t top = {(long)(high >> 24), high << 40}, between = {(long)(middle >> 44), middle << 20},
               bottom = {0l, (ulong)load_relaxed(words + ROUND_LOW)};
  const wide_t products = wide_sum(wide_sum(top, between), bottom);
  wide_t loss = wide_product(penalty, products.lo);
  loss.hi += (long)(penalty * (ulong)products.hi);
  const wide_t gain = wide_difference(wide_product(factor, (ulong)inside), loss);
  s->is_undone = is_greater(s->gains[2], gain);
  s->gains[0] = s->gains[1];
  s->gains[1] = s->gains[2];
  if (s->is_undone) {
    s->rarity = min(2l * s->rarity + 1l, (long)MAX_RARITY);
  } else {
    s->gains[2] = gain;
    s->inside = inside;
    s->products = products;
    s->moved += load_relaxed(words + ROUND_MOVED);
    s->rarity = max(1l, s->rarity >> 1);
    s->is_done = load_relaxed(words + ROUND_ACTIVE) == 0l;
  }
  if (s->round >= (long)min_rounds && !is_greater(wide_difference(s->gains[2], s->gains[0]), least)) s->is_done = 1l;
  if (s->round == MAX_ROUNDS - 1) s->is_done = 1l;
  if (!s->is_done) s->round++;
}
#endif
