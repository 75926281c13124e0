/* Components of a list of edges by minima that are propagated both ways, with pointer jumping.
 *
 * A work-item takes edges.  Each vertex has a key; after_keys[v] is the least key of all vertices that reach v, as far as is
 * known, and before_keys[v] the least key of all that v reaches.  A step is one of three:
 *
 *   reset   each end of an edge gets its own key, twice
 *   sweep   Edge (u, v) lowers the key of v to that of the vertex that gave u its key, and the other way round.  So keys travel
 *           farther in each sweep.  Edges rest while no end of those of their sub-group gets another key: a key that changes
 *           puts the number of the step into the stamp of its chunk of vertices.  A sweep that lowers nothing is the last.
 *   filter  A vertex whose two keys are equal is in the component of the vertex with that key: this vertex reaches it, and is
 *           reached from it.  An edge stays in the list, the other of two, if its ends have equal pairs of keys and are not
 *           in a component that is found.  Other edges join different components.
 *
 * The component of the vertex with the least key in the list is found in each filter, so lists become shorter.  The first
 * keys are the numbers of vertices.  Orders in which only a few components are found in each filter are possible; so later
 * keys are products with an odd number that changes after each filter.  The pivot always has the key 0.
 *
 * Races: each key is that of a vertex that does reach v, or is reached.  Keys are lowered by plain stores, so a store may put
 * a higher key in the place of a lower one, which another work-item has just stored.  Either costs another sweep, as does a
 * stale key: who stores one writes the number of the step to CHANGED, which only grows.  The last sweep stores nothing.  STEP_STATE holds the steps in two words:
 * work-group 0 writes the word of this step while the others read that of the step before.  Barriers of the grid, or
 * launches, separate the steps.
 *
 * After G. Alabandi, W. Sands, G. Biros, M. Burtscher, "A GPU algorithm for detecting strongly connected components",
 * SC 2023.
 */
#include "common/shares.h"
#include "strongly_connected_components/edges.h"

#define PHASE_MASK 255u          /* the lowest bits of STEP_STATE: the kind of the step, 0 before the first one */
#define RESET 1u
#define SWEEP 2u
#define FILTER 3u
#define DONE 4u
#define MAX_STEPS (1u << 28)     /* a bound that takes hours to reach */
#ifndef NATURAL                  /* filters before keys are shuffled */
#define NATURAL 4u
#endif
#ifndef EACH                     /* edges of a block, for each work-item: 4 to 64 */
#if DEV_IS_CPU
#define EACH 64
#else
#define EACH 4
#endif
#endif
#ifndef TURNS                    /* times that a sweep relaxes the edges of a block, while that lowers keys */
#define TURNS 1
#endif
#define BLOCK_EDGES (WG_SIZE * EACH)
#ifndef MAX_CHUNKS               /* A sub-group whose edges have ends in a wider range of chunks never rests. */
#define MAX_CHUNKS 256u
#endif

#define ANY 0u                   /* orders of vertices: keys that all components share are found by any order */
#define RISING 1u
#define FALLING 2u

typedef struct {
  uint phase, current, filters, order;  /* current: which of the two lists */
} step_t;

/* Returns step number t, from the state after step t - 1.  All work-groups find the same. */
INLINE step_t step_number(uint t, volatile __global uint *control) {
  const uint before = load_relaxed(control + STEP_STATE + (t - 1u & 1u)), phase = before & PHASE_MASK;
  step_t step = {DONE, before >> 8 & 1u, before >> 9, ANY};
  const uint n_edges = load_relaxed(control + N_EDGES + EDGES_APART * step.current);
  if (phase == RESET || (phase == SWEEP && load_relaxed(control + CHANGED) + 1u >= t)) {
    step.phase = SWEEP;
  } else if (phase == SWEEP) {
    step.phase = FILTER;
  } else if (phase == FILTER) {
    step.current ^= 1u;
    step.filters++;
    const uint left = load_relaxed(control + N_EDGES + EDGES_APART * step.current);
    const int is_stuck = left >= n_edges + (step.filters == 1u) || t > MAX_STEPS;
    if (is_stuck) report_status(control + PROPAGATE_GRID + GRID_STATUS, STATUS_STUCK);
    if (left && !is_stuck) step.phase = RESET;
  } else if (phase == 0u && n_edges) {
    step.phase = RESET;
  }
  if (step.filters == 0u && step.phase != DONE) {
    const uint rising = load_relaxed(control + N_RISING);
    step.order = rising > n_edges - n_edges / 5u * 2u ? RISING : rising < n_edges / 5u * 2u ? FALLING : ANY;
  }
  return step;
}

INLINE void write_state(uint t, step_t step, volatile __global uint *control) {
  store_relaxed(control + STEP_STATE + (t & 1u), step.phase | step.current << 8 | step.filters << 9);
  if (step.phase == DONE) return;
  store_relaxed(control + STEPS, t);
  store_relaxed(control + FILTERS, step.filters + (step.phase == FILTER));
}

