/* Small directed graphs to search, with hubs that several lead to at the same time, and long ways. */
#pragma once

#define PIECE 4                  /* Low limits: small graphs have rows of several pieces, and queues overflow. */
#define OWN_LENGTH 3
#ifndef QUEUE_ROWS
#define QUEUE_ROWS 4
#endif
#define KEPT_ROWS 2
#ifndef STEPS
#define STEPS 2
#endif
#define LINGER linger
static unsigned linger;          /* short: some groups come too late; long: all are waited for, of which the threads can
                                    run four at once */

static const Grouping TOGETHER = WG_SIZE == 1 ? INDEPENDENT : WITH_BARRIERS;
static const int GUARD = 0x5afe;

/* Words that a kernel may write, and one behind them that it must not. */
template <class T> struct Guarded : Array<T> {
  explicit Guarded(size_t size) : Array<T>(size + 1) { reinterpret_cast<int &>(this->back()) = GUARD; }
  bool right() const { return reinterpret_cast<const int &>(this->back()) == GUARD; }
};

#ifdef ALONE
static const bool IN_ONE_GROUP = true;
#else
static const bool IN_ONE_GROUP = false;
#endif

struct Searched {
  int n, source;
  uint n_groups;
  Array<int> row_offsets = {0}, column_indices, edge_weights, in_offsets = {0}, in_neighbors;
  ulong light_capacity, heavy_capacity = 0;
  Array<int> sources;

  Searched(Random &random, ulong seed, int longest_row) : n(8 + (int)random.below(25)), n_groups(IN_ONE_GROUP ? 1 : 1 + random.below(WG_SIZE == 1 ? 4 : 3)), sources(2, 0) {
    linger = random.below(2) || WG_SIZE > 1 ? 30 : ~0u;
    std::vector<Array<int>> rows(n), into(n);
    Array<int> name(n);
    std::iota(name.begin(), name.end(), 0);
    for (int v = n - 1; v > 0; v--) std::swap(name[v], name[random.below(v + 1)]);
    auto add = [&](int a, int b) {
      if ((int)rows[name[a]].size() < longest_row) rows[name[a]].push_back(name[b]);
    };
    if (seed % 3)                          /* a path, some hubs, or both */
      for (int v = 1; v < n; v++) add(v - 1, v);
    for (uint k = seed % 3 == 2 ? 3 : 0; k; k--)
      for (int v = 0, hub = (int)random.below(n); v < n; v += 1 + (int)random.below(2)) {
        add(hub, v);
        add(v, hub);
      }
    for (uint k = random.below(3 * n); k; k--) add((int)random.below(n), (int)random.below(n));
    for (int v = 0; v < n; v++) {
      for (int u : rows[v]) into[u].push_back(v);
      put_row(row_offsets, column_indices, rows[v]);
      if (rows[v].size() > PIECE) heavy_capacity += (rows[v].size() + PIECE - 1) / PIECE;
    }
    for (const auto &row : into) put_row(in_offsets, in_neighbors, row);
    const uint n_weights = 1 + random.below(30);
    for (size_t e = 0; e < column_indices.size(); e++) edge_weights.push_back((int)random.below(n_weights));
    light_capacity = n;
    source = name[random.below(3) ? 0 : random.below(n)];
    sources = {source, source};
  }
  /* The source is listed once, though it was given twice. */
  bool are_listed_once(const uint *sizes) const {
    const uint length = (uint)(row_offsets[source + 1] - row_offsets[source]);
    return sizes[0] + sizes[1] <= (length > PIECE ? (length + PIECE - 1) / PIECE : 1u);
  }

  /* Distances of weights, or with none of levels; -1 is far away. */
  Array<uint> expected(bool weighted) const {
    Array<uint> distances(n, ~0u);
    distances[source] = 0;
    for (int turn = 0; turn < n; turn++)
      for (int v = 0; v < n; v++)
        for (int e = row_offsets[v]; e < row_offsets[v + 1] && distances[v] != ~0u; e++) {
          uint &far = distances[column_indices[e]];
          far = std::min(far, distances[v] + (weighted ? (uint)edge_weights[e] : 1u));
        }
    return distances;
  }
  /* Levels up to max_depth, each with a vertex of the one before that leads there. */
  bool are_levels(const Array<int> &distances, const Array<int> &predecessors, uint max_depth) const {
    const Array<uint> levels = expected(false);
    for (int v = 0; v < n; v++) {
      const int depth = (int)levels[v] > (int)max_depth ? -1 : (int)levels[v], by = predecessors[v];
      if (distances[v] != depth) return false;
      if (depth <= 0 ? by != -9999 : by < 0 || by >= n || distances[by] != depth - 1) return false;
      if (depth > 0 && !std::count(column_indices + row_offsets[by], column_indices + row_offsets[by + 1], v)) return false;
    }
    return true;
  }
};
