/* The sweeps that lock, launched as clgraph/algorithms/factorization does, on small rating matrices.
 *
 * Steps commute here: values are so large, the rate so small, that each step adds 1 to the biases of its user and its
 * item, whatever they are, exactly; so a lost update shows in the sums. */
#pragma once
#include <algorithm>
#include <set>

#define BIASES 1
#define CHECK_UPDATES 1
#define VECTORS 2
#define RATINGS_PER_SLOT 2       /* many slots, and many passes, for few ratings */
#define MOST_TURNS 8
#define ROUNDS 2
#include "factorization/edge_locked.cl"
#include "factorization/node_locked.cl"
#undef DEFER_TO_LIST
#define DEFER_TO_LIST 1
#define lock_users lock_users_once
namespace once {
#include "factorization/node_locked.cl"
}
#undef lock_users

#define MODEL_ARGUMENTS hyper, user_rows.data(), item_rows.data(), user_biases.data(), item_biases.data(), n_items, \
  updates.data(), user_marks.data(), item_marks.data(), violations.data()

struct Sweep {
  int n_users, n_items, n;
  std::vector<int> users, items, items_by_degree, item_offsets, n_pending;
  std::vector<int> lists[2], item_lists[2];
  std::vector<float> values, user_rows, item_rows, user_biases, item_biases;
  std::vector<uint> user_locks, item_locks, updates, user_marks, item_marks, violations;
  uint sizes[3] = {0, 0, 0};
  float hyper[3] = {0x1p-40f, 1.0f, 0.0f};

  Sweep(Random &random, ulong seed) : n_users(2 + (int)random.below(12)), n_items(2 + (int)random.below(12)) {
    std::set<std::pair<int, int>> ratings;       /* item first: sorted by item */
    if (seed % 4 == 0) n_items = 1;                                     /* one item that all have rated */
    if (seed % 4 == 1) n_users = 1;                                     /* one user who has rated all */
    const int most = seed % 4 == 2 ? n_users * n_items : 20;            /* nearly full, or sparse */
    for (int k = 0; k < 4 * most; k++) ratings.insert({(int)random.below(n_items), (int)random.below(n_users)});
    n = (int)ratings.size();
    item_offsets.resize(n_items + 1);
    for (auto [item, user] : ratings) {
      items.push_back(item);
      users.push_back(user);
      item_offsets[item + 1]++;
    }
    for (int i = 0; i < n_items; i++) {
      item_offsets[i + 1] += item_offsets[i];
      if (item_offsets[i + 1] > item_offsets[i]) items_by_degree.push_back(i);
    }
    values.assign(n, 0x1p40f);
    n_pending.resize(n_items);
    for (auto &list : lists) list.resize(n);
    for (auto &list : item_lists) list.resize(n_items);
    user_rows.resize(n_users * RANK_PADDED);
    item_rows.resize(n_items * RANK_PADDED);
    user_biases.resize(n_users);
    item_biases.resize(n_items);
    user_locks.resize(n_users);
    item_locks.resize(n_items);
    updates.resize(n_users * n_items);
    user_marks.resize(n_users);
    item_marks.resize(n_items);
    violations.resize(1);
  }

  void edge_pass(uint pass) {
    if (!pass) {
      launch((n + RATINGS_PER_SLOT - 1) / RATINGS_PER_SLOT, [&] {
        lock_all(0, n, users.data(), items.data(), values.data(), MODEL_ARGUMENTS, user_locks.data(), item_locks.data(),
                 sizes, lists[0].data());
      });
      return;
    }
    launch(2 * WG_SIZE, [&] {
      lock_deferred(pass, lists[(pass + 1) % 2].data(), users.data(), items.data(), values.data(), MODEL_ARGUMENTS,
                    user_locks.data(), item_locks.data(), sizes, lists[pass % 2].data());
    });
  }
  void node_pass(uint pass) {
    const uint last = (uint)items_by_degree.size();
    const int *list = pass ? item_lists[(pass + 1) % 2].data() : items_by_degree.data();
    launch(last, [&] {
      lock_users(pass, 0, last, list, item_offsets.data(), users.data(), values.data(), MODEL_ARGUMENTS,
                 user_locks.data(), n_pending.data(), lists[0].data(), sizes, item_lists[pass % 2].data());
    });
  }
  void node_pass_once() {
    const uint last = (uint)items_by_degree.size();
    launch(last, [&] {
      once::lock_users_once(0, 0, last, items_by_degree.data(), item_offsets.data(), users.data(), values.data(),
                            MODEL_ARGUMENTS, user_locks.data(), nullptr, lists[0].data(), sizes, nullptr);
    });
  }
  bool finish(void (Sweep::*pass)(uint)) {
    for (uint k = 1; sizes[k % 3]; k++) {
      if (k > (uint)n) return false;             /* each pass does at least one rating */
      (this->*pass)(k);
    }
    return true;
  }
  /* Each rating once, no two at a time at a vertex, no step lost, all locks free. */
  bool right() {
    std::vector<float> of_user(n_users), of_item(n_items);
    std::vector<uint> once_each(updates.size());
    for (int k = 0; k < n; k++) {
      of_user[users[k]]++;
      of_item[items[k]]++;
      once_each[users[k] * n_items + items[k]] = 1;
    }
    uint held = violations[0];
    for (uint lock : user_locks) held += lock;
    for (uint lock : item_locks) held += lock;
    return !held && updates == once_each && user_biases == of_user && item_biases == of_item;
  }
};

static bool edge_locked_right(Random &random, ulong seed) {
  Sweep sweep(random, seed);
  sweep.edge_pass(0);
  return sweep.finish(&Sweep::edge_pass) && sweep.right();
}

static bool node_locked_right(Random &random, ulong seed) {
  Sweep sweep(random, seed);
  sweep.node_pass(0);
  return sweep.finish(&Sweep::node_pass) && sweep.right();
}

static bool hybrid_locked_right(Random &random, ulong seed) {
  Sweep sweep(random, seed);
  sweep.node_pass_once();
  return sweep.finish(&Sweep::edge_pass) && sweep.right();
}

static const Case cases[] = {
  {"edge_locked", edge_locked_right}, {"node_locked", node_locked_right}, {"hybrid_locked", hybrid_locked_right},
};
