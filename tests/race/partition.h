/* Matching, contraction and refinement of partitions, launched as clgraph/algorithms/partition/multilevel.py does, on a
 * small graph with hubs, parallel edges and self-loops.  Refinement runs in one launch, whose groups meet at the grid's
 * barrier: groups of one work-item, or one group of several. */
#pragma once
#include "host.h"
#define UNIT_EDGES 0
#define UNIT_VERTICES 0
#define SHORT_ROW 1
#define LONG_ROW 3
#define SLOTS 1
#define SLACK 0
#define PATIENCE 1u
#define SPARSE_PATIENCE 1u
#define LAST_PATIENCE 1u
#define MOST_TURNS 7u
#define LINGER linger
static unsigned linger;          /* short: some groups come too late, and leave their share to the others */
#include "partition/lock_free.cl"
#include "partition/two_hop.cl"
#include "partition/segmented.cl"
#include "partition/hashed.cl"
#include "partition/sorted.cl"
#include "partition/light_edges.cl"
#include "partition/label_propagation.cl"
#define LEAST_GAIN least_gain
#define TOP 3
static int least_gain;
#include "partition/buffered.cl"
#include "partition/permutations.cl"
#include "partition/greedy_growing.cl"
#include "partition/population.cl"

static constexpr Grouping GROUPING = WG_SIZE == 1 ? INDEPENDENT : WITH_BARRIERS;
static constexpr size_t N_ITEMS = WG_SIZE == 1 ? 2 : WG_SIZE;
#define LEVEL_ARGUMENTS rows, columns, weights, vertex_weights, levels, arena

#define LEVEL_ARGUMENTS_OF(x) \
  x.rows, x.columns, x.weights, x.vertex_weights, x.levels, x.arena

enum Way { LABEL_PROPAGATION, BUFFERED, PERMUTATIONS };
struct Levels {
  int n, m, most_weight;
  Array<int> rows = {0}, columns, weights, vertex_weights, arena, mates, choices, leaders, begins, keys, slots, counts;
  Array<long> levels;
  Array<ulong> sums;
  Array<uint> state;
  size_t n_counted = 0;

  /* A star: all edges are at vertex 0, and so are parallel ones, which the rows of other graphs rarely have in turn. */
  explicit Levels(Random &random, bool is_star = false) : n(2 + (int)random.below(16)), levels(3 * LEVEL_WORDS), sums(64), state(REFINE_WORDS) {
    std::vector<std::vector<std::pair<int, int>>> entries(n);
    for (int k = 0; k < 2 * n; k++) {
      const int u = is_star ? 1 + k / 2 % (n - 1) : (int)random.below(n);
      const int v = is_star ? 0 : (int)random.below(random.below(2) ? n : 2), weight = (int)random.below(4);
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
    }
    m = (int)columns.size();
    most_weight = 4;
    arena.resize(20 * (n + m) + 64);
    for (auto *array : {&mates, &choices, &leaders, &begins, &counts}) array->resize(n);
    for (auto *array : {&keys, &slots}) array->resize(m + 1);
    launch(1, [&] { if (get_global_id(0) == 0) begin(n, m, levels, state); });
  }

