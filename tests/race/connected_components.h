/* The strategies of connected components, launched as clgraph/algorithms/connected_components/ does, on small graphs.
 * Paths, stars and trees show a lost union; a dense graph hides it behind another path. */
#pragma once
#include <set>

#ifndef HOOK_FIRST
#define HOOK_FIRST 1
#endif
#define KEEP_SECOND HOOK_FIRST
#define FIRST_IS_LINKED (HOOK_FIRST && SYMMETRIC)
#define SHORT_ROW 2              /* Low limits: small graphs have medium and long rows, too. */
#define MEDIUM_ROW 5
#define CROSSING_ROWS 4          /* Block sizes are multiples of this, so small graphs have several blocks. */
#include "connected_components/afforest.cl"
#include "connected_components/boundary.cl"
#include "connected_components/degree_classes.cl"
#include "connected_components/edge_list.cl"
#include "connected_components/hook_compress.cl"
#include "connected_components/matrix.cl"
#include "connected_components/merge.cl"
#include "connected_components/message.cl"
#include "connected_components/phases.cl"
#include "connected_components/rem.cl"

typedef std::vector<std::pair<int, int>> Edges;

static Edges draw_edges(Random &random, ulong seed, int n) {
  Edges edges;
  switch (seed % 5) {
    case 0: for (int v = 1; v < n; v++) edges.push_back({v - 1, v}); break;                     /* path */
    case 1: for (int v = 1; v < n; v++) edges.push_back({0, v}); break;                         /* star */
    case 2: for (int v = 1; v < n; v++) edges.push_back({(int)random.below(v), v}); break;      /* tree */
    case 3:                                                                                     /* grid */
      for (int v = 1; v < n; v++) {
        if (v % 7) edges.push_back({v - 1, v});
        if (v >= 7) edges.push_back({v - 7, v});
      }
      break;
    default:                                               /* random, with parallel edges and self-loops */
      for (int k = 0; k < n; k++) edges.push_back({(int)random.below(n), (int)random.below(n)});
  }
  Array<int> name(n);
  std::iota(name.begin(), name.end(), 0);
  for (int v = n - 1; v > 0; v--) std::swap(name[v], name[random.below(v + 1)]);
  for (auto &edge : edges) edge = {name[edge.first], name[edge.second]};
  return edges;
}

/* Smallest vertex of each vertex's component, by a sequential union-find. */
static Array<int> expected_labels(int n, const Edges &edges) {
  Array<int> label(n);
  std::iota(label.begin(), label.end(), 0);
  auto root = [&](int v) { while (label[v] != v) v = label[v] = label[label[v]]; return v; };
  for (auto [u, v] : edges) {
    int a = root(u), b = root(v);
    label[std::max(a, b)] = std::min(a, b);
  }
  for (int v = 0; v < n; v++) label[v] = root(v);
  return label;
}

struct Forest {
  int n;
  Edges edges;
  Array<int> row_offsets, column_indices, parent, second;

  Forest(Random &random, ulong seed) : n(20 + (int)random.below(30)), edges(draw_edges(random, seed, n)) {
    std::vector<Array<int>> rows(n);
    for (auto [u, v] : edges) {
      rows[u].push_back(v);
      if (u != v && SYMMETRIC) rows[v].push_back(u);
    }
    row_offsets.push_back(0);
    for (auto &row : rows) {
      if (SORTED_ROWS) std::sort(row.begin(), row.end());
      put_row(row_offsets, column_indices, row);
    }
    parent.resize((n + 3) / 4 * 4);
    second.resize(parent.size());
    second.resize(parent.size());
    const int m = (int)column_indices.size();
    launch((n + 3) / 4, [&] { initialize(n, m, row_offsets, column_indices, parent, second); });
  }
  void compress() { launch((n + 3) / 4, [&] { ::compress(n, parent); }); }
  bool right() {
    parent.resize(n);
    return parent == expected_labels(n, edges);
  }
};

