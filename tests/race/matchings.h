/* Matchings by one group and by many rows, launched as clgraph/algorithms/factorization/schedules/matchings.py does, against the
 * loop that they stand for. */
#pragma once
#include "host.h"
#define SEEK_LIMIT 2
#include "factorization/matchings.cl"

struct Bipartite {
  int n_rows, n;
  Array<int> by_degree, row_offsets = {0}, columns, alive, begin, edges, edge_columns;
  Array<uint> left, cursor, tried, words, colours, state;

  explicit Bipartite(Random &random) : n_rows(1 + (int)random.below(12)), state(7) {
    const int n_columns = 1 + (int)random.below(8);
    Array<uint> degrees(n_columns);
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
    launch(n, [&] { count_edges(n, columns, degrees); });
    are_counted = std::accumulate(degrees.begin(), degrees.end(), 0u) == (uint)n;
    launch(n_rows, [&] { start_rows(n_rows, 7, by_degree, row_offsets, alive, begin, left, cursor, tried); });
    launch(n, [&] { list_columns(n, edges, columns, edge_columns); });
  }
  bool are_counted;
  int degree(int row) const { return row_offsets[row + 1] - row_offsets[row]; }

  Array<uint> expected() const {
    Array<uint> result(n, NOBODY), rest = left, at = cursor;
    Array<int> list = edges;
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
  const Array<uint> expected = on.expected();
  on.state[STATE_ALIVE] = (uint)on.n_rows;
  while (on.state[STATE_ALIVE])
    launch(1, [&] {
      match_group(1 + (uint)on.n, on.begin, on.alive, on.left, on.cursor, on.tried, on.edge_columns, on.edges, on.words,
                  on.colours, on.state);
    }, WITH_BARRIERS);
  return on.are_counted && on.colours == expected;
}

static bool rows_right(Random &random, ulong) {
  Bipartite on(random);
  const Array<uint> expected = on.expected();
  on.state[STATE_DISPLACED] = 1;
  while (std::accumulate(on.left.begin(), on.left.end(), 0u)) {
    for (uint first = 0; first < 3; first++)
      launch(on.n_rows, [&] {
        propose(on.n_rows, first, on.alive, on.begin, on.left, on.edge_columns, on.cursor, on.tried, on.words, on.state);
      });
    launch(on.n_rows, [&] {
      settle(on.n_rows, on.alive, on.begin, on.state, on.left, on.cursor, on.tried, on.edge_columns, on.edges, on.words,
             on.colours);
    });
    launch(1, [&] { next_round(on.state); });
  }
  return on.colours == expected;
}

static const Case cases[] = {{"group", group_right}, {"rows", rows_right}};
