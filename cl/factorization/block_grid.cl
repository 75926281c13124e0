/* SGD on a grid of blocks: users and items are each cut into one part per work-group.
 *
 * In step T, group g takes the ratings of its users with the items of group g + T (modulo the number of groups), so
 * groups that run at the same time share no vertex.  Steps are separated by the end of a kernel, or a group waits for the
 * group that had its items in the step before; users never change their group.  A group is one sub-group.  There are no
 * races.
 *
 * A block is sorted by item and cut into tiles of at most TILE ratings of different users; a slot takes a rating of
 * the tile.  Ratings of one item form a run, whose steps depend on each other.  They are made one after the other, but
 * only a short chain of operations is sequential.  With the old rows, D[b] = p[b] . q and the step sizes s[a], step a of
 * the run changes q to decay q + s[a] p[a], and hence D[b] to decay D[b] + s[a] (p[a] . p[b]) for every later b.  All
 * later slots apply these changes at once, so the next step size is known after one multiplication, not after a load, a
 * dot product and a store.  This chain limits the speed for items with the most ratings.
 *
 * ratings[k]: user, item, bits of the value, and a word of fields that cut_tiles writes.  The fields are: in the first
 * rating of a tile, the tile's number of ratings and the length of its longest run less one; the rating's index in its
 * run, and whether it is the run's last; whether the user was in the tile before, and in which slot.  Rows of users that
 * were not in the tile before can be read one tile ahead.  With WEIGHTED, the word first has the bits of the weight,
 * which cut_tiles moves to weights[k].
 *
 * Reference for the grid: Y. Zhuang et al., "A Fast Parallel SGD for Matrix Factorization in Shared Memory Systems",
 * RecSys 2013 (LIBMF).  The method for runs is new.
 */
#include "common/grid_barrier.h"
#include "factorization/tiles.h"

#define DONE_STRIDE 32           /* words between flags, so that each has its own cache line */
#ifndef CHAIN                    /* steps of a run whose products are computed together */
#define CHAIN 2
#endif

/* Work-item c cuts block c into tiles, sequentially.  This is done once for all sweeps, and there are many blocks. */
KERNEL cut_tiles(const offset_t n_blocks, const __global offset_t *restrict offsets, __global int4 *restrict ratings
#if WEIGHTED
                 , __global float *restrict weights
#endif
                 ) {
  const offset_t c = (offset_t)get_global_id(0);
  if (c >= n_blocks || offsets[c] == offsets[c + 1]) return;
  const offset_t end = offsets[c + 1];
  offset_t before = offsets[c], start = before;   /* starts of the tile before and of this one */
  for (offset_t k = start; k < end; k++) {
    const int user = ratings[k].x;
    if (k - start == TILE || source_field(ratings, start, k, user)) {
      finish_tile(ratings, start, k);
      before = start;
      start = k;
    }
#if WEIGHTED
    weights[k] = as_float(ratings[k].w);
#endif
    ratings[k].w = source_field(ratings, before, start, user);
  }
  finish_tile(ratings, start, end);
}

#if TILE == 1                    /* a slot is the sub-group: its ratings one by one */
typedef int shared_t;
typedef struct { offset_t at; } stream_t;
INLINE stream_t open_stream(PACKED_PARAMS, offset_t at, offset_t n) {
  stream_t s = { at };
  return s;
}
INLINE void visit_block(model_t m, PACKED_PARAMS, offset_t end, offset_t n, stream_t *s, __local shared_t *shared) {
  for (offset_t k = s->at; k < end; k++) {
    const int4 r = ratings[k];
    update_rating(m, 1, r.x, r.y, WITH_WEIGHT(as_float(r.z), weights[k]));
    sg_sync();                                    /* one lane has stored the biases that all of them load next */
  }
  s->at = end;
}
#else
/* Returns the first lane of slot `index` of the run that begins at lane `first`; in range even if the run is shorter. */
INLINE uint lane_in_run(uint first, int index) { return (first + index * LANES) & (SUB_GROUP_SIZE - 1); }

