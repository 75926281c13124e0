/* Colourings whose groups run together, launched as clgraph/algorithms/coloring does; a group is one work-item here. */
#pragma once
#include <algorithm>
#include <climits>
#include <numeric>
#include "host.h"
#define LINGER linger
static unsigned linger;          /* short: some groups come too late, and leave their vertices to the others */
#ifndef WIDE
#define WIDE 0
#endif
#define SMALL_DEGREE (WIDE ? INT_MAX : 4)
#define HUB_DEGREE 1000
#define BATCH 2
#define STEPS 2
#define RETRIES 3
#define PHASE_BITS 1u
#define PHASE_SIZE 2u
#include "common/grid_barrier.h"
#include "common/worklist.h"
#include "coloring/orders.h"
#include "coloring/possible.h"
namespace greedy {
#include "coloring/jones_plassmann.cl"
}
namespace speculative {
#include "coloring/speculative.cl"
}

/* A symmetric graph with hubs, parallel edges and self-loops. */
struct Graph {
  int n;
  std::vector<int> offsets, columns;
  std::vector<uint> ranks;

  explicit Graph(Random &random) : n(1 + (int)random.below(24)), ranks(n) {
    const int m = (int)random.below(4 * n), hubs = 1 + (int)random.below(3);
    std::vector<std::vector<int>> rows(n);
    for (int k = 0; k < m; k++) {
      const int u = (int)random.below(n), v = (int)random.below(random.below(2) ? n : std::min(n, hubs));
      rows[u].push_back(v);
      if (u != v) rows[v].push_back(u);
    }
    offsets.push_back(0);
    for (const auto &row : rows) {
      columns.insert(columns.end(), row.begin(), row.end());
      offsets.push_back((int)columns.size());
    }
    columns.push_back(0);        /* so that there is a place to point at */
  }
  int degree(int v) const { return offsets[v + 1] - offsets[v]; }
  std::vector<int> in_order() const {
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return ranks[a] > ranks[b]; });
    return order;
  }
  bool is_proper(const std::vector<int> &colors) const {
    for (int v = 0; v < n; v++) {
      if (colors[v] < 0 || colors[v] > degree(v)) return false;
      for (int e = offsets[v]; e < offsets[v + 1]; e++)
        if (columns[e] != v && colors[columns[e]] == colors[v]) return false;
    }
    return true;
  }
  std::vector<int> greedy_colors() const {
    std::vector<int> colors(n, -1);
    for (int v : in_order()) {
      std::vector<bool> used(n + 1);
      for (int e = offsets[v]; e < offsets[v + 1]; e++)
        if (colors[columns[e]] >= 0) used[colors[columns[e]]] = true;
      colors[v] = (int)(std::find(used.begin(), used.end(), false) - used.begin());
    }
    return colors;
  }
};

static uint shift_of(const Graph &graph) {
  uint bits = 1;
  for (int v = 0; v < graph.n; v++)
    while (graph.degree(v) >> bits) bits++;
  return 32 - bits;
}

static bool jones_plassmann_right(Random &random, ulong) {
  Graph graph(random);
  const int n = graph.n, number = random.below(WIDE ? 1 : 3) ? ORDER_LARGEST_FIRST : 1 + (int)random.below(2);
  const uint tile_bits = random.below(3), n_blocks = (n + (TILE << tile_bits) - 1) / (TILE << tile_bits);
  std::vector<uint> words(n), controls(CONTROL_WORDS), bitmaps(n + graph.columns.size() / 32 + 1), n_before(n);
  std::vector<int> before(graph.columns.size()), colors(n, -1);
  linger = random.below(2) ? 30 : ~0u;
#define ORDER_OF_GRAPH number, shift_of(graph), tile_bits, key
  const uint key = (uint)random.next();
  launch(std::max(n, CONTROL_WORDS), [&] {
    greedy::prepare(n, n, ORDER_OF_GRAPH, graph.offsets.data(), graph.ranks.data(), words.data(), controls.data());
  });
  std::vector<int> order = graph.in_order();
  int n_large = WIDE ? 0 : n, n_hubs = 0;
  if (number == ORDER_LARGEST_FIRST) {
    n_large = (int)(std::find_if(order.begin(), order.end(), [&](int v) { return graph.degree(v) <= SMALL_DEGREE; }) -
                    order.begin());
    while (n_hubs < n_large && graph.degree(order[n_hubs]) > 9) n_hubs++;
  }
  if (n_hubs)
    launch(n_hubs, [&] {
      greedy::list_hubs(n_hubs, graph.offsets.data(), graph.columns.data(), order.data(), graph.ranks.data(),
                        before.data(), n_before.data());
    });
  const uint n_groups = 1 + random.below(4);
  if (n_large)
    launch(n_groups, [&] {
      greedy::color_large(n_large, n_hubs, graph.offsets.data(), graph.columns.data(), order.data(), graph.ranks.data(),
                          n_before.data(), words.data(), before.data(), bitmaps.data(), colors.data(), controls.data());
    });
  std::vector<uint4> lists((size_t)n_blocks * TILE << tile_bits);
  if (n_large < n)
    launch(n_groups, [&] {
      greedy::color_small(n, 0, n_blocks, ORDER_OF_GRAPH, graph.offsets.data(), graph.columns.data(),
                          graph.ranks.data(), words.data(), lists.data(), nullptr, colors.data(), controls.data());
    });
  return graph.is_proper(colors) && colors == graph.greedy_colors();
}

/* With one buffer, or with two, as if it were to be deterministic. */
static bool speculative_right(Random &random, ulong) {
  Graph graph(random);
  const int n = graph.n, order = (int)random.below(4), two_buffers = (int)random.below(2);
  const uint shift = shift_of(graph), key = (uint)random.state, n_groups = 1 + random.below(4);
  std::vector<uint> state(STATE_WORDS);
  std::vector<int> first(n), second(n), lists[2] = {std::vector<int>(n), std::vector<int>(n)};
  int *colors = first.data(), *tentative = two_buffers ? second.data() : colors;
  linger = random.below(2) ? 30 : ~0u;
  launch(std::max(n, STATE_WORDS), [&] { speculative::start(n, tentative, colors, state.data()); });
#define ROWS_OF_GRAPH order, shift, 1u, key, graph.offsets.data(), graph.columns.data(), graph.ranks.data()
  launch(n, [&] { speculative::assign(n, 1, 1, ROWS_OF_GRAPH, lists[0].data(), tentative, colors); });
  launch(n, [&] {
    speculative::check(n, 1, 0, ROWS_OF_GRAPH, lists[1].data(), tentative, colors, state.data(), lists[0].data());
  });
  launch(n_groups, [&] {
    speculative::rounds(ROWS_OF_GRAPH, lists[0].data(), lists[1].data(), tentative, colors, state.data());
  });
  return !state[STATE_CONTROL + GRID_STATUS] && graph.is_proper(first);
}

static const Case cases[] = {{"jones_plassmann", jones_plassmann_right}, {"speculative", speculative_right}};
