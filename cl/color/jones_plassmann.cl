/* Greedy colouring in a given order, in parallel: a vertex gets the least colour not used by the neighbours before it in
 * the order, as soon as that colour is known.  The result equals the sequential algorithm's, whatever the timing.
 *
 * A vertex publishes the colours that it may still get (possible.h).  It is open while there are several.  It gets its
 * least possible colour once no open neighbour before it may take that colour.  Often this is long before all of them are
 * coloured.
 *
 * Here a work-item takes a vertex (small_vertex.h).  All sub-groups try their vertices in the order of places
 * (vertex_shares.h), so that most neighbours before a vertex are coloured already; or they take a list of vertices first
 * (vertex_lists.h).  Vertices that stay open wait in a queue (open_queue.h).  If there are many, they are tried again
 * before new vertices.  Vertices with more entries are coloured earlier, by jones_plassmann_large.cl.
 *
 * Work-groups that run at the same time always finish: each group tries its vertices again and again, and the first open
 * vertex in the order waits for no other.  Groups that start late leave.  On devices where groups may not wait for each
 * other (PASSES), a launch ends after some passes over its queues, and the host repeats it while vertices are open.
 *
 * Races: words are read while their owner narrows them, which possible.h allows.
 *
 * After M. T. Jones, P. E. Plassmann, "A parallel graph coloring heuristic", SIAM J. Scientific Computing 14, 1993, and
 * G. Alabandi, E. Powers, M. Burtscher, "Increasing the parallelism of graph coloring via shortcutting", PPoPP 2020.
 */
#include "common/grid_barrier.h"
#include "color/open_queue.h"
#include "color/vertex_lists.h"

#ifndef RETRIES                  /* immediate further tries of a new vertex, if most vertices before it have a colour */
#define RETRIES 0
#endif
#ifndef MOST_OPEN                /* a sub-group with more open vertices tries them again before it takes new ones */
#define MOST_OPEN UINT_MAX
#endif
#ifndef MOST_IDLE                /* ... unless this number of tries in a row coloured no vertex */
#define MOST_IDLE 16u
#endif
#ifndef PREPARE_STEPS            /* vertices per work-item of `prepare` */
#define PREPARE_STEPS 4
#endif

/* Write priorities, either the given ones or the order's, and words that still allow every colour. */
KERNEL prepare(int n, int are_given, order_t order, __global const offset_t *restrict row_offsets,
               __global const uint *restrict ranks, __global uint *restrict words, __global uint *restrict controls) {
  /* States are in the order of vertex numbers, so neighbouring lanes take neighbouring vertices.  Words are in the order
   * of phases, so a work-item takes consecutive vertices, several of each phase. */
  const uint id = get_global_id(0), first = RANKED ? id : PREPARE_STEPS * id, stride = RANKED ? get_global_size(0) : 1u;
  const order_t by = known_order(order);
  for (uint i = id; i < CONTROL_WORDS; i += get_global_size(0)) controls[i] = 0u;
  uint degree[PREPARE_STEPS];
  for (int k = 0; k < PREPARE_STEPS; k++) {
    const uint v = min(first + k * stride, (uint)n - 1u);
    degree[k] = MARKED | RANKED ? (uint)(row_offsets[v + 1] - row_offsets[v]) : 0u;
  }
  for (int k = 0; k < PREPARE_STEPS; k++) {
    const uint v = first + k * stride;
    if (v >= (uint)n) break;
    if (RANKED) {
      const uint rank = are_given ? ranks[v] : priority_of(by, (int)v, degree[k]);
      vstore2((uint2)(ANY_COLOR, rank), (size_t)v, words);
    } else {
      words[word_index(by, v)] = INTERVALS ? ANY_COLOR : low_bits(SET_COLORS) | mark_of(degree[k]);
    }
  }
}

/* The work of a sub-group, and the vertices that it reads ahead: row offsets one step before the try, the number of a
 * vertex two steps before. */
typedef struct {
  share_t own;
  step_t step;
  __global const uint *list;
  uint n_listed, list_steps, n_steps;
  uint next, later;
  offset_t first, last;
} ahead_t;

/* The vertex of this lane in step t of list and share; n if there is none. */
INLINE uint vertex_of_step(ahead_t *ahead, uint t) {
  if (t >= ahead->n_steps) return ahead->own.n;
  if (t >= ahead->list_steps) return next_vertex(&ahead->own, &ahead->step);
  const uint i = t * SUB_GROUP_SIZE + sg_lane();
  return i < ahead->n_listed ? ahead->list[i] : ahead->own.n;
}
INLINE void read_ahead(ahead_t *ahead, uint t, __global const offset_t *restrict row_offsets) {
  ahead->next = ahead->later;
  if (ahead->next < ahead->own.n) {
    ahead->first = row_offsets[ahead->next];
    ahead->last = row_offsets[ahead->next + 1u];
  }
  ahead->later = vertex_of_step(ahead, t);
}

/* Try the vertex of each lane; some lanes have none.  Vertices that stay open go to the queue.  Returns whether any was
 * coloured. */
