/* Small rating matrices, and a model whose steps commute.
 *
 * Values are so large, the rate so small, that each step adds 1 to the biases of its user and its item, whatever they
 * are, exactly; so a lost update shows in the sums.  With WEIGHTED, values are half as large and weigh 2. */
#pragma once

#define BIASES 1
#define CHECK_UPDATES 1
#define VECTORS 2
#include "factorization/model.h"

#define MODEL_ARGUMENTS hyper, user_rows, item_rows, user_biases, item_biases, n_items, \
  updates, user_marks, item_marks, violations

struct Ratings {
  int n_users, n_items, n;
  Array<int> users, items;                 /* sorted by item */
  Array<value_t> values;
  Array<float> user_rows, item_rows, user_biases, item_biases;
  Array<uint> updates, user_marks, item_marks, violations;
  float hyper[3] = {0x1p-40f, 1.0f, 0.0f};

  Ratings(Random &random, ulong seed) : n_users(2 + (int)random.below(12)), n_items(2 + (int)random.below(12)) {
    std::set<std::pair<int, int>> ratings;       /* item first */
    if (seed % 4 == 0) n_items = 1;                                     /* One item has all ratings. */
    if (seed % 4 == 1) n_users = 1;                                     /* One user has all ratings. */
    const int most = seed % 4 == 2 ? n_users * n_items : 20;            /* nearly full, or sparse */
    for (int k = 0; k < 4 * most; k++) ratings.insert({(int)random.below(n_items), (int)random.below(n_users)});
    n = (int)ratings.size();
    for (auto [item, user] : ratings) {
      items.push_back(item);
      users.push_back(user);
    }
    values.assign(n, WITH_WEIGHT(WEIGHTED ? 0x1p39f : 0x1p40f, 2.0f));
    user_rows.resize(n_users * RANK_PADDED);
    item_rows.resize(n_items * RANK_PADDED);
    user_biases.resize(n_users);
    item_biases.resize(n_items);
    updates.resize(n_users * n_items);
    user_marks.resize(n_users);
    item_marks.resize(n_items);
    violations.resize(1);
  }

  int4 packed(int k) const { return make_int4(users[k], items[k], as_int(RATING(values[k])), as_int(WEIGHT(values[k]))); }

  /* Each rating once, no two at a time at a vertex, no step lost. */
  bool right() {
    Array<float> of_user(n_users), of_item(n_items);
    Array<uint> once_each(updates.size());
    for (int k = 0; k < n; k++) {
      of_user[users[k]]++;
      of_item[items[k]]++;
      once_each[users[k] * n_items + items[k]] = 1;
    }
    return !violations[0] && updates == once_each && user_biases == of_user && item_biases == of_item;
  }
};
