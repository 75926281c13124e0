/* Divide a level into parts, and refine all pairs of adjacent parts, for a few workers.
 *
 * A worker that refines two parts changes only these, and only it may do so, by locks of parts.  While it works, the
 * edges of its vertices to other parts do not count, since its moves do not change what they cost.  So workers do not
 * wait for each other: one that finds no free pair ends, and the others refine what is left.
 * Races: a worker may read the part of a vertex while another worker moves the vertex between two other parts.
 *
 * After M. Holtgrewe, P. Sanders, C. Schulz, "Engineering a scalable high quality graph partitioner", IPDPS 2010; and
 * C. Fiduccia, R. Mattheyses, "A linear-time heuristic for improving network partitions", DAC 1982.
 */
#include "partition/pair_search.h"
#include "partition/divide.h"

#ifndef SLACK_PARTS              /* On coarse levels a part may exceed its limit by two mean vertices, and by this part of it. */
#define SLACK_PARTS 60
#endif
#define OWN_WORDS (SEARCH_WORDS + 4)         /* ints of an individual per vertex, ... */
#define OWN_ROOM(n, k) ((long)OWN_WORDS * (n) + SIDE_WORDS + 3l * (k) + (long)(k) * (k))  /* ... and all of them */
#define REFINING_PARAMETERS                                                                                   \
  int n_parts, int patience, __global const int *shares, __global const int *limits, __global int *part_weights, \
  __global int *next_border, volatile __global int *part_heads, volatile __global int *adjacent

/* One work-item begins a run: only level 0 is known, and no items are taken. */
KERNEL begin(int n, int n_counters, __global long *restrict levels, __global int *restrict counters) {
  for (int i = 0; i < n_counters; i++) counters[i] = 0;
  for (int i = 0; i < LEVEL_WORDS; i++) levels[i] = 0l;
  levels[LEVEL_VERTICES] = levels[LEVEL_PARTS] = n;
  levels[LEVEL_END] = 2l * n;
}

INLINE parts_t parts_of(int level_number, int n, long total, int n_parts, __global const int *shares,
                        __global const int *limits, __global int *weights) {
  parts_t parts = {n_parts, shares, limits, weights, 0};
  const int mean = (int)(2 * total / max(n, 1)), most = (int)(total / n_parts / SLACK_PARTS);
  if (level_number) parts.slack = max(1, min(mean, most));
  return parts;
}

/* Whether only one of two parts is too heavy. */
INLINE int is_over(const parts_t *parts, int a, int b) {
  return (parts->weights[a] > parts->limits[a] + parts->slack) != (parts->weights[b] > parts->limits[b] + parts->slack);
}

/* Refine a level for a worker alone, until the cut does not fall or after some rounds. */
INLINE void refine_alone(search_t *s, int rounds, int patience, const parts_t *parts, const border_t *border) {
  for (int p = 0; p < parts->n; p++) parts->weights[p] = 0;
  for (int v = 0; v < s->level.n; v++)
    if (s->parts[v] != NO_VERTEX) parts->weights[s->parts[v]] += vertex_weight(&s->level, v);
  for (int round = 0, moves = 1; round < rounds && moves; round++) {
    clear_border(parts->n, border);
    for (int v = 0; v < s->level.n; v++) list_vertex(&s->level, v, s->parts, parts->n, border);
    moves = 0;
    for (int a = 0; a < parts->n; a++)
      for (int b = a + 1; b < parts->n; b++)
        if (border->adjacent[(long)a * parts->n + b] || is_over(parts, a, b)) refine_pair(s, a, b, patience, parts, border, &moves);
  }
}

/* Make individuals, each a partition of level `coarsest` that is refined up to level `finest`.  A worker keeps the best
 * of its own; score: excess and cut.  Each individual a turn. */
KERNEL make_individuals(int turn, int coarsest, int finest, int individuals, int rounds, uint seed, long total, int room,
                        LEVELS_PARAMETERS, REFINING_PARAMETERS, __global int *restrict own, __global ulong *restrict scores,
                        volatile __global int *counters) {
  const int worker = (int)get_group_id(0);
  __global int *words = own + worker * OWN_ROOM(room, n_parts);
  __global int *present = words + SEARCH_ROOM(room), *other = present + room, *best = other + room;
  __global int *weights = best + 2l * room;
  const border_t border = {weights + 2 * n_parts, weights + 3 * n_parts, best + room};
  scores[worker] = ULONG_MAX;
  for (long i = 0; i < SEARCH_ROOM(room); i++) words[i] = 0;
  for (int i; (i = fetch_add(counters + turn, 1)) < individuals;) {
    ulong score = 0;
    for (int l = coarsest; l >= finest; l--) {
      const level_t level = LEVEL(l);
      search_t s = search_of(&level, present, room, words);
      parts_t parts = parts_of(l, level.n, total, n_parts, shares, limits, weights);
      if (l == coarsest) {
        divide(&s, patience, random_key(seed + (ulong)i), &parts, other, border.next, weights + n_parts);
      } else {
        const __global int *map = level.map;
        for (int v = 0; v < level.n; v++) other[v] = map[v] == NO_VERTEX ? NO_VERTEX : present[map[v]];
        __global int *swapped = present;
        present = other;
        other = swapped;
        s.parts = present;
      }
      refine_alone(&s, rounds, patience, &parts, &border);
      score = 0;
      if (l > finest) continue;
      ulong over = 0;
      for (int p = 0; p < n_parts; p++) over += (ulong)max(weights[p] - limits[p] - parts.slack, 0);
      for (int v = 0; v < level.n; v++)
        for (int e = row_begin(&level, v); e < row_end(&level, v); e++)
          score += present[neighbour(&level, e)] > present[v] ? (ulong)edge_weight(&level, e) : 0ul;
      score += over << 32;
      if (score >= scores[worker]) continue;
      scores[worker] = score;
      for (int v = 0; v < level.n; v++) best[v] = present[v];
    }
  }
}

