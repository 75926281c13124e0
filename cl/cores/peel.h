/* Core numbers by peeling: the steps, which all work-groups make together.
 *
 * degrees has for each vertex the number of neighbours that are left.  At level k, all vertices with k left are removed, and
 * each is taken off its neighbours, so more vertices have k left, in waves.  The core number of a vertex is the level at
 * which it was removed, and that is what its word then holds: a vertex at k is never lowered further.
 *
 * A step is one of two.  A *scan* reads the list of the vertices that may be left.  It drops those removed before, puts rows
 * of vertices with k left into the queue, and lists the others.  A *wave* goes along the rows in the queue that the step
 * before has put there.  An empty wave ends a level.  The first scan lists all vertices but isolated ones.
 *
 *   lists    two lists of n vertices: scan s reads list s % 2 and writes the other one
 *   queue    begins and lengths of pieces of rows, of at most PIECE entries; each vertex enters once
 *   state    words below.  Three slots of a counter take turns: one is read, while the next step counts in another one and
 *            resets the third.
 *
 * The next level is at least the least degree that a scan has left or a wave has made, so levels without vertices are
 * skipped.
 *
 * Races: work-items lower degrees by atomics.  One of them lowers a vertex from k + 1 to k, and only that one puts it into
 * the queue.  Others that come later find k or less, and put back what they took; meanwhile a degree is too low, but at most
 * k.  Lists and queues are read only after a barrier.
 *
 * After H. Kabir, K. Madduri, "Parallel k-core decomposition on multicore platforms", IPDPS Workshops 2017.
 */
#ifndef CLGRAPH_CORES_PEEL_H
#define CLGRAPH_CORES_PEEL_H
#include "common/grid_barrier.h"
#include "common/shares.h"

#ifndef PIECE                    /* greatest number of entries of a piece of a row */
#define PIECE 128
#endif
#ifndef STEPS                    /* entries that a lane has in flight, and items of a list */
#define STEPS 4
#endif

#define STATE_CONTROL 0          /* words of state: the grid barrier */
#define STATE_PUSHED GRID_CONTROL_WORDS   /* three slots: pieces put into the queue in a step */
#define STATE_KEPT (STATE_PUSHED + 3)     /* three slots: vertices that a scan has listed */
#define STATE_LEAST (STATE_KEPT + 3)      /* three slots: least degree above the level, of a scan and its waves */
#define STATE_AT (STATE_LEAST + 3)        /* without a grid barrier: the members of peel_t, ... */
#define AT_WORDS 9
#define STATE_TICKET (STATE_AT + AT_WORDS)       /* ... and the number of groups that have ended a step */
#define STATE_WORDS (STATE_TICKET + 1)

/* Where the peeling is.  All work-items have the same. */
typedef struct {
  uint step, scan, level;        /* numbers of the step and of the last scan */
  uint head, tail;               /* the wave's part of the queue */
  uint left, least;              /* length of the list; least degree above the level, as far as known */
  int is_wave, is_done;
} peel_t;

typedef struct {
  __global const offset_t *row_offsets;
  __global const int *column_indices;
  volatile __global int *degrees;
  __global int *lists;
  __global offset_t *begins;
  __global uint *lengths;
  volatile __global uint *state;
} peeled_t;

typedef struct {                 /* rows that a lane puts into the queue; those without one have length 0 */
  offset_t begin[STEPS];
  uint length[STEPS];
} rows_t;

INLINE void set_row(rows_t *rows, uint k, int is_wanted, int v, peeled_t on) {
  rows->begin[k] = is_wanted ? on.row_offsets[v] : (offset_t)0;
  rows->length[k] = is_wanted ? (uint)(on.row_offsets[v + 1] - rows->begin[k]) : 0u;
}

/* Put the rows of all lanes into the queue, in pieces.  Every lane calls. */
INLINE void push_rows(const rows_t *rows, peel_t at, peeled_t on) {
  uint pieces = 0u;
  for (uint k = 0u; k < STEPS; k++) pieces += (rows->length[k] + PIECE - 1u) / PIECE;
  if (!sg_any(pieces != 0u)) return;
  const uint before = sg_exclusive_sum(pieces), all = sg_broadcast(before + pieces, SUB_GROUP_SIZE - 1);
  uint place = 0u;
  if (sg_lane() == 0u) place = at.tail + fetch_add(on.state + STATE_PUSHED + at.step % 3u, all);
  place = sg_broadcast(place, 0u) + before;
  for (uint k = 0u; k < STEPS; k++)
    for (uint first = 0u; first < rows->length[k]; first += PIECE) {
      on.begins[place] = rows->begin[k] + (offset_t)first;
      on.lengths[place++] = min((uint)PIECE, rows->length[k] - first);
    }
}

/* Tell the level's slot of the least degree one that is left.  Every lane calls. */
INLINE void tell_least(uint least, peel_t at, peeled_t on) {
  least = sg_least(least);
  if (sg_lane() == 0u && least < at.least) lower_to(on.state + STATE_LEAST + at.scan % 3u, least);
}

