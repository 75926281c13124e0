/* Clusters, contraction, and searches of pairs of parts, launched as clgraph/algorithms/partition/pairwise_fm.py does, on
 * a small graph with hubs, parallel edges, self-loops and vertices without edges.  Work-items are workers. */
#pragma once
#include "host.h"
#define UNIT_EDGES 0
#define UNIT_VERTICES 0
#define TAKEN 2u
#define RESERVED 32
#define TRIES 2
#define PASSES 2
#include "partition/clusters.cl"
#include "partition/pairwise_fm.cl"

static constexpr int WORKERS = 3, ROOM = 256, PARTS = 3;
#define GRAPH_ARGUMENTS rows, columns, weights, vertex_weights, levels, arena
#define PARTS_ARGUMENTS PARTS, 9, shares, limits, part_weights, next_border, part_heads, adjacent

struct Parted {
  const int n = 40;
  int turn = 0, m = 0, total = 0;
  Array<int> rows = {0}, columns, weights, vertex_weights, arena, clusters, cluster_weights, waiting, heads, next,
             first_members, counts, counters, tables, own, marks, next_border, searches, active, changed, taken, shares,
             limits, part_weights, part_heads, adjacent, cut;
  Array<long> levels;
  Array<ulong> scores;
  Array<uint> locks;