typedef struct {                 /* Keys of vertices: (v ^ flip) * factor, which is reversible. */
  uint after_flip, before_flip, factor, inverse;
} keys_t;
INLINE keys_t keys_of_step(step_t step, volatile __global uint *control) {
  const uint pivot = control[PIVOT];
  keys_t keys = {pivot, pivot, step.filters <= NATURAL ? 1u : mixed(step.filters) | 1u, 0u};
  if (step.order == RISING) keys.after_flip = ~0u, keys.before_flip = 0u;
  if (step.order == FALLING) keys.after_flip = 0u, keys.before_flip = ~0u;
  uint x = keys.factor;          /* Newton's iteration: x is right in 3, 6, 12, 24, 48 bits */
  for (int k = 0; k < 4; k++) x *= 2u - keys.factor * x;
  keys.inverse = x;
  return keys;
}
INLINE uint key_of(int v, uint flip, keys_t keys) { return ((uint)v ^ flip) * keys.factor; }
INLINE int vertex_of(uint key, uint flip, keys_t keys) { return (int)(key * keys.inverse ^ flip); }

/* Lower the key of v.  Returns whether that changed it, and stamps the chunk of v if so. */
INLINE int lower_by_store(volatile __global uint *keys, int v, uint to, uint t, volatile __global uint *stamps) {
  int lowers = load_relaxed(keys + v) > to;
  if (lowers) {
    store_relaxed(keys + v, to);
    store_relaxed(stamps + v / CHUNK, t);
  }
  return lowers;
}

/* Relax four edges, WG_SIZE apart, from number `at` on; edges past the last are replaced by it.  Returns whether it
 * lowered a key.  Loads are grouped, so that those of all edges are in flight together. */
INLINE int relax(uint t, ulong at, ulong last, keys_t keys, __global const int2 *edges,
                 volatile __global uint *after_keys, volatile __global uint *before_keys, volatile __global uint *stamps) {
  int2 edge[4];
  uint to_v[4], to_u[4];
  int lowered = 0;
#pragma unroll
  for (int k = 0; k < 4; k++) edge[k] = edges[min(at + (ulong)(k * WG_SIZE), last)];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    to_v[k] = load_relaxed(after_keys + edge[k].x);
    to_u[k] = load_relaxed(before_keys + edge[k].y);
  }
#pragma unroll
  for (int k = 0; k < 4; k++) {
    to_v[k] = load_relaxed(after_keys + vertex_of(to_v[k], keys.after_flip, keys));
    to_u[k] = load_relaxed(before_keys + vertex_of(to_u[k], keys.before_flip, keys));
  }
#pragma unroll
  for (int k = 0; k < 4; k++) {
    lowered |= lower_by_store(after_keys, edge[k].y, to_v[k], t, stamps);
    lowered |= lower_by_store(before_keys, edge[k].x, to_u[k], t, stamps);
  }
  return lowered;
}

/* Give the ends of a share of the list their own keys.  ranges: for each sub-group of a block, the first and the last chunk
 * of its ends.  Every lane calls. */
INLINE void reset(uint t, ulong n_edges, blocks_t blocks, keys_t keys, __global const int2 *edges,
                  volatile __global uint *after_keys, volatile __global uint *before_keys, volatile __global uint *stamps,
                  __global uint2 *ranges) {
  for (uint b = blocks.first; b < blocks.end; b += blocks.step) {
    uint first = ~0u, last = 0u;
    for (int k = 0; k < EACH; k++) {
      const ulong at = (ulong)b * BLOCK_EDGES + (ulong)(k * WG_SIZE) + get_local_id(0);
      if (at >= n_edges) continue;
      const int ends[2] = {edges[at].x, edges[at].y};
      for (int i = 0; i < 2; i++) {
        const uint chunk = (uint)ends[i] / CHUNK;
        store_relaxed(after_keys + ends[i], key_of(ends[i], keys.after_flip, keys));
        store_relaxed(before_keys + ends[i], key_of(ends[i], keys.before_flip, keys));
        store_relaxed(stamps + chunk, t);
        first = min(first, chunk);
        last = max(last, chunk);
      }
    }
    first = sg_least(first);
    last = sg_greatest(last);
    if (sg_lane() == 0) ranges[(ulong)b * SUB_GROUPS_PER_GROUP + sg_in_group()] = (uint2)(first, last);
  }
}

/* Whether a key of these chunks was lowered in step t - 1, or in this step.  All lanes of a sub-group have one range. */
INLINE int is_awake(uint t, uint2 range, volatile __global uint *stamps) {
  int awake = range.y - range.x >= MAX_CHUNKS;
  for (uint chunk = range.x; chunk <= range.y && !sg_any(awake); chunk += SUB_GROUP_SIZE) {
    const uint mine = chunk + sg_lane();
    if (mine <= range.y) awake = load_relaxed(stamps + mine) + 1u >= t;
  }
  return sg_any(awake);
}

