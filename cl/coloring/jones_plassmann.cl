/* Greedy colouring in a given order, in parallel: a vertex gets the least colour that the neighbours before it leave,
 * as soon as that is known.  The result is that of the sequential algorithm, whatever runs when.
 *
 * A vertex publishes which colours it may still get (possible.h).  Its least possible colour is its colour once no
 * neighbour before it that is not coloured yet may take that: often long before all of them are coloured.
 *
 * Here a work-item does it all: which entries are before a vertex is a word of bits, the possible colours are another.
 * A sub-group tries its vertices in the order of their places (orders.h), as all sub-groups do, so that most before them
 * are coloured; those that stay open wait in a queue, and are tried again before new ones if there are many.  If SORTED,
 * it takes its vertices by falling degree; if MARKED, those of many neighbours first.  With WIDE the rows may be longer:
 * a bit stands for each 32nd entry, and the possible colours are 31 at a time.  Vertices of still more entries are
 * coloured before, by jones_plassmann_large.cl.
 *
 * Groups that run together finish whatever the others do, since each in the end tries all of its vertices, and again
 * and again, and the first open one in the order waits for nobody; groups that come late leave.  On devices where groups
 * may not wait for each other, a launch ends after some passes, to be repeated while it leaves vertices open.
 *
 * Races: words are read while their owner narrows them; see possible.h.
 *
 * After M. T. Jones, P. E. Plassmann, "A parallel graph coloring heuristic", SIAM J. Scientific Computing 14, 1993, and
 * G. Alabandi, E. Powers, M. Burtscher, "Increasing the parallelism of graph coloring via shortcutting", PPoPP 2020.
 */
#ifndef WIDE
#define WIDE 0
#endif
#ifndef RANKED
#define RANKED 1
#endif
#ifndef INTERVALS                /* vertices of many entries publish them */
#define INTERVALS (RANKED | WIDE)
#endif
#include "common/grid_barrier.h"
#include "common/subgroup.h"
#include "coloring/orders.h"
#include "coloring/states.h"

#ifndef SMALL_DEGREE
#define SMALL_DEGREE 30          /* at most 30, unless WIDE: a set has one colour more */
#endif
#ifndef BATCH                    /* entries of a row that a work-item has in flight */
#define BATCH 4
#endif
#ifndef SORTED
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
#ifndef PASSES                   /* of a launch over its queues; 0: until they are empty, all groups at once */
#define PASSES 0u
#endif

#define PREPARE_STEPS 4          /* vertices of a work-item */
#define CONTROL_SMALL 32         /* after that of jones_plassmann_large.cl */
#define CONTROL_WORDS 64

/* If RANKED, the words of vertices are states (states.h).  Else the number of a vertex tells its priority, and, in the
 * order many_first, whether its word is MARKED; words lie by place, if the order does, so that neighbouring lanes read
 * and write neighbouring words. */
#if RANKED
#define WORD(v) word_of(words, v)
#else
INLINE uint word_index(order_t order, uint v) { return is_by_place(order) ? place_of(order, v) : v; }
#define WORD(v) (words + word_index(order, (uint)(v)))
#endif
INLINE uint mark_of(uint degree) { return degree < FEW_COLORS ? 0u : MARK; }
INLINE uint own_rank(order_t order, int v, uint degree, volatile __global uint *words) {
  return RANKED ? load_rank(words, v) : priority_of(order, v, degree);
}
/* The words of those of u[] that go before v, and 0 of the others; only of those with bit[]. */
INLINE void load_before(order_t order, const int *u, const uint *bit, uint rank, int v, volatile __global uint *words,
                        uint *word) {
#if RANKED
  ulong state[BATCH];
  for (int k = 0; k < BATCH; k++) state[k] = load_state(bit[k] != 0u, words, u[k]);
  for (int k = 0; k < BATCH; k++)
    word[k] = goes_before((uint)(state[k] >> 32), u[k], rank, v) ? (uint)state[k] : 0u;
#else
  uint at[BATCH];
  int before[BATCH];
  for (int k = 0; k < BATCH; k++) {
    at[k] = word_index(order, (uint)u[k]);
    before[k] = bit[k] != 0u;
    if (!MARKED) before[k] &= priority_of(order, u[k], 0u) > rank;  /* no two are equal */
  }
  for (int k = 0; k < BATCH; k++) word[k] = load_relaxed_if(before[k], words + at[k]);
  for (int k = 0; k < BATCH; k++)
    if (MARKED & (priority_of(order, u[k], word[k] & MARK ? FEW_COLORS : 0u) <= rank)) word[k] = 0u;
#endif
}

