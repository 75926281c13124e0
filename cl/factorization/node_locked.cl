/* SGD with a lock on each user: a team of TEAM neighbouring work-items (a slot, or a sub-group) owns an item for one
 * pass and keeps its row while it processes the item's ratings.
 *
 * In a turn each lane tries once to lock the user of a different rating.  The team steps on the ratings whose users are
 * locked, one after the other.  Then each lane unlocks.  Ratings of one item have different users, so lanes of a team
 * never conflict, and a team never waits while it has locks.  So one fence and one wait for memory serve up to TEAM steps,
 * and the chain of steps of a popular item is as short as possible.  The slots of a team load the rows of different users
 * at the same time.  Each slot has a copy of the item's row, and receives by shuffles the user's row that changes it.
 *
 * Ratings whose users were not locked are kept in `pending`, in the item's own range (or, with DEFER_TO_LIST, in a list
 * for edge_locked.cl).  They are tried again in the next of at most ROUNDS rounds, or in the next pass.
 *
 * Ratings are sorted by item; item i has ratings offsets[i] … offsets[i + 1] - 1.  sizes: as in edge_locked.cl, for
 * lists of items (with DEFER_TO_LIST, of ratings).  Lock words are read while others change them.  Users' rows are
 * accessed under locks only, everything else by its team only.
 * Reference: R. Kaleem et al., "Synchronization Trade-offs in GPU Implementations of Graph Algorithms", IPDPS 2016
 * (NL).  Taking many locks at once is new here.
 */
#include "common/worklist.h"
#include "factorization/locks.h"
#include "factorization/model.h"

#ifndef PER_SUB_GROUP            /* 1: a team is a sub-group, 0: a slot */
#define PER_SUB_GROUP 0
#endif
#ifndef ROUNDS
#define ROUNDS 64
#endif
#ifndef DEFER_TO_LIST
#define DEFER_TO_LIST 0
#endif
#if PER_SUB_GROUP
#define TEAM SUB_GROUP_SIZE
#else
#define TEAM LANES
#endif
#ifndef MOST_LOCKS               /* greatest number of locks that a team has at a time */
#define MOST_LOCKS TEAM
#endif
#define TEAM_SLOTS (TEAM / LANES)

INLINE uint team_lane(void) { return sg_lane() & (TEAM - 1u); }
INLINE uint team_first(void) { return sg_lane() - team_lane(); }
INLINE uint team_slot(void) { return team_lane() / LANES; }
/* Returns a ballot of this team: bit l is lane l's. */
INLINE lane_mask_t team_ballot(int wanted) {
  return sg_ballot(wanted) >> team_first() & ~(lane_mask_t)0 >> (8u * (uint)sizeof(lane_mask_t) - TEAM);
}
INLINE lane_mask_t without_lowest(lane_mask_t m, uint n) {
  for (uint k = 0; k < n; k++) m &= m - 1;
  return m;
}

#if TEAM_SLOTS > 1
#if VECTOR_WIDTH == 1
#define vector_of(v, lane) sg_broadcast(v, lane)
#else
INLINE float4 vector_of(float4 v, uint lane) {
  return (float4)(sg_broadcast(v.x, lane), sg_broadcast(v.y, lane), sg_broadcast(v.z, lane), sg_broadcast(v.w, lane));
}
INLINE float8 vector_of(float8 v, uint lane) { return (float8)(vector_of(v.lo, lane), vector_of(v.hi, lane)); }
INLINE float16 vector_of(float16 v, uint lane) { return (float16)(vector_of(v.lo, lane), vector_of(v.hi, lane)); }
#endif
/* Returns the row of slot s of this team. */
INLINE row_t row_of_slot(row_t row, uint s) {
  for (int k = 0; k < VECTORS; k++) row.v[k] = vector_of(row.v[k], team_first() + s * LANES + slot_lane());
  return row;
}
INLINE float number_of_slot(float x, uint s) { return sg_broadcast(x, team_first() + s * LANES); }
#else
#define row_of_slot(row, s) (row)
#define number_of_slot(x, s) (x)
#endif

typedef struct {
  row_t row;
  float bias;
} vertex_t;

INLINE vertex_t load_vertex(const __global number_t *rows, const __global float *biases, int vertex) {
  vertex_t v;
  v.row = load_row(rows, vertex);
#if BIASES
  v.bias = biases[vertex];
#else
  v.bias = 0.0f;
#endif
  return v;
}
INLINE void store_vertex(__global number_t *rows, __global float *biases, int vertex, vertex_t v) {
  store_row(rows, vertex, v.row);
#if BIASES
  if (slot_lane() == 0) biases[vertex] = v.bias;
#endif
}
INLINE vertex_t moved_vertex(vertex_t v, float decay, float step, vertex_t other) {
  v.row = moved(v.row, decay, step, other.row);
  v.bias = mad(decay, v.bias, step);
  return v;
}

typedef struct {                 /* a slot's rating */
  int active, user;
  value_t wanted;                /* its value less the mean */
  vertex_t p;
} slot_work_t;

/* Each slot takes one of the ratings of the lanes in todo. */
INLINE slot_work_t take_work(model_t m, lane_mask_t todo, int user, value_t value, vertex_t idle) {
  slot_work_t work;
  const lane_mask_t mine = without_lowest(todo, team_slot());
  work.active = mine != 0;
  const uint from = team_first() + (work.active ? lowest_lane(mine) : 0u);
  work.user = sg_broadcast(user, from);
  work.wanted = WITH_WEIGHT(sg_broadcast(RATING(value), from) - m.mean, sg_broadcast(WEIGHT(value), from));
  work.p = idle;
  if (work.active) work.p = load_vertex(m.user_rows, m.user_biases, work.user);
  return work;
}

