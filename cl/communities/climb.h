/* The steps of a climb over all levels, for the members of a persistent kernel.  climb.cl has the kernel. */
#ifndef CLGRAPH_COMMUNITIES_CLIMB_H
#define CLGRAPH_COMMUNITIES_CLIMB_H
#include "common/grid_barrier.h"
#include "primitives/group_scan.h"
#include "communities/contraction.h"
#include "communities/refinement.h"
#include "communities/rounds.h"

#if DIVIDES_ROWS
/* Words of the array `climbed`, and of each level, which follow them. */
#define CLIMBED_LEVELS 0         /* number of levels whose vertices have moved */
#define CLIMBED_LEFT 1           /* 1 if there are coarser levels that did not fit */
#define CLIMBED_N 2              /* vertices and entries of the coarsest level */
#define CLIMBED_M 3
#define CLIMBED_WORDS 4
#define CLIMBED_LEVEL_WORDS 4    /* vertices, entries, rounds, moves */
#define MERGED_STEP 1024         /* The groups of a level begin at a multiple of this, since sub-buffers must be aligned. */
INLINE uint merged_size(uint n) { return (n + (uint)MERGED_STEP - 1u) / (uint)MERGED_STEP * (uint)MERGED_STEP; }

/* The work-groups that have entered, and where they meet. */
typedef struct {
  place_t place;
  volatile __global uint *control;
  __local int *passed;
} grid_t;
#define MEET_ALL if (!grid_barrier(grid->control, grid->place.members, grid->passed)) return 0;

/* A level, and what the phases need for it.  Further levels overwrite its rows. */
typedef struct {
  moved_t moved;
  refined_t refined;
  members_t groups;
  uint n_groups;
  __global int *merged;          /* the group of each vertex */
} climb_t;

/* The arrays of all levels, and those in which the next level is made. */
typedef struct {
  __global int *used, *numbers;
  volatile __global int *members_of, *entries_of, *counts;
  __global int *members, *member_begins, *slot_begins;
  group_lists_t lists;
  __global int *offsets, *columns;
  __global long *weights, *out_strengths, *in_strengths;
  __global int *labels;
  __global int *chunk_sums;      /* one for each work-group */
} next_t;

/* Write the sums of all earlier items of `from` to the first n + 1 items of `to`. */
ALWAYS_INLINE int scan_all(volatile __global const int *from, __global int *to, uint n, __global int *chunk_sums,
                           const grid_t *grid, __local long *scratch) {
  const uint lane = (uint)get_local_id(0), each = (n + grid->place.members - 1u) / grid->place.members;
  const uint begin = min(n, grid->place.member * each), end = min(n, begin + each);
  long own = 0l, all = 0l, before = 0l;
  for (uint i = begin + lane; i < end; i += WG_SIZE) own += from[i];
  group_exclusive_sum(own, scratch, &all);
  if (lane == 0) chunk_sums[grid->place.member] = (int)all;
  MEET_ALL
  own = 0l;
  for (uint i = lane; i < grid->place.member; i += WG_SIZE) own += chunk_sums[i];
  group_exclusive_sum(own, scratch, &before);
  for (uint first = begin; first < end; first += WG_SIZE) {
    const uint i = first + lane;
    const long x = i < end ? from[i] : 0l, sum = group_exclusive_sum(x, scratch, &all);
    if (i < end) to[i] = (int)(before + sum);
    before += all;
  }
  if (begin < end && end == n && lane == 0) to[n] = (int)before;
  MEET_ALL
  return 1;
}

/* Prepare a level: its sums, its long rows, and the words of its rounds. */
ALWAYS_INLINE int enter_level(const moved_t *m, const long_lists_t *lists, const grid_t *grid) {
  const uint first = grid->place.member * WG_SIZE + (uint)get_local_id(0);
  clear_all(m->level.n, &m->sums, m->active, grid->place);
  for (uint i = first; i < MAX_ROUNDS * ROUND_WORDS; i += grid->place.members * WG_SIZE) m->state[i] = 0l;
  if (first < 4u) lists->sizes[first] = 0u;
  MEET_ALL
  fill_all(m->level.n, m->labels, m->out_strengths, m->in_strengths, &m->sums, grid->place);
  list_all_rows(m->level.n, m->level.row_offsets, lists, grid->place);
  MEET_ALL
  return 1;
}

