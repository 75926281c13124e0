/* Communities of directed graphs: the second strength of each vertex is added up, too. */
#pragma once
#include "host.h"
#define DIRECTED 1
#include "communities/move.cl"
#include "communities/refine.cl"

static bool directed_sums_right(Random &random, ulong) {
  const int n = 12 + (int)random.below(20);
  Array<int> labels(n), sizes(n), active(n), targets(n), groups(n), group_sizes(n);
  Array<long> out(n), in(n), out_sums(n), in_sums(n), out_groups(n), in_groups(n), expected(n), joined(n);
  for (int v = 0; v < n; v++) {
    labels[v] = (int)random.below(3), out[v] = 1 + (long)random.below(9), in[v] = 1 + (long)random.below(99);
    expected[labels[v]] += in[v];
    targets[v] = v % 3 ? 3 * (int)random.below(2) : NOBODY;  /* Two of three vertices join the group of vertex 0 or 3. */
    joined[targets[v] == NOBODY ? v : targets[v]] += in[v];
  }
  launch(n, [&] { clear_level(n, out_sums, in_sums, sizes, active); });
  launch(n, [&] { fill_level(n, labels, out, in, out_sums, in_sums, sizes); });
  Array<int> none(1), keys(1);
  Array<uint> no_rows(4);
  Array<long> weights(1);
#define REFINING                                                                                      \
  (uint)n, 1, none, none, weights, none, no_rows, no_rows, 1u, keys, weights, 0u, 1ul, 1ul, out, in, out_sums, in_sums, labels, \
      groups, out_groups, in_groups, group_sizes, targets
  launch(n, [&] { start_refinement(REFINING); });
  launch(n, [&] { join_groups(REFINING); });
  return in_sums == expected && in_groups == joined;
}

static const Case cases[] = {{"directed_sums", directed_sums_right}};
