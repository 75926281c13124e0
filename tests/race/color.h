/* Colourings whose groups run together, launched as clgraph/algorithms/color does: groups of one work-item, or one
 * group of several. */
#pragma once
#include "host.h"
#define LINGER linger
static unsigned linger;          /* short: some groups come too late, and leave their vertices to the others */
#ifndef WIDE
#define WIDE 0
#endif
#ifndef MARKED
#define MARKED 0
#endif
#ifndef RANKED
#define RANKED (!WIDE && !MARKED)
#endif
#define SORTED RANKED
#define SORT_STEPS 2u
#define MOST_OPEN 2u
static unsigned most_idle;       /* 0: queues get full, if they can */
#define MOST_IDLE most_idle
#define SMALL_DEGREE (WIDE ? INT_MAX : RANKED ? 4 : MARKED ? 29 : 30)
#define HUB_DEGREE 1000
#define BATCH 2
#define STEPS 2
#define RETRIES 3
#define PHASE_BITS (DEV_SUB_GROUP_SIZE == 1 ? 1u : 2u)
#define INTERVALS (RANKED | WIDE)
#include "common/grid_barrier.h"
#include "common/worklist.h"
#include "color/orders.h"
#include "color/states.h"
#include "color/possible_bitmap.h"
#include "color/open_queue.h"
#include "color/vertex_lists.h"
#include "color/jones_plassmann.cl"
#include "color/jones_plassmann_large.cl"
#undef BATCH                     /* these are of rows in one file each */
#undef STEPS
#undef BITMAP_WORDS
#define BATCH 2
#define STEPS 2
#define BITMAP_WORDS 32
namespace speculative {
#include "color/speculative.cl"
}

/* A symmetric graph with hubs, parallel edges and self-loops. */
struct Graph {
  int n;
  Array<int> offsets, columns;
  Array<uint> ranks;