INLINE void scan_list(uint n, uint member, uint members, peel_t at, peeled_t on) {
  __global const int *list = on.lists + (at.scan % 2u) * (size_t)n;
  __global int *kept = on.lists + ((at.scan + 1u) % 2u) * (size_t)n;
  const share_t share = team_share_of_members((at.left + STEPS * SUB_GROUP_SIZE - 1u) / (STEPS * SUB_GROUP_SIZE), member,
                                              members);
  uint least = UINT_MAX;
  for (uint block = share.first; block < share.end; block += share.step) {
    int v[STEPS], degree[STEPS];
    uint mine = 0u;
    for (uint k = 0u; k < STEPS; k++) {
      const uint i = (block * STEPS + k) * SUB_GROUP_SIZE + sg_lane();
      v[k] = i >= at.left ? -1 : at.scan ? list[i] : (int)i;
      degree[k] = load_relaxed_if(v[k] >= 0, on.degrees + max(v[k], 0));
      const int is_left = v[k] >= 0 && (uint)degree[k] > at.level;
      if (is_left) least = min(least, (uint)degree[k]);
      mine += (uint)is_left;
    }
    const uint before = sg_exclusive_sum(mine), all = sg_broadcast(before + mine, SUB_GROUP_SIZE - 1);
    uint place = 0u;
    if (sg_lane() == 0u && all) place = fetch_add(on.state + STATE_KEPT + at.scan % 3u, all);
    place = sg_broadcast(place, 0u) + before;
    rows_t rows;
    for (uint k = 0u; k < STEPS; k++) {
      if (v[k] >= 0 && (uint)degree[k] > at.level) kept[place++] = v[k];
      set_row(&rows, k, v[k] >= 0 && (uint)degree[k] == at.level, v[k], on);
    }
    push_rows(&rows, at, on);
  }
  tell_least(least, at, on);
}

/* Take the vertices of pieces of rows off their neighbours u, which have `degree` left.  Returns the least degree made.
 * The rows of those that are probably removed are loaded while the atomics run. */
INLINE uint take_off(const int *u, const int *degree, peel_t at, peeled_t on) {
  const int level = (int)at.level;
  uint least = UINT_MAX;
  int old[STEPS];
  rows_t rows;
  for (uint k = 0u; k < STEPS; k++) set_row(&rows, k, degree[k] == level + 1, u[k], on);
  for (uint k = 0u; k < STEPS; k++) old[k] = degree[k] > level ? fetch_add(on.degrees + u[k], -1) : 0;
  for (uint k = 0u; k < STEPS; k++) {
    const int is_taken = degree[k] > level, is_removed = is_taken && old[k] == level + 1;
    if (is_taken && old[k] <= level) fetch_add(on.degrees + u[k], 1);
    if (is_taken && old[k] > level + 1) least = min(least, (uint)old[k] - 1u);
    if (is_removed && degree[k] != level + 1) set_row(&rows, k, 1, u[k], on);
    if (!is_removed) rows.length[k] = 0u;
  }
  push_rows(&rows, at, on);
  return least;
}

INLINE void run_wave(uint member, uint members, peel_t at, peeled_t on) {
  const list_share_t share = share_of_list(at.tail - at.head, member, members);
  uint least = UINT_MAX;
  for (uint i = share.first; i < share.end; i += share.step) {
    const uint item = i + sg_lane() * share.stride;
    const int has = item < share.end;
    const offset_t begin = has ? on.begins[at.head + item] : (offset_t)0;
    const uint length = has ? on.lengths[at.head + item] : 0u;
    const uint before = sg_exclusive_sum(length), total = sg_broadcast(before + length, SUB_GROUP_SIZE - 1);
    for (uint first = 0u; first < total; first += STEPS * SUB_GROUP_SIZE) {
      int u[STEPS], degree[STEPS];
      for (uint k = 0u; k < STEPS; k++) {
        const uint number = first + k * SUB_GROUP_SIZE + sg_lane();
        uint slot = 0u;
        for (uint step = SUB_GROUP_SIZE / 2; step; step >>= 1)
          if (sg_broadcast(before, slot + step) <= number) slot += step;
        const offset_t e = sg_broadcast(begin, slot) + (offset_t)(number - sg_broadcast(before, slot));
        u[k] = number < total ? load_once(on.column_indices + e) : -1;
      }
      for (uint k = 0u; k < STEPS; k++) degree[k] = load_relaxed_if(u[k] >= 0, on.degrees + max(u[k], 0));
      least = min(least, take_off(u, degree, at, on));
    }
  }
  tell_least(least, at, on);
}

/* Make a step.  Every work-item calls. */
INLINE void make_step(uint n, uint member, uint members, peel_t at, peeled_t on) {
  if (member == 0u && get_local_id(0) == 0) {
    store_relaxed(on.state + STATE_PUSHED + (at.step + 1u) % 3u, 0u);
    if (!at.is_wave) {
      store_relaxed(on.state + STATE_KEPT + (at.scan + 1u) % 3u, 0u);
      store_relaxed(on.state + STATE_LEAST + (at.scan + 1u) % 3u, UINT_MAX);
    }
  }
  if (at.is_wave) run_wave(member, members, at, on);
  else scan_list(n, member, members, at, on);
}

/* Return where the peeling is after a step that all work-groups have ended. */
INLINE peel_t after_step(peel_t at, peeled_t on) {
  const uint pushed = load_relaxed(on.state + STATE_PUSHED + at.step % 3u);
  const uint least = load_relaxed(on.state + STATE_LEAST + at.scan % 3u);
  const uint kept = load_relaxed(on.state + STATE_KEPT + at.scan % 3u);
  at.step++;
  at.head = at.tail;
  at.tail += pushed;
  if (!at.is_wave) {
    at.left = kept;
    at.is_done = kept == 0u;     /* the rows of the last vertices need not be read */
  }
  at.least = least;
  at.is_wave = at.head < at.tail;
  if (!at.is_wave) {
    at.level = max(at.level + 1u, least);
    at.least = UINT_MAX;
    at.scan++;
  }
  return at;
}

INLINE peel_t first_step(uint n) {
  const peel_t at = {0u, 0u, 0u, 0u, 0u, n, UINT_MAX, 0, 0};
  return at;
}
#endif