  /* Within two parts, in which vertices lie by their numbers, or anywhere. */
  void match(bool is_within = false) {
    Array<int> parts(n);
    for (int v = 0; v < n; v++) parts[v] = v & 1;
    const int within = is_within ? 0 : -1;
    launch(N_ITEMS, [&] { start_matching(0, LEVEL_ARGUMENTS, mates); }, GROUPING);
    for (int round = 0; round < 2; round++) {
      launch(N_ITEMS, [&] { choose_mates(0, 5, most_weight, within, n, LEVEL_ARGUMENTS, mates, parts, choices); }, GROUPING);
      launch(N_ITEMS, [&] { match_mutual(0, LEVEL_ARGUMENTS, choices, mates); }, GROUPING);
    }
    launch(N_ITEMS, [&] { choose_hubs(0, 5, within, n, LEVEL_ARGUMENTS, mates, parts, choices); }, GROUPING);
    launch(N_ITEMS, [&] { match_at_hubs(0, most_weight, LEVEL_ARGUMENTS, choices, mates); }, GROUPING);
    if (is_within) return;
    launch(N_ITEMS, [&] { match_lonely(0, most_weight, LEVEL_ARGUMENTS, choices, mates); }, GROUPING);
  }
  void match_by_segments(size_t n_items) {
    Array<ulong> claims(n), offers(2 * n);
    Array<int> lists(2 * n);
    uint lengths[2] = {0, 0};
#define OPEN_ARGUMENTS mates, choices, claims, offers, lists, lengths, (uint)n
    launch(n_items, [&] { start_segmented(0, LEVEL_ARGUMENTS, OPEN_ARGUMENTS); }, GROUPING);
    for (uint round = 0; lengths[round & 1]; round++) {
      launch(n_items, [&] { choose_segmented(0, round, 5 + round, most_weight, LEVEL_ARGUMENTS, OPEN_ARGUMENTS); }, GROUPING);
#if SPLIT_CLAIMS
      launch(n_items, [&] { break_ties(round, OPEN_ARGUMENTS); }, GROUPING);
#endif
      launch(n_items, [&] { match_segmented(0, round, 5 + round, OPEN_ARGUMENTS); }, GROUPING);
    }
  }
  /* Whether no vertex without a mate has a neighbour that could be it. */
  bool is_maximal() const {
    for (int v = 0; v < n; v++)
      for (int e = rows[v]; e < rows[v + 1]; e++)
        if (columns[e] != v && mates[v] == NOBODY && mates[columns[e]] == NOBODY &&
            vertex_weights[v] + vertex_weights[columns[e]] <= most_weight) return false;
    return true;
  }
  bool is_matching() const {
    for (int v = 0; v < n; v++) {
      const int u = mates[v];
      if (u == LEFT_OUT ? rows[v] != rows[v + 1] : u != NOBODY && (u == v || mates[u] != v)) return false;
      if (u >= 0 && vertex_weights[u] + vertex_weights[v] > most_weight) return false;
    }
    return true;
  }