/* Priorities, those given or else the order's, and no knowledge of the colours of any vertex. */
KERNEL prepare(int n, int are_given, ORDER_ARGS, __global const offset_t *restrict row_offsets,
               __global const uint *restrict given, __global uint *restrict words, __global uint *restrict controls) {
  /* States lie by number, so that lanes take neighbours; words by phase, so that a work-item takes several of each. */
  const uint id = get_global_id(0), first = RANKED ? id : PREPARE_STEPS * id, stride = RANKED ? get_global_size(0) : 1u;
  MAKE_ORDER(order);
  if (id < CONTROL_WORDS) controls[id] = 0u;
  uint degree[PREPARE_STEPS];
  for (int k = 0; k < PREPARE_STEPS; k++) {
    const uint v = min(first + k * stride, (uint)n - 1u);
    degree[k] = MARKED | RANKED ? (uint)(row_offsets[v + 1] - row_offsets[v]) : 0u;
  }
  for (int k = 0; k < PREPARE_STEPS; k++) {
    const uint v = first + k * stride;
    if (v >= (uint)n) break;
#if RANKED
    vstore2((uint2)(ANY_COLOR, are_given ? given[v] : priority_of(order, (int)v, degree[k])), (size_t)v, words);
#else
    *WORD(v) = INTERVALS ? ANY_COLOR : low_bits(SET_COLORS) | mark_of(degree[k]);
#endif
  }
}

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
      else for (int k = 0; k < BATCH; k++) word[k] = load_relaxed_if(bit[k] != 0u, WORD(u[k]));
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
  uint spare = set;              /* one colour more than neighbours that matter is enough */
  for (uint k = min(n_kept + 1u, SET_COLORS); k; k--) spare &= spare - 1u;
  set &= ~spare;
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
  if (is_first || set != old || done) store_relaxed(WORD(x->v), word);
  if (done) colors[v] = (int)(x->base + lowest_bit(least));
  return done;
}

/* The vertices of a sub-group: SUB_GROUP_SIZE of them a step, some of them none, and room for all in arrays. */
typedef struct {
  order_t order;
  uint n;                        /* of all vertices */
  uint number, total;            /* of this sub-group, and of all */
  uint steps;
  uint pieces;                   /* of each turn, SUB_GROUP_SIZE places a piece; each total-th is this sub-group's */
  size_t part;                   /* where its room begins */
  __global const uint *blocks;   /* in the order in which they come in a turn, and as many empty ones as pieces need */
} share_t;
typedef struct { uint turn, piece; } step_t;

INLINE share_t share_of(order_t order, __global const uint *blocks, uint n, uint number, uint total) {
  share_t own;
  own.order = order;
  own.blocks = blocks;
  own.n = n;
  own.number = number;
  own.total = total;
#if PASSES                       /* vertices of successive numbers: sub-groups do not go in step anyway */
  own.pieces = 0u;
  own.steps = (n + total * SUB_GROUP_SIZE - 1u) / (total * SUB_GROUP_SIZE);
  own.part = (size_t)number * own.steps * SUB_GROUP_SIZE;
#else                            /* turn after turn */
  const uint n_blocks = ((n - 1u) >> (PHASE_BITS + order.phase_bits + order.tile_bits)) + 1u;
  own.pieces = (n_blocks * PHASE_SIZE + SUB_GROUP_SIZE - 1u) / SUB_GROUP_SIZE;
  const uint turns = 1u << (order.tile_bits + order.phase_bits), least = own.pieces / total, extra = own.pieces % total;
  own.steps = turns * (least + (number < extra));
  own.part = (size_t)(number * least + min(number, extra)) * turns * SUB_GROUP_SIZE;
#endif
  return own;
}
INLINE step_t first_step(const share_t *own) {
  step_t step = {0u, own->number};
  return step;
}
/* Shares cut the numbers of vertices, too: that of this lane in a step; n if there is none. */
INLINE uint vertex_by_number(const share_t *own, uint t) {
  return min(own->n, (uint)own->part + t * SUB_GROUP_SIZE + sg_lane());
}
/* The vertex of this lane in a step, which becomes the next one; n if there is none. */
INLINE uint next_vertex(const share_t *own, step_t *step) {
#if PASSES
  return vertex_by_number(own, step->turn++);
#else
  const uint turn = step->turn, i = step->piece * SUB_GROUP_SIZE + sg_lane();
  step->piece += own->total;
  if (step->piece >= own->pieces) {
    step->piece = own->number;
    step->turn++;
  }
  if (!is_by_place(own->order)) return min(own->n, turn * own->pieces * SUB_GROUP_SIZE + i);
  return min(own->n, vertex_at(own->order, turn, own->blocks[i >> PHASE_BITS], i & (PHASE_SIZE - 1u)));
#endif
}