static bool hook_compress_right(Random &random, ulong seed) {
  Forest f(random, seed);
  if (random.below(2)) {
    f.compress();
    launch(f.n, [&] { hook(f.n, f.row_offsets, f.column_indices, f.parent); });
  }
  f.compress();
  launch(f.n, [&] { hook_atomic(f.n, f.row_offsets, f.column_indices, f.parent); });
  f.compress();
  return f.right();
}

static bool rem_right(Random &random, ulong seed) {
  Forest f(random, seed);
  f.compress();
  launch(f.n, [&] { unite(f.n, f.row_offsets, f.column_indices, f.parent); });
  f.compress();
  return f.right();
}

/* Set f.parent to the forest of every second edge, and return the forest of the remaining edges.  Both forests are
 * flat: the parent of each vertex is a root. */
static Array<int> halve(Forest &f) {
  Edges parts[2];
  for (size_t k = 0; k < f.edges.size(); k++) parts[k % 2].push_back(f.edges[k]);
  const Array<int> mine = expected_labels(f.n, parts[0]);
  for (int v = 0; v < (int)f.parent.size(); v++) f.parent[v] = v < f.n ? mine[v] : v;
  return expected_labels(f.n, parts[1]);
}

/* The forests of two devices are merged. */
static bool merge_right(Random &random, ulong seed) {
  Forest f(random, seed);
  const Array<int> other = halve(f);
  launch((f.n + 3) / 4, [&] { merge_parents(f.n, other, f.parent); });
  f.compress();
  return f.right();
}

/* Edges come in two lists, whichever way round. */
static bool lists_right(Random &random, ulong seed) {
  Forest f(random, seed);
  launch((int)f.parent.size(), [&] { start_trees((int)f.parent.size(), f.parent); });
  Array<int> ends[2][2];
  for (auto [u, v] : f.edges) {
    auto &list = ends[random.below(2)];
    const bool turned = random.below(2);
    list[turned].push_back(u);
    list[!turned].push_back(v);
  }
  for (auto &list : ends) {
    const int m = (int)list[0].size();
    launch(m, [&] { link_edges(m, list[0], list[1], f.parent); });
    if (random.below(2)) f.compress();
  }
  f.compress();
  return f.right();
}

/* The same as merge, where the forest of the other device comes as a message. */
static bool message_right(Random &random, ulong seed) {
  Forest f(random, seed);
  const Array<int> theirs = halve(f);
  const int words = 1 + (int)random.below(2), n_words = (f.n + 31) / 32, n_blocks = (n_words + words - 1) / words;
  Array<int> chosen(n_blocks);
  Array<uint> same(n_words), other(n_words), sizes(n_blocks), message(n_blocks + 1);
  launch(n_blocks, [&] { choose_labels(f.n, n_blocks, words, theirs, chosen); });
  launch(n_words, [&] { mark_labels(f.n, n_words, words, theirs, chosen, same, other); });
  launch(n_blocks, [&] { size_blocks(n_words, n_blocks, words, same, other, sizes); });
  for (int b = 0; b < n_blocks; b++) message[b + 1] = message[b] + sizes[b];
  message.resize(message.size() + message.back());
  launch(n_words, [&] { write_blocks(f.n, n_words, n_blocks, words, theirs, chosen, same, other, message); });
  launch((f.n + 3) / 4, [&] { merge_message(f.n, n_blocks, words, message, f.parent); });
  f.compress();
  return f.right();
}

