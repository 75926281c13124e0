/* Breadth-first search of an unchecked matrix, by groups of one work-item. */
#pragma once
#include "members.h"
#include "bfs/matrix.cl"

struct Matrix : Searched {
  Guarded<int> queue, distances, predecessors;
  Guarded<uint> words;
  uint max_depth;

  Matrix(Random &random, ulong seed)
      : Searched(random, seed, 1 << 20), queue(MEMBERS * n), distances(n), predecessors(n),
        words(MATRIX_WORDS + MEETING_WORDS), max_depth(random.below(4) ? 1u << 30 : random.below(6)) {
    lateness = random.below(2) ? 1ul << 40 : 1ul + random.below(100);
  }
  void search() {
    launch(n_groups, [&] {
      search_matrix(n, max_depth, (int)sources.size(), sources, row_offsets, column_indices, words, queue, distances,
                    predecessors);
    });
  }
  bool right() const { return queue.right() && distances.right() && predecessors.right() && words.right(); }
};

static bool matrices_right(Random &random, ulong seed) {
  Matrix on(random, seed);
  on.search();
  if (on.words[MATRIX_STATUS] || on.words[MATRIX_WRONG]) return false;
  return on.are_levels(on.distances, on.predecessors, on.max_depth) && on.right();
}

/* One entry is no vertex, or one offset falls: that is said, and nothing is written where it must not be. */
static bool damaged_right(Random &random, ulong seed) {
  Matrix on(random, seed);
  static const int wrong[] = {-1, 1 << 30, (int)(1u << 31)};
  const uint m = (uint)on.column_indices.size(), kind = random.below(4);
  if (m == 0) return true;
  if (kind < 3)
    on.column_indices[random.below(m)] = random.below(2) ? on.n : wrong[kind];
  else
    on.row_offsets[random.below(on.n)] = random.below(2) ? 1 << 30 : -1;
  on.search();
  return on.words[MATRIX_WRONG] == 1 && on.right();
}

static const Case cases[] = {{"matrices", matrices_right}, {"damaged", damaged_right}};
