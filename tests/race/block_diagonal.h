/* Blocks of ratings in local memory, launched as clgraph/algorithms/factorization/schedules/block_diagonal.py does, and sums of
 * squared errors. */
#pragma once
#include "ratings.h"
#define N_ROWS 3
#define N_COLUMNS 4
#define MODEL_OF(on) on.hyper, on.user_rows, on.item_rows, on.user_biases, on.item_biases, \
  on.n_items, on.updates, on.user_marks, on.item_marks, on.violations
#include "factorization/block_diagonal.cl"
#include "factorization/evaluate.cl"

static bool blocks_right(Random &random, ulong seed) {
  Ratings on(random, seed);
  const int n_user_blocks = (on.n_users + N_ROWS - 1) / N_ROWS, n_item_blocks = (on.n_items + N_COLUMNS - 1) / N_COLUMNS;
  const int n_diagonals = std::max(n_user_blocks, n_item_blocks), n_waves = std::max(N_ROWS, N_COLUMNS);
  std::map<std::tuple<int, int, int>, Array<int4>> of;     /* diagonal, block, wave */
  for (int k = 0; k < on.n; k++) {
    const int u = on.users[k], i = on.items[k], block = u / N_ROWS;
    of[{(i / N_COLUMNS + n_diagonals - block % n_diagonals) % n_diagonals, block,
        (i % N_COLUMNS + n_waves - u % N_ROWS) % n_waves}].push_back(on.packed(k));
  }
  Array<int> blocks, waves, diagonals;
  Array<int4> ratings;
  std::tuple<int, int> before = {-1, -1};
  for (const auto &[key, some] : of) {
    const auto [diagonal, block, wave] = key;
    if (std::get<0>(before) != diagonal) diagonals.push_back((int)blocks.size());
    if (before != std::make_tuple(diagonal, block)) blocks.push_back((int)waves.size());
    before = {diagonal, block};
    waves.push_back((int)ratings.size());
    ratings.insert(ratings.end(), some.begin(), some.end());
  }
  diagonals.push_back((int)blocks.size());
  for (size_t d = 0; d + 1 < diagonals.size(); d++)
    launch((diagonals[d + 1] - diagonals[d]) * WG_SIZE, [&] {
      block_superstep(diagonals[d], diagonals[d + 1], blocks, waves, (uint)blocks.size(), (uint)waves.size(), on.n,
                      ratings, MODEL_OF(on));
    }, WITH_BARRIERS);
  return on.right();
}

static bool errors_right(Random &random, ulong seed) {
  Ratings on(random, seed);
  for (int k = 0; k < on.n; k++) on.values[k] = WITH_WEIGHT((float)random.below(10), (float)random.below(3));
  const size_t n_groups = 1 + random.below(3);
  Array<float> partial(n_groups);
  launch(n_groups * WG_SIZE, [&] {
    squared_errors(on.n, on.users, on.items, on.values, MODEL_OF(on), partial);
  }, WITH_BARRIERS);
  float sum = 0, expected = 0;
  for (float part : partial) sum += part;
  for (value_t value : on.values) expected += WEIGHTED_BY(value, RATING(value) * RATING(value));  /* all rows are zero, and so is what they predict */
  return sum == expected;
}

static const Case cases[] = {{"blocks", blocks_right}, {"errors", errors_right}};