/* One work-item copies the best individual to its level, and sums the weights of its parts. */
KERNEL keep_best(int finest, int workers, int room, LEVELS_PARAMETERS, REFINING_PARAMETERS, __global int *restrict own,
                 __global const ulong *restrict scores, volatile __global int *cut) {
  const level_t level = LEVEL(finest);
  int winner = 0;
  for (int w = 1; w < workers; w++) winner = scores[w] < scores[winner] ? w : winner;
  __global const int *best = own + winner * OWN_ROOM(room, n_parts) + SEARCH_ROOM(room) + 2l * room;
  for (int p = 0; p < n_parts; p++) part_weights[p] = 0;
  for (int v = 0; v < level.n; v++) {
    level.parts[v] = best[v];
    if (best[v] != NO_VERTEX) part_weights[best[v]] += vertex_weight(&level, v);
  }
  cut[0] = (int)(uint)scores[winner];
}

/* Mark the vertices beside other parts.  A block of vertices a turn. */
KERNEL mark_border(int turn, int level_number, LEVELS_PARAMETERS, __global int *restrict marks, volatile __global int *counters) {
  const level_t level = LEVEL(level_number);
  for (int first; (first = take_items(counters + turn)) < level.n;) {
    const int end = min(first + (int)TAKEN, level.n);
    for (int v = first; v < end; v++) {
      int is_beside = 0;
      for (int e = row_begin(&level, v); !is_beside && e < row_end(&level, v); e++)
        is_beside = level.parts[neighbour(&level, e)] != level.parts[v];
      marks[v] = is_beside;
    }
  }
}

/* Give vertices the parts of their vertices on the next level.  A block of vertices a turn. */
KERNEL project(int turn, int level_number, LEVELS_PARAMETERS, volatile __global int *counters) {
  const level_t level = LEVEL(level_number), coarse = LEVEL(level_number + 1);
  for (int first; (first = take_items(counters + turn)) < level.n;) {
    const int end = min(first + (int)TAKEN, level.n);
    for (int v = first; v < end; v++)
      level.parts[v] = level.map[v] == NO_VERTEX ? NO_VERTEX : coarse.parts[level.map[v]];
  }
}

/* One work-item prepares a round.  All parts are active in the first round, and changed parts in later rounds. */
KERNEL start_round(int is_first, REFINING_PARAMETERS, __global int *restrict active, __global int *restrict changed,
                   __global uint *restrict locks, __global int *restrict taken) {
  const border_t border = {part_heads, adjacent, next_border};
  clear_border(n_parts, &border);
  for (long i = 0; i < (long)n_parts * n_parts; i++) taken[i] = 0;
  for (int p = 0; p < n_parts; p++) {
    active[p] = is_first ? 1 : changed[p];
    changed[p] = 0;
    locks[p] = 0u;
  }
}

/* List the vertices beside other parts.  In the first round only these can be: marked ones of the next level.  A block of
 * vertices a turn. */
KERNEL list_border(int turn, int level_number, int is_marked, LEVELS_PARAMETERS, REFINING_PARAMETERS,
                   __global const int *restrict marks, volatile __global int *counters) {
  const level_t level = LEVEL(level_number);
  const border_t border = {part_heads, adjacent, next_border};
  for (int first; (first = take_items(counters + turn)) < level.n;) {
    const int end = min(first + (int)TAKEN, level.n);
    for (int v = first; v < end; v++) {
      const int coarse = is_marked ? level.map[v] : NO_VERTEX;
      if (!is_marked || (coarse != NO_VERTEX && marks[coarse])) list_vertex(&level, v, level.parts, n_parts, &border);
    }
  }
}

/* Refine each pair of adjacent parts of which one is active.  A free pair a turn. */
KERNEL refine_pairs(int level_number, long total, int room, LEVELS_PARAMETERS, REFINING_PARAMETERS,
                    __global int *restrict searches, __global const int *restrict active, volatile __global int *changed,
                    volatile __global uint *locks, volatile __global int *taken, volatile __global int *cut) {
  const level_t level = LEVEL(level_number);
  const border_t border = {part_heads, adjacent, next_border};
  const parts_t parts = parts_of(level_number, level.n, total, n_parts, shares, limits, part_weights);
  search_t s = search_of(&level, level.parts, room, searches + SEARCH_ROOM(room) * get_group_id(0));
  for (int finds = 1; finds;) {
    finds = 0;
    for (int a = 0; a < n_parts; a++)
      for (int b = a + 1; b < n_parts; b++) {
        const long pair = (long)a * n_parts + b;
        if (load_relaxed(taken + pair)) continue;
        if (!(load_relaxed(adjacent + pair) && (active[a] | active[b])) && !is_over(&parts, a, b)) continue;
        if (!try_lock(locks + a)) continue;
        if (try_lock(locks + b)) {
          if (!exchange(taken + pair, 1)) {
            finds = 1;
            int moves = 0;
            const int gain = refine_pair(&s, a, b, patience, &parts, &border, &moves);
            if (moves) changed[a] = changed[b] = 1;
            if (gain) fetch_add(cut, -gain);
          }
          unlock(locks + b);
        }
        unlock(locks + a);
      }
  }
}