/* Returns the amount by which a step of size 1 on the rating of `earlier` reduces the step on the rating of p. */
INLINE float gain_from(float rate, row_t earlier, row_t p) { return rate * (slot_sum(lane_dot(earlier, p)) + BIASES); }

/* Go through the runs of a tile, whose old p are in local memory.  Returns the size of this slot's step, and sets the item
 * in *v to its row before that step: decay^index q + sum of decay^(index - 1 - a) s[a] p[a]. */
INLINE float follow_run(model_t m, float log_decay, float undecay, tile_t tile, vertices_t *v,
                        const __local shared_t *shared) {
  const int index = RUN_INDEX(tile.fields);
  const uint first = sg_lane() / LANES * LANES - index * LANES;
  const float rate = WEIGHTED_BY(tile.value, m.rate), target = RATING(tile.value) - m.mean - v->user_bias;
  float step = rate * (target - v->item_bias - slot_sum(lane_dot(v->p, v->q)));
  const float drift = (1.0f - m.decay) * rate * target;
  sg_sync();
  float weight = exp2((float)(index - 1) * log_decay);
  for (int c = 0; c < VECTORS; c++) v->q.v[c] *= weight * m.decay;
  v->item_bias *= weight * m.decay;
  row_t earlier[CHAIN];
  float gain[CHAIN];
#pragma unroll
  for (int j = 0; j < CHAIN; j++) {
    earlier[j] = shared_row(shared->p, SUB_GROUP_SIZE, lane_in_run(first, j) + slot_lane());
    gain[j] = gain_from(rate, earlier[j], v->p);
  }
  for (int begin = 0; begin < tile.longest; begin += CHAIN)
#pragma unroll
    for (int j = 0; j < CHAIN; j++) {
      const int follows = index > begin + j;
      const float made = sg_broadcast(step, lane_in_run(first, begin + j));
      step = follows ? mad(-made, gain[j], mad(m.decay, step, drift)) : step;
      const float share = follows ? weight * made : 0.0f;
      for (int c = 0; c < VECTORS; c++) v->q.v[c] = mad(earlier[j].v[c], (vector_t)(share), v->q.v[c]);
      v->item_bias += BIASES * share;
      weight *= undecay;
      earlier[j] = shared_row(shared->p, SUB_GROUP_SIZE, lane_in_run(first, begin + CHAIN + j) + slot_lane());
      gain[j] = gain_from(rate, earlier[j], v->p);
    }
  return step;
}

/* Store the tile's new rows.  Keep all p in local memory, and the q of the last run, which may continue in the next tile. */
INLINE void leave_tile(model_t m, tile_t tile, vertices_t v, __local shared_t *shared) {
  const uint lane = sg_lane();
  share_row(shared->p, SUB_GROUP_SIZE, lane, v.p);
  const int carries = (int)(lane / LANES) == tile.count - 1;
  if (carries) share_row(shared->q, LANES, slot_lane(), v.q);
  if (tile.item < 0) return;
  store_row(m.user_rows, tile.user, v.p);
  if (tile.fields & IS_LAST_OF_RUN) store_item(m, tile.item, v.q, v.item_bias);
#if BIASES
  shared->user_bias[lane] = v.user_bias;
  if (carries) shared->item_bias = v.item_bias;
  if (slot_lane() == 0) m.user_biases[tile.user] = v.user_bias;
#endif
}

/* Returns the vertices of the next tile: as read ahead, except for rows that the current tile has changed since. */
INLINE vertices_t take_tile(tile_t next, vertices_t ahead, int last_item, const __local shared_t *shared) {
  vertices_t v = ahead;
  if (next.fields & WAS_IN_TILE_BEFORE) {
    const uint from = (uint)SOURCE_SLOT(next.fields) * LANES + slot_lane();
    v.p = shared_row(shared->p, SUB_GROUP_SIZE, from);
#if BIASES
    v.user_bias = shared->user_bias[from];
#endif
  }
  if (next.item == last_item) {
    v.q = shared_row(shared->q, LANES, slot_lane());
#if BIASES
    v.item_bias = shared->item_bias;
#endif
  }
  return v;
}

