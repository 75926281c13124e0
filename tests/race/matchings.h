/* Matchings by one group and by many rows, launched as clgraph/algorithms/factorization/matchings.py does, against the
 * loop that they stand for. */
#pragma once
#include "host.h"
#define SEEK_LIMIT 2
#include "factorization/matchings.cl"

struct Bipartite {
  int n_rows, n;
  std::vector<int> by_degree, row_offsets = {0}, columns, alive, begin, edges, edge_columns;
  std::vector<uint> left, cursor, tried, words, colours, state;

  explicit Bipartite(Random &random) : n_rows(1 + (int)random.below(12)), state(7) {
    const int n_columns = 1 + (int)random.below(8);
    std::vector<uint> degrees(n_columns);
    for (int row = 0; row < n_rows; row++) {
      for (int column = 0; column < n_columns; column++)
        if (random.below(2) || column == row % n_columns) columns.push_back(column);
      row_offsets.push_back((int)columns.size());
      by_degree.push_back(row);
    }
    n = (int)columns.size();
    std::stable_sort(by_degree.begin(), by_degree.end(), [&](int a, int b) { return degree(a) < degree(b); });
    for (auto *array : {&alive, &begin}) array->resize(n_rows);
    for (auto *array : {&left, &cursor, &tried}) array->resize(n_rows);
    edges.resize(n);
    std::iota(edges.begin(), edges.end(), 0);
    edge_columns.resize(n);
    colours.assign(n, NOBODY);
    words.assign(2 * n_columns, NOBODY);
    launch(n, [&] { count_edges(n, columns.data(), degrees.data()); });
    are_counted = std::accumulate(degrees.begin(), degrees.end(), 0u) == (uint)n;
    launch(n_rows, [&] {
      start_rows(n_rows, 7, by_degree.data(), row_offsets.data(), alive.data(), begin.data(), left.data(), cursor.data(), tried.data());
    });
    launch(n, [&] { list_columns(n, edges.data(), columns.data(), edge_columns.data()); });
  }
  bool are_counted;
  int degree(int row) const { return row_offsets[row + 1] - row_offsets[row]; }

  std::vector<uint> expected() const {
    std::vector<uint> result(n, NOBODY), rest = left, at = cursor;
    std::vector<int> list = edges;
    for (uint round = 0; std::accumulate(rest.begin(), rest.end(), 0u); round++) {
      std::vector<bool> is_taken(words.size() / 2);
      for (int rank = 0; rank < n_rows; rank++)
        for (uint tries = 0; tries < rest[rank]; tries++) {
          const int place = begin[rank] + (int)at[rank], column = columns[list[place]];
          if (is_taken[column]) {
            at[rank] = (at[rank] + 1) % rest[rank];
            continue;
          }
          is_taken[column] = true;
          result[list[place]] = round;
          list[place] = list[begin[rank] + (int)--rest[rank]];
          if (at[rank] == rest[rank]) at[rank] = 0;
          break;
        }
    }
    return result;
  }
};

static bool group_right(Random &random, ulong) {
  Bipartite on(random);
  const std::vector<uint> expected = on.expected();
  on.state[STATE_ALIVE] = (uint)on.n_rows;
  while (on.state[STATE_ALIVE])
    launch(1, [&] {
      match_group(1 + (uint)on.n, on.begin.data(), on.alive.data(), on.left.data(), on.cursor.data(), on.tried.data(),
                  on.edge_columns.data(), on.edges.data(), on.words.data(), on.colours.data(), on.state.data());
    }, WITH_BARRIERS);
  return on.are_counted && on.colours == expected;
}

static bool rows_right(Random &random, ulong) {
  Bipartite on(random);
  const std::vector<uint> expected = on.expected();
  on.state[STATE_DISPLACED] = 1;
  while (std::accumulate(on.left.begin(), on.left.end(), 0u)) {
    for (uint first = 0; first < 3; first++)
      launch(on.n_rows, [&] {
        propose(on.n_rows, first, on.alive.data(), on.begin.data(), on.left.data(), on.edge_columns.data(),
                on.cursor.data(), on.tried.data(), on.words.data(), on.state.data());
      });
    launch(on.n_rows, [&] {
      settle(on.n_rows, on.alive.data(), on.begin.data(), on.state.data(), on.left.data(), on.cursor.data(),
             on.tried.data(), on.edge_columns.data(), on.edges.data(), on.words.data(), on.colours.data());
    });
    launch(1, [&] { next_round(on.state.data()); });
  }
  return on.colours == expected;
}

static const Case cases[] = {{"group", group_right}, {"rows", rows_right}};
