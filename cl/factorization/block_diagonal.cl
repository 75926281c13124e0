/* Blocks of N_ROWS users by N_COLUMNS items; those of one block-diagonal share no vertex, and are a superstep.
 *
 * A group, one sub-group, takes a block.  It copies the rows that the block's ratings need to local memory, makes
 * the steps there, wave by wave, and writes the rows back.  The ratings of a wave lie on one diagonal of the block
 * (item - user, wrapped at the larger side), so they share no vertex; a slot takes a rating.  Between supersteps
 * stands the end of a kernel.
 *
 * There are no races: of the ratings that need a row, the first to set its flag copies it, in either direction.
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

/* Rows in local memory, in the order of model.h, and biases after them. */
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

/* Whether this slot is the first to come with *flag* as it was. */
INLINE int claim(int active, volatile __local int *flag, int was) {
  int won = 0;
  if (active && slot_lane() == 0) won = compare_exchange(flag, was, !was) == was;
  return LANES == 1 ? won : sg_broadcast(won, sg_lane() & ~(LANES - 1u));
}

KERNEL block_superstep(const uint first_block, const uint end_block, const __global offset_t *restrict blocks,
                       const __global offset_t *restrict waves, const uint n_blocks_all, const uint n_waves_all,
                       const offset_t n, const __global int4 *restrict ratings, MODEL_PARAMS) {
  LOCAL_ARRAY vector_t p[N_ROWS * ROW_VECTORS], q[N_COLUMNS * ROW_VECTORS];
#if BIASES
  LOCAL_ARRAY float user_bias[N_ROWS], item_bias[N_COLUMNS];
#endif
  LOCAL_ARRAY int has_user[N_ROWS], has_item[N_COLUMNS];
  model_t m = MODEL;
  const uint block = first_block + (uint)get_group_id(0);
  if (block >= end_block) return;
  for (uint i = get_local_id(0); i < N_ROWS; i += WG_SIZE) has_user[i] = 0;
  for (uint i = get_local_id(0); i < N_COLUMNS; i += WG_SIZE) has_item[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint wave = (uint)blocks[block], end_wave = block + 1 < n_blocks_all ? (uint)blocks[block + 1] : n_waves_all;
  const offset_t begin = waves[wave], end = end_wave < n_waves_all ? waves[end_wave] : n;
  for (offset_t base = begin; base < end; base += SLOTS_PER_GROUP) {
    const offset_t k = base + (offset_t)slot_in_group();
    const int4 r = k < end ? ratings[k] : (int4)(0, 0, 0, 0);
    const int user = r.x % N_ROWS, item = r.y % N_COLUMNS;
    if (claim(k < end, has_user + user, 0)) {
      set_block_row(p, user, load_row(m.user_rows, r.x));
#if BIASES
      if (slot_lane() == 0) user_bias[user] = m.user_biases[r.x];
#endif
    }
    if (claim(k < end, has_item + item, 0)) {
      set_block_row(q, item, load_row(m.item_rows, r.y));
#if BIASES
      if (slot_lane() == 0) item_bias[item] = m.item_biases[r.y];
#endif
    }
  }
  offset_t base = begin;
  for (uint w = wave; w < end_wave; w++) {
    const offset_t end_of_wave = w + 1 < n_waves_all ? waves[w + 1] : n;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (; base < end_of_wave; base += SLOTS_PER_GROUP) {
      const offset_t k = base + (offset_t)slot_in_group();
      const int active = k < end_of_wave;
      const int4 r = active ? ratings[k] : (int4)(0, 0, 0, 0);
      const int user = r.x % N_ROWS, item = r.y % N_COLUMNS;
      row_t pu, qi;
      float known = m.mean;
      if (active) {
        check_begin(m, r.x, r.y);
        pu = block_row(p, user);
        qi = block_row(q, item);
#if BIASES
        known += user_bias[user] + item_bias[item];
#endif
      }
      const float step = m.rate * (as_float(r.z) - known - slot_sum(active ? lane_dot(pu, qi) : 0.0f));
      sg_sync();                                  /* all lanes have read the biases */
      if (active) {
        set_block_row(p, user, moved(pu, m.decay, step, qi));
        set_block_row(q, item, moved(qi, m.decay, step, pu));
#if BIASES
        if (slot_lane() == 0) {
          user_bias[user] = mad(m.decay, user_bias[user], step);
          item_bias[item] = mad(m.decay, item_bias[item], step);
        }
#endif
        check_end(m, r.x, r.y);
      }
    }
    base = end_of_wave;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (base = begin; base < end; base += SLOTS_PER_GROUP) {
    const offset_t k = base + (offset_t)slot_in_group();
    const int4 r = k < end ? ratings[k] : (int4)(0, 0, 0, 0);
    const int user = r.x % N_ROWS, item = r.y % N_COLUMNS;
    if (claim(k < end, has_user + user, 1)) {
      store_row(m.user_rows, r.x, block_row(p, user));
#if BIASES
      if (slot_lane() == 0) m.user_biases[r.x] = user_bias[user];
#endif
    }
    if (claim(k < end, has_item + item, 1)) {
      store_row(m.item_rows, r.y, block_row(q, item));
#if BIASES
      if (slot_lane() == 0) m.item_biases[r.y] = item_bias[item];
#endif
    }
  }
}
