/* Partition the edges of a bipartite graph into maximal matchings M(0), M(1), …: M(t) is maximal among the edges that are
 * in no earlier matching.
 *
 * Rows (the side with the largest degree) choose columns.  Rows are ranked by degree, the largest first.  Each has a list
 * of its remaining edges, and a cursor into it that starts at a random position.  M(t) is the result of this loop:
 *   for row in order of rank: from its cursor on, once around its list, take the first column not taken in round t;
 *   the last edge of the list replaces the taken one.
 * It is found in parallel by deferred acceptance (D. Gale, L. Shapley, "College Admissions and the Stability of
 * Marriage", 1962): a row proposes to the column at its cursor; a column keeps the best proposal, by an atomic minimum of
 * ranks; a row that is refused or displaced moves on to its next column.  All columns rank the rows in the same way, so
 * there is only one stable matching, the loop's result, whatever the order of execution.  Every device and both ways below
 * find the same one.  It is maximal: every column that a row's cursor has passed is taken by a better row.
 *
 * words[2 u]: the rank of the row that column u has accepted, NOBODY between rounds.  words[2 u + 1]: the last round in
 * which a row of an earlier chunk took the column (match_group).
 * edge_columns, edges: the columns of the rows' lists, and the edges' positions in `colours`.  Only the work-item that
 * processes a row changes its list.
 *
 * Intended race: several proposals to one column; the atomic minimum decides, and the losers move on.
 */
#include "common/atomics.h"
#include "common/random.h"
#include "primitives/group_scan.h"

#ifndef SEEK_LIMIT               /* columns that a row of match_group tries between two barriers */
#define SEEK_LIMIT 64
#endif
#define NOBODY 0xffffffffu
#define STATE_ROUND 0            /* the round; match_group continues from these words */
#define STATE_ALIVE 1            /* rows with edges left */
#define STATE_BASE 2             /* rows of this round that are done */
#define STATE_KEPT 3             /* done rows of this round that have edges left */
#define STATE_DISPLACED 4        /* per proposal of a turn: whether it displaced a row */
#define PROPOSALS 3              /* proposals per turn */
#define STATE_WORDS (STATE_DISPLACED + PROPOSALS)

/* degrees must be zero. */
KERNEL count_edges(const offset_t n, const __global int *restrict ends, volatile __global uint *degrees) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k < n) fetch_add(degrees + ends[k], 1u);
}

/* by_degree: the rows, smallest degree first; row_offsets: where a row's edges begin. */
KERNEL start_rows(const int n_rows, const ulong seed, const __global int *restrict by_degree,
                  const __global offset_t *restrict row_offsets, __global int *restrict alive,
                  __global offset_t *restrict begin, __global uint *restrict left, __global uint *restrict cursor,
                  __global uint *restrict tried) {
  const int rank = (int)get_global_id(0);
  if (rank >= n_rows) return;
  const int row = by_degree[n_rows - 1 - rank];
  const offset_t first = row_offsets[row];
  const uint degree = (uint)(row_offsets[row + 1] - first);
  alive[rank] = rank;
  begin[rank] = first;
  left[rank] = degree;
  cursor[rank] = random_below(random_key(seed), (ulong)row, degree);
  tried[rank] = 0u;
}

KERNEL list_columns(const offset_t n, const __global offset_t *restrict edges, const __global int *restrict columns,
                    __global int *restrict edge_columns) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k < n) edge_columns[k] = columns[edges[k]];
}

/* The state of a row in a round.  The columns tried so far are directly before its cursor. */
typedef struct { uint rank, left, cursor, tried; offset_t begin; } row_state_t;

INLINE row_state_t load_state(int rank, const __global offset_t *begin, const __global uint *left,
                              const __global uint *cursor, const __global uint *tried) {
  row_state_t row = {(uint)rank, left[rank], cursor[rank], tried[rank], begin[rank]};
  return row;
}
INLINE void store_state(row_state_t row, __global uint *left, __global uint *cursor, __global uint *tried) {
  left[row.rank] = row.left;
  cursor[row.rank] = row.cursor;
  tried[row.rank] = row.tried;
}

INLINE volatile __global uint *column_words(row_state_t row, const __global int *edge_columns,
                                            volatile __global uint *words) {
  return words + 2ul * (ulong)edge_columns[row.begin + row.cursor];
}

/* Propose to the row's next columns until one accepts, at most `limit`; returns 1 if another row was displaced. */
INLINE int seek(row_state_t *row, uint round, uint limit, const __global int *edge_columns,
                volatile __global uint *words) {
  for (uint turn = 0; row->tried < row->left && turn < limit; turn++) {
    volatile __global uint *column = column_words(*row, edge_columns, words);
    const uint holder = load_relaxed(column), taken = load_relaxed(column + 1);
    if (taken != round) {
      if (holder == row->rank) return 0;
      if (holder > row->rank) {
        const uint old = fetch_min(column, row->rank);
        if (old > row->rank) return old != NOBODY;
      }
    }
    row->cursor = row->cursor + 1u == row->left ? 0u : row->cursor + 1u;
    row->tried++;
  }
  return 0;
}

/* End the round of this row: remove the edge at its cursor, if it has one, from its list. */
INLINE void settle_row(row_state_t *row, uint round, __global int *edge_columns, __global offset_t *edges,
                       volatile __global uint *words, __global uint *colours) {
  if (row->tried < row->left) {
    volatile __global uint *column = column_words(*row, edge_columns, words);
    store_relaxed(column, NOBODY);
    store_relaxed(column + 1, round);
    const offset_t at = row->begin + row->cursor, last = row->begin + --row->left;
    colours[edges[at]] = round;
    edges[at] = edges[last];
    edge_columns[at] = edge_columns[last];
    if (row->cursor == row->left) row->cursor = 0u;
  }
  row->tried = 0u;
}

