/* SGD on blocks of N_ROWS users by N_COLUMNS items.  The blocks of one block-diagonal share no vertex; together they are
 * a superstep.
 *
 * A work-group of one sub-group takes a block.  It copies the rows that the block's ratings need to local memory, makes
 * the steps there, wave by wave, and writes the rows back.  The ratings of a wave are on one diagonal of the block
 * (item - user, wrapped at the larger side), so they share no vertex.  A slot takes a rating.  The end of a kernel
 * separates supersteps.
 *
 * There are no races: several ratings may need a row; the first that sets its flag copies it, in either direction.
 *
 * Reference: R. Kaleem et al., "Synchronization Trade-offs in GPU Implementations of Graph Algorithms", IPDPS 2016
 * (BlkDiag).
 */
#include "factorization/model.h"

#ifndef N_ROWS
#define N_ROWS 64
#endif
#ifndef N_COLUMNS
#define N_COLUMNS 64
#endif
#define ROW_VECTORS (VECTORS * LANES)

/* Rows in local memory, in the order of model.h, their biases, and whether they are there. */
typedef struct {
  vector_t p[N_ROWS * ROW_VECTORS], q[N_COLUMNS * ROW_VECTORS];
#if BIASES
  float user_bias[N_ROWS], item_bias[N_COLUMNS];
#endif
  int has_user[N_ROWS], has_item[N_COLUMNS];
} block_t;

INLINE row_t block_row(const __local vector_t *rows, int index) {
  row_t row;
#pragma unroll
  for (int k = 0; k < VECTORS; k++) row.v[k] = rows[index * ROW_VECTORS + k * LANES + (int)slot_lane()];
  return row;
}
INLINE void set_block_row(__local vector_t *rows, int index, row_t row) {
#pragma unroll
  for (int k = 0; k < VECTORS; k++) rows[index * ROW_VECTORS + k * LANES + (int)slot_lane()] = row.v[k];
}

/* Returns 1 if this slot is the first to find *flag at the value `was`. */
INLINE int claim(int active, volatile __local int *flag, int was) {
  int won = 0;
  if (active && slot_lane() == 0) won = compare_exchange(flag, was, !was) == was;
  return LANES == 1 ? won : sg_broadcast(won, sg_lane() & ~(LANES - 1u));
}

/* Returns this slot's rating, counted from base on; 0 if there is none. */
INLINE int4 rating_at(const __global int4 *restrict ratings, offset_t base, offset_t end) {
  const offset_t k = base + (offset_t)slot_in_group();
  return k < end ? ratings[k] : (int4)(0, 0, 0, 0);
}

/* Copy the rows that rating r needs to local memory, unless another slot does. */
INLINE void copy_in(model_t m, int active, int4 r, __local block_t *b) {
  const int user = r.x % N_ROWS, item = r.y % N_COLUMNS;
  if (claim(active, b->has_user + user, 0)) {
    set_block_row(b->p, user, load_row(m.user_rows, r.x));
#if BIASES
    if (slot_lane() == 0) b->user_bias[user] = m.user_biases[r.x];
#endif
  }
  if (claim(active, b->has_item + item, 0)) {
    set_block_row(b->q, item, load_row(m.item_rows, r.y));
#if BIASES
    if (slot_lane() == 0) b->item_bias[item] = m.item_biases[r.y];
#endif
  }
}

/* One step, on rows in local memory. */
INLINE void step_in_block(model_t m, int active, int4 r, __local block_t *b) {
  const int user = r.x % N_ROWS, item = r.y % N_COLUMNS;
  row_t p, q;
  float known = m.mean;
  if (active) {
    check_begin(m, r.x, r.y);
    p = block_row(b->p, user);
    q = block_row(b->q, item);
#if BIASES
    known += b->user_bias[user] + b->item_bias[item];
#endif
  }
  const value_t value = WITH_WEIGHT(as_float(r.z), as_float(r.w));
  const float step = WEIGHTED_BY(value, m.rate) * (RATING(value) - known - slot_sum(active ? lane_dot(p, q) : 0.0f));
  sg_sync();                                      /* all lanes have read the biases before they change */
  if (!active) return;
  set_block_row(b->p, user, moved(p, m.decay, step, q));
  set_block_row(b->q, item, moved(q, m.decay, step, p));
#if BIASES
  if (slot_lane() == 0) {
    b->user_bias[user] = mad(m.decay, b->user_bias[user], step);
    b->item_bias[item] = mad(m.decay, b->item_bias[item], step);
  }
#endif
  check_end(m, r.x, r.y);
}

/* Write the rows that rating r needed back, unless another slot does. */
INLINE void copy_out(model_t m, int active, int4 r, __local block_t *b) {
  const int user = r.x % N_ROWS, item = r.y % N_COLUMNS;
  if (claim(active, b->has_user + user, 1)) {
    store_row(m.user_rows, r.x, block_row(b->p, user));
#if BIASES
    if (slot_lane() == 0) m.user_biases[r.x] = b->user_bias[user];
#endif
  }
  if (claim(active, b->has_item + item, 1)) {
    store_row(m.item_rows, r.y, block_row(b->q, item));
#if BIASES
    if (slot_lane() == 0) m.item_biases[r.y] = b->item_bias[item];
#endif
  }
}

/* Blocks first_block … end_block - 1.  Block b has the waves from blocks[b] on, wave w the ratings from waves[w] on. */
KERNEL block_superstep(const uint first_block, const uint end_block, const __global offset_t *restrict blocks,
                       const __global offset_t *restrict waves, const uint n_blocks_all, const uint n_waves_all,
                       const offset_t n, const __global int4 *restrict ratings, MODEL_PARAMS) {
  LOCAL_ARRAY block_t rows;
  model_t m = MODEL;
  const uint block = first_block + (uint)get_group_id(0);
  if (block >= end_block) return;
  for (uint i = get_local_id(0); i < N_ROWS; i += WG_SIZE) rows.has_user[i] = 0;
  for (uint i = get_local_id(0); i < N_COLUMNS; i += WG_SIZE) rows.has_item[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint wave = (uint)blocks[block], end_wave = block + 1 < n_blocks_all ? (uint)blocks[block + 1] : n_waves_all;
  const offset_t begin = waves[wave], end = end_wave < n_waves_all ? waves[end_wave] : n;
  const offset_t slot = (offset_t)slot_in_group();
  for (offset_t base = begin; base < end; base += SLOTS_PER_GROUP)
    copy_in(m, base + slot < end, rating_at(ratings, base, end), &rows);
  offset_t base = begin;
  for (uint w = wave; w < end_wave; w++) {
    const offset_t end_of_wave = w + 1 < n_waves_all ? waves[w + 1] : n;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (; base < end_of_wave; base += SLOTS_PER_GROUP)
      step_in_block(m, base + slot < end_of_wave, rating_at(ratings, base, end_of_wave), &rows);
    base = end_of_wave;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (base = begin; base < end; base += SLOTS_PER_GROUP)
    copy_out(m, base + slot < end, rating_at(ratings, base, end), &rows);
}