  void contract(bool by_sort = false, uint most = 0) {
    launch(N_ITEMS, [&] { count_leaders(0, LEVEL_ARGUMENTS, mates, sums); }, GROUPING);
    launch(N_ITEMS, [&] { number_leaders(0, LEVEL_ARGUMENTS, mates, sums, leaders, begins); }, GROUPING);
    if (by_sort) {
      const uint shift = 8;
      Array<ulong> packed(m), sorted(m);
      Array<int> entry_weights(m), weights_sorted(m), order(m);
      launch(N_ITEMS, [&] {
        gather_entries(0, shift, LEVEL_ARGUMENTS, mates, leaders, begins, packed, entry_weights);
      }, GROUPING);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return packed[a] < packed[b]; });
      for (int i = 0; i < m; i++) sorted[i] = packed[order[i]], weights_sorted[i] = entry_weights[order[i]];
      launch(N_ITEMS, [&] {
        merge_runs(0, shift, LEVEL_ARGUMENTS, mates, leaders, begins, sorted, weights_sorted, keys, slots, counts);
      }, GROUPING);
    } else {
      launch(N_ITEMS, [&] { insert_entries(0, LEVEL_ARGUMENTS, mates, leaders, begins, keys, slots, counts); }, GROUPING);
    }
    if (most) {
      Array<uint> class_counts(CLASSES);
      launch(N_ITEMS, [&] { count_weights(0, levels, keys, slots, class_counts); }, GROUPING);
      n_counted = std::accumulate(class_counts.begin(), class_counts.end(), 0u);
      launch(N_ITEMS, [&] {
        drop_light(0, 3, most, LEVEL_ARGUMENTS, mates, leaders, begins, class_counts, slots, keys, counts);
      }, GROUPING);
    }
    launch(N_ITEMS, [&] { count_chunks(0, levels, counts, sums); }, GROUPING);
    launch(N_ITEMS, [&] { place_rows(0, counts, sums, levels, arena); }, GROUPING);
    launch(N_ITEMS, [&] { write_entries(0, LEVEL_ARGUMENTS, mates, leaders, begins, keys, slots); }, GROUPING);
  }
  const int *of_next(int word) const { return arena + levels[LEVEL_WORDS + word]; }
  /* Whether the next level is the contraction of this one.  drops: some edges may be missing, but every other edge has
   * its full weight in the rows of both ends. */
  bool is_contraction(bool drops = false) const {
    std::map<std::pair<int, int>, long> expected, found;
    Array<long> weights_of(levels[LEVEL_WORDS + LEVEL_VERTICES]);
    for (int v = 0; v < n; v++) {
      if (arena[v] >= 0) weights_of[arena[v]] += vertex_weights[v];
      for (int e = rows[v]; e < rows[v + 1]; e++)
        if (arena[v] != arena[columns[e]]) expected[{arena[v], arena[columns[e]]}] += weights[e];
    }
    size_t n_found = 0;
    for (int c = 0; c < (int)weights_of.size(); c++) {
      if (of_next(LEVEL_VERTEX_WEIGHTS)[c] != weights_of[c]) return false;
      for (int e = of_next(LEVEL_ROWS)[c]; e < of_next(LEVEL_ROWS)[c + 1]; e++, n_found++)
        found[{c, of_next(LEVEL_COLUMNS)[e]}] = of_next(LEVEL_EDGE_WEIGHTS)[e];
    }
    if (!drops) return found == expected && n_found == found.size();
    for (auto [ends, weight] : found)
      if (!expected.count(ends) || expected[ends] != weight || !found.count({ends.second, ends.first})) return false;
    return n_counted == expected.size() && n_found == found.size();
  }

  /* Refines three parts, in which the vertices of the coarse level lie by their numbers, by so many work-items. */
  Array<int> refine(size_t n_items, bool &is_right, Way way = LABEL_PROPAGATION) {
    const uint n_parts = 3, room = (uint)n;
    Array<int> work(VERTEX_ARRAYS * n), parts(PART_ARRAYS * n_parts), histogram(BUCKETS * n_parts), before(n);
    Array<uint> words(REFINE_WORDS);
    const int n_coarse = (int)levels[LEVEL_WORDS + LEVEL_VERTICES];
    int total = 0;
    for (int c = 0; c < n_coarse; c++) {
      const int weight = of_next(LEVEL_VERTEX_WEIGHTS)[c];
      work[BEST * room + c] = c % (int)n_parts;
      parts[BEST_SIZES * n_parts + c % n_parts] += weight;
      total += weight;
    }
    Array<int> sizes_before(parts.begin() + BEST_SIZES * n_parts, parts.begin() + (BEST_SIZES + 1) * n_parts);
    for (uint p = 0; p < n_parts; p++) {
      parts[FINAL_LIMITS * n_parts + p] = total / 3 + 2;
      parts[SHARES * n_parts + p] = total / 3;
    }
    for (int v = 0; v < n; v++) before[v] = arena[v] < 0 ? NOBODY : work[BEST * room + arena[v]];
#define REFINED_ARGUMENTS n_parts, room, LEVEL_ARGUMENTS, work, parts, histogram, words
    if (way == LABEL_PROPAGATION) {
      const uint last = n & 1;
      launch(n_items, [&] { refine_levels(1, last, 0, REFINED_ARGUMENTS); }, GROUPING);
      launch(WG_SIZE, [&] { open_grid(words); }, GROUPING);
      if (last) launch(n_items, [&] { refine_levels(0, 0, 1, REFINED_ARGUMENTS); }, GROUPING);
    } else {
      Array<int> requests(n), request_words(REQUEST_ARRAYS * n_parts);
      least_gain = way == BUFFERED ? 1 : -100;
      for (uint level = 2; level-- > 0;) {
        launch(n_items, [&] { project(level, !level, REFINED_ARGUMENTS); }, GROUPING);
        launch(n_items, [&] { start_level(level, !level, REFINED_ARGUMENTS); }, GROUPING);
        for (;;) {
          launch(WG_SIZE, [&] { direct_turn(level, REFINED_ARGUMENTS); }, GROUPING);
          launch(n_items, [&] { ask_border(level, REFINED_ARGUMENTS); }, GROUPING);
          if (words[REFINE_MODE] == MODE_DONE) break;
          launch(n_items, [&] { count_requests(level, REFINED_ARGUMENTS, request_words, requests); }, GROUPING);
          launch(n_items, [&] { place_requests(level, REFINED_ARGUMENTS, request_words, requests); }, GROUPING);
          launch(n_items, [&] {
            if (way == BUFFERED) accept_requests(level, REFINED_ARGUMENTS, request_words, requests);
            else permute_requests(level, REFINED_ARGUMENTS, request_words, requests);
          }, GROUPING);
          launch(n_items, [&] { apply_moves(level, REFINED_ARGUMENTS); }, GROUPING);
        }
      }
    }
    Array<int> found(work.begin() + BEST * room, work.begin() + (BEST + 1) * room), sizes(n_parts);
    for (int v = 0; v < n; v++)
      if (found[v] >= 0) sizes[found[v]] += vertex_weights[v];
    is_right = !words[GRID_STATUS] && cut_of(found) == (long)words[REFINE_BEST_CUT] &&
               std::equal(sizes.begin(), sizes.end(), parts.begin() + BEST_SIZES * n_parts);
    const int limit = parts[FINAL_LIMITS * n_parts], over = over_of(sizes, limit), over_before = over_of(sizes_before, limit);
    is_right &= over < over_before || (over == over_before && cut_of(found) <= cut_of(before));
    return found;
  }
  static int over_of(const Array<int> &sizes, int limit) {
    int over = 0;
    for (int size : sizes) over += std::max(0, size - limit);
    return over;
  }
  long cut_of(const Array<int> &parts) const {
    long cut = 0;
    for (int v = 0; v < n; v++)
      for (int e = rows[v]; e < rows[v + 1]; e++) cut += parts[v] != parts[columns[e]] ? weights[e] : 0;
    return cut / 2;
  }
};