/* Lists the vertices that come before the steps, and returns how many: if SORTED, all of the share by falling degree,
 * instead of the steps; if MARKED, those of many neighbours, by number, since neighbouring lanes look for them. */
#if SORTED || MARKED
#define N_CLASSES (MARKED ? 1u : SMALL_DEGREE + 2u - FEW_COLORS)
INLINE uint class_of(uint degree) { return MARKED ? 0u : SMALL_DEGREE - max(degree, FEW_COLORS - 1u); }

INLINE uint list_first(const share_t *own, __global const offset_t *restrict row_offsets, __local uint *ends,
                       __global uint *listed) {
  const uint lane = sg_lane();
  uint n_listed = 0u;
  for (uint i = lane; i < N_CLASSES; i += SUB_GROUP_SIZE) ends[i] = 0u;
  for (int counting = !MARKED; counting >= 0; counting--) {
    sg_sync();
    step_t step = first_step(own);
    for (uint t = 0u; t < own->steps; t += SORT_STEPS) {
      uint v[SORT_STEPS], degree[SORT_STEPS];
      for (uint k = 0u; k < SORT_STEPS; k++) {
        v[k] = MARKED ? vertex_by_number(own, t + k) : next_vertex(own, &step);
        if (t + k >= own->steps) v[k] = own->n;
        degree[k] = v[k] < own->n ? (uint)(row_offsets[v[k] + 1u] - row_offsets[v[k]]) : UINT_MAX;
      }
      for (uint k = 0u; k < SORT_STEPS; k++)
        if (degree[k] >= (MARKED ? FEW_COLORS : 0u) && degree[k] <= SMALL_DEGREE) {
          const uint place = fetch_add(&ends[class_of(degree[k])], 1u);
          if (!counting) listed[place] = v[k];
        }
    }
    sg_sync();
    for (uint i = lane; counting && sg_any(i < N_CLASSES); i += SUB_GROUP_SIZE) {
      const uint count = i < N_CLASSES ? ends[i] : 0u, begin = n_listed + sg_exclusive_sum(count);
      if (i < N_CLASSES) ends[i] = begin;
      n_listed = sg_broadcast(begin + count, SUB_GROUP_SIZE - 1u);
    }
  }
  return MARKED ? ends[0] : n_listed;
}
#endif

/* again: go on with what an earlier launch left open.  sizes: where the queue of each sub-group begins, and how many
 * vertices are in it.  The queue is a ring that has room for the sub-group's share of the vertices.  If MARKED, more
 * may be open at once: the listed vertices and those of the steps.  The listed ones all fit, and they wait for none
 * of the others, so the queue does not stay full. */
