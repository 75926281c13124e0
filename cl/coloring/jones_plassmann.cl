/* Greedy colouring in a given order, in parallel: a vertex gets the least colour that the neighbours before it leave,
 * as soon as that is known.  The result is that of the sequential algorithm, whatever runs when.
 *
 * A vertex publishes which colours it may still get (possible.h).  Its least possible colour is its colour once no
 * neighbour before it that is not coloured yet may take that: often long before all of them are coloured.
 *
 * color_small: a work-item a vertex: which entries are before it is a word of bits, the possible colours are another.
 * A sub-group tries each vertex of its tiles, in the order of their places (orders.h) as all sub-groups do, keeps those
 * that stay open in a list of its own, and goes through that until it is empty.
 * With WIDE the rows may be longer: a bit stands for each 32nd entry, and the possible colours are 31 at a time.
 * color_large: a sub-group a vertex, in order of priority, so that most neighbours before it are coloured when its turn
 * comes.  The neighbours before it that are open stay in a list at the place of its row, its possible colours in a
 * bitmap.  The sub-group waits for one of them, the one with most possible colours among those that may take the
 * vertex's least colour; nothing else is looked at before that one cannot any more.
 * list_hubs: a work-group a vertex of many entries, beforehand: finds the neighbours before it.
 *
 * Groups that run together finish whatever the others do, since the first open vertex in the order is always among
 * those that somebody tries; groups that come late leave.  On devices where groups may not wait for each other,
 * color_small ends after some turns, to be launched again while it leaves vertices open, and color_large is run by one
 * sub-group alone.
 *
 * Races: words of `words` are read while their owner narrows them; see possible.h.
 *
 * After M. T. Jones, P. E. Plassmann, "A parallel graph coloring heuristic", SIAM J. Scientific Computing 14, 1993, and
 * G. Alabandi, E. Powers, M. Burtscher, "Increasing the parallelism of graph coloring via shortcutting", PPoPP 2020.
 */
#include "common/grid_barrier.h"
#include "common/subgroup.h"
#include "coloring/orders.h"
#include "coloring/possible.h"

#ifndef WIDE
#define WIDE 0
#endif
#ifndef SMALL_DEGREE
#define SMALL_DEGREE 30          /* at most 30, unless WIDE: a set has one colour more */
#endif
#ifndef BATCH                    /* entries of a row that a work-item has in flight */
#define BATCH 4
#endif
#ifndef STEPS                    /* and a lane, of a sub-group's row */
#define STEPS 4
#endif
#ifndef BITMAP_WORDS             /* of a bitmap, in local memory; further ones stay in global memory */
#define BITMAP_WORDS 64
#endif
#ifndef RANKED
#define RANKED 1
#endif
#ifndef SORTED                   /* a sub-group takes its vertices by falling degree; if MARKED, only the marked ones first */
#define SORTED 0
#endif
#ifndef SORT_STEPS               /* vertices of a work-item in flight while they are sorted */
#define SORT_STEPS 4u
#endif
#ifndef RETRIES                  /* tries of a vertex at once, where most before it have a colour */
#define RETRIES 0
#endif
#ifndef MOST_OPEN                /* vertices that a sub-group tries again before it takes new ones */
#define MOST_OPEN UINT_MAX
#endif
#ifndef MOST_IDLE                /* ... unless it has tried so many times in vain */
#define MOST_IDLE 16u
#endif
#ifndef TURNS                    /* of a launch over its lists; 0: until they are empty, all groups at once */
#define TURNS 0u
#endif

/* Controls of two grids. */
#define CONTROL_LARGE 0
#define CONTROL_SMALL 32
#define CONTROL_WORDS 64

/* If RANKED, priorities lie beside the words, so that one load brings both.  Else the number of a vertex tells its, and,
 * in the order many_first, whether its word is MARKED. */