/* The boundary of a device that owns the vertices first ... last - 1, and numbers of components of which some are given. */
static bool boundary_right(Random &random, ulong seed) {
  Forest f(random, seed);
  const int first = (int)random.below(f.n), last = first + (int)random.below(f.n - first + 1);
  const Array<int> labels = expected_labels(f.n, f.edges);
  for (int v = 0; v < f.n; v++) f.parent[v] = labels[v];
  for (int v = f.n; v < (int)f.parent.size(); v++) f.parent[v] = v;
  auto outside = [&](int v) { return v < first || v >= last; };
  std::set<std::pair<int, int>> expected;
  for (int v = 0; v < f.n; v++) {
    if (labels[v] == v) continue;
    if (outside(v)) expected.insert({v, labels[v]});
    if (outside(labels[v])) expected.insert({labels[v], labels[v]});
  }
  const int most = random.below(2) ? 2 * f.n : (int)random.below(6);
  Array<uint> listed((f.n + 31) / 32);
  Array<int2> pairs(most + 1);
  launch((f.n + 3) / 4, [&] { list_boundary(f.n, first, last, most, f.parent, listed, pairs); });
  const int size = pairs[0].x;
  if ((size >= most) != ((int)expected.size() >= most)) return false;
  if (size < most) {
    std::multiset<std::pair<int, int>> found;
    for (int k = 1; k <= size; k++) found.insert({(int)pairs[k].x, (int)pairs[k].y});
    if (found != std::multiset<std::pair<int, int>>(expected.begin(), expected.end())) return false;
  }

  const int n_words = (f.n + 31) / 32, base = (int)random.below(9);
  Array<int> sizes(n_words), rank(n_words + 1), numbers(f.n + 1);
  Array<int2> given;
  Array<uint> roots(n_words);
  for (int v = 0; v < f.n; v++)
    if (labels[v] == v && !random.below(3)) given.push_back((int2){v, 100 + v});
  const int count = (int)given.size();
  if (count) launch(count, [&] { set_numbers(count, given, f.parent); });
  launch(n_words, [&] { mark_roots(0, f.n, n_words, f.parent, roots, sizes); });
  for (int w = 0; w < n_words; w++) rank[w + 1] = rank[w] + sizes[w];
  launch(f.n, [&] { number_components(f.n, n_words, 0, base, 0, f.n, f.parent, roots, rank, numbers); });
  for (int v = 0, next = base; v < f.n; v++) {
    const int label = labels[v];
    if (label != v && numbers[v] != numbers[label]) return false;
    if (label != v) continue;
    if (numbers[v] != (f.parent[v] < 0 ? 100 + v : next++)) return false;
  }
  Array<int> vertices(f.n);
  std::iota(vertices.begin(), vertices.end(), 0);
  Array<int2> found(f.n);
  for (int v = 0; v < f.n; v++) f.parent[v] = labels[v];
  launch(n_words, [&] { mark_roots(0, f.n, n_words, f.parent, roots, sizes); });
  for (int w = 0; w < n_words; w++) rank[w + 1] = rank[w] + sizes[w];
  launch(f.n, [&] { look_up(f.n, 0, last, vertices, f.parent, roots, rank, found); });
  for (int v = 0, before = 0; v < f.n; v++) {
    if (found[v].x != labels[v] || (found[v].y < 0) != (labels[v] >= last)) return false;
    if (labels[v] == v && v < last && found[v].y != before++) return false;
  }
  return true;
}

/* How many per cent of the sampled vertices below a root have the commonest root. */
static int expected_share(const Forest &f) {
  Array<int> found(f.n);
  int all = 0, most = 0;
  for (int i = 0; i < WG_SIZE; i++) {
    const int v = (int)random_below(random_key(1ul), (ulong)i, (uint)f.n), root = f.parent[v];
    if (root == v) continue;
    all++;
    most = std::max(most, ++found[root]);
  }
  return all ? 100 * most / all : 0;
}

