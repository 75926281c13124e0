/* Probes: what they count as done is what the words show. */
#pragma once
#include "host.h"
#include "probe/atomics.cl"
#undef DEFINE_PROBE_
#define add_int32 local_add_int32
#define min_int32 local_min_int32
#define cmpxchg_int32 local_cmpxchg_int32
#include "probe/local_atomics.cl"
#undef add_int32
#undef min_int32
#undef cmpxchg_int32
#include "probe/grid_barrier.cl"
#include "probe/latency.cl"

static const uint N_TURNS = 8;

static uint all_of(const Array<uint> &done) { return std::accumulate(done.begin(), done.end(), 0u); }

/* Each operation adds or takes 1. */
template <class T, class Probe> static bool is_counted(Random &random, T start, int sign, Probe probe) {
  const uint n_items = 1 + random.below(3 * WG_SIZE), n_words = 1 + random.below(2), seed = random.below(99);
  Array<T> words(n_words, start);
  Array<uint> done(n_items);
  launch(n_items, [&] { probe(n_items, N_TURNS, n_words, 0, seed, 1, words, done); });
  T sum = 0;
  for (T word : words) sum += (word - start) * sign;
  return sum == (T)all_of(done);
}

static bool atomics_right(Random &random, ulong) {
  return is_counted<int>(random, 0, 1, add_int32) && is_counted<int>(random, 1 << 20, -1, min_int32) &&
         is_counted<int>(random, 0, 1, cmpxchg_int32) && is_counted<long>(random, 1 << 20, -1, min_int64) &&
         is_counted<float>(random, 0, 1, add_float32) && is_counted<float>(random, 0, 1, add_float32_cas);
}

template <class Probe> static bool is_counted_locally(Random &random, int start, int sign, Probe probe) {
  const uint n_groups = 1 + random.below(3), n_words = 1 + random.below(WG_SIZE), seed = random.below(99);
  Array<int> words(n_groups * WG_SIZE);
  Array<uint> done(words.size());
  launch(words.size(), [&] { probe(N_TURNS, n_words, seed, start, 1, words, done); }, WITH_BARRIERS);
  uint sum = 0;
  for (int word : words) sum += (uint)((word - start) * sign);
  return sum == all_of(done);
}

static bool local_atomics_right(Random &random, ulong) {
  if (!is_counted_locally(random, 0, 1, local_add_int32)) return false;
#if __has_feature(thread_sanitizer)  /* it reports the volatile loads of the other two as races */
  return true;
#else
  return is_counted_locally(random, 1 << 20, -1, local_min_int32) && is_counted_locally(random, 0, 1, local_cmpxchg_int32);
#endif
}

static bool barriers_right(Random &random, ulong) {
  const uint rounds = 1 + random.below(4), n_groups = 1 + random.below(3);
  Array<uint> control(GRID_CONTROL_WORDS), passed(n_groups);
  launch(n_groups * WG_SIZE, [&] { grid_barriers(rounds, 30, control, passed); }, WITH_BARRIERS);
  const uint members = control[GRID_MEMBERS];
  return all_of(passed) == rounds * members && control[GRID_TICKET] == rounds * members;
}

static bool locks_right(Random &random, ulong) {
  const uint n_locks = 1 + random.below(3);
  Array<uint> locks(n_locks), out(1);
  launch(1, [&] { lock(N_TURNS, n_locks, 5, locks, out); });
  return out[0] == N_TURNS && !all_of(locks);
}

static const Case cases[] = {
  {"atomics", atomics_right}, {"local_atomics", local_atomics_right}, {"barriers", barriers_right}, {"locks", locks_right},
};