INLINE uint mark_of(uint degree) { return degree < FEW_COLORS ? 0u : MARK; }
#if RANKED
#define STRIDE 2
INLINE uint rank_beside(const __global uint *words, int v) { return words[2 * (long)v + 1]; }
#else
#define STRIDE 1
#endif
INLINE uint own_rank(order_t order, int v, uint degree, volatile __global uint *words) {
#if RANKED
  return words[2 * (long)v + 1];
#else
  return priority_of(order, v, degree);
#endif
}
/* The words of those of u[] that go before v, and 0 of the others; only of those with bit[]. */
INLINE void load_before(order_t order, const int *u, const uint *bit, uint rank, int v, volatile __global uint *words,
                        uint *word) {
#if RANKED
  ulong state[BATCH];
  for (int k = 0; k < BATCH; k++) state[k] = bit[k] ? load_relaxed((volatile __global ulong *)words + u[k]) : 0u;
  for (int k = 0; k < BATCH; k++)
    word[k] = goes_before((uint)(state[k] >> 32), u[k], rank, v) ? (uint)state[k] : 0u;
#else
  for (int k = 0; k < BATCH; k++) word[k] = MARKED && bit[k] ? load_relaxed(words + u[k]) : 0u;
  for (int k = 0; k < BATCH; k++) {
    const int before = bit[k] && goes_before(priority_of(order, u[k], word[k] & MARK ? FEW_COLORS : 0u), u[k], rank, v);
    word[k] = !before ? 0u : MARKED ? word[k] : load_relaxed(words + u[k]);
  }
#endif
}

/* Priorities, those given or else the order's, and no knowledge of the colours of any vertex. */
KERNEL prepare(int n, int are_given, ORDER_ARGS, __global const offset_t *restrict row_offsets,
               __global const uint *restrict given, __global uint *restrict words, __global uint *restrict controls) {
  int v = get_global_id(0);
  MAKE_ORDER(order);
  if (v < CONTROL_WORDS) controls[v] = 0u;
  if (v >= n) return;
#if RANKED
  const uint rank = are_given ? given[v] : priority_of(order, v, (uint)(row_offsets[v + 1] - row_offsets[v]));
  vstore2((uint2)(ANY_COLOR, rank), (size_t)v, words);
#else
  words[v] = MARKED ? low_bits(SET_COLORS) | mark_of((uint)(row_offsets[v + 1] - row_offsets[v])) : ANY_COLOR;
#endif
}

#if RANKED
KERNEL sort_keys(int n_large, __global const int *restrict listed, __global const uint *restrict words,
                 __global uint *restrict keys) {
  int i = get_global_id(0);
  if (i < n_large) keys[i] = ~rank_beside(words, listed[i]);
}
#endif

/* ---- a work-item a vertex */

/* A vertex in the hands of a work-item. */
typedef struct {
  uint v;
  offset_t first;
  uint degree;                   /* for its first try, and if WIDE */
  uint pending;                  /* entry i is a neighbour before it that matters; if WIDE, i + 32 ... may be one, too */
  uint set;                      /* possible colours, counted from base */
  uint base;                     /* 0 unless WIDE */
  uint mark;                     /* 0 unless MARKED */
} small_t;