static bool matching_right(Random &random, ulong) {
  Levels on(random);
  on.match();
  if (!on.is_matching()) return false;
  on.match(true);
  for (int v = 0; v < on.n; v++)
    if (on.mates[v] >= 0 && (on.mates[v] ^ v) & 1) return false;
  return on.is_matching();
}

static bool segmented_right(Random &random, ulong) {
  Levels on(random);
  on.match_by_segments(N_ITEMS);
  if (!on.is_matching() || !on.is_maximal()) return false;
  const Array<int> found = on.mates;
  on.match_by_segments(WG_SIZE);
  return on.mates == found;
}

static bool contraction_right(Random &random, ulong) {
  Levels on(random);
  on.match();
  on.contract();
  return on.is_contraction();
}

static bool sorted_right(Random &random, ulong) {
  Levels on(random);
  on.match();
  on.contract(true);
  return on.is_contraction();
}

static bool light_edges_right(Random &random, ulong) {
  Levels on(random);
  on.match();
  on.contract(random.below(2), 1 + random.below(3));
  return on.is_contraction(true);
}

static bool refinement_right(Random &random, ulong) {
  Levels on(random);
  linger = random.below(2) || WG_SIZE > 1 ? 30 : ~0u;
  on.match();
  on.contract();
  bool is_right = false, is_right_again = false;
  const Array<int> found = on.refine(N_ITEMS, is_right);
  return is_right && on.refine(WG_SIZE, is_right_again) == found && is_right_again;
}