/* What ends the rounds of a level. */
typedef struct { ulong penalty; wide_t least; uint min_rounds; } judgement_t;
ALWAYS_INLINE int move_level(const moved_t *m, search_t *s, const judgement_t *by, const grid_t *grid,
                             __local scratch_t *scratch) {
  const place_t place = grid->place;
  s->round = 1l;
  s->is_done = s->moved = 0l;
  s->rarity = 1l;
  s->gains[0] = s->gains[1] = s->gains[2];
  while (!s->is_done) {
    const uint round = (uint)s->round;
    decide_all(m, round, (uint)s->rarity, place, scratch);
    MEET_ALL
    if (m->long_rows.size[N_HUBS]) {
      weigh_all_hubs(m, round, (uint)s->rarity, place, scratch);
      MEET_ALL
      choose_for_all_hubs(m, round, (uint)s->rarity, place, scratch);
      MEET_ALL
    }
    apply_all(m, round, place);
    MEET_ALL
    measure_all(m, round, place);
    MEET_ALL
    judge(s, m->state, m->factor, by->penalty, by->least, by->min_rounds);
    if (s->is_undone) {
      undo_all(m, place);
      MEET_ALL
    }
  }
  return 1;
}

ALWAYS_INLINE int refine_level(const refined_t *r, uint n_rounds, const grid_t *grid, __local scratch_t *scratch) {
  start_all(r, grid->place);
  MEET_ALL
  for (uint round = 1u; round <= n_rounds; round++) {
    choose_all(r, round, grid->place, scratch);
    MEET_ALL
    join_all(r, grid->place);
    MEET_ALL
  }
  return 1;
}

/* Number the used labels. */
ALWAYS_INLINE int number_labels(uint n, volatile __global const int *labels, const next_t *next, const grid_t *grid,
                         __local long *sums) {
  FOR_EACH_AT(grid->place, v, n) {
    if (v < n) next->used[v] = 0;
  }
  MEET_ALL
  mark_all(n, labels, next->used, grid->place);
  MEET_ALL
  return scan_all(next->used, next->numbers, n, next->chunk_sums, grid, sums);
}

/* List the members of each group, and find where the slots of its table begin. */
ALWAYS_INLINE int list_members(const climb_t *c, const next_t *next, const grid_t *grid, __local long *sums) {
  const uint n = c->moved.level.n, n_groups = c->n_groups;
  const place_t place = grid->place;
  FOR_EACH_AT(place, g, n_groups) {
    if (g < n_groups) next->members_of[g] = next->entries_of[g] = 0;
  }
  if (place.member == 0u && get_local_id(0) < 2u) next->lists.sizes[get_local_id(0)] = 0u;
  MEET_ALL
  count_all(n, c->moved.level.row_offsets, c->merged, next->members_of, next->entries_of, place);
  MEET_ALL
  if (!scan_all(next->members_of, next->member_begins, n_groups, next->chunk_sums, grid, sums)) return 0;
  if (!scan_all(next->entries_of, next->slot_begins, n_groups, next->chunk_sums, grid, sums)) return 0;
  place_all(n, c->merged, next->member_begins, next->members_of, next->members, place);
  list_all_groups(n_groups, next->slot_begins, &next->lists, place);
  MEET_ALL
  return 1;
}

/* Write the rows of the next level. */
ALWAYS_INLINE int contract_rows(const climb_t *c, const next_t *next, const grid_t *grid, __local scratch_t *scratch) {
  const moved_t *m = &c->moved;
  const next_rows_t rows = {next->offsets, next->columns, next->weights};
  insert_all(&m->level, &c->groups, c->n_groups, &m->slots, &next->lists, next->counts, grid->place, scratch);
  MEET_ALL
  if (next->lists.sizes[1]) {
    insert_all_giants(&m->level, &m->long_rows, &c->groups, &m->slots, next->counts, grid->place, scratch);
    MEET_ALL
  }
  if (!scan_all(next->counts, next->offsets, c->n_groups, next->chunk_sums, grid, scratch->sums)) return 0;
  write_all(c->n_groups, next->slot_begins, &m->slots, &next->lists, &rows, grid->place, scratch);
  if (next->lists.sizes[1]) write_all_giants(next->slot_begins, &m->slots, &next->lists, &rows, next->counts, grid->place);
  return 1;
}

