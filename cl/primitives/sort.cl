/* Stable least-significant-digit radix sort for GPUs; one launch of a scatter kernel per digit.
 *
 * A tile is WG_SIZE * ITEMS_PER_ITEM keys.  A sub-group owns a run of consecutive keys of it.  A work-item takes every
 * SUB_GROUP_SIZE-th key of that run, so loads are consecutive, and the order of the input is item by item, lane by lane.
 * A ballot per bit finds the lanes with an equal digit; the lowest of them adds their number to the sub-group's counter of
 * that digit.  Keys are sorted within the tile in local memory before they are written, so that the writes of a digit are
 * consecutive.
 *
 *   histogram, scan_histograms, scatter_look_back    "onesweep": one read of the keys counts the digits of all passes.
 *                        Then there is one kernel per pass, in which a tile gets the counts of earlier tiles by look-back.
 *   count_tiles, (a scan), scatter_tiles             the classic three steps; no group waits for another
 *
 * counts of scatter_tiles are digit-major: counts[digit * tiles + tile].  State words of the look-back hold a
 * stage in the two highest bits and a count below (STATE_T uint if n < 2^30, else ulong): see look_back.h for the
 * stages and the intended races on them.
 * Reference: A. Adinets, D. Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", 2022.
 */
#ifndef ITEMS_PER_ITEM
#define ITEMS_PER_ITEM 16
#endif
#ifndef N_PASSES
#define N_PASSES 4
#endif
#ifndef HISTOGRAM_COPIES         /* copies of each counter, so that lanes of a sub-group seldom add to the same copy */
#define HISTOGRAM_COPIES 2
#endif
#ifndef STATE_T
#define STATE_T uint
#define STATE_BITS 32
#endif
#ifndef HAS_VALUES
#define HAS_VALUES 0
#endif
#ifndef VALUE_T                  /* an unsigned type of the values' size */
#define VALUE_T uint
#define VALUE_BYTES 4
#endif
#include "primitives/group_scan.h"
#include "primitives/look_back.h"
#include "primitives/sort_keys.h"

#if RADIX > WG_SIZE
#error "a work-item has at most one digit"
#endif
#define TILE (WG_SIZE * ITEMS_PER_ITEM)
#define COUNTER_BYTES (4 * RADIX * SUB_GROUPS_PER_GROUP)
#define EXCHANGE_BYTES (TILE * (HAS_VALUES && VALUE_BYTES > KEY_BYTES ? VALUE_BYTES : KEY_BYTES))
#define POOL_WORDS ((COUNTER_BYTES > EXCHANGE_BYTES ? COUNTER_BYTES : EXCHANGE_BYTES) / 8)
#define ALL_LANES ((lane_mask_t)(SUB_GROUP_SIZE == 64 ? ~0ul : (1ul << (SUB_GROUP_SIZE & 63)) - 1ul))

INLINE lane_mask_t lanes_with_digit(uint digit) {
  lane_mask_t same = ALL_LANES;
  for (int b = 0; b < RADIX_BITS; b++) {
    lane_mask_t ones = sg_ballot((digit >> b) & 1u);
    same &= (digit >> b) & 1u ? ones : ~ones;
  }
  return same;
}

/* Counts the digits of all passes and adds them to totals[pass * RADIX + digit], which start as zero. end_mask: the bits to
 * sort by. */
KERNEL histogram(long n, uint begin_bit, ulong end_mask, const __global key_bits_t *restrict keys,
                 volatile __global uint *totals) {
  LOCAL_ARRAY uint counts[HISTOGRAM_COPIES * N_PASSES * RADIX];
  for (uint i = get_local_id(0); i < HISTOGRAM_COPIES * N_PASSES * RADIX; i += WG_SIZE) counts[i] = 0u;
  local_barrier();
  volatile __local uint *own = counts + get_local_id(0) % HISTOGRAM_COPIES * (N_PASSES * RADIX);
  const long stride = get_global_size(0);
  for (long first = get_global_id(0); first < n; first += 8 * stride) {
    key_bits_t key[8];
    #pragma unroll
    for (int k = 0; k < 8; k++) key[k] = first + k * stride < n ? keys[first + k * stride] : (key_bits_t)0;
    #pragma unroll
    for (int k = 0; k < 8; k++) {
      if (first + k * stride >= n) break;
      key_bits_t rest = (ordered_bits(key[k]) & (key_bits_t)end_mask) >> begin_bit;
      for (int p = 0; p < N_PASSES; p++, rest >>= RADIX_BITS)
        fetch_add(own + p * RADIX + ((uint)rest & (RADIX - 1u)), 1u);
    }
  }
  local_barrier();
  for (uint i = get_local_id(0); i < N_PASSES * RADIX; i += WG_SIZE) {
    uint sum = 0u;
    for (uint c = 0; c < HISTOGRAM_COPIES; c++) sum += counts[c * N_PASSES * RADIX + i];
    if (sum) fetch_add(totals + i, sum);
  }
}

