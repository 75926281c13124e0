/* One kernel per group of words of cl/common; tests/test_vocabulary.py says what each must compute.
 *
 * A column of *out* holds one word's value for every work-item.  Sizes are whole work-groups, so every lane
 * arrives at every word, as the contract of subgroup.h asks.
 */
#include "common/atomics.h"
#include "common/grid_barrier.h"
#include "common/random.h"
#include "common/status.h"
#include "common/subgroup.h"
#include "common/worklist.h"

/* ---- sub-groups */
KERNEL sub_group_masks(__global const uint *in, __global ulong *out) {
  size_t i = get_global_id(0), n = get_global_size(0);
  uint x = in[i];
  lane_mask_t odd = sg_ballot(x & 1u);
  out[i] = sg_lane();
  out[n + i] = sg_in_group();
  out[2 * n + i] = odd;
  out[3 * n + i] = sg_any(x % 97u == 0u);
  out[4 * n + i] = sg_all(x % 8u != 0u);
  out[5 * n + i] = lanes_below_mask();
  out[6 * n + i] = odd ? lowest_lane(odd) : 99u;
  out[7 * n + i] = lane_count(odd);
  out[8 * n + i] = sg_any((ulong)x << 40);      /* a predicate whose low word is 0 */
  out[9 * n + i] = lowest_lane(1ul << (x & 63u));
  out[10 * n + i] = odd ? highest_lane(odd) : 99u;
  out[11 * n + i] = highest_lane(1ul << (x & 63u) | 1ul);
#if DEV_SUB_GROUP == SUB_GROUP_KHR
  out[12 * n + i] = get_sub_group_size();
#else
  out[12 * n + i] = SUB_GROUP_SIZE;
#endif
}

#define SUB_GROUP_VALUES(T)                                                                           \
  KERNEL sub_group_##T(__global const T *in, __global T *out) {                                       \
    size_t i = get_global_id(0), n = get_global_size(0);                                              \
    T x = in[i];                                                                                      \
    out[i] = sg_broadcast(x, (sg_lane() + 1u) % SUB_GROUP_SIZE);                                      \
    out[n + i] = sg_xor(x, SUB_GROUP_SIZE / 2);                                                       \
    out[2 * n + i] = sg_sum(x);                                                                       \
    out[3 * n + i] = sg_least(x);                                                                     \
    out[4 * n + i] = sg_greatest(x);                                                                  \
    out[5 * n + i] = sg_exclusive_sum(x);                                                             \
  }
SUB_GROUP_VALUES(int)
SUB_GROUP_VALUES(uint)
SUB_GROUP_VALUES(long)
SUB_GROUP_VALUES(ulong)
SUB_GROUP_VALUES(float)

/* Lanes pass values to their neighbours through memory: sg_sync orders it. */
KERNEL sub_group_memory(__global const uint *in, __global uint *out) {
  LOCAL_ARRAY uint shared[WG_SIZE];
  uint own = get_local_id(0), neighbour = own - sg_lane() + (sg_lane() + 1u) % SUB_GROUP_SIZE;
  uint x = in[get_global_id(0)];
  for (uint round = 0; round < 4u; round++) {
    shared[own] = x;
    sg_sync();
    x = shared[neighbour];
    sg_sync();
  }
  out[get_global_id(0)] = x;
}

/* ---- atomics: words[0..6] start at {0, greatest, least, all ones, 0, 0, 0}; old holds what was returned */
#define ATOMICS(T)                                                                                    \
  KERNEL atomics_##T(__global const T *values, __global T *words, __global T *old) {                  \
    size_t i = get_global_id(0), n = get_global_size(0);                                              \
    T v = values[i], bit = (T)1 << (i % (8 * sizeof(T)));                                             \
    old[i] = fetch_add(&words[0], (T)3);                                                              \
    old[n + i] = fetch_min(&words[1], v);                                                             \
    old[2 * n + i] = fetch_max(&words[2], v);                                                         \
    old[3 * n + i] = fetch_and(&words[3], ~bit);                                                      \
    old[4 * n + i] = fetch_or(&words[4], bit);                                                        \
    old[5 * n + i] = exchange(&words[5], (T)(i + 1));                                                 \
    T expected = load_relaxed(&words[6]), seen;                                                       \
    while ((seen = compare_exchange(&words[6], expected, expected + (T)5)) != expected) expected = seen; \
    old[6 * n + i] = expected;                                                                        \
  }