KERNEL color_small(int n, int again, ORDER_ARGS, __global const uint *restrict blocks,
                   __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                   volatile __global uint *words, __global uint4 *queues, __global uint *lists, __global uint2 *sizes,
                   __global int *restrict colors, volatile __global uint *controls) {
#if SORTED || MARKED
  LOCAL_ARRAY uint class_ends[SUB_GROUPS_PER_GROUP * N_CLASSES];
#endif
  volatile __global uint *control = controls + CONTROL_SMALL;
#if PASSES
  const uint member = get_group_id(0), members = get_num_groups(0);
#else
  GRID_ENTER(control)
#endif
  if (controls[GRID_STATUS]) return;  /* vertices of many entries were left open */
  MAKE_ORDER(order);
  const uint lane = sg_lane(), number = member * SUB_GROUPS_PER_GROUP + sg_in_group();
  const share_t own = share_of(order, blocks, (uint)n, number, members * SUB_GROUPS_PER_GROUP);
  const uint room = own.steps * SUB_GROUP_SIZE;
  __global uint4 *queue = queues + own.part;
  __global uint *list = lists + (SORTED || MARKED ? own.part : 0u);
  uint n_listed = 0u, n_steps = again ? 0u : own.steps;
#if SORTED || MARKED
  n_listed = list_first(&own, row_offsets, class_ends + sg_in_group() * N_CLASSES, list);
#endif
  const uint list_steps = (n_listed + SUB_GROUP_SIZE - 1u) / SUB_GROUP_SIZE;
  n_steps = SORTED ? list_steps : list_steps + n_steps;
#define FIRST_VERTEX(t)                                                                               \
  ((t) >= n_steps ? (uint)n : (t) >= list_steps ? next_vertex(&own, &step)                            \
   : (t) * SUB_GROUP_SIZE + lane < n_listed ? list[(t) * SUB_GROUP_SIZE + lane] : (uint)n)
  small_t x;
  step_t step = first_step(&own);
  uint head = again ? sizes[number].x : 0u, size = again ? sizes[number].y : 0u, known = 0u;  /* of the queue */
  uint t = 0u, idle = 0u;
#if PASSES
  uint slices_left = UINT_MAX;   /* of the queue, in this launch */
#endif
  uint4 entry = (uint4)(0u, 0u, 0u, 0u);
  /* Ahead of what is tried: the offsets of a row by a step, the number of a vertex by two. */
  uint next = (uint)n, later = FIRST_VERTEX(0u);
  offset_t first = 0, last = 0;
#define READ_AHEAD(t)                                                                                 \
  next = later;                                                                                       \
  if (next < (uint)n) { first = row_offsets[next]; last = row_offsets[next + 1u]; }                   \
  later = FIRST_VERTEX(t);
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
      open = x.v < (uint)n && x.degree <= ((MARKED & (t >= list_steps)) ? FEW_COLORS - 1u : (uint)SMALL_DEGREE);
      t++;
      READ_AHEAD(t + 1u)
    } else {
#if PASSES
      if (t >= n_steps) slices_left = min(slices_left, PASSES * ((size + SUB_GROUP_SIZE - 1u) / SUB_GROUP_SIZE));
      if (!slices_left--) break;
#endif
      const uint count = min(size, (uint)SUB_GROUP_SIZE);
      open = lane < count;
      uint at = head + lane;
      if (open && lane >= known) entry = queue[at < room ? at : at - room];
      x.v = entry.x;
      x.pending = entry.y;
      x.set = entry.z & ~MARK;
      x.mark = entry.z & MARK;
      x.base = 0u;
      x.first = (offset_t)entry.w;
#if WIDE
      x.base = entry.w;
#endif
      if (open & (WIDE | (sizeof(offset_t) > sizeof(uint)))) {
        x.first = row_offsets[x.v];
        x.degree = (uint)(row_offsets[x.v + 1u] - x.first);
      }
      head += count;
      if (head >= room) head -= room;
      size -= count;
      known = min(size, (uint)SUB_GROUP_SIZE);
      at = head + lane;
      if (lane < known) entry = queue[at < room ? at : at - room];
    }
    const int tried = open;
    int tries_left = is_first ? RETRIES : 0;
    do {
      if (open) open = !try_small(&x, is_first && tries_left == RETRIES, order, column_indices, words, colors);
    } while (sg_any(open) && --tries_left >= 0);
    const lane_mask_t keeping = sg_ballot(open), done = sg_ballot(tried && !open);
    uint place = head + size + lane_count(keeping & lanes_below_mask());
    if (place >= room) place -= room;
    if (open) queue[place] = (uint4)(x.v, x.pending, x.set | x.mark, WIDE ? x.base : (uint)x.first);
    size += lane_count(keeping);
    sg_sync();
    idle = done ? 0u : idle + 1u;
    if (idle >= SPIN_LIMIT || ((idle & 1023u) == 1023u && sg_any(load_relaxed(control + GRID_STATUS)))) {
      report_status(control + GRID_STATUS, STATUS_TIMEOUT);
      return;
    }
  }
#if PASSES
  if (lane == 0) sizes[number] = (uint2)(head, size);
  if (size) store_relaxed(control + GRID_TICKET, 1u);
#endif
}