INLINE int try_all(small_t *x, int open, int is_first, order_t order, ring_t *queue,
                   __global const int *restrict column_indices, volatile __global uint *words,
                   __global int *restrict colors) {
  const int tried = open;
  int tries_left = is_first ? RETRIES : 0;
  do {
    if (open) open = !try_small(x, is_first && tries_left == RETRIES, order, column_indices, words, colors);
  } while (sg_any(open) && --tries_left >= 0);
  const int any_done = sg_any(tried && !open);
  put_open(queue, x, open);
  return any_done;
}

/* Begin with the first step of a sub-group's share. */
INLINE ahead_t first_ahead(share_t own, int again, __global const offset_t *restrict row_offsets,
                           __local uint *class_ends, __global uint *lists) {
  ahead_t ahead;
  ahead.own = own;
  ahead.step = first_step(&ahead.own);
  ahead.list = lists + (LISTS ? own.part : 0u);
  ahead.n_listed = LISTS ? list_first(&ahead.own, row_offsets, class_ends, lists + own.part) : 0u;
  ahead.list_steps = (ahead.n_listed + SUB_GROUP_SIZE - 1u) / SUB_GROUP_SIZE;
  ahead.n_steps = ahead.list_steps + ((SORTED | again) ? 0u : own.steps);
  ahead.first = ahead.last = 0;
  ahead.later = vertex_of_step(&ahead, 0u);
  read_ahead(&ahead, 1u, row_offsets);
  return ahead;
}

/* Whether a sub-group that has coloured no vertex in `idle` tries has to give up, as another one has or as the limit asks. */
INLINE int has_to_stop(uint idle, volatile __global uint *control) {
  return idle >= SPIN_LIMIT || ((idle & 1023u) == 1023u && sg_any(load_relaxed(control + GRID_STATUS)));
}

/* round: number of the launch.  From 2 on, a launch continues with the vertices that an earlier one left open.  sizes: for
 * each sub-group, the beginning of its queue and the number of vertices in it.  A queue has room for the sub-group's
 * share of the vertices.  If MARKED, more vertices may be open at once: the listed ones and the vertices of the steps.
 * All listed ones fit, and they wait for none of the others, so the queue does not stay full. */
KERNEL color_small(int n, uint round, order_t order, __global const uint *restrict blocks,
                   __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                   volatile __global uint *words, __global uint4 *queues, __global uint *lists, __global uint2 *sizes,
                   __global int *restrict colors, volatile __global uint *controls) {
  LOCAL_ARRAY uint class_ends[SUB_GROUPS_PER_GROUP * N_CLASSES];
  volatile __global uint *control = controls + CONTROL_SMALL;
#if PASSES
  const uint member = get_group_id(0), members = get_num_groups(0);
#else
  GRID_ENTER(control)
#endif
  if (controls[GRID_STATUS]) return;  /* vertices of many entries were left open */
  const order_t by = known_order(order);
  const uint number = member * SUB_GROUPS_PER_GROUP + sg_in_group();
  const int again = PASSES && round > 1u;
  const share_t own = share_of(by, blocks, (uint)n, number, members * SUB_GROUPS_PER_GROUP);
  ahead_t ahead = first_ahead(own, again, row_offsets, class_ends + sg_in_group() * N_CLASSES, lists);
  ring_t queue = {queues + own.part, own.steps * SUB_GROUP_SIZE, 0u, 0u, 0u, (uint4)(0u, 0u, 0u, 0u)};
  if (again) queue.head = sizes[number].x;
  if (again) queue.size = sizes[number].y;
  uint t = 0u, idle = 0u, slices_left = UINT_MAX;  /* slices of the queue that this launch tries, if PASSES */
  while (t < ahead.n_steps || queue.size) {
    const uint size = queue.size;
    const int is_first =
        t < ahead.n_steps && (size < MOST_OPEN || idle >= MOST_IDLE) && size + SUB_GROUP_SIZE <= queue.room;
    small_t x;
    int open;
    if (is_first) {
      x = new_small(ahead.next, ahead.first, (uint)(ahead.last - ahead.first));
      const uint most = (MARKED & (t >= ahead.list_steps)) ? FEW_COLORS - 1u : (uint)SMALL_DEGREE;
      open = x.v < (uint)n && x.degree <= most;
      t++;
      read_ahead(&ahead, t + 1u, row_offsets);
    } else {
      if (PASSES && t >= ahead.n_steps) slices_left = min(slices_left, PASSES * ((size - 1u) / SUB_GROUP_SIZE + 1u));
      if (PASSES && !slices_left--) break;
      uint4 entry;
      open = sg_lane() < take_entries(&queue, &entry);
      x = unpacked(entry, open, row_offsets);
    }
    idle = try_all(&x, open, is_first, by, &queue, column_indices, words, colors) ? 0u : idle + 1u;
    if (has_to_stop(idle, control)) {
      report_status(control + GRID_STATUS, STATUS_TIMEOUT);
      return;
    }
  }
  if (PASSES && sg_lane() == 0) sizes[number] = (uint2)(queue.head, queue.size);
  if (PASSES && queue.size) store_relaxed(controls + CONTROL_ALIVE, round);
}