template <Way way> static bool requests_right(Random &random, ulong) {
  Levels on(random);
  on.match();
  on.contract();
  bool is_right = false, is_right_again = false;
  const Array<int> found = on.refine(N_ITEMS, is_right, way);
  return is_right && on.refine(WG_SIZE, is_right_again, way) == found && is_right_again;
}

/* The one group that came of two waits in vain: it must say so, and end. */
static bool alone_right(Random &random, ulong) {
  Levels on(random);
  linger = 30;
  on.match();
  on.contract();
  const uint n_parts = 3, room = (uint)on.n;
  Array<int> work(VERTEX_ARRAYS * on.n), parts(PART_ARRAYS * n_parts), histogram(BUCKETS * n_parts);
  Array<uint> words(REFINE_WORDS);
  launch_alone(&words[GRID_DOOR], [&] {
    refine_levels(1, 0, 0, n_parts, room, LEVEL_ARGUMENTS_OF(on), work, parts, histogram, words);
  });
  return words[GRID_STATUS] == STATUS_TIMEOUT;
}

/* Returns twice the cut of a partition of the coarse level, or -1 if it is none, or has other weights of parts than `sizes`. */
static long cut_of(const Levels &on, uint n_parts, const int *parts, const int *sizes) {
  const int n = (int)on.levels[LEVEL_WORDS + LEVEL_VERTICES], *rows = on.of_next(LEVEL_ROWS);
  Array<int> expected(n_parts);
  long cut = 0;
  for (int v = 0; v < n; v++) {
    if (parts[v] < 0 || parts[v] >= (int)n_parts) return -1;
    expected[parts[v]] += on.of_next(LEVEL_VERTEX_WEIGHTS)[v];
    for (int e = rows[v]; e < rows[v + 1]; e++)
      if (parts[on.of_next(LEVEL_COLUMNS)[e]] != parts[v]) cut += on.of_next(LEVEL_EDGE_WEIGHTS)[e];
  }
  return std::equal(expected.begin(), expected.end(), sizes) ? cut : -1;
}

/* Each individual tells the weights of its parts and its score.  On the coarse level no edges are parallel, whose lanes
 * would write the same key to the same word. */
static bool growing_right(Random &random, ulong) {
  Levels on(random);
  on.match();
  on.contract();
  const int n = (int)on.levels[LEVEL_WORDS + LEVEL_VERTICES], *weights = on.of_next(LEVEL_VERTEX_WEIGHTS);
  const uint n_parts = 2 + random.below(4), n_groups = 1 + random.below(2), room = n + n % 2;
  const size_t each = (size_t)VERTEX_WORDS * room + PART_WORDS * n_parts;
  Array<int> grown(each * n_groups), parts_work(PART_ARRAYS * n_parts), blocks(n_groups * n_parts);
  Array<ulong> scores(n_groups);
  const long total = std::accumulate(weights, weights + n, 0L);
  for (uint p = 0; p < n_parts; p++) {
    parts_work[SHARES * n_parts + p] = (int)(total / n_parts);
    parts_work[FINAL_LIMITS * n_parts + p] = (int)(total / n_parts) + 1;
  }
  launch(n_groups * WG_SIZE, [&] {
    grow_parts(1, n_parts, 7, LEVEL_ARGUMENTS_OF(on), parts_work, grown, blocks, scores);
  }, GROUPING);
  for (uint g = 0; g < n_groups; g++) {
    const int *sizes = blocks + g * n_parts;
    const long cut = cut_of(on, n_parts, grown + g * each, sizes);
    if (cut < 0) return false;
    const long over = Levels::over_of(Array<int>(sizes, sizes + n_parts), parts_work[FINAL_LIMITS * n_parts]);
    if (scores[g] != (ulong)(cut / 2 + 1) * (ulong)(total + over)) return false;
  }
  return true;
}

/* The hub's row has every leaf of a star at least twice, but each leaf is matched only once.  One leaf stays unmatched
 * if their number is odd. */
