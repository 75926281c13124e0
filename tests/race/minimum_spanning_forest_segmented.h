/* Spanning forests by walks over the matrix, launched as clgraph/algorithms/minimum_spanning_forest/ does, with either way to merge. */
#pragma once
#include "weighted.h"
#undef CLGRAPH_MST_DISCOVER_H    /* once more, for components */
#undef COMPONENTS
#define ATTEMPTS 3
namespace by_components {
#include "minimum_spanning_forest/segmented.cl"
}

template <class Merge> static bool segmented_right(Random &random, ulong seed, Merge merge) {
  Weighted work(random, seed);
  Array<int> component(work.n);
  Array<uint> versions(work.n);
  for (uint round = 1; round < 64; round++) {
    launch(work.n, [&] { by_components::label_components(work.n, work.parent, work.best, component); });
    launch(work.n_tiles * SUB_GROUP_SIZE, [&] {
      by_components::discover_components(work.n, work.n_tiles, work.m, work.row_offsets, work.column_indices,
                                         work.edge_weights, work.tile_rows, component, work.best);
    });
    launch(work.n, [&] { merge(work, round, component, versions); });
    if (work.state[STATE_ALIVE] != round) return work.right();
  }
  return false;
}

static bool min_hook_right(Random &random, ulong seed) {
  return segmented_right(random, seed, [](Weighted &work, uint round, const int *component, uint *) {
    by_components::merge_min_hook(work.n, work.n_tiles, round, work.row_offsets, work.column_indices, work.tile_rows,
                                  component, work.best, work.state, work.parent, work.forest);
  });
}

static bool transactional_right(Random &random, ulong seed) {
  return segmented_right(random, seed, [](Weighted &work, uint round, const int *component, uint *versions) {
    by_components::merge_transactional(work.n, work.n_tiles, round, work.row_offsets, work.column_indices, work.tile_rows,
                                       component, work.best, work.state, versions, work.parent, work.forest);
  });
}

static const Case cases[] = {{"min_hook", min_hook_right}, {"transactional", transactional_right}};
