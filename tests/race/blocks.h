/* The persistent sweep over a grid of blocks, whose groups wait for each other: a group is one
 * work-item, or several, of which the first group then does all. */
#pragma once
#include "ratings.h"
#define LINGER linger
static unsigned linger;          /* short: some groups come too late, and leave their share to the others; long: all are
                                    waited for, of which the threads can run four at once */
#include "factorization/block_grid.cl"

#if WEIGHTED
#define PACKED_ARGUMENTS packed, weights
#else
#define PACKED_ARGUMENTS packed
#endif

struct Grid : Ratings {
  uint n_groups;
  Array<int> offsets;
  Array<int4> packed;
  Array<float> weights;          /* cut_tiles writes them with WEIGHTED */
  Array<uint> control, done;

  Grid(Random &random, ulong seed) : Ratings(random, seed), n_groups(1 + random.below(4)) {
    linger = random.below(2) || WG_SIZE > 1 ? 30 : ~0u;
    Array<uint> user_part(n_users), item_part(n_items);
    for (uint &part : user_part) part = random.below(n_groups);
    for (uint &part : item_part) part = random.below(n_groups);
    std::vector<Array<int4>> blocks(n_groups * n_groups);
    for (int k = 0; k < n; k++) {                /* Ratings are sorted by item, and so is each block. */
      const uint group = user_part[users[k]], step = (item_part[items[k]] + n_groups - group) % n_groups;
      blocks[group * n_groups + step].push_back(Ratings::packed(k));
    }
    offsets.push_back(0);
    for (const auto &block : blocks) {
      packed.insert(packed.end(), block.begin(), block.end());
      offsets.push_back((int)packed.size());
    }
    weights.resize(n);
    control.resize(GRID_CONTROL_WORDS);
    done.resize(n_groups * DONE_STRIDE);
  }
  void cut() {
    const int n_blocks = (int)(n_groups * n_groups);
    launch(n_blocks, [&] { cut_tiles(n_blocks, offsets, PACKED_ARGUMENTS); });
  }
  void sweep() {
    block_sweep(n_groups, offsets, PACKED_ARGUMENTS, MODEL_ARGUMENTS, control, done);
  }
};

static bool block_sweep_right(Random &random, ulong seed) {
  Grid grid(random, seed);
  grid.cut();
  launch(grid.n_groups * WG_SIZE, [&] { grid.sweep(); }, WG_SIZE == 1 ? INDEPENDENT : WITH_BARRIERS);
  return !grid.control[GRID_STATUS] && grid.right();
}

/* A group that waits for a missing group reports STATUS_TIMEOUT and ends after its first step. */
static bool alone_right(Random &random, ulong seed) {
  Grid grid(random, seed);
  if (grid.n_groups < 2) return true;
  grid.cut();
  launch_alone(&grid.control[GRID_DOOR], [&] { grid.sweep(); });
  uint n_steps = 0;
  for (uint steps : grid.done) n_steps = std::max(n_steps, steps);
  return grid.control[GRID_STATUS] == STATUS_TIMEOUT && n_steps == 1;
}

static const Case cases[] = {{"block_sweep", block_sweep_right}, {"alone", alone_right}};