static bool leaves_right(Random &random, ulong) {
  Levels on(random, true);
  std::fill(on.vertex_weights.begin(), on.vertex_weights.end(), 1);
  std::fill(on.mates.begin(), on.mates.end(), NOBODY);
  std::fill(on.choices.begin(), on.choices.end(), 0);
  launch(N_ITEMS, [&] { match_at_hubs(0, on.most_weight, LEVEL_ARGUMENTS_OF(on), on.choices, on.mates); }, GROUPING);
  const int n_open = (int)std::count(on.mates.begin() + 1, on.mates.end(), NOBODY);
  return on.is_matching() && n_open == (on.n - 1) % 2;
}

/* A pass of moves over halves that are given: it tells how the cut has changed and what side 1 weighs, and they are no
 * worse.  What it has tried beyond the best state is undone. */
static bool halving_right(Random &random, ulong) {
  Levels on(random);
  on.match();
  on.contract();
  const int n = (int)on.levels[LEVEL_WORDS + LEVEL_VERTICES], *rows = on.of_next(LEVEL_ROWS);
  const int *weights = on.of_next(LEVEL_VERTEX_WEIGHTS);
  Array<int> members(n), zero(n), sides(n), moved(n), order(n), own(n), other(n);
  Array<ulong> keys(n);
  std::iota(members.begin(), members.end(), 0);
  for (int &side : sides) side = (int)random.below(2);
  auto weight_of = [&] {
    long sum = 0;
    for (int v = 0; v < n; v++) sum += sides[v] * weights[v];
    return sum;
  };
  auto cut_of = [&] {
    long cut = 0;
    for (int v = 0; v < n; v++)
      for (int e = rows[v]; e < rows[v + 1]; e++)
        cut += (sides[v] != sides[on.of_next(LEVEL_COLUMNS)[e]]) * on.of_next(LEVEL_EDGE_WEIGHTS)[e];
    return cut / 2;
  };
  const long total = std::accumulate(weights, weights + n, 0L), cut_before = cut_of(), before = weight_of();
  halving_t h;
  h.n = (uint)n;
  h.seed = random.below(1000);
  h.mask = 31u;
  h.block = 0;
  h.twice = total;
  h.slack = 2 * total / n;
  h.parts = zero; h.members = h.places = members;
  h.sides = sides; h.moved = moved; h.order = order;
  h.keys = keys; h.own = own; h.other = other;
  long told = 0, grown_at_end = 0;
  launch(WG_SIZE, [&] {
    if (get_local_id(0) >= SUB_GROUP_SIZE) return;
    const level_t level = level_of(1, LEVEL_ARGUMENTS_OF(on));
    long grown = before;
    const long change = pass(&level, &h, &grown);
    if (sg_lane() == 0) {
      told = change;
      grown_at_end = grown;
    }
  }, GROUPING);
  auto over_of = [&](long grown) { return std::max(0L, std::abs(2 * grown - h.twice) - h.slack); };
  const long cut = cut_of(), grown = weight_of();
  if (grown != grown_at_end || over_of(grown) > over_of(before)) return false;
  return told == 1 && grown == before && cut == cut_before || told == cut - cut_before;
}

/* find_partners finds, for each block of one partition, the block of another that shares the most weight with it. */
static bool partners_right(Random &random, ulong) {
  Levels on(random);
  const uint n_parts = 2 + random.below(3);
  Array<int> first(on.n), second(on.n), shared(n_parts * n_parts), expected(n_parts * n_parts), partners(n_parts);
  for (int v = 0; v < on.n; v++) {
    first[v] = random.below(6) ? (int)random.below(n_parts) : NOBODY;
    second[v] = (int)random.below(n_parts);
    if (first[v] != NOBODY) expected[first[v] * n_parts + second[v]] += on.vertex_weights[v];
  }
  launch(WG_SIZE, [&] {
    const level_t level = level_of(0, LEVEL_ARGUMENTS_OF(on));
    find_partners(&level, n_parts, first, second, shared, partners);
  }, GROUPING);
  for (uint p = 0; p < n_parts; p++)
    if (partners[p] != std::max_element(&expected[p * n_parts], &expected[(p + 1) * n_parts]) - &expected[p * n_parts]) return false;
  return shared == expected;
}