ATOMICS(int)
ATOMICS(uint)
#if DEV_HAS_INT64_ATOMICS
ATOMICS(long)
ATOMICS(ulong)
#endif

#define LOCAL_ATOMICS(T)                                                                              \
  KERNEL local_atomics_##T(__global const T *values, __global T *words) {                             \
    LOCAL_ARRAY T room[7];                                                                            \
    size_t i = get_local_id(0);                                                                       \
    for (size_t k = i; k < 7; k += WG_SIZE) room[k] = words[7 * get_group_id(0) + k];                 \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                     \
    T v = values[get_global_id(0)], bit = (T)1 << (i % (8 * sizeof(T)));                              \
    fetch_add(&room[0], (T)3); fetch_min(&room[1], v); fetch_max(&room[2], v);                        \
    fetch_and(&room[3], ~bit); fetch_or(&room[4], bit);                                               \
    if (exchange(&room[5], (T)1) == 0) fetch_add(&room[5], (T)41);                                    \
    T expected = 0, seen;                                                                             \
    while ((seen = compare_exchange(&room[6], expected, expected + (T)5)) != expected) expected = seen; \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                     \
    for (size_t k = i; k < 7; k += WG_SIZE) words[7 * get_group_id(0) + k] = room[k];                 \
  }
LOCAL_ATOMICS(int)
LOCAL_ATOMICS(uint)

/* ---- racy loads and stores: copied by words, then a word of one's own that changes */
#define LOADS(T)                                                                                      \
  KERNEL loads_##T(__global const T *in, __global T *relaxed, __global T *stale, __global T *own) {   \
    size_t i = get_global_id(0);                                                                      \
    store_relaxed(&relaxed[i], load_relaxed(&in[i]));                                                 \
    store_relaxed(&stale[i], load_stale(&in[i]));                                                     \
    T sum = (T)0;                                                                                     \
    for (int k = 0; k < 8; k++) {                                                                     \
      store_relaxed(&own[i], (T)k);                                                                   \
      sum += load_stale(&own[i]) + load_relaxed(&own[i]);                                             \
    }                                                                                                 \
    store_relaxed(&own[i], sum);                                                                      \
  }
LOADS(int)
LOADS(uint)
LOADS(float)
#if DEV_HAS_INT64_ATOMICS
LOADS(long)
LOADS(ulong)
#endif
#define LOADS_IF(T)                                                                                   \
  KERNEL loads_if_##T(__global const T *in, __global const T *wanted, __global T *found) {            \
    size_t i = get_global_id(0);                                                                      \
    const T old = load_relaxed_if(wanted[i] != 0, &in[wanted[i] ? i : 0]);                            \
    found[i] = old + (T)(wanted[i] == 0);                                                             \
  }
LOADS_IF(uint)
LOADS_IF(int)
#if DEV_HAS_INT64_ATOMICS
LOADS_IF(ulong)
#endif
#define MINIMA_IF(T)                                                                                  \
  KERNEL minima_if_##T(__global const T *values, __global const T *wanted, __global T *least, __global T *found) { \
    size_t i = get_global_id(0);                                                                      \
    found[i] = fetch_min_if(wanted[i] != 0, &least[i], values[i]);                                    \
  }
MINIMA_IF(uint)
#if DEV_HAS_INT64_ATOMICS
MINIMA_IF(ulong)
#endif
KERNEL exchanges_if(__global const uint *wanted, __global uint *words, __global int *signed_words, __global uint *found,
                    __global int *compared) {
  size_t i = get_global_id(0);
  found[i] = exchange_if(wanted[i] != 0u, &words[i], (uint)i);
  compared[i] = compare_exchange_if(wanted[i] != 0u, &signed_words[i], -1, (int)i);
}

#define LOWER(T)                                                                                      \
  KERNEL lower_##T(__global const T *values, __global T *least, __global uint *lowered) {             \
    size_t i = get_global_id(0);                                                                      \
    for (int turn = 0; turn < 2; turn++)                                                              \
      if (lower_to(least, values[i])) fetch_add(lowered, 1u);                                         \
  }
LOWER(int)
LOWER(uint)
#if DEV_HAS_INT64_ATOMICS
LOWER(long)
LOWER(ulong)
#endif

/* ---- order: a writer stores its item, then its flag; no reader may see the flag without the item.
 * Work-groups are writers and readers by turns.  A reader's pair was written by a group far from its own, so
 * some readers come before their writer, some after, and some meet it; every word has a cache line to itself. */