  explicit Graph(Random &random) : n(1 + (int)random.below(24)), ranks(n) {
    const int m = (int)random.below(4 * n), hubs = 1 + (int)random.below(3);
    std::vector<Array<int>> rows(n);
    for (int k = 0; k < m; k++) {
      const int u = (int)random.below(n), v = (int)random.below(random.below(2) ? n : std::min(n, hubs));
      rows[u].push_back(v);
      if (u != v) rows[v].push_back(u);
    }
    offsets.push_back(0);
    for (const auto &row : rows) put_row(offsets, columns, row);
    columns.push_back(0);        /* An empty array would have no address. */
  }
  int degree(int v) const { return offsets[v + 1] - offsets[v]; }
  Array<int> in_order() const {
    Array<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return ranks[a] > ranks[b]; });
    return order;
  }
  bool is_proper(const Array<int> &colors) const {
    for (int v = 0; v < n; v++) {
      if (colors[v] < 0 || colors[v] > degree(v)) return false;
      for (int e = offsets[v]; e < offsets[v + 1]; e++)
        if (columns[e] != v && colors[columns[e]] == colors[v]) return false;
    }
    return true;
  }
  Array<int> greedy_colors() const {
    Array<int> colors(n, -1);
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

static const Grouping TOGETHER = WG_SIZE == 1 ? INDEPENDENT : WITH_BARRIERS;

static uint bits_of(uint largest) { return largest ? 32u - (uint)clz(largest) : 0u; }

/* No two vertices have the same place, `vertex_at` inverts `place_of`, and priorities follow the places.  Blocks may
 * have many tiles. */
static bool places_right(Random &random, ulong) {
  const uint phase_bits = 1 + random.below(2), tile_bits = random.below(14 - phase_bits), key = (uint)random.next();
  const uint block = PHASE_SIZE << phase_bits << tile_bits, n_blocks = 1 + random.below(8192), shift = 1 + random.below(31);
  const uint block_bits = bits_of(n_blocks - 1);
  const order_t order = {ORDER_INTERLEAVED, shift, phase_bits, tile_bits, block_bits, key};
  order_t by_degree = order, many_first = order;
  by_degree.number = ORDER_LARGEST_FIRST;
  many_first.number = ORDER_MANY_FIRST;
  const uint u = random.below(n_blocks * block), v = random.below(2) ? random.below(n_blocks * block) : u / block * block;
  const uint place = place_of(order, v), turn = place >> PHASE_BITS >> block_bits, theirs = place_of(order, u);
  if (turn >> phase_bits >> tile_bits || (place >> PHASE_BITS & low_bits(block_bits)) != arrival_of(order, v / block)) return false;
  if (vertex_at(order, turn, v / block, place % PHASE_SIZE) != v || (theirs == place) != (u == v)) return false;
  if (goes_before(priority_of(order, u, 0u), u, priority_of(order, v, 0u), v) != (theirs < place)) return false;
  const uint many = priority_of(many_first, u, FEW_COLORS), few = priority_of(many_first, v, FEW_COLORS - 1u);
  if (many <= few || (priority_of(many_first, u, 0u) > few) != (theirs < place)) return false;
  const uint most = low_bits(32u - shift);
  return most < FEW_COLORS || goes_before(priority_of(by_degree, u, most), u, priority_of(by_degree, v, most - 1u), v);
}

static bool jones_plassmann_right(Random &random, ulong) {
  Graph graph(random);
  const int n = graph.n, by_degree = RANKED ? ORDER_LARGEST_FIRST : ORDER_MANY_FIRST;
  const int number = MARKED || (RANKED && random.below(3)) ? by_degree : 1 + (int)random.below(2);
  for (int v = 0; v < n && !RANKED; v++)
    if (graph.degree(v) > SMALL_DEGREE) return true;  /* color_small skips such a vertex */
  const uint phase_bits = 1 + random.below(2), tile_bits = random.below(3), block = PHASE_SIZE << phase_bits << tile_bits;
  const uint n_blocks = (n + block - 1) / block, block_bits = bits_of(n_blocks - 1);
  Array<uint> words(2 * block << block_bits), controls(CONTROL_WORDS), bitmaps(n + graph.columns.size() / 32 + 1), n_before(n);
  Array<int> before(graph.columns.size()), colors(n, -1);
  linger = random.below(2) || WG_SIZE > 1 ? 30 : ~0u;
  most_idle = random.below(4);
  const uint key = (uint)random.next();
  const order_t as_order = {number, shift_of(graph), phase_bits, tile_bits, block_bits, key};
  launch((n + PREPARE_STEPS - 1) / PREPARE_STEPS, [&] {
    prepare(n, 0, as_order, graph.offsets, nullptr, words, controls);
  });
  for (int v = 0; v < n; v++) graph.ranks[v] = priority_of(as_order, v, graph.degree(v));
  const uint n_groups = 1 + random.below(4);
  int n_large = 0;
#if RANKED
  Array<int> order = graph.in_order();
  int n_hubs = 0;
  n_large = n;
  if (number == ORDER_LARGEST_FIRST) {
    n_large = (int)(std::find_if(order.begin(), order.end(), [&](int v) { return graph.degree(v) <= SMALL_DEGREE; }) -
                    order.begin());
    while (n_hubs < n_large && graph.degree(order[n_hubs]) > 6) n_hubs++;
  }
  if (n_hubs)
    launch((1 + random.below((uint)n_hubs)) * WG_SIZE, [&] {
      list_hubs(n_hubs, graph.offsets, graph.columns, order, words, before, n_before);
    }, TOGETHER);
  if (n_large)
    launch(n_groups * WG_SIZE, [&] {
      color_large(n_large, n_hubs, graph.offsets, graph.columns, order, n_before, words, before, bitmaps, colors,
                  controls);
    }, TOGETHER);
#endif
  Array<uint> blocks(n_blocks);
  std::iota(blocks.begin(), blocks.end(), 0u);
  std::sort(blocks.begin(), blocks.end(), [&](uint a, uint b) { return arrival_of(as_order, a) < arrival_of(as_order, b); });
  Array<uint4> queues(n_blocks * block);
  Array<uint> sorted(queues.size());
  if (n_large < n)
    launch(n_groups * WG_SIZE, [&] {
      color_small(n, 1, as_order, blocks, graph.offsets, graph.columns, words, queues, sorted, nullptr, colors, controls);
    }, TOGETHER);
  return graph.is_proper(colors) && colors == graph.greedy_colors();
}

/* With one buffer, or with two, as if it were to be deterministic. */
static bool speculative_right(Random &random, ulong) {
  Graph graph(random);
  const int n = graph.n, order = (int)random.below(4), two_buffers = (int)random.below(2);
  const order_t by = {order, shift_of(graph), 1u, 1u, 1u, (uint)random.state};
  const uint n_groups = 1 + random.below(4);
  Array<uint> state(STATE_WORDS);
  Array<int> first(n), second(n), lists[2] = {Array<int>(n), Array<int>(n)};
  int *colors = first, *tentative = two_buffers ? second : colors;
  linger = random.below(2) || WG_SIZE > 1 ? 30 : ~0u;
  launch(n, [&] { speculative::start(n, tentative, colors, state); });
#define ROWS_OF_GRAPH by, graph.offsets, graph.columns, graph.ranks
#define ROUND_OF_GRAPH ROWS_OF_GRAPH, lists[0], lists[1], tentative, colors, state
  launch(n, [&] { speculative::assign_all(n, 1, ROWS_OF_GRAPH, tentative, colors); }, TOGETHER);
  launch(n, [&] { speculative::check_all(n, ROWS_OF_GRAPH, tentative, colors, state, lists[0]); }, TOGETHER);
  if (random.below(2)) {
    launch(n_groups * WG_SIZE, [&] { speculative::rounds(ROUND_OF_GRAPH); }, TOGETHER);
  } else {                       /* as the host drives them */
    uint round = 0;
    do {
      if (round++ > (uint)n) return false;
      launch(n_groups * WG_SIZE, [&] { speculative::assign_round(round, ROUND_OF_GRAPH); }, TOGETHER);
      launch(n_groups * WG_SIZE, [&] { speculative::check_round(round, ROUND_OF_GRAPH); }, TOGETHER);
    } while (state[STATE_ALIVE] == round);
    if (state[STATE_ROUNDS] + !state[STATE_CONFLICTS] != round) return false;
  }
  return !state[STATE_CONTROL + GRID_STATUS] && graph.is_proper(first);
}

/* A group reports STATUS_TIMEOUT if it waits for the vertex of a missing group. */
static bool alone_right(Random &random, ulong) {
#if RANKED
  const int n = 4 + (int)random.below(6);
  Array<int> offsets = {0}, columns, order(n), before(n * n), colors(n, -1);
  for (int v = 0; v < n; v++) {
    for (int u = 0; u < n; u++) if (u != v) columns.push_back(u);
    offsets.push_back((int)columns.size());
    order[v] = v;
  }
  Array<uint> words(4 * n), bitmaps(2 * n), n_before(n), control(CONTROL_WORDS);
  for (int v = 0; v < n; v++) words[2 * v + 1] = n - v, words[2 * v] = ANY_COLOR;
  launch_alone(&control[GRID_DOOR], [&] {
    color_large(n, 0, offsets, columns, order, n_before, words, before, bitmaps, colors, control);
  });
  return control[GRID_STATUS] == STATUS_TIMEOUT;
#else
  return true;
#endif
}

static const Case cases[] = {{"alone", alone_right}, {"places", places_right}, {"jones_plassmann", jones_plassmann_right}, {"speculative", speculative_right}};