  explicit Parted(Random &random) : levels(3 * LEVEL_WORDS), scores(WORKERS), locks(PARTS) {
    std::vector<std::vector<std::pair<int, int>>> entries(n);
    for (int k = 0; k < 3 * n; k++) {
      const int u = (int)random.below(n - 2), v = (int)random.below(random.below(3) ? n - 2 : 2), weight = (int)random.below(4);
      entries[u].push_back({v, weight});
      if (u != v) entries[v].push_back({u, weight});
    }
    for (auto &row : entries) {
      for (auto [v, weight] : row) {
        columns.push_back(v);
        weights.push_back(weight);
      }
      rows.push_back((int)columns.size());
      vertex_weights.push_back(1 + (int)random.below(3));
      total += vertex_weights.back();
    }
    m = (int)columns.size();
    for (auto *array : {&clusters, &cluster_weights, &waiting, &heads, &next, &first_members, &marks, &next_border}) array->resize(n);
    for (auto *array : {&part_weights, &part_heads, &active, &changed}) array->resize(PARTS);
    for (auto *array : {&adjacent, &taken}) array->resize(PARTS * PARTS);
    arena.resize(40 * n + 8 * m + 2 * WORKERS * RESERVED);
    counts.resize(WORKERS);
    counters.resize(400);
    tables.assign(3 * WORKERS * ROOM, NO_VERTEX);
    own.resize(WORKERS * OWN_ROOM(n, PARTS));
    searches.resize(WORKERS * SEARCH_ROOM(n));
    shares.assign(PARTS, (total + PARTS - 1) / PARTS);
    limits.assign(PARTS, shares[0] + 3);
    cut.resize(1);
    launch(1, [&] { begin(n, (int)counters.size(), levels, counters); });
  }
  template <typename Kernel> void all(const Kernel &kernel) {
    launch(WORKERS, kernel);
    turn += 2;
  }
  /* Make level `level` + 1 of clusters of at most the weight `most`.  Return whether all clusters are light enough. */
  bool coarsen(int level, int most, int core, int within) {
    int root = -1, weight = 0;
    for (int v = 0; v < n && !level; v++)
      if (rows[v + 1] - rows[v] >= core) weight += vertex_weights[root = v];
    all([&] { start_clusters(turn, level, level ? INT_MAX : core, root, weight, GRAPH_ARGUMENTS, clusters, cluster_weights, waiting, heads, counters); });
    for (int hops = 0; hops < 2; hops++)
      all([&] { join_clusters(turn, level, most, hops, level ? INT_MAX : core, 5u + hops, within, ROOM, GRAPH_ARGUMENTS, tables, clusters, cluster_weights, waiting, counters); });
    all([&] { list_members(turn, level, GRAPH_ARGUMENTS, clusters, next, heads, counters); });
    all([&] { count_clusters(level, GRAPH_ARGUMENTS, heads, counts); });
    all([&] { number_clusters(level, GRAPH_ARGUMENTS, heads, counts, waiting, first_members); });
    long *words = &levels[(level + 1) * LEVEL_WORDS];
    const long coarse = counts[0] + counts[1] + counts[2];
    words[LEVEL_VERTICES] = coarse;
    words[LEVEL_ROWS] = words[LEVEL_END - LEVEL_WORDS];
    words[LEVEL_VERTEX_WEIGHTS] = words[LEVEL_ROWS] + 2 * coarse;
    words[LEVEL_MAP] = words[LEVEL_VERTEX_WEIGHTS] + coarse;
    words[LEVEL_PARTS] = words[LEVEL_MAP] + coarse;
    words[LEVEL_ENTRIES] = words[LEVEL_PARTS] + coarse;
    all([&] { map_vertices(turn, level, within, GRAPH_ARGUMENTS, clusters, waiting, counters); });
    const int used = turn + 1;
    all([&] { contract(turn, level, ROOM, GRAPH_ARGUMENTS, next, first_members, tables, counters); });
    words[LEVEL_END] = words[LEVEL_ENTRIES] + 2l * counters[used];
    int sum = 0;
    for (long c = 0; c < coarse; c++) {
      sum += arena[words[LEVEL_VERTEX_WEIGHTS] + c];
      if (arena[words[LEVEL_VERTEX_WEIGHTS] + c] > std::max(most, weight)) return false;
    }
    for (int v = 0; v < n; v++) sum += rows[v] == rows[v + 1] ? vertex_weights[v] : 0;
    return sum == total && (size_t)words[LEVEL_END] <= arena.size();
  }
  int cut_of(const int *parts) const {
    int sum = 0;
    for (int v = 0; v < n; v++)
      for (int e = rows[v]; e < rows[v + 1]; e++) sum += parts[columns[e]] > parts[v] ? weights[e] : 0;
    return sum;
  }
  void refine(int level, bool has_coarser, int round) {
    launch(1, [&] { start_round(round == 0, PARTS_ARGUMENTS, active, changed, locks, taken); });
    all([&] { list_border(turn, level, has_coarser && round == 0, GRAPH_ARGUMENTS, PARTS_ARGUMENTS, marks, counters); });
    all([&] { refine_pairs(level, total, n, GRAPH_ARGUMENTS, PARTS_ARGUMENTS, searches, active, changed, locks, taken, cut); });
  }
  void uncoarsen(int level) {
    all([&] { mark_border(turn, level + 1, GRAPH_ARGUMENTS, marks, counters); });
    all([&] { project(turn, level, GRAPH_ARGUMENTS, counters); });
    for (int round = 0; round < 2; round++) refine(level, true, round);
  }
  /* Return whether the kernels have counted the cut and the weights of the parts of level 0 right. */
  bool is_right() const {
    const int *parts = &arena[n];
    std::vector<int> found(PARTS, 0);
    for (int v = 0; v < n; v++) {
      if (rows[v] == rows[v + 1] ? parts[v] != NO_VERTEX : parts[v] < 0 || parts[v] >= PARTS) return false;
      if (parts[v] != NO_VERTEX) found[parts[v]] += vertex_weights[v];
    }
    return cut_of(parts) == cut[0] && std::equal(found.begin(), found.end(), part_weights.begin());
  }
};

static bool pairs_right(Random &random, ulong) {
  Parted on(random);
  const int core = random.below(2) ? INT_MAX : 12;
  if (!on.coarsen(0, 12, core, 0) || !on.coarsen(1, 24, INT_MAX, 0)) return false;
  on.all([&] { make_individuals(on.turn, 2, 1, 4, 2, 7u, on.total, on.n, on.rows, on.columns, on.weights, on.vertex_weights, on.levels, on.arena, PARTS, 9, on.shares, on.limits, on.part_weights, on.next_border, on.part_heads, on.adjacent, on.own, on.scores, on.counters); });
  launch(1, [&] { keep_best(1, WORKERS, on.n, on.rows, on.columns, on.weights, on.vertex_weights, on.levels, on.arena, PARTS, 9, on.shares, on.limits, on.part_weights, on.next_border, on.part_heads, on.adjacent, on.own, on.scores, on.cut); });
  on.uncoarsen(0);
  if (!on.is_right() || !on.coarsen(0, 12, INT_MAX, 1)) return false;  /* a cycle: other levels, within the parts */
  on.refine(1, false, 0);
  on.uncoarsen(0);
  return on.is_right();
}

static const Case cases[] = {{"pairs", pairs_right}};
