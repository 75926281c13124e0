/* The persistent sweeps in supersteps, whose groups meet at the grid's barrier: a group is one work-item, or
 * several, of which the first group then does all. */
#pragma once
#include "ratings.h"
#define LINGER linger
static unsigned linger;          /* short: some groups come too late, and leave their share to the others; long: all are
                                    waited for, of which the threads can run four at once */
#include "factorization/superstep.cl"
#undef RATING_PARAMS
namespace in_blocks {
#include "factorization/item_block.cl"
}

/* Ratings in matchings, as they come in a random order. */
struct Matched : Ratings {
  uint n_groups;
  /* matching[k]: the number of the matching that has rating k.  segments: the first step of each segment, then the
   * number of steps. */
  Array<uint> matching, segments = {0};
  Array<uint> control, status;

  Matched(Random &random, ulong seed) : Ratings(random, seed), n_groups(1 + random.below(4)), matching(n) {
    linger = random.below(2) || WG_SIZE > 1 ? 30 : ~0u;
    Array<int> order(n);
    for (int k = 0; k < n; k++) order[k] = k;
    for (int k = n - 1; k > 0; k--) std::swap(order[k], order[random.below((uint)k + 1)]);
    std::set<std::pair<int, uint>> taken;        /* items are the vertices n_users, … */
    for (int k : order) {
      uint &m = matching[k];
      while (taken.count({users[k], m}) || taken.count({n_users + items[k], m})) m++;
      taken.insert({users[k], m});
      taken.insert({n_users + items[k], m});
    }
    control.resize(GRID_CONTROL_WORDS);
    status.resize(1);
  }
  /* Put the ratings in ascending order of these keys. */
  template <class Key> void sort_by(Key key) {
    Array<int> order(n), old_users = users, old_items = items;
    for (int k = 0; k < n; k++) order[k] = k;
    std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    Array<uint> old_matching = matching;
    for (int k = 0; k < n; k++) {
      users[k] = old_users[order[k]];
      items[k] = old_items[order[k]];
      matching[k] = old_matching[order[k]];
    }
  }
  bool right() { return !status[0] && Ratings::right(); }
};

struct Supersteps : Matched {
  Array<int> offsets;

  Supersteps(Random &random, ulong seed) : Matched(random, seed) {
    sort_by([&](int k) { return matching[k]; });
    for (int k = 0; k < n; k++)
      if (k == 0 || matching[k] != matching[k - 1]) offsets.push_back(k);
    const uint n_steps = (uint)offsets.size();
    offsets.push_back(n);
    for (uint s = 1; s <= n_steps; s++)
      if (s == n_steps || random.below(3)) segments.push_back(s);
  }
  void sweep() {
    superstep_grid(0, (uint)segments.size() - 1, segments, offsets, users, items, values, MODEL_ARGUMENTS, control,
                   status);
  }
};

struct ItemBlocks : Matched {
  Array<int> by_rank, offsets = {0};
  Array<uint> steps, blocks;

  ItemBlocks(Random &random, ulong seed) : Matched(random, seed) {
    std::map<int, uint> rank;
    for (int item : items) rank[item] = 0;
    for (auto [item, _] : rank) by_rank.push_back(item);
    for (uint r = (uint)by_rank.size() - 1; r > 0; r--) std::swap(by_rank[r], by_rank[random.below(r + 1)]);
    for (uint r = 0; r < by_rank.size(); r++) rank[by_rank[r]] = r;
    const uint n_items_held = n_groups * SLOTS_PER_GROUP;
    std::map<std::pair<uint, uint>, uint> step;  /* (block, matching) -> number of the step */
    std::set<std::pair<uint, uint>> is_wide;     /* (block, matching) with ratings of other groups than the first */
    for (int k = 0; k < n; k++) {
      const uint r = rank[items[k]];
      step[{r / n_items_held, matching[k]}] = 0;
      if (r % n_items_held >= SLOTS_PER_GROUP) is_wide.insert({r / n_items_held, matching[k]});
    }
    uint n_steps = 0;
    std::pair<uint, uint> before;
    for (auto &[place, number] : step) {
      const bool joins = n_steps && place.first == before.first && !is_wide.count(place) && !is_wide.count(before);
      if (n_steps && !joins) segments.push_back(n_steps);
      if (!joins) blocks.push_back(place.first);
      number = n_steps++;
      before = place;
    }
    segments.push_back(n_steps);
    sort_by([&](int k) { return std::make_pair(rank[items[k]], matching[k]); });
    for (int k = 0; k < n; k++) {
      steps.push_back(step[{rank[items[k]] / n_items_held, matching[k]}]);
      if (k + 1 == n || items[k + 1] != items[k]) offsets.push_back(k + 1);
    }
  }
  void sweep() {
    in_blocks::item_blocks(0, (uint)blocks.size(), n_groups, (uint)by_rank.size(), segments, blocks, by_rank, offsets,
                           users, steps, values, MODEL_ARGUMENTS, control, status);
  }
};

template <class Sweep> static bool sweep_right(Random &random, ulong seed) {
  Sweep sweep(random, seed);
  launch(sweep.n_groups * WG_SIZE, [&] { sweep.sweep(); }, WG_SIZE == 1 ? INDEPENDENT : WITH_BARRIERS);
  return sweep.right();
}

/* A group that waits for a missing group reports STATUS_TIMEOUT and ends at its first barrier. */
template <class Sweep> static bool alone_right(Random &random, ulong seed) {
  Sweep sweep(random, seed);
  sweep.n_groups = 2;
  launch_alone(&sweep.control[GRID_DOOR], [&] { sweep.sweep(); });
  return sweep.status[0] == STATUS_TIMEOUT && sweep.control[GRID_STATUS] == STATUS_TIMEOUT && sweep.control[GRID_TICKET] == 1;
}

static const Case cases[] = {
  {"superstep_grid", sweep_right<Supersteps>}, {"item_blocks", sweep_right<ItemBlocks>},
  {"superstep_grid_alone", alone_right<Supersteps>}, {"item_blocks_alone", alone_right<ItemBlocks>},
};
