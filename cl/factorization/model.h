/* Factor rows, and one SGD step on one rating.
 *
 * A rating is processed by a slot of LANES neighbouring work-items of a sub-group.  Rows have RANK_PADDED numbers;
 * components beyond the rank are 0 and stay 0.  Lane l of a slot has the vectors l, l + LANES, … of VECTOR_WIDTH numbers.
 * With LANES > 1 the functions below exchange values between lanes: the whole sub-group calls them together, slots without
 * a rating with active = 0.
 *
 * The step on rating (user, item, value), where p and q are the rows and all right-hand sides use the old values:
 *   error = value - mean - user_bias - item_bias - p . q
 *   p = decay p + rate error q      q = decay q + rate error p      decay = 1 - rate * regularization
 * With WEIGHTED (values.h), rate error is multiplied by the rating's weight, and decay stays.
 * (S. Funk 2006; Y. Koren, R. Bell, C. Volinsky, "Matrix Factorization Techniques for Recommender Systems", 2009.)
 *
 * RACY_ROWS: rows and biases are read by load_stale and written by store_relaxed, for steps that share a vertex.
 * CHECK_UPDATES: each step counts itself in updates[user * n_items + item] and marks both vertices while it lasts;
 * a step that finds a mark raises violations[0].  For tests.
 */
#ifndef CLGRAPH_FACTORIZATION_MODEL_H
#define CLGRAPH_FACTORIZATION_MODEL_H
#include "common/atomics.h"
#include "common/subgroup.h"
#include "factorization/values.h"

#ifndef VECTOR_WIDTH             /* numbers in a vector: 1, 4, 8 or 16 */
#ifdef HOST_BUILD
#define VECTOR_WIDTH 1
#else
#define VECTOR_WIDTH 4
#endif
#endif
#ifndef VECTORS                  /* vectors of a row that one lane holds */
#define VECTORS 4
#endif
#ifndef LANES                    /* a power of two, at most SUB_GROUP_SIZE */
#define LANES 1
#endif
#ifndef HALF_STORAGE
#define HALF_STORAGE 0
#endif
#ifndef BIASES
#define BIASES 0
#endif
#ifndef RACY_ROWS
#define RACY_ROWS 0
#endif
#ifndef CHECK_UPDATES
#define CHECK_UPDATES 0
#endif
#define RANK_PADDED (VECTOR_WIDTH * VECTORS * LANES)
#define SLOTS_PER_SUB_GROUP (SUB_GROUP_SIZE / LANES)
#define SLOTS_PER_GROUP (WG_SIZE / LANES)

#if VECTOR_WIDTH == 1
typedef float vector_t;
INLINE float components_sum(float v) { return v; }
#else
typedef PASTE(float, VECTOR_WIDTH) vector_t;
INLINE float components_sum(float4 v) { return (v.x + v.y) + (v.z + v.w); }
INLINE float components_sum(float8 v) { return components_sum(v.lo + v.hi); }
INLINE float components_sum(float16 v) { return components_sum(v.lo + v.hi); }
#endif
typedef struct { vector_t v[VECTORS]; } row_t;