/* ---- many rows: a work-item takes a row, and there is a launch for every step.
 *
 * A turn is propose with first = 0 … PROPOSALS - 1, then settle, then next_round.  state[STATE_DISPLACED + first] tells
 * whether the propose before displaced a row.  If not, nothing is left to do in this round. */
KERNEL propose(const int n_alive, const uint first, const __global int *restrict alive,
               const __global offset_t *restrict begin, const __global uint *restrict left,
               const __global int *restrict edge_columns, __global uint *restrict cursor, __global uint *restrict tried,
               volatile __global uint *words, volatile __global uint *state) {
  const int i = (int)get_global_id(0);
  volatile __global uint *displaced = state + STATE_DISPLACED;
  if (i == 0) store_relaxed(displaced + (first + 2u) % PROPOSALS, 0u);
  if (i >= n_alive || !load_relaxed(displaced + first)) return;
  row_state_t row = load_state(alive[i], begin, left, cursor, tried);
  if (seek(&row, load_relaxed(state + STATE_ROUND), NOBODY, edge_columns, words))
    store_relaxed(displaced + (first + 1u) % PROPOSALS, 1u);
  cursor[row.rank] = row.cursor;
  tried[row.rank] = row.tried;
}

KERNEL settle(const int n_alive, const __global int *restrict alive, const __global offset_t *restrict begin,
              const __global uint *restrict state, __global uint *restrict left, __global uint *restrict cursor,
              __global uint *restrict tried, __global int *restrict edge_columns, __global offset_t *restrict edges,
              volatile __global uint *words, __global uint *restrict colours) {
  const int i = (int)get_global_id(0);
  if (i >= n_alive || state[STATE_DISPLACED]) return;
  row_state_t row = load_state(alive[i], begin, left, cursor, tried);
  settle_row(&row, state[STATE_ROUND], edge_columns, edges, words, colours);
  store_state(row, left, cursor, tried);
}

KERNEL next_round(__global uint *restrict state) {
  if (get_global_id(0) || state[STATE_DISPLACED]) return;
  state[STATE_ROUND]++;
  state[STATE_DISPLACED] = 1u;
}

/* ---- few rows: one work-group runs the rounds, and takes the rows of a round in chunks of WG_SIZE, best rank first.
 *
 * Columns that earlier chunks have taken stay taken, so the result is the same. */

/* Find the final column of each row of the chunk; returns the number of the next turn.  again[turn & 1]: whether a row was
 * left without a column in that turn; 0 in the first. */
INLINE uint seek_together(row_state_t *row, uint round, uint turn, __local uint *again,
                          const __global int *edge_columns, volatile __global uint *words) {
  for (int more = 1; more; turn++) {
    __local uint *now = again + (turn & 1u);
    seek(row, round, SEEK_LIMIT, edge_columns, words);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) again[~turn & 1u] = 0u;  /* read before this barrier, set behind the next one */
    const int unheld = row->tried < row->left && load_relaxed(column_words(*row, edge_columns, words)) != row->rank;
    if (sg_any(unheld) && sg_lane() == 0) fetch_or(now, 1u);
    barrier(CLK_LOCAL_MEM_FENCE);
    more = (int)*now;
  }
  return turn;
}

/* A work-item takes a row of the chunk.  Ends after about `budget` turns; the next launch continues from there. */
KERNEL match_group(const uint budget, const __global offset_t *restrict begin, __global int *alive,
                   __global uint *restrict left, __global uint *restrict cursor, __global uint *restrict tried,
                   __global int *restrict edge_columns, __global offset_t *restrict edges, volatile __global uint *words,
                   __global uint *restrict colours, __global uint *restrict state) {
  LOCAL_ARRAY uint again[2];
  LOCAL_ARRAY uint scratch[GROUP_SCRATCH];
  const uint me = (uint)get_local_id(0);
  uint round = state[STATE_ROUND], n_alive = state[STATE_ALIVE], base = state[STATE_BASE], kept = state[STATE_KEPT];
  uint turn = 0u;
  if (me == 0u) again[0] = again[1] = 0u;  /* set behind the first barrier of a turn */
  while (n_alive && turn < budget) {
    const int active = base + me < n_alive;
    row_state_t row = {NOBODY, 0u, 0u, 0u, 0};
    /* In the round in which the many-row kernels stopped, tried is not 0. */
    if (active) row = load_state(alive[base + me], begin, left, cursor, tried);
    turn = seek_together(&row, round, turn, again, edge_columns, words);
    if (active) {
      settle_row(&row, round, edge_columns, edges, words, colours);
      store_state(row, left, cursor, tried);
    }
    uint all;
    const uint before = group_exclusive_sum(row.left != 0u ? 1u : 0u, scratch, &all);
    if (row.left) alive[kept + before] = (int)row.rank;
    kept += all;
    base += WG_SIZE;
    if (base >= n_alive) {
      round++;
      n_alive = kept;
      base = kept = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
  if (me == 0u) {
    state[STATE_ROUND] = round;
    state[STATE_ALIVE] = n_alive;
    state[STATE_BASE] = base;
    state[STATE_KEPT] = kept;
  }
}
