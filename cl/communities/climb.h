/* The steps of a climb over all levels, for the members of a persistent kernel.  climb.cl has the kernel. */
#ifndef CLGRAPH_COMMUNITIES_CLIMB_H
#define CLGRAPH_COMMUNITIES_CLIMB_H
#include "common/grid_barrier.h"
#include "primitives/group_scan.h"
#include "communities/contraction.h"
#include "communities/refinement.h"
#include "communities/rounds.h"

/* Words of the array `climbed`, and of each level, which follow them. */
#define CLIMBED_LEVELS 0         /* number of levels whose vertices have moved */
#define CLIMBED_LEFT 1           /* 1 if there are coarser levels that did not fit */
#define CLIMBED_N 2              /* vertices and entries of the coarsest level */
#define CLIMBED_M 3
#define CLIMBED_WORDS 4
#define CLIMBED_LEVEL_WORDS 4    /* vertices, entries, rounds, moves */
#define MERGED_STEP 1024         /* The groups of a level begin at a multiple of this, since sub-buffers must be aligned. */
INLINE uint merged_size(uint n) { return (n + (uint)MERGED_STEP - 1u) / (uint)MERGED_STEP * (uint)MERGED_STEP; }

/* The work-groups that have entered and not left, and where they meet. */
typedef struct {
  place_t place;
  volatile __global uint *control;
  __local int *words;            /* 1 if all have come, and the goal of the last barrier */
} grid_t;
#define MEET_ALL if (!grid_barrier_of(grid->control, grid->place.members, grid->words)) return 0;
/* Let the members that a level of n vertices does not need leave.  Returns 0 to those.  All must have met. */
INLINE int stays(grid_t *grid, uint n, uint n_entries) {
  const uint lanes = max(n, n_entries / (uint)ENTRIES_A_LANE);
  grid->place.members = min(grid->place.members, (lanes + WG_SIZE - 1u) / WG_SIZE);
  return grid->place.member < grid->place.members;
}

/* A level, and what the phases need for it.  Further levels overwrite its rows. */
typedef struct {
  moved_t moved;
  refined_t refined;
  members_t groups;
  uint n_groups, n_entries;      /* vertices and entries that the next level has */
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
                           grid_t *grid, __local long *scratch) {
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
ALWAYS_INLINE int enter_level(const moved_t *m, const long_lists_t *lists, grid_t *grid) {
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
ALWAYS_INLINE int move_level(const moved_t *m, search_t *s, const judgement_t *by, grid_t *grid,
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
#if DIVIDES_ROWS
    if (m->long_rows.size[N_HUBS]) {
      weigh_all_hubs(m, round, (uint)s->rarity, place, scratch);
      MEET_ALL
      choose_for_all_hubs(m, round, (uint)s->rarity, place, scratch);
      MEET_ALL
    }
#endif
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

ALWAYS_INLINE int refine_level(const refined_t *r, uint n_rounds, grid_t *grid, __local scratch_t *scratch) {
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
ALWAYS_INLINE int number_labels(uint n, volatile __global const int *labels, const next_t *next, grid_t *grid,
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
ALWAYS_INLINE int list_members(const climb_t *c, const next_t *next, grid_t *grid, __local long *sums) {
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
#if DIVIDES_ROWS
  list_all_groups(n_groups, next->slot_begins, &next->lists, place);
#endif
  MEET_ALL
  return 1;
}

/* Write the rows of the next level. */
ALWAYS_INLINE int contract_rows(climb_t *c, const next_t *next, grid_t *grid, __local scratch_t *scratch) {
  const moved_t *m = &c->moved;
  const next_rows_t rows = {next->offsets, next->columns, next->weights};
  insert_all(&m->level, &c->groups, c->n_groups, &m->slots, &next->lists, next->counts, grid->place, scratch);
  MEET_ALL
#if DIVIDES_ROWS
  if (next->lists.sizes[1]) {
    insert_all_giants(&m->level, &m->long_rows, &c->groups, &m->slots, next->counts, grid->place, scratch);
    MEET_ALL
  }
#endif
  if (!scan_all(next->counts, next->offsets, c->n_groups, next->chunk_sums, grid, scratch->sums)) return 0;
  c->n_entries = (uint)next->offsets[c->n_groups];
  write_all(c->n_groups, next->slot_begins, &m->slots, &next->lists, &rows, grid->place, scratch);
#if DIVIDES_ROWS
  if (next->lists.sizes[1]) write_all_giants(next->slot_begins, &m->slots, &next->lists, &rows, next->counts, grid->place);
#endif
  return 1;
}

/* Write the communities of the vertices of the next level, numbered without gaps. */
ALWAYS_INLINE int carry_level(int is_refined, const climb_t *c, const next_t *next, grid_t *grid, __local long *sums) {
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

/* Copy the first level to where coarser levels are made. */
ALWAYS_INLINE int copy_level(const level_t *level, uint n_entries, __global const int *labels,
                             __global const long *out_strengths, __global const long *in_strengths, const next_t *next,
                             grid_t *grid) {
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
ALWAYS_INLINE int contract_level(int is_refined, climb_t *c, const next_t *next, grid_t *grid,
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