/* Sweep a share of the list; every lane calls.  A sub-group rests if no end of its edges got another key in the step before.  Odd steps go backwards, because keys travel along the list in one
 * direction, and against it in the other. */
INLINE int sweep(uint t, ulong n_edges, blocks_t blocks, keys_t keys, __global const int2 *edges,
                 volatile __global uint *after_keys, volatile __global uint *before_keys, volatile __global uint *stamps,
                 __global const uint2 *ranges) {
  int lowered = 0;
  for (uint b = blocks.first; b < blocks.end; b += blocks.step) {
    const int backwards = t & 1u;
    const uint from_end = blocks.end - 1u - b + (DEV_IS_CPU ? blocks.first : 0u);
    const ulong block = backwards ? from_end : b, base = block * BLOCK_EDGES + get_local_id(0);
    int any = is_awake(t, ranges[block * SUB_GROUPS_PER_GROUP + sg_in_group()], stamps);
    for (int turn = 0; turn < TURNS && sg_any(any); turn++) {
      any = 0;
      for (int k = 0; k < EACH; k += 4) {
        const ulong at = base + (ulong)(backwards ? EACH - 4 - k : k) * WG_SIZE;
        if (at < n_edges) any |= relax(t, at, n_edges - 1ul, keys, edges, after_keys, before_keys, stamps);
      }
      lowered |= any;
    }
  }
  return lowered;
}

/* Move the edges that stay to the other list, and label the vertices whose components are found. */
INLINE void filter(int finds, ulong n_edges, blocks_t blocks, keys_t keys, __global const int2 *edges, __global int2 *kept,
                   volatile __global uint *n_kept, volatile __global uint *after_keys, volatile __global uint *before_keys,
                   volatile __global int *labels, __local uint *room) {
  for (uint b = blocks.first; b < blocks.end; b += blocks.step) {
    const ulong base = (ulong)b * BLOCK_EDGES + get_local_id(0);
    ulong stays = 0ul;
    for (int k = 0; k < EACH; k++) {
      const ulong at = base + (ulong)(k * WG_SIZE);
      if (at >= n_edges) continue;
      const int2 edge = edges[at];
      const uint2 u = {load_relaxed(after_keys + edge.x), load_relaxed(before_keys + edge.x)};
      const uint2 v = {load_relaxed(after_keys + edge.y), load_relaxed(before_keys + edge.y)};
      const int is_found = finds && u.x == u.y;
      if (is_found) store_relaxed(labels + edge.x, vertex_of(u.x, keys.after_flip, keys));
      if (finds && v.x == v.y) store_relaxed(labels + edge.y, vertex_of(v.x, keys.after_flip, keys));
      if (!is_found && u.x == v.x && u.y == v.y) stays |= 1ul << k;
    }
    uint slot = take_slots_of_group(n_kept, (uint)popcount(stays), room);
    for (; stays; stays &= stays - 1ul) kept[slot++] = edges[base + (ulong)(lowest_lane(stays) * WG_SIZE)];
  }
}

/* Steps first ... last, or fewer if no edge is left.  Without barriers of the grid, each launch makes one step. */
KERNEL propagate(uint first, uint last, volatile __global uint *control, __global int2 *edges, __global int2 *other_edges,
                 volatile __global uint *after_keys, volatile __global uint *before_keys, volatile __global uint *stamps,
                 __global uint2 *ranges, volatile __global int *labels) {
  LOCAL_ARRAY uint room[2];
#if ONE_LAUNCH
  LOCAL_ARRAY int passed;
  GRID_ENTER(control + PROPAGATE_GRID)
#else
  const uint member = get_group_id(0), members = get_num_groups(0);
#endif
  for (uint t = first; t <= last; t++) {
    const step_t step = step_number(t, control);
    const int clears = member == 0u && get_local_id(0) == 0;
    if (clears) write_state(t, step, control);
    if (step.phase == DONE) return;
    volatile __global uint *n_kept = control + N_EDGES + EDGES_APART * (step.current ^ 1u);
    const ulong n_edges = load_relaxed(control + N_EDGES + EDGES_APART * step.current);
    __global int2 *now = step.current ? other_edges : edges;
    const blocks_t blocks = blocks_of(n_edges, BLOCK_EDGES, member, members);
    const keys_t keys = keys_of_step(step, control);
    if (step.phase == SWEEP) {
      if (clears) store_relaxed(n_kept, 0u);
      int lowered = sweep(t, n_edges, blocks, keys, now, after_keys, before_keys, stamps, ranges);
      if (sg_any(lowered) && sg_lane() == 0) store_relaxed(control + CHANGED, t);
    } else if (step.phase == FILTER) {
      filter(step.order == ANY, n_edges, blocks, keys, now, step.current ? edges : other_edges, n_kept, after_keys, before_keys, labels, room);
    } else {
      reset(t, n_edges, blocks, keys, now, after_keys, before_keys, stamps, ranges);
    }
#if ONE_LAUNCH
    if (!grid_barrier(control + PROPAGATE_GRID, members, &passed)) return;
#endif
  }
}