/* Step on the ratings of the lanes in todo, one after the other; returns the item after these steps.  The next rows are
 * loaded meanwhile. */
INLINE vertex_t step_on_locked(model_t m, vertex_t q, lane_mask_t todo, int user, int item, value_t value) {
  slot_work_t next = take_work(m, todo, user, value, q);
  while (sg_any(todo != 0)) {
    const uint n_here = lane_count(todo);
    slot_work_t work = next;
    todo = without_lowest(todo, TEAM_SLOTS);
    next = take_work(m, todo, user, value, q);
    for (uint s = 0; s < TEAM_SLOTS; s++) {
      const int here = s < n_here;
      if (!sg_any(here)) break;
      const float predicted = work.p.bias + q.bias + slot_sum(lane_dot(work.p.row, q.row));
      const float step = number_of_slot(WEIGHTED_BY(work.wanted, m.rate) * (RATING(work.wanted) - predicted), s);
      vertex_t other = work.p;
      other.row = row_of_slot(work.p.row, s);
      if (work.active && team_slot() == s) {
        if (slot_lane() == 0) check_count(m, work.user, item);
        work.p = moved_vertex(work.p, m.decay, step, q);
      }
      if (here) q = moved_vertex(q, m.decay, step, other);
    }
    if (work.active) store_vertex(m.user_rows, m.user_biases, work.user, work.p);
  }
  return q;
}

/* The position of a team in its item's ratings: `at` of `count` items, which are ratings or (is_list) their numbers. */
typedef struct {
  int item, is_list;
  uint round;
  offset_t begin, count, at, kept;
} walk_t;

typedef struct {                 /* the rating a lane tries next, if any */
  int tried, user;
  offset_t k;
  value_t value;
} trial_t;

INLINE trial_t next_trial(walk_t w, const __global int *users, const __global value_t *values,
                          const __global offset_t *pending) {
  trial_t trial = {0, 0, 0, NO_VALUE};
  const offset_t place = w.at + (offset_t)team_lane();
  trial.tried = team_lane() < MOST_LOCKS && place < w.count;
  if (trial.tried) {
    trial.k = w.is_list ? pending[w.begin + place] : w.begin + place;
    trial.user = users[trial.k];
    trial.value = values[trial.k];
  }
  return trial;
}

/* Keep the rating of a lane that did not get its lock. */
INLINE void defer(walk_t *w, trial_t trial, int failed, __global offset_t *pending, volatile __global uint *n_next) {
#if DEFER_TO_LIST
  const uint slot = push_sub_group(n_next, failed);
  if (failed) pending[slot] = trial.k;
#else
  const lane_mask_t put_off = team_ballot(failed);
  if (failed) pending[w->begin + w->kept + lane_count(put_off & ~(~(lane_mask_t)0 << team_lane()))] = trial.k;
  w->kept += lane_count(put_off);
#endif
}

/* Go on to the next ratings; after the last rating of a round, to the pending ones.  Each team decides for itself. */
INLINE void go_on(walk_t *w) {
  if (w->at < w->count) w->at += MOST_LOCKS;
  if (w->at >= w->count && w->kept && w->round < ROUNDS) {
    w->round++;
    w->is_list = 1;
    w->count = w->kept;
    w->at = w->kept = 0;
  }
}

/* A team takes an item of list: in pass 0 one of first … last - 1, in a later pass one of all. */
KERNEL lock_users(const uint pass_number, const uint first, const uint last, const __global int *restrict list,
                  const __global offset_t *restrict offsets, const __global int *restrict users,
                  const __global value_t *restrict values, MODEL_PARAMS, volatile __global uint *user_locks,
                  __global offset_t *restrict n_pending, __global offset_t *restrict pending, __global uint *sizes,
                  __global int *restrict next_list) {
  model_t m = MODEL;
  volatile __global uint *n_next = sizes + (pass_number + 1u) % N_LISTS;
  const uint t = first + (uint)(get_global_id(0) / TEAM), n = pass_number ? sizes[pass_number % N_LISTS] : last;
  const int is_owner = t < n;
  if (get_global_id(0) == 0) sizes[(pass_number + 2u) % N_LISTS] = 0u;
  walk_t w = {0, pass_number != 0, 0u, 0, 0, 0, 0};
  vertex_t q;
  if (is_owner) {
    w.item = list[t];
    w.begin = offsets[w.item];
    w.count = w.is_list ? n_pending[w.item] : offsets[w.item + 1] - w.begin;
    if (team_lane() == 0) check_mark(m, m.item_marks + w.item);
    q = load_vertex(m.item_rows, m.item_biases, w.item);
  }
  trial_t next = next_trial(w, users, values, pending);
  while (sg_any(w.at < w.count)) {
    const trial_t trial = next;
    const int locked = trial.tried && take_lock(user_locks + trial.user);
    if (locked) fence_locks();
    defer(&w, trial, trial.tried && !locked, pending, n_next);
    go_on(&w);
    sg_sync();
    if (locked) check_mark(m, m.user_marks + trial.user);
    next = next_trial(w, users, values, pending);
    q = step_on_locked(m, q, team_ballot(locked), trial.user, w.item, trial.value);
    sg_sync();
    if (locked) {
      check_unmark(m.user_marks + trial.user);
      fence_locks();
      drop_lock(user_locks + trial.user);
    }
  }
  if (is_owner && team_slot() == 0) store_vertex(m.item_rows, m.item_biases, w.item, q);
  if (is_owner && team_lane() == 0) check_unmark(m.item_marks + w.item);
#if !DEFER_TO_LIST
  const int leads = team_lane() == 0 && w.kept > 0;
  const uint slot = push_sub_group(n_next, leads);
  if (leads) {
    n_pending[w.item] = w.kept;
    next_list[slot] = w.item;
  }
#endif
}