/* Write the communities of the vertices of the next level, numbered without gaps. */
ALWAYS_INLINE int carry_level(int is_refined, const climb_t *c, const next_t *next, const grid_t *grid, __local long *sums) {
  const uint n = c->moved.level.n, n_groups = c->n_groups;
  if (is_refined) {
    if (!number_labels(n, c->moved.labels, next, grid, sums)) return 0;
    renumber_all(n, c->moved.labels, next->numbers, c->moved.previous, grid->place);
    MEET_ALL
    carry_all_labels(n, c->merged, c->moved.previous, next->labels, grid->place);
  } else {
    FOR_EACH_AT(grid->place, g, n_groups) {
      if (g < n_groups) next->labels[g] = (int)g;
    }
  }
  MEET_ALL
  return 1;
}

/* Give the vertices of the first of n_levels levels the communities of the last one, which has `last` vertices. */
ALWAYS_INLINE int descend(uint n_levels, uint last, volatile __global const int *climbed, __global int *labels,
                          const next_t *next, __global int *merged, __global int *other, const grid_t *grid) {
  volatile __global const int *sizes = climbed + CLIMBED_WORDS;
  __global int *from = n_levels > 1u ? next->members : labels, *to = other;
  FOR_EACH_AT(grid->place, v, last) {
    if (v < last) from[v] = next->labels[v];
  }
  MEET_ALL
  for (uint k = n_levels - 1u; k-- > 0u;) {
    const uint n = (uint)sizes[CLIMBED_LEVEL_WORDS * k];
    merged -= merged_size(n);
    project_all(n, merged, from, k ? to : labels, grid->place);
    MEET_ALL
    __global int *was = from;
    from = to;
    to = was;
  }
  return 1;
}

/* Copy the first level to where coarser levels are made. */
ALWAYS_INLINE int copy_level(const level_t *level, uint n_entries, __global const int *labels,
                             __global const long *out_strengths, __global const long *in_strengths, const next_t *next,
                             const grid_t *grid) {
  const uint first = grid->place.member * WG_SIZE + (uint)get_local_id(0), step = grid->place.members * WG_SIZE;
  for (uint v = first; v < level->n; v += step) {
    next->offsets[v] = level->row_offsets[v];
    next->labels[v] = labels[v];
    next->out_strengths[v] = out_strengths[v];
    if (DIRECTED) next->in_strengths[v] = in_strengths[v];
  }
  if (first == 0u) next->offsets[level->n] = (int)n_entries;
  for (uint e = first; e < n_entries; e += step) {
    next->columns[e] = level->columns[e];
    next->weights[e] = weight_of(level, (int)e);
  }
  MEET_ALL
  return 1;
}

/* Contract the current level.  Returns 1 if there is a next level, 0 if the level does not shrink, and -1 on a time-out. */
ALWAYS_INLINE int contract_level(int is_refined, climb_t *c, const next_t *next, const grid_t *grid,
                                 __local scratch_t *scratch) {
  const moved_t *m = &c->moved;
  volatile __global const int *labels = is_refined ? c->refined.groups.of : m->labels;
  const uint n = m->level.n;
  if (!number_labels(n, labels, next, grid, scratch->sums)) return -1;
  c->n_groups = (uint)next->numbers[n];
  if (c->n_groups == n) return 0;
  renumber_all(n, labels, next->numbers, c->merged, grid->place);
  const groups_t *refined = &c->refined.groups;
  carry_all_strengths(n, next->used, next->numbers, is_refined ? refined->out_sums : m->sums.out,
                      is_refined ? refined->in_sums : m->sums.in, next->out_strengths, next->in_strengths, grid->place);
  c->groups.of = c->merged;
  if (!list_members(c, next, grid, scratch->sums) || !contract_rows(c, next, grid, scratch)) return -1;
  if (!carry_level(is_refined, c, next, grid, scratch->sums)) return -1;
  c->moved.level.n = c->refined.level.n = c->n_groups;
  return 1;
}
#endif
#endif