/* Narrow the possible colours of *x and publish them; 1 if it is coloured.  is_first: nothing is known of it yet. */
INLINE int try_small(small_t *x, int is_first, order_t order, __global const int *restrict column_indices,
                     volatile __global uint *words, __global int *restrict colors) {
  const int unsure = is_first || WIDE, v = (int)x->v;
  const uint rank = unsure ? own_rank(order, v, x->degree, words) : 0u, old = x->set;
  uint set = old, kept = 0u, n_kept = 0u, rivals = 0u;
#if WIDE
  for (uint begin = 0u; begin < x->degree; begin += 32u) {
    uint left = x->pending & low_bits(x->degree - begin);
#else
  {
    const uint begin = 0u;
    uint left = x->pending;
#endif
    while (left) {
      uint bit[BATCH], word[BATCH];
      int u[BATCH];
      for (int k = 0; k < BATCH; k++) {
        bit[k] = left & (0u - left);
        left &= left - 1u;
        u[k] = column_indices[x->first + (offset_t)(begin + lowest_bit(bit[k] ? bit[k] : bit[0]))];
      }
      if (unsure) load_before(order, u, bit, rank, v, words, word);
      else for (int k = 0; k < BATCH; k++) word[k] = bit[k] ? load_relaxed(words + STRIDE * (long)u[k]) : 0u;
      for (int k = 0; k < BATCH; k++) {
        const uint theirs = as_set(word[k], x->base);
        if (word[k] && is_colored(word[k])) {
          set &= ~theirs;
        } else if (theirs & set) {
          rivals |= theirs;
          kept |= bit[k];
          n_kept++;
        }
      }
    }
  }
  for (uint extra = popcount(set) - min((uint)popcount(set), n_kept + 1u); extra; extra--)
    set &= ~(0x80000000u >> clz(set));  /* one colour more than neighbours that matter is enough */
  const uint least = set & (0u - set);
  const int done = least && !(rivals & least);
  uint word = (done ? least : set) | x->mark;
#if WIDE
  if (done && x->base) word = colored(x->base + lowest_bit(least));
  if (!done && (x->base || popcount(set) <= n_kept)) word = interval(x->base + (set ? lowest_bit(set) : 0u), UINT_MAX);
  if (!set) {
    x->base += SET_COLORS;
    set = low_bits(SET_COLORS);
    kept = UINT_MAX;
  }
#endif
  x->set = set;
  x->pending = kept;
  if (is_first || set != old || done) store_relaxed(words + STRIDE * (long)x->v, word);
  if (done) colors[v] = (int)(x->base + lowest_bit(least));
  return done;
}

/* The vertex that comes i-th in a turn, by place if the order is, else by number; n if there is none. */
INLINE uint nth_vertex(order_t order, uint n, uint turn, uint i) {
  const uint in_turn = order.n_blocks * PHASE_SIZE, place = turn * in_turn + i;
  const int by_place = order.number >= ORDER_INTERLEAVED && order.number <= ORDER_MANY_FIRST;
  return i < in_turn ? min(n, by_place ? vertex_at(order, place) : place) : n;
}

#if SORTED || MARKED
/* By falling degree; those below FEW_COLORS, which the order takes as equal, as one. */
#define N_CLASSES (MARKED ? 1u : SMALL_DEGREE + 2u - FEW_COLORS)
INLINE uint class_of(uint degree) { return MARKED ? 0u : SMALL_DEGREE - max(degree, FEW_COLORS - 1u); }
#endif

/* again: only what an earlier launch left open: of each sub-group, sizes[] vertices of its queue and where they begin. */
KERNEL color_small(int n, int again, ORDER_ARGS, __global const offset_t *restrict row_offsets,
                   __global const int *restrict column_indices, volatile __global uint *words, __global uint4 *queues,
                   __global uint *sorted, __global uint2 *sizes, __global int *restrict colors,
                   volatile __global uint *controls) {
#if SORTED || MARKED
  LOCAL_ARRAY uint class_ends[SUB_GROUPS_PER_GROUP * N_CLASSES];
#endif
  volatile __global uint *control = controls + CONTROL_SMALL;
  MAKE_ORDER(order);
#if TURNS
  const uint member = get_group_id(0), members = get_num_groups(0);
#else
  GRID_ENTER(control)
#endif
  const uint lane = sg_lane(), number = member * SUB_GROUPS_PER_GROUP + sg_in_group();
  const uint total = members * SUB_GROUPS_PER_GROUP;
  /* Step t of a sub-group; its part of arrays of vertices. */
#if TURNS                        /* neighbouring vertices: others do not go in step anyway */
  const uint own_steps = ((uint)n + total * SUB_GROUP_SIZE - 1u) / (total * SUB_GROUP_SIZE);
  const size_t part = (size_t)number * own_steps * SUB_GROUP_SIZE;
#define VERTEX(t) min((uint)n, (uint)part + (t) * SUB_GROUP_SIZE + lane)
#else                            /* turn after turn, each total-th piece of a turn */
  const uint turns = 1u << (order.tile_bits + order.phase_bits);
  const uint pieces = (order.n_blocks * PHASE_SIZE + SUB_GROUP_SIZE - 1u) / SUB_GROUP_SIZE;
  const uint own_pieces = number < pieces ? (pieces - number - 1u) / total + 1u : 0u, own_steps = turns * own_pieces;
  const size_t part = (size_t)(number * (pieces / total) + min(number, pieces % total)) * turns * SUB_GROUP_SIZE;
#define VERTEX(t) \
  nth_vertex(order, (uint)n, (t) / own_pieces, (number + (t) % own_pieces * total) * SUB_GROUP_SIZE + lane)
#endif
  const uint room = own_steps * SUB_GROUP_SIZE;
  uint n_steps = again ? 0u : own_steps;
#if SORTED || MARKED             /* first come those of sorted[]; if MARKED, others of them than of the steps */
  __local uint *ends = class_ends + sg_in_group() * N_CLASSES;
  uint n_listed = 0u;
  for (uint i = lane; i < N_CLASSES; i += SUB_GROUP_SIZE) ends[i] = 0u;
  for (int counting = !MARKED; counting >= 0; counting--) {
    sg_sync();
    for (uint t = 0u; t < n_steps; t += SORT_STEPS) {
      uint v[SORT_STEPS], degree[SORT_STEPS];
      for (uint k = 0u; k < SORT_STEPS; k++) {
        v[k] = MARKED ? min((uint)n, (uint)part + (t + k) * SUB_GROUP_SIZE + lane) : VERTEX(t + k);
        if (t + k >= n_steps) v[k] = (uint)n;
        degree[k] = v[k] < (uint)n ? (uint)(row_offsets[v[k] + 1u] - row_offsets[v[k]]) : UINT_MAX;
      }
      for (uint k = 0u; k < SORT_STEPS; k++)
        if (degree[k] <= SMALL_DEGREE && (!MARKED || degree[k] >= FEW_COLORS)) {
          const uint place = fetch_add(&ends[class_of(degree[k])], 1u);
          if (!counting) sorted[part + place] = v[k];
        }
    }
    sg_sync();
    for (uint i = lane; counting && sg_any(i < N_CLASSES); i += SUB_GROUP_SIZE) {
      const uint count = i < N_CLASSES ? ends[i] : 0u, begin = n_listed + sg_exclusive_sum(count);
      if (i < N_CLASSES) ends[i] = begin;
      n_listed = sg_broadcast(begin + count, SUB_GROUP_SIZE - 1u);
    }
  }
  if (MARKED) n_listed = ends[0];
  const uint n_sorted = (n_listed + SUB_GROUP_SIZE - 1u) / SUB_GROUP_SIZE;
  n_steps = n_sorted + (MARKED ? n_steps : 0u);
#define STEP_VERTEX(t)                                                                                \
  ((t) >= n_steps ? (uint)n : (t) >= n_sorted ? VERTEX((t) - n_sorted)                                 \
   : (t) * SUB_GROUP_SIZE + lane < n_listed ? sorted[part + ((t) * SUB_GROUP_SIZE + lane)] : (uint)n)
#else
  const uint n_sorted = 0u;
#define STEP_VERTEX(t) ((t) < n_steps ? VERTEX(t) : (uint)n)
#endif
  small_t x;
  uint head = again ? sizes[number].x : 0u, size = again ? sizes[number].y : 0u, known = 0u;  /* of the queue */
  uint t = 0u, idle = 0u, tries_left = TURNS * size;
  uint4 entry = (uint4)(0u, 0u, 0u, 0u);
  /* Ahead of what is tried: the offsets of a row by a step, the number of a vertex by two. */
  uint next = (uint)n, later = STEP_VERTEX(0u);
  offset_t first = 0, last = 0;
#define READ_AHEAD(t)                                                                                 \
  next = later;                                                                                       \
  if (next < (uint)n) { first = row_offsets[next]; last = row_offsets[next + 1u]; }                   \
  later = STEP_VERTEX(t);
  READ_AHEAD(1u)
  while (t < n_steps || size) {
    const int is_first = t < n_steps && (size < MOST_OPEN || idle >= MOST_IDLE) && size + SUB_GROUP_SIZE <= room;
    int open;
    if (is_first) {
      x.v = next;
      x.first = first;
      x.degree = (uint)(last - first);
      x.pending = low_bits(x.degree);
      x.set = low_bits(min(x.degree + 1u, SET_COLORS));
      x.base = 0u;
      x.mark = mark_of(x.degree);
      open = x.v < (uint)n && x.degree <= SMALL_DEGREE && (!MARKED || t < n_sorted || x.degree < FEW_COLORS);
      t++;
      READ_AHEAD(t + 1u)
      if (TURNS && t == n_steps) tries_left = UINT_MAX;
    } else {
      const uint count = min(size, (uint)SUB_GROUP_SIZE);
      open = lane < count;
      uint at = head + lane;
      if (open && lane >= known) entry = queues[part + (at < room ? at : at - room)];
      x.v = entry.x;
      x.pending = entry.y;
      x.set = entry.z & ~MARK;
      x.mark = entry.z & MARK;
      x.base = 0u;
      x.first = (offset_t)entry.w;
#if WIDE
      x.base = entry.w;
#endif
      if (open && (WIDE || sizeof(offset_t) > sizeof(uint))) {
        x.first = row_offsets[x.v];
        x.degree = (uint)(row_offsets[x.v + 1u] - x.first);
      }
      head += count;
      if (head >= room) head -= room;
      size -= count;
      known = min(size, (uint)SUB_GROUP_SIZE);
      at = head + lane;
      if (lane < known) entry = queues[part + (at < room ? at : at - room)];
      if (TURNS && t >= n_steps) tries_left = tries_left == UINT_MAX ? TURNS * size : tries_left - min(tries_left, count);
    }
    const int tried = open;
    int turn = is_first ? RETRIES : 0;
    do {
      if (open) open = !try_small(&x, is_first && turn == RETRIES, order, column_indices, words, colors);
    } while (sg_any(open) && --turn >= 0);
    const lane_mask_t keeping = sg_ballot(open), done = sg_ballot(tried && !open);
    uint place = head + size + lane_count(keeping & lanes_below_mask());
    if (place >= room) place -= room;
    if (open) queues[part + place] = (uint4)(x.v, x.pending, x.set | x.mark, WIDE ? x.base : (uint)x.first);
    size += lane_count(keeping);
    sg_sync();
    idle = done ? 0u : idle + 1u;
    if (TURNS && t >= n_steps && !tries_left) break;
    if (idle >= SPIN_LIMIT || ((idle & 1023u) == 1023u && sg_any(load_relaxed(control + GRID_STATUS)))) {
      report_status(control + GRID_STATUS, STATUS_TIMEOUT);
      return;
    }
  }
#if TURNS
  if (lane == 0) sizes[number] = (uint2)(head, size);
  if (size) store_relaxed(control + GRID_TICKET, 1u);
#endif
}

#if RANKED
/* ---- a sub-group a vertex */

/* The first n_hubs vertices of the order: gather the neighbours before each at the place of its row. */
KERNEL list_hubs(int n_hubs, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                 __global const int *restrict order, __global const uint *restrict words, __global int *restrict before,
                 __global uint *restrict n_before) {
  LOCAL_ARRAY uint found[1];
  for (int at = get_group_id(0); at < n_hubs; at += get_num_groups(0)) {
    const int v = order[at];
    const offset_t first = row_offsets[v], last = row_offsets[v + 1];
    const uint rank = rank_beside(words, v);
    if (get_local_id(0) == 0) found[0] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (offset_t e = first + (offset_t)get_local_id(0); sg_any(e < last); e += STEPS * WG_SIZE) {
      int u[STEPS];
      uint theirs[STEPS];
      for (int k = 0; k < STEPS; k++) u[k] = column_indices[min(e + (offset_t)(k * WG_SIZE), last - 1)];
      for (int k = 0; k < STEPS; k++) theirs[k] = rank_beside(words, u[k]);
      for (int k = 0; k < STEPS; k++) {
        int wanted = e + (offset_t)(k * WG_SIZE) < last && goes_before(theirs[k], u[k], rank, v);
        lane_mask_t m = sg_ballot(wanted);
        uint slot = 0u, leader = m ? lowest_lane(m) : 0u;
        if (m && sg_lane() == leader) slot = fetch_add(&found[0], lane_count(m));
        slot = sg_broadcast(slot, leader) + lane_count(m & lanes_below_mask());
        if (wanted) before[first + (offset_t)slot] = u[k];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) n_before[at] = found[0];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

/* Bitmaps of possible colours lie one after the other, by row; the head of one is in local memory instead.  All lanes
 * call these. */
INLINE uint bitmap_words(uint degree) { return (degree >> 5) + 1u; }

INLINE void forbid(uint c, uint n_words, __local uint *head, volatile __global uint *rest) {
  if (c < 32u * BITMAP_WORDS) fetch_and(&head[c >> 5], ~(1u << (c & 31u)));
  else if (c >> 5 < n_words) fetch_and(rest + (c >> 5), ~(1u << (c & 31u)));
}

/* The possible colour of this rank, counted from 0; UINT_MAX if it is not in the head and *all* is 0. */
INLINE uint possible_color(uint wanted, int all, uint n_words, const __local uint *head, volatile __global uint *rest) {
  const uint lane = sg_lane(), end = all ? n_words : min(n_words, (uint)BITMAP_WORDS);
  uint passed = 0u;
  for (uint w = 0u; w < end; w += SUB_GROUP_SIZE) {
    uint bits = 0u;
    if (w + lane < end) bits = w + lane < BITMAP_WORDS ? head[w + lane] : load_relaxed(rest + w + lane);
    uint count = popcount(bits), below = passed + sg_exclusive_sum(count);
    const int here = below <= wanted && wanted < below + count;
    lane_mask_t holder = sg_ballot(here);
    if (holder) {
      for (uint skip = here ? wanted - below : 0u; skip; skip--) bits &= bits - 1u;
      return sg_broadcast(32u * (w + lane) + lowest_bit(bits), lowest_lane(holder));
    }
    passed = sg_broadcast(below + count, SUB_GROUP_SIZE - 1u);
  }
  return UINT_MAX;
}

/* Wait until u cannot take c, or is coloured; 0 on a time-out. */
INLINE int wait_for(int u, uint c, volatile __global uint *words, volatile __global uint *status) {
  for (uint turn = 0u;; turn++) {
    const uint word = sg_broadcast(load_relaxed(words + STRIDE * (long)u), 0u);
    if (is_colored(word) || !may_take(word, c)) return 1;
    if (turn >= SPIN_LIMIT || ((turn & 1023u) == 1023u && sg_any(load_relaxed(status)))) {
      report_status(status, STATUS_TIMEOUT);
      return 0;
    }
  }
}

/* Colour v, of which *size* neighbours before it are listed in *own*, or, from_row, are to be found in its row; 0 on a
 * time-out. */
INLINE int color_by_all(int v, offset_t first, uint degree, uint rank, uint size, int from_row,
                        __global const int *restrict column_indices, volatile __global uint *words, __global int *own, __local uint *head,
                        volatile __global uint *bitmap, __global int *restrict colors, volatile __global uint *status) {
  const uint lane = sg_lane(), n_words = bitmap_words(degree);
  sg_sync();
  for (uint w = lane; w < n_words; w += SUB_GROUP_SIZE) {
    if (w < BITMAP_WORDS) head[w] = UINT_MAX;
    else store_relaxed(bitmap + w, UINT_MAX);
  }
  sg_sync();
  uint c = 0u, published = ANY_COLOR;
  if (from_row) size = degree;
  for (;;) {
    uint kept = 0u, strength = 0u, rival = 0u;
    for (uint i = lane; sg_any(i < size); i += STEPS * SUB_GROUP_SIZE) {
      int u[STEPS];
      uint word[STEPS];
      for (int k = 0; k < STEPS; k++) {
        uint at = min(i + k * SUB_GROUP_SIZE, size - 1u);
        u[k] = from_row ? column_indices[first + (offset_t)at] : own[at];
      }
      if (from_row) {
        ulong state[STEPS];
        for (int k = 0; k < STEPS; k++) state[k] = load_relaxed((volatile __global ulong *)words + u[k]);
        for (int k = 0; k < STEPS; k++)
          word[k] = goes_before((uint)(state[k] >> 32), u[k], rank, v) ? (uint)state[k] : 0u;
      } else {
        for (int k = 0; k < STEPS; k++) word[k] = load_relaxed(words + STRIDE * (long)u[k]);
      }
      for (int k = 0; k < STEPS; k++)
        if (i + k * SUB_GROUP_SIZE >= size) word[k] = 0u;
      for (int k = 0; k < STEPS; k++) {
        int keep = 0;
        if (word[k]) {
          if (is_colored(word[k])) forbid(least_color(word[k]), n_words, head, bitmap);
          else keep = most_color(word[k]) >= c;
        }
        if (keep && may_take(word[k], c)) {
          uint range = most_color(word[k]) - least_color(word[k]);  /* not 0: it is not coloured */
          if (range > strength) {
            strength = range;
            rival = (uint)u[k];
          }
        }
        lane_mask_t keeping = sg_ballot(keep);
        sg_sync();
        if (keep) own[kept + lane_count(keeping & lanes_below_mask())] = u[k];
        kept += lane_count(keeping);
      }
    }
    sg_sync();
    size = kept;
    from_row = 0;
    const uint least = possible_color(0u, 1, n_words, head, bitmap);
    const int moved = least != c;  /* those that may take it were not looked for */
    c = least;
    if (moved) continue;
    const uint strongest = sg_greatest(strength);
    const lane_mask_t rivals = sg_ballot(strength && strength == strongest);
    if (!rivals) break;
    const int blocker = (int)sg_broadcast(rival, lowest_lane(rivals));
    const uint most = possible_color(size, 0, n_words, head, bitmap);
    const uint word = most < SET_COLORS ? head[0] & ((2u << most) - 1u) : interval(c, most);
    if (lane == 0 && word != published) store_relaxed(words + STRIDE * (long)v, word);
    published = word;
    if (!wait_for(blocker, c, words, status)) return 0;
  }
  if (lane == 0) {
    store_relaxed(words + STRIDE * (long)v, colored(c));
    colors[v] = (int)c;
  }
  return 1;
}

KERNEL color_large(int n_large, int n_hubs, __global const offset_t *restrict row_offsets,
                   __global const int *restrict column_indices, __global const int *restrict order,
                   __global const uint *restrict n_before,
                   volatile __global uint *words, __global int *before, volatile __global uint *bitmaps,
                   __global int *restrict colors, volatile __global uint *controls) {
  LOCAL_ARRAY uint heads[SUB_GROUPS_PER_GROUP * BITMAP_WORDS];
  volatile __global uint *control = controls + CONTROL_LARGE;
  GRID_ENTER(control)
  const long begin = member * SUB_GROUPS_PER_GROUP + sg_in_group(), stride = members * SUB_GROUPS_PER_GROUP;
  for (long at = begin; at < n_large; at += SUB_GROUP_SIZE * stride) {
    const long mine = min(at + (long)sg_lane() * stride, (long)n_large - 1);  /* read ahead, a lane a vertex */
    const int its_v = order[mine];
    const offset_t its_first = row_offsets[its_v];
    const uint its_degree = (uint)(row_offsets[its_v + 1] - its_first), its_rank = words[2 * (long)its_v + 1];
    const uint its_size = mine < n_hubs ? n_before[mine] : 0u;
    for (uint k = 0u; k < SUB_GROUP_SIZE && at + (long)k * stride < n_large; k++) {
      const int v = sg_broadcast(its_v, k);
      const offset_t first = sg_broadcast(its_first, k);
      const uint degree = sg_broadcast(its_degree, k), rank = sg_broadcast(its_rank, k);
      const uint size = sg_broadcast(its_size, k);
      if (!color_by_all(v, first, degree, rank, size, at + (long)k * stride >= n_hubs, column_indices, words,
                        before + first, heads + sg_in_group() * BITMAP_WORDS,
                        bitmaps + (size_t)(first >> 5) + (size_t)v, colors, control + GRID_STATUS))
        return;
    }
  }
}
#endif