/* One work-group per pass writes the beginning of each digit's keys, and clears the totals for the next run. */
KERNEL scan_histograms(__global uint *restrict totals, __global uint *restrict starts) {
  LOCAL_ARRAY uint scratch[GROUP_SCRATCH];
  uint d = get_local_id(0), at = get_group_id(0) * RADIX + d, all;
  uint start = group_exclusive_sum(d < RADIX ? totals[at] : 0u, scratch, &all);
  if (d < RADIX) {
    starts[at] = start;
    totals[at] = 0u;
  }
}

KERNEL count_tiles(long n, uint bit, uint mask, const __global key_bits_t *restrict keys,
                   __global uint *restrict counts) {
  LOCAL_ARRAY uint local_counts[RADIX];
  uint lid = get_local_id(0);
  if (lid < RADIX) local_counts[lid] = 0u;
  local_barrier();
  long first = (long)get_group_id(0) * TILE;
  for (long i = first + lid; i < min(n, first + TILE); i += WG_SIZE)
    fetch_add((volatile __local uint *)local_counts + digit_of(keys[i], bit, mask), 1u);
  local_barrier();
  if (lid < RADIX) counts[(long)lid * get_num_groups(0) + get_group_id(0)] = local_counts[lid];
}

#if HAS_VALUES
#define VALUES_IN , const __global VALUE_T *restrict values
#define VALUES_OUT , __global VALUE_T *restrict out_values
#define VALUES , values, out_values
#else
#define VALUES_IN
#define VALUES_OUT
#define VALUES
#endif

typedef struct {
  uint tile, valid;              /* number of the tile; its keys, which are TILE except in the last one */
  uint first;                    /* this work-item's first key in the tile; the next ones are SUB_GROUP_SIZE apart */
  uint total, start;             /* number of keys with digit get_local_id(0), and the place of the first */
  key_bits_t key[ITEMS_PER_ITEM];
  uint position[ITEMS_PER_ITEM]; /* place in the sorted tile */
} tile_t;
#define IS_VALID(i) (t->first + (i) * SUB_GROUP_SIZE < t->valid)

/* These functions must be inlined into the kernel: in functions of their own the arrays of a tile_t would be in
 * memory. */

/* Loads a tile and ranks its keys.  At the end the pool has the sorted keys, and starts[] is filled.  Keys past the end
 * count as the highest digit, so they come last; only the last tile has any. */
ALWAYS_INLINE void rank_keys(tile_t *t, long n, uint bit, uint mask, const __global key_bits_t *restrict keys,
                             __local ulong *pool) {
  uint lid = get_local_id(0);
  __local uint *counts = (__local uint *)pool;
  volatile __local uint *own = counts + sg_in_group() * RADIX;
  for (uint i = lid; i < RADIX * SUB_GROUPS_PER_GROUP; i += WG_SIZE) counts[i] = 0u;
  t->first = sg_in_group() * (SUB_GROUP_SIZE * ITEMS_PER_ITEM) + sg_lane();
  t->valid = (uint)min(n - (long)t->tile * TILE, (long)TILE);
  keys += (long)t->tile * TILE + t->first;
  #pragma unroll
  for (int i = 0; i < ITEMS_PER_ITEM; i++)
    t->key[i] = IS_VALID(i) ? keys[i * SUB_GROUP_SIZE] : (key_bits_t)0;
  local_barrier();
  #pragma unroll
  for (int i = 0; i < ITEMS_PER_ITEM; i++) {
    uint d = IS_VALID(i) ? digit_of(t->key[i], bit, mask) : mask;
    lane_mask_t same = lanes_with_digit(d), below = same & lanes_below_mask();
    uint before = own[d];
    sg_sync();
    if (!below) own[d] = before + lane_count(same);
    sg_sync();
    t->position[i] = before + lane_count(below);
  }
  local_barrier();
  t->total = 0u;
  if (lid < RADIX)
    for (uint s = 0; s < SUB_GROUPS_PER_GROUP; s++) {
      uint c = counts[s * RADIX + lid];
      counts[s * RADIX + lid] = t->total;
      t->total += c;
    }
}

ALWAYS_INLINE void place_keys(tile_t *t, uint bit, uint mask, __local ulong *pool, __local uint *starts,
                              __local uint *scratch) {
  uint lid = get_local_id(0), all;
  __local uint *counts = (__local uint *)pool, *own = counts + sg_in_group() * RADIX;
  t->start = group_exclusive_sum(t->total, scratch, &all);
  if (lid < RADIX) starts[lid] = t->start;
  local_barrier();
  #pragma unroll
  for (int i = 0; i < ITEMS_PER_ITEM; i++) {
    uint d = IS_VALID(i) ? digit_of(t->key[i], bit, mask) : mask;
    t->position[i] += starts[d] + own[d];
  }
  local_barrier();
  __local key_bits_t *exchanged = (__local key_bits_t *)pool;
  #pragma unroll
  for (int i = 0; i < ITEMS_PER_ITEM; i++) exchanged[t->position[i]] = t->key[i];
}