KERNEL message_passing(__global uint *items, __global uint *flags, __global uint *out) {
  uint n = (uint)get_global_size(0) / 2u, i = (uint)(get_group_id(0) / 2) * WG_SIZE + (uint)get_local_id(0);
  if (get_group_id(0) % 2u) {
    store_relaxed(&items[16u * i], 1u);
    fence_device();
    store_relaxed(&flags[16u * i], 1u);
  } else {
    uint pair = (i * 1103u) % n, seen = 0u;
    for (int turn = 0; turn < 64 && !seen; turn++) seen = load_relaxed(&flags[16u * pair]);
    fence_device();
    out[i] = 2u * seen + load_relaxed(&items[16u * pair]);
  }
}

/* ---- float add */
KERNEL float_adds(uint mask, __global const float *in, __global float *sums, __global float *sums_cas) {
  size_t i = get_global_id(0);
  float_add(&sums[i & mask], in[i]);
  float_add_cas(&sums_cas[i & mask], in[i]);
}
KERNEL float_keys(__global const float *in, __global uint *keys, __global float *back, __global uint *least) {
  size_t i = get_global_id(0);
  keys[i] = float_to_key(in[i]);
  back[i] = key_to_float(keys[i]);
  lower_to(least, keys[i]);
}

/* ---- locks: critical sections that add to words; plain accesses are ordered by the lock, too */
#ifndef LOCK_TURNS
#define LOCK_TURNS 10000000u
#endif
KERNEL locks(uint n_locks, uint sections, __global uint *lock_words, __global uint *counts,
             __global uint *plain_counts, __global uint *status) {
  uint i = (uint)get_global_id(0);
  for (uint section = 0; section < sections; section++) {
    uint k = (i * 2654435761u + section * 40503u) % n_locks, turns = 0u;
    int done = 0;
    while (sg_any(!done)) {
      if (!done && try_lock(&lock_words[k])) {
        store_relaxed(&counts[k], load_relaxed(&counts[k]) + 1u);
#if DEV_LOADS != LOADS_ATOMIC    /* Oclgrind knows no locks */
        plain_counts[k]++;
#endif
        unlock(&lock_words[k]);
        done = 1;
      }
      if (!done && ++turns > LOCK_TURNS) { report_status(status, STATUS_TIMEOUT); done = 1; }
    }
  }
}

/* ---- worklists */
KERNEL pushes(uint limit, __global const uint *in, __global uint *size, __global uint *list,
              __global uint *group_size, __global uint *group_list) {
  LOCAL_ARRAY uint room[2];
  uint i = (uint)get_global_id(0);
  for (uint turn = 0; turn < 2u; turn++) {
    int wanted = in[i] % 7u < limit;
    uint slot = push_sub_group(size, wanted);
    if (wanted) list[slot] = 2u * i + turn;
    slot = push_group(group_size, wanted, room);
    if (wanted) group_list[slot] = 2u * i + turn;
  }
}

/* ---- random numbers */
KERNEL randoms(ulong seed, uint n, __global uint *words, __global uint *below, __global float *unit) {
  ulong i = get_global_id(0), key = random_key(seed);
  words[i] = random_uint(key, i);
  below[i] = random_below(key, i, n);
  unit[i] = random_float(key, i);
}

/* ---- status word: the first code stays */
KERNEL statuses(__global uint *status) {
  uint i = (uint)get_global_id(0);
  report_status(&status[0], STATUS_OK);
  if (i == 3u) report_status(&status[1], STATUS_CAPACITY);
  if (i == 0u) {
    report_status(&status[2], STATUS_TIMEOUT);
    report_status(&status[2], STATUS_CAPACITY);
  }
}

/* ---- grid barrier: in each round every member tells its neighbour the round, and none is ahead or behind */
KERNEL grid_rounds(uint rounds, uint linger, __global uint *control, __global uint *told, __global uint *wrong) {
  LOCAL_ARRAY uint place[2];
  LOCAL_ARRAY int passed;
  if (get_local_id(0) == 0) {
    place[0] = grid_join(control, linger);
    place[1] = grid_members(control);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  uint member = place[0], members = place[1];
  if (member == GRID_OUTSIDE) return;
  for (uint round = 1; round <= rounds; round++) {
    if (get_local_id(0) == WG_SIZE - 1) store_relaxed(&told[member], round);
    if (!grid_barrier(control, members, &passed)) return;
    if (load_relaxed(&told[(member + 1u) % members]) != round) fetch_add(wrong, 1u);
    if (!grid_barrier(control, members, &passed)) return;
  }
}