/* Make the steps of the block that ends at `end`; n is the number of all ratings. */
INLINE void visit_block(model_t m, PACKED_PARAMS, offset_t end, offset_t n, stream_t *s, __local shared_t *shared) {
  const float log_decay = log2(m.decay), undecay = 1.0f / m.decay;
  tile_t tile = s->now;
  if (s->at >= end) return;
  vertices_t v = load_vertices(m, tile);
  while (s->at < end) {
    s->at += tile.count;
    tile_t next = as_tile(s->next);
    s->next = load_rating(PACKED, s->at + next.count, n);
    s->now = next;
    if (s->at >= end) next.item = -1;              /* its rows may belong to another group */
    const vertices_t ahead = load_vertices(m, next);
    share_row(shared->p, SUB_GROUP_SIZE, sg_lane(), v.p);
    check_begin_tile(m, tile);
    const float step = follow_run(m, log_decay, undecay, tile, &v, shared);
    const row_t p = moved(v.p, m.decay, step, v.q);
    v.q = moved(v.q, m.decay, step, v.p);
    v.p = p;
    v.user_bias = mad(m.decay, v.user_bias, BIASES * step);
    v.item_bias = mad(m.decay, v.item_bias, BIASES * step);
    sg_sync();
    leave_tile(m, tile, v, shared);
    check_end_tile(m, tile);
    const int last_item = sg_broadcast(tile.item, (uint)(tile.count - 1) * LANES);
    sg_sync();
    v = take_tile(next, ahead, last_item, shared);
    sg_sync();
    tile = next;
  }
}
#endif

/* A sub-group makes one step: it takes the block of its group, counted from first_group on. */
KERNEL block_step(const uint n_groups, const uint step, const uint first_group,
                  const __global offset_t *restrict offsets, PACKED_PARAMS, MODEL_PARAMS) {
  LOCAL_ARRAY shared_t shared;
  model_t m = MODEL;
  const offset_t block = (offset_t)(first_group + (uint)get_group_id(0)) * n_groups + step;
  const offset_t n = offsets[(ulong)n_groups * n_groups];
  stream_t stream = open_stream(PACKED, offsets[block], n);
  visit_block(m, PACKED, offsets[block + 1], n, &stream, &shared);
}

/* A sub-group makes all steps.  The next group had the items in the step before, so a group waits only for that one, and a
 * late group does not delay all others.  done[group] counts the steps that the group has finished; the host clears it.
 * Resident groups also process the blocks of groups that are not resident.  Each group processes all its blocks of a step
 * before the next step, so every step that a group waits for is in progress. */
KERNEL block_sweep(const uint n_groups, const __global offset_t *restrict offsets,
                   PACKED_PARAMS, MODEL_PARAMS, volatile __global uint *control,
                   volatile __global uint *done) {
  LOCAL_ARRAY shared_t shared;
  LOCAL_ARRAY int passed;
  GRID_ENTER(control)
  model_t m = MODEL;
  const offset_t n = offsets[(ulong)n_groups * n_groups];   /* the number of all ratings */
  stream_t stream;
  stream.at = -1;
  for (uint step = 0; step < n_groups; step++)
    for (uint group = member; group < n_groups; group += members) {
      const offset_t block = (offset_t)group * n_groups + step;
      if (stream.at != offsets[block]) stream = open_stream(PACKED, offsets[block], n);
      if (get_local_id(0) == 0) {
        passed = wait_until_at_least(done + (group + 1u) % n_groups * DONE_STRIDE, step, control + GRID_STATUS);
        fence_device();
      }
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      if (!passed) return;
      visit_block(m, PACKED, offsets[block + 1], n, &stream, &shared);
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      if (get_local_id(0) == 0) {
        fence_device();
        store_relaxed(done + group * DONE_STRIDE, step + 1u);
      }
    }
}