#if HALF_STORAGE
#include "common/half.h"
typedef half number_t;
#else
typedef float number_t;
#endif
#if RACY_ROWS && VECTOR_WIDTH == 1
#define LOAD_VECTOR_(p) load_stale(p)
#define STORE_VECTOR_(x, p) store_relaxed(p, x)
#elif RACY_ROWS && DEV_LOADS == LOADS_VOLATILE && !HALF_STORAGE  /* single numbers take five times the time on CPUs */
#define LOAD_VECTOR_(p) (*(const volatile __global vector_t *)(p))
#define STORE_VECTOR_(x, p) (*(volatile __global vector_t *)(p) = (x))
#elif RACY_ROWS && HALF_STORAGE && VECTOR_WIDTH == 4
INLINE vector_t load_vector_(const __global number_t *numbers) {
  const volatile __global uint *p = (const volatile __global uint *)numbers;
#if DEV_HAS_INT64_ATOMICS
  return halves_to_floats(as_uint2(load_stale((const volatile __global ulong *)p)));
#else
  return halves_to_floats((uint2)(load_stale(p), load_stale(p + 1)));
#endif
}
INLINE void store_vector_(vector_t x, __global number_t *numbers) {
  volatile __global uint *p = (volatile __global uint *)numbers;
  const uint2 words = floats_to_halves(x);
#if DEV_HAS_INT64_ATOMICS
  store_relaxed((volatile __global ulong *)p, as_ulong(words));
#else
  store_relaxed(p, words.x);
  store_relaxed(p + 1, words.y);
#endif
}
#define LOAD_VECTOR_(p) load_vector_(p)
#define STORE_VECTOR_(x, p) store_vector_(x, p)
#elif RACY_ROWS                  /* a vector is loaded and stored as 4, 8 or 16 words */
#define VECTOR_WORDS_ (VECTOR_WIDTH / (1 + HALF_STORAGE))
#if HALF_STORAGE
#define FROM_WORDS_(p) PASTE(vload_half, VECTOR_WIDTH)(0, (const __private half *)(p))
#define TO_WORDS_(x, p) PASTE(PASTE(vstore_half, VECTOR_WIDTH), _rte)(x, 0, (__private half *)(p))
#else
#define FROM_WORDS_(p) PASTE(vload, VECTOR_WIDTH)(0, (const __private float *)(p))
#define TO_WORDS_(x, p) PASTE(vstore, VECTOR_WIDTH)(x, 0, (__private float *)(p))
#endif
INLINE vector_t load_vector_(const __global number_t *numbers) {
  const volatile __global int *p = (const volatile __global int *)numbers;
  int words[VECTOR_WORDS_];
  for (int k = 0; k < VECTOR_WORDS_; k += 4) vstore4(load_stale4(p + k), 0, words + k);
  return FROM_WORDS_(words);
}
INLINE void store_vector_(vector_t x, __global number_t *numbers) {
  volatile __global int *p = (volatile __global int *)numbers;
  int words[VECTOR_WORDS_];
  TO_WORDS_(x, words);
  for (int k = 0; k < VECTOR_WORDS_; k += 4) store_relaxed4(p + k, vload4(0, words + k));
}
#define LOAD_VECTOR_(p) load_vector_(p)
#define STORE_VECTOR_(x, p) store_vector_(x, p)
#elif HALF_STORAGE && VECTOR_WIDTH == 4
#define LOAD_VECTOR_(p) load_half4(p)
#define STORE_VECTOR_(x, p) store_half4(x, p)
#elif HALF_STORAGE
#define LOAD_VECTOR_(p) PASTE(vloada_half, VECTOR_WIDTH)(0, p)
#define STORE_VECTOR_(x, p) PASTE(PASTE(vstorea_half, VECTOR_WIDTH), _rte)(x, 0, p)
#else
#define LOAD_VECTOR_(p) (*(const __global vector_t *)(p))
#define STORE_VECTOR_(x, p) (*(__global vector_t *)(p) = (x))
#endif
#if RACY_ROWS
#define LOAD_BIAS_(p) load_stale(p)
#define STORE_BIAS_(x, p) store_relaxed(p, x)
#else
#define LOAD_BIAS_(p) (*(p))
#define STORE_BIAS_(x, p) (*(p) = (x))
#endif

typedef struct {
  float rate, decay, mean;
  __global number_t *user_rows, *item_rows;
  __global float *user_biases, *item_biases;  /* without BIASES, arrays of one unused number */
#if CHECK_UPDATES
  int n_items;
  volatile __global uint *updates, *user_marks, *item_marks, *violations;
#endif
} model_t;

/* Every kernel that changes the model takes MODEL_PARAMS and says `model_t m = MODEL;` */
#if CHECK_UPDATES
#define CHECK_PARAMS_ , const int n_items, volatile __global uint *updates, volatile __global uint *user_marks, \
  volatile __global uint *item_marks, volatile __global uint *violations
#define CHECK_MODEL_ , n_items, updates, user_marks, item_marks, violations
#else
#define CHECK_PARAMS_
#define CHECK_MODEL_
#endif
#define MODEL_PARAMS const __global float *hyper, __global number_t *user_rows, __global number_t *item_rows, \
  __global float *user_biases, __global float *item_biases CHECK_PARAMS_
#define MODEL { hyper[0], hyper[1], hyper[2], user_rows, item_rows, user_biases, item_biases CHECK_MODEL_ }

INLINE uint slot_lane(void) { return sg_lane() & (LANES - 1u); }
INLINE uint slot_in_group(void) { return (uint)get_local_id(0) / LANES; }
INLINE float slot_sum(float x) {
  for (uint m = LANES / 2; m; m >>= 1) x += sg_xor(x, m);
  return x;
}

INLINE row_t load_row(const __global number_t *rows, int vertex) {
  const __global number_t *p = rows + (ulong)vertex * RANK_PADDED + slot_lane() * VECTOR_WIDTH;
  row_t row;
#pragma unroll
  for (int k = 0; k < VECTORS; k++) row.v[k] = LOAD_VECTOR_(p + k * LANES * VECTOR_WIDTH);
  return row;
}
INLINE void store_row(__global number_t *rows, int vertex, row_t row) {
  __global number_t *p = rows + (ulong)vertex * RANK_PADDED + slot_lane() * VECTOR_WIDTH;
#pragma unroll
  for (int k = 0; k < VECTORS; k++) STORE_VECTOR_(row.v[k], p + k * LANES * VECTOR_WIDTH);
}
/* Returns this lane's part of p . q; slot_sum adds up the parts of a slot. */
INLINE float lane_dot(row_t p, row_t q) {
  vector_t sum = p.v[0] * q.v[0];
#pragma unroll
  for (int k = 1; k < VECTORS; k++) sum = mad(p.v[k], q.v[k], sum);
  return components_sum(sum);
}
/* Returns decay row + step other. */
INLINE row_t moved(row_t row, float decay, float step, row_t other) {
#pragma unroll
  for (int k = 0; k < VECTORS; k++) row.v[k] = mad(row.v[k], (vector_t)(decay), other.v[k] * step);
  return row;
}

