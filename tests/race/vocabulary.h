/* Locks and worklists of cl/common, through the kernels of tests/kernels/vocabulary.cl. */
#pragma once

#define LOCK_TURNS 1000000u
#include "vocabulary.cl"

static bool locks_right(Random &random, ulong) {
  const uint n_locks = 1 + random.below(4), sections = 3, n_items = 4 * WG_SIZE;
  Array<uint> words(n_locks), counts(n_locks), plain_counts(n_locks), status(1);
  launch(n_items, [&] { locks(n_locks, sections, words, counts, plain_counts, status); });
  uint total = 0;
  for (uint count : counts) total += count;
  return total == n_items * sections && counts == plain_counts && !status[0] && std::count(words.begin(), words.end(), 0u) == n_locks;
}

static bool pushes_right(Random &random, ulong) {
  const uint n = 4 * WG_SIZE, limit = random.below(8);
  Array<uint> in(n), size(2), list(2 * n), group_list(2 * n), expected;
  for (uint i = 0; i < n; i++) {
    in[i] = random.below(100);
    if (in[i] % 7 < limit) expected.insert(expected.end(), {2 * i, 2 * i + 1});
  }
  launch(n, [&] { pushes(limit, in, &size[0], list, &size[1], group_list); }, WITH_BARRIERS);
  if (size[0] != expected.size() || size[1] != expected.size()) return false;
  for (Array<uint> *pushed : {&list, &group_list}) {
    pushed->resize(expected.size());
    std::sort(pushed->begin(), pushed->end());
    if (*pushed != expected) return false;
  }
  return true;
}

/* push_sub_group has no barrier: work-items of many groups push at once. */
static bool sub_group_pushes_right(Random &random, ulong) {
  const uint n = 4 * WG_SIZE, share = 1 + random.below(3);
  Array<uint> size(1), list(n, ~0u);
  launch(n, [&] {
    uint i = (uint)get_global_id(0);
    uint slot = push_sub_group(size, i % share == 0);
    if (i % share == 0) list[slot] = i;
  });
  std::sort(list.begin(), list.end());
  for (uint k = 0; k < (n + share - 1) / share; k++)
    if (list[k] != k * share) return false;
  return size[0] == (n + share - 1) / share;
}

static bool lower_right(Random &random, ulong) {
  const uint n = 4 * WG_SIZE;
  Array<ulong> values(n), least(1, ~0ul);
  Array<uint> lowered(1);
  for (ulong &value : values) value = random.below(50);
  launch(n, [&] { lower_ulong(values, least, lowered); });
  return least[0] == *std::min_element(values.begin(), values.end()) && lowered[0] >= 1 && lowered[0] <= 50;
}

static bool float_adds_right(Random &random, ulong) {
  const uint n = 4 * WG_SIZE;
  Array<float> in(n), sums(2), by_cas(2), expected(2);
  for (uint i = 0; i < n; i++) expected[i & 1] += in[i] = (float)random.below(1000);
  launch(n, [&] { float_adds(1, in, sums, by_cas); });
  return sums == expected && by_cas == expected;
}

static const Case cases[] = {
  {"locks", locks_right}, {"pushes", pushes_right}, {"sub_group_pushes", sub_group_pushes_right},
  {"lower_to", lower_right}, {"float_add", float_adds_right},
};
