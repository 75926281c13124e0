/* The sweeps that lock, launched as clgraph/algorithms/factorization does. */
#pragma once
#include "ratings.h"
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

struct Sweep : Ratings {
  Array<int> items_by_degree, item_offsets, n_pending, lists[2], item_lists[2];
  Array<uint> user_locks, item_locks;
  uint sizes[3] = {0, 0, 0};

  Sweep(Random &random, ulong seed) : Ratings(random, seed) {
    item_offsets.resize(n_items + 1);
    for (int item : items) item_offsets[item + 1]++;
    for (int i = 0; i < n_items; i++) {
      item_offsets[i + 1] += item_offsets[i];
      if (item_offsets[i + 1] > item_offsets[i]) items_by_degree.push_back(i);
    }
    n_pending.resize(n_items);
    for (auto &list : lists) list.resize(n);
    for (auto &list : item_lists) list.resize(n_items);
    user_locks.resize(n_users);
    item_locks.resize(n_items);
  }

  void edge_pass(uint pass) {
    if (!pass) {
      launch((n + RATINGS_PER_SLOT - 1) / RATINGS_PER_SLOT * LANES, [&] {
        lock_all(0, n, users, items, values, MODEL_ARGUMENTS, user_locks, item_locks, sizes, lists[0]);
      });
      return;
    }
    launch(2 * WG_SIZE, [&] {
      lock_deferred(pass, lists[(pass + 1) % 2], users, items, values, MODEL_ARGUMENTS, user_locks, item_locks, sizes,
                    lists[pass % 2]);
    });
  }
  void node_pass(uint pass) {
    const uint last = (uint)items_by_degree.size();
    const int *list = pass ? item_lists[(pass + 1) % 2] : items_by_degree;
    launch(last * LANES, [&] {
      lock_users(pass, 0, last, list, item_offsets, users, values, MODEL_ARGUMENTS, user_locks, n_pending, lists[0], sizes,
                 item_lists[pass % 2]);
    });
  }
  void node_pass_once() {
    const uint last = (uint)items_by_degree.size();
    launch(last * LANES, [&] {
      once::lock_users_once(0, 0, last, items_by_degree, item_offsets, users, values, MODEL_ARGUMENTS, user_locks, nullptr,
                            lists[0], sizes, nullptr);
    });
  }
  bool finish(void (Sweep::*pass)(uint)) {
    for (uint k = 1; sizes[k % 3]; k++) {
      if (k > (uint)n) return false;             /* each pass does at least one rating */
      (this->*pass)(k);
    }
    return true;
  }
  /* Also: all locks are free. */
  bool right() {
    uint held = 0;
    for (uint lock : user_locks) held += lock;
    for (uint lock : item_locks) held += lock;
    return !held && Ratings::right();
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