#if CHECK_UPDATES
INLINE void check_mark(model_t m, volatile __global uint *mark) { if (fetch_add(mark, 1u)) fetch_add(m.violations, 1u); }
INLINE void check_unmark(volatile __global uint *mark) { fetch_add(mark, ~0u); }
INLINE void check_count(model_t m, int user, int item) { fetch_add(m.updates + (ulong)user * m.n_items + item, 1u); }
INLINE void check_begin(model_t m, int user, int item) {
  if (slot_lane() != 0) return;
  check_mark(m, m.user_marks + user);
  check_mark(m, m.item_marks + item);
  check_count(m, user, item);
}
INLINE void check_end(model_t m, int user, int item) {
  if (slot_lane() != 0) return;
  check_unmark(m.user_marks + user);
  check_unmark(m.item_marks + item);
}
#else
#define check_mark(m, mark)
#define check_unmark(mark)
#define check_count(m, user, item)
#define check_begin(m, user, item)
#define check_end(m, user, item)
#endif

/* One step on a rating.  The caller has the item's row and bias in registers; the user's are in memory. */
INLINE void update_user(model_t m, int active, int user, value_t value, row_t *q, float *item_bias) {
  row_t p;
  float known = m.mean;
#if BIASES
  float user_bias = 0.0f;
#endif
  if (active) {
    p = load_row(m.user_rows, user);
#if BIASES
    user_bias = LOAD_BIAS_(m.user_biases + user);
    known += user_bias + *item_bias;
#endif
  }
  float predicted = slot_sum(active ? lane_dot(p, *q) : 0.0f);
  if (!active) return;
  float step = WEIGHTED_BY(value, m.rate) * (RATING(value) - known - predicted);
  store_row(m.user_rows, user, moved(p, m.decay, step, *q));
  *q = moved(*q, m.decay, step, p);
#if BIASES
  if (slot_lane() == 0) STORE_BIAS_(mad(m.decay, user_bias, step), m.user_biases + user);
  *item_bias = mad(m.decay, *item_bias, step);
#endif
}

INLINE float load_item_bias(model_t m, int item) {
#if BIASES
  return LOAD_BIAS_(m.item_biases + item);
#else
  return 0.0f;
#endif
}
INLINE void store_item(model_t m, int item, row_t q, float item_bias) {
  store_row(m.item_rows, item, q);
#if BIASES
  if (slot_lane() == 0) STORE_BIAS_(item_bias, m.item_biases + item);
#endif
}

#if LANES == 1 && VECTOR_WIDTH == 16 && VECTORS > 4
/* Two rows of this many vectors exceed a CPU's registers, so they are read twice, the second time from its cache. */
INLINE void update_rating(model_t m, int active, int user, int item, value_t value) {
  if (!active) return;
  check_begin(m, user, item);
  __global number_t *p = m.user_rows + (ulong)user * RANK_PADDED, *q = m.item_rows + (ulong)item * RANK_PADDED;
  vector_t sum = LOAD_VECTOR_(p) * LOAD_VECTOR_(q);
#pragma unroll
  for (int k = 1; k < VECTORS; k++) sum = mad(LOAD_VECTOR_(p + k * VECTOR_WIDTH), LOAD_VECTOR_(q + k * VECTOR_WIDTH), sum);
  float error = RATING(value) - m.mean - components_sum(sum);
#if BIASES
  const float user_bias = LOAD_BIAS_(m.user_biases + user), item_bias = LOAD_BIAS_(m.item_biases + item);
  error -= user_bias + item_bias;
#endif
  const float step = WEIGHTED_BY(value, m.rate) * error;
#pragma unroll
  for (int k = 0; k < RANK_PADDED; k += VECTOR_WIDTH) {
    const vector_t a = LOAD_VECTOR_(p + k), b = LOAD_VECTOR_(q + k);
    STORE_VECTOR_(mad(a, (vector_t)(m.decay), b * step), p + k);
    STORE_VECTOR_(mad(b, (vector_t)(m.decay), a * step), q + k);
  }
#if BIASES
  STORE_BIAS_(mad(m.decay, user_bias, step), m.user_biases + user);
  STORE_BIAS_(mad(m.decay, item_bias, step), m.item_biases + item);
#endif
  check_end(m, user, item);
}
#else
/* One step on a rating.  No other step shares a vertex with it at the same time, unless RACY_ROWS is set. */
INLINE void update_rating(model_t m, int active, int user, int item, value_t value) {
  row_t q;
  float item_bias = 0.0f;
  if (active) {
    check_begin(m, user, item);
    q = load_row(m.item_rows, item);
    item_bias = load_item_bias(m, item);
  }
  update_user(m, active, user, value, &q, &item_bias);
  if (!active) return;
  store_item(m, item, q, item_bias);
  check_end(m, user, item);
}
#endif
#endif