static bool afforest_right(Random &random, ulong seed) {
  Forest f(random, seed);
  for (uint round = random.below(3), stride = 1; round; round--, stride *= 2) {
    f.compress();
    if (KEEP_SECOND && stride == 1) launch((f.n + 3) / 4, [&] { hook_second(f.n, f.second, f.parent); });
    else launch((f.n + stride - 1) / stride, [&] { hook_sample(f.n, stride, f.row_offsets, f.column_indices, f.parent); });
  }
  int state[STATE_WORDS] = {};
  /* Groups of one work-item need no barrier, so their steps interleave.  They sample one vertex, and skip its tree as
   * the giant unless the vertex is a root. */
  const Grouping grouping = WG_SIZE == 1 ? INDEPENDENT : WITH_BARRIERS;
  launch((f.n + 3) / 4, [&] { compress_and_find_giant(f.n, f.parent, state); }, grouping);
  if (state[STATE_SHARE] != expected_share(f) || state[STATE_ENDED]) return false;
  const int giant = state[STATE_GIANT];
  if (giant != NO_GIANT && f.parent[giant] != giant) return false;
  launch((f.n + 3) / 4, [&] { link_rest(f.n, f.row_offsets, f.column_indices, state, f.parent); }, grouping);
  launch(1, [&] { compress_if_linked(f.n, state, f.parent); });
  return f.right();
}

static bool degree_classes_right(Random &random, ulong seed) {
  Forest f(random, seed);
  f.compress();
  Array<int> rows(f.n);
  uint size[2] = {0, 0};
  launch(f.n, [&] { link_short(f.n, f.row_offsets, f.column_indices, f.parent, rows, size); });
  launch(2 * WG_SIZE, [&] { link_medium(f.row_offsets, f.column_indices, rows, size, f.parent); });
  launch(2 * WG_SIZE, [&] { link_long(f.n, f.row_offsets, f.column_indices, rows, size, f.parent); });
  f.compress();
  return f.right();
}

/* The kernels that check a matrix while they unite it, on a few blocks. */
struct Matrix : Forest {
  int n_blocks, block_size;
  Array<int> labels;
  Array<uint> crossing, words;

  Matrix(Random &random, ulong seed)
      : Forest(random, seed), block_size(CROSSING_ROWS * (1 + (int)random.below(4))), labels(n),
        crossing((n + CROSSING_ROWS - 1) / CROSSING_ROWS) {
    n_blocks = (n + block_size - 1) / block_size;
    words.resize(MATRIX_BLOCKS + n_blocks + WG_SIZE);  /* behind the last block are items that have none */
  }
  void solve() {
    const int m = (int)column_indices.size();
    launch(n_blocks, [&] { unite_blocks(n, m, block_size, row_offsets, column_indices, parent, crossing, words); });
    launch(n_blocks, [&] { unite_crossing(n, block_size, row_offsets, column_indices, crossing, words, parent); });
    launch(n_blocks, [&] { flatten_blocks(n, block_size, parent, words); });
    launch(n_blocks, [&] { number_roots(n, block_size, parent, words, labels); });
    launch(n_blocks, [&] { number_others(n, block_size, parent, words, labels); });
  }
};

static bool matrix_right(Random &random, ulong seed) {
  Matrix m(random, seed);
  m.solve();
  Array<int> expected = expected_labels(m.n, m.edges);
  uint n_roots = 0;
  for (int v = 0; v < m.n; v++) expected[v] = expected[v] == v ? (int)n_roots++ : expected[expected[v]];
  return !m.words[MATRIX_WRONG] && m.labels == expected
         && std::accumulate(m.words.begin() + MATRIX_BLOCKS, m.words.end(), 0u) == n_roots;
}

/* One entry is no vertex, or one offset falls or lies beyond the entries. */
static bool damaged_right(Random &random, ulong seed) {
  Matrix m(random, seed);
  static const int wrong[] = {-1, 1 << 30, (int)(1u << 31)};
  const uint kind = random.below(5), size = (uint)m.column_indices.size();
  if (kind < 4) m.column_indices[random.below(size)] = kind == 3 ? m.n : wrong[kind];
  else m.row_offsets[random.below(m.n)] = random.below(2) ? 1 << 30 : -1;
  m.solve();
  return m.words[MATRIX_WRONG] == 1;
}

static const Case cases[] = {
  {"hook_compress", hook_compress_right}, {"rem", rem_right}, {"merge", merge_right}, {"boundary", boundary_right},
  {"message", message_right}, {"lists", lists_right}, {"afforest", afforest_right},
  {"degree_classes", degree_classes_right}, {"matrix", matrix_right}, {"damaged", damaged_right},
};