/* begin: the position of this tile's keys of digit get_local_id(0) in the output. */
ALWAYS_INLINE void write_keys(const tile_t *t, uint bit, uint mask, uint begin, __local ulong *pool,
                              __local uint *starts, __global key_bits_t *restrict out_keys VALUES_IN VALUES_OUT) {
  uint lid = get_local_id(0), to[ITEMS_PER_ITEM];
  if (lid < RADIX) starts[lid] = begin - t->start;
  local_barrier();
  const __local key_bits_t *exchanged = (__local key_bits_t *)pool;
  #pragma unroll
  for (int i = 0; i < ITEMS_PER_ITEM; i++) {
    uint p = lid + i * WG_SIZE;
    key_bits_t key = exchanged[p];
    to[i] = p + (p < t->valid ? starts[digit_of(key, bit, mask)] : 0u);
    if (p < t->valid) out_keys[to[i]] = key;
  }
#if HAS_VALUES
  VALUE_T value[ITEMS_PER_ITEM];
  values += (long)t->tile * TILE + t->first;
  #pragma unroll
  for (int i = 0; i < ITEMS_PER_ITEM; i++)
    value[i] = IS_VALID(i) ? values[i * SUB_GROUP_SIZE] : (VALUE_T)0;
  local_barrier();
  __local VALUE_T *exchanged_values = (__local VALUE_T *)pool;
  #pragma unroll
  for (int i = 0; i < ITEMS_PER_ITEM; i++) exchanged_values[t->position[i]] = value[i];
  local_barrier();
  #pragma unroll
  for (int i = 0; i < ITEMS_PER_ITEM; i++)
    if (lid + i * WG_SIZE < t->valid) out_values[to[i]] = exchanged_values[lid + i * WG_SIZE];
#endif
}

KERNEL scatter_tiles(long n, uint bit, uint mask, const __global uint *restrict begins,
                     const __global key_bits_t *restrict keys VALUES_IN,
                          __global key_bits_t *restrict out_keys VALUES_OUT) {
  LOCAL_ARRAY ulong pool[POOL_WORDS];
  LOCAL_ARRAY uint starts[RADIX], scratch[GROUP_SCRATCH];
  tile_t t;
  t.tile = get_group_id(0);
  uint lid = get_local_id(0);
  uint begin = lid < RADIX ? begins[(long)lid * get_num_groups(0) + t.tile] : 0u;
  rank_keys(&t, n, bit, mask, keys, pool);
  place_keys(&t, bit, mask, pool, starts, scratch);
  write_keys(&t, bit, mask, begin, pool, starts, out_keys VALUES);
}

#define COUNT_BITS (STATE_BITS - 2)
#define STATE(stage, count) (((STATE_T)(((stage) + nothing) & 3u) << COUNT_BITS) | (count))

KERNEL scatter_look_back(long n, uint nothing, uint bit, uint mask, uint digit,
                         const __global uint *restrict digit_starts, const __global key_bits_t *restrict keys VALUES_IN,
                         volatile __global uint *control, volatile __global STATE_T *states,
                         __global key_bits_t *restrict out_keys VALUES_OUT) {
  LOCAL_ARRAY ulong pool[POOL_WORDS];
  LOCAL_ARRAY uint starts[RADIX], scratch[GROUP_SCRATCH], shared_tile;
  tile_t t;
  uint lid = get_local_id(0), prefix = 0u;
  if (lid == 0) shared_tile = draw_tile(control);
  local_barrier();
  t.tile = shared_tile;
  rank_keys(&t, n, bit, mask, keys, pool);
  volatile __global STATE_T *own = states + (long)t.tile * RADIX + lid;
  if (lid < RADIX && t.tile) store_relaxed(own, STATE(STAGE_TILE, t.total));
  place_keys(&t, bit, mask, pool, starts, scratch);
  if (lid < RADIX) {
    uint turn = 0u;
    for (long other = (long)t.tile - 1; other >= 0;) {
      STATE_T state = load_relaxed(states + other * RADIX + lid);
      uint stage = ((uint)(state >> COUNT_BITS) - nothing) & 3u;
      if (stage == STAGE_NOTHING) {
        if (gave_up(control, turn++)) break;
        continue;
      }
      prefix += (uint)(state & (((STATE_T)1 << COUNT_BITS) - 1));
      if (stage == STAGE_PREFIX) break;
      other--;
    }
    store_relaxed(own, STATE(STAGE_PREFIX, prefix + t.total));
    prefix += digit_starts[digit * RADIX + lid];
  }
  write_keys(&t, bit, mask, prefix, pool, starts, out_keys VALUES);
}