/* Individuals are refined, and crossed once.  A child takes the place of its parent only if it is better. */
static bool generation_right(Random &random, ulong seed) {
  Levels on(random);
  on.match();
  on.contract();
  const int n = (int)on.levels[LEVEL_WORDS + LEVEL_VERTICES], *weights = on.of_next(LEVEL_VERTEX_WEIGHTS);
  const uint n_parts = 2 + random.below(3), n_groups = 2, room = n + n % 2;
  const size_t grown_each = (size_t)VERTEX_WORDS * room + PART_WORDS * n_parts;
  const size_t each = (size_t)VERTEX_ARRAYS * room + INDIVIDUAL_PART_WORDS * n_parts + REFINE_WORDS;
  Array<int> grown(grown_each * n_groups), parts_work(PART_ARRAYS * n_parts), blocks(n_groups * n_parts), population(each * n_groups),
      parents(n_groups * (room + n_parts)), shared(n_groups * (n_parts + 1) * n_parts);
  Array<ulong> scores(n_groups), parent_scores(n_groups);
  const long total = std::accumulate(weights, weights + n, 0L);
  for (uint p = 0; p < n_parts; p++) {
    parts_work[SHARES * n_parts + p] = (int)(total / n_parts);
    parts_work[FINAL_LIMITS * n_parts + p] = (int)(total / n_parts) + 1;
  }
  auto of_all = [&](auto run) { launch(n_groups * WG_SIZE, run, GROUPING); };
  auto keep = [&](int is_first) {
    of_all([&] { keep_children(1, n_parts, room, is_first, on.levels, population, scores, parents, parent_scores); });
  };
  auto are_right = [&] {
    for (uint g = 0; g < n_groups; g++) {
      const int *own = population + g * each, *sizes = own + (size_t)VERTEX_ARRAYS * room + BEST_SIZES * n_parts;
      if (cut_of(on, n_parts, own + (size_t)BEST * room, sizes) != 2 * (long)(uint)scores[g]) return false;
    }
    return true;
  };
  of_all([&] { grow_parts(1, n_parts, (uint)seed, LEVEL_ARGUMENTS_OF(on), parts_work, grown, blocks, scores); });
  of_all([&] {
    refine_individuals(1, 1, n_parts, room, LEVEL_ARGUMENTS_OF(on), parts_work, population, blocks, (uint)grown_each, grown, scores);
  });
  if (!are_right()) return false;
  keep(1);
  if (parent_scores != scores) return false;
  const Array<ulong> before = parent_scores;
  of_all([&] {
    cross_individuals(1, 1, n_parts, room, LEVEL_ARGUMENTS_OF(on), parts_work, population, (uint)seed, parents, shared, scores);
  });
  if (!are_right()) return false;
  keep(0);
  for (uint g = 0; g < n_groups; g++) {
    const int *parent = parents + (size_t)g * (room + n_parts);
    if (parent_scores[g] != min(before[g], scores[g])) return false;
    if (cut_of(on, n_parts, parent, parent + room) != 2 * (long)(uint)parent_scores[g]) return false;
  }
  return true;
}

static const Case cases[] = {
    {"alone", alone_right}, {"matching", matching_right}, {"segmented", segmented_right}, {"contraction", contraction_right},
    {"sorted", sorted_right}, {"light_edges", light_edges_right}, {"refinement", refinement_right},
    {"buffered", requests_right<BUFFERED>}, {"permutations", requests_right<PERMUTATIONS>},
    {"growing", growing_right}, {"halving", halving_right}, {"leaves", leaves_right}, {"partners", partners_right},
    {"generation", generation_right},
};
