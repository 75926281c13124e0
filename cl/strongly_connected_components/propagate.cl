/* Components of a list of edges by minima that are propagated both ways, with pointer jumping.
 *
 * A work-item takes edges.  Each vertex has a key; after_keys[v] is the least key of all vertices that reach v, as far as is
 * known, and before_keys[v] the least key of all that v reaches.  A step is one of three:
 *
 *   reset   each end of an edge gets its own key, twice
 *   sweep   Edge (u, v) lowers the key of v to that of the vertex that gave u its key, and the other way round.  So keys travel
 *           farther in each sweep.  A key that changes puts the number of the step into the stamp of its chunk of vertices,
 *           which has two stamps.  A unit, which is the edges of a sub-group, rests one way while the chunks from which it
 *           reads keys that way have old stamps.  A sweep that lowers nothing is the last.
 *   filter  A vertex whose two keys are equal is in the component of the vertex with that key: this vertex reaches it, and is
 *           reached from it.  An edge stays in the list, the other of two, if its ends have equal pairs of keys and are not
 *           in a component that is found.  Other edges join different components.
 *
 * The component of the vertex with the least key in the list is found in each filter, so lists become shorter.  The first
 * keys are the numbers of vertices.  Orders in which only a few components are found in each filter are possible; so later
 * keys are products with an odd number that changes after each filter.  The pivot always has the key 0.
 *
 * Races: each key is that of a vertex that does reach v, or is reached.  Keys are lowered by atomics, so they only fall.  A
 * stale key costs another sweep: the work-item that lowers a key writes the number of the step to CHANGED, which only grows,
 * and the stamp wakes the units that read the key.  The last sweep lowers nothing.  STEP_STATE holds the steps in two words:
 * work-group 0 writes the word of this step while the others read that of the step before.  Barriers of the grid, or
 * launches, separate the steps.
 *
 * After G. Alabandi, W. Sands, G. Biros, M. Burtscher, "A GPU algorithm for detecting strongly connected components",
 * SC 2023.
 */
#include "common/shares.h"
#include "strongly_connected_components/units.h"

#define PHASE_MASK 255u          /* the lowest bits of STEP_STATE: the kind of the step, 0 before the first one */
#define RESET 1u
#define SWEEP 2u
#define FILTER 3u
#define DONE 4u
#define MAX_STEPS (1u << 28)     /* a bound that takes hours to reach */
#ifndef NATURAL                  /* filters before keys are shuffled */
#define NATURAL 4u
#endif
#ifndef TURNS                    /* times that a sweep relaxes the edges of a block, while that lowers keys */
#define TURNS 1
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
INLINE int lower_key(volatile __global uint *keys, int v, uint to, uint t, volatile __global uint *stamps) {
  const int lowers = load_relaxed(keys + v) > to && fetch_min(keys + v, to) > to;
  if (lowers) store_relaxed(stamps + v / CHUNK, t);
  return lowers;
}

/* Relax four edges of a lane, from number `at` on, in one or both ways; edges past the last are replaced by it.  Returns the
 * ways in which it lowered a key.  Loads of all edges are in flight together. */
INLINE uint relax(uint ways, uint t, ulong at, ulong last, keys_t keys, __global const int2 *edges, propagated_t on) {
  int2 edge[4];
  uint to_v[4], to_u[4], lowered = 0u;
#pragma unroll
  for (int k = 0; k < 4; k++) edge[k] = edges[min(at + (ulong)(k * SUB_GROUP_SIZE), last)];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    to_v[k] = load_relaxed_if(ways & AFTER, on.after_keys + edge[k].x);
    to_u[k] = load_relaxed_if(ways & BEFORE, on.before_keys + edge[k].y);
  }
#pragma unroll
  for (int k = 0; k < 4; k++) {
    if (ways & AFTER) to_v[k] = load_relaxed(on.after_keys + vertex_of(to_v[k], keys.after_flip, keys));
    if (ways & BEFORE) to_u[k] = load_relaxed(on.before_keys + vertex_of(to_u[k], keys.before_flip, keys));
  }
#pragma unroll
  for (int k = 0; k < 4; k++) {
    if ((ways & AFTER) && lower_key(on.after_keys, edge[k].y, to_v[k], t, on.after_stamps)) lowered |= AFTER;
    if ((ways & BEFORE) && lower_key(on.before_keys, edge[k].x, to_u[k], t, on.before_stamps)) lowered |= BEFORE;
  }
  return lowered;
}

/* Give the ends of a share of the list their own keys, and list the chunks of each unit.  Every lane calls. */
INLINE void reset(uint t, ulong n_edges, blocks_t blocks, keys_t keys, __global const int2 *edges, propagated_t on) {
  for (uint b = blocks.first; b < blocks.end; b += blocks.step) {
    uint tails[EACH], heads[EACH];
    for (int k = 0; k < EACH; k++) {
      const ulong at = first_edge(b) + (ulong)(k * SUB_GROUP_SIZE);
      tails[k] = heads[k] = EMPTY;
      if (at >= n_edges) continue;
      const int2 edge = edges[at];
      for (int i = 0; i < 2; i++) {
        const int v = i ? edge.y : edge.x;
        store_relaxed(on.after_keys + v, key_of(v, keys.after_flip, keys));
        store_relaxed(on.before_keys + v, key_of(v, keys.before_flip, keys));
      }
      tails[k] = (uint)edge.x / CHUNK;
      heads[k] = (uint)edge.y / CHUNK;
      store_relaxed(on.after_stamps + tails[k], t);
      store_relaxed(on.before_stamps + heads[k], t);
    }
    __global uint *slots = on.chunks + unit_of(b) * SLOTS;
    list_chunks(tails, slots, TAIL_SLOTS);
    list_chunks(heads, slots + TAIL_SLOTS, HEAD_SLOTS);
  }
}

/* Sweep a share of the list; every lane calls.  Odd steps go backwards, because keys travel along the list in one direction,
 * and against it in the other. */
INLINE int sweep(uint t, ulong n_edges, blocks_t blocks, keys_t keys, __global const int2 *edges, propagated_t on) {
  const int backwards = t & 1u;
  const uint n_blocks = blocks.end > blocks.first ? (blocks.end - blocks.first + blocks.step - 1u) / blocks.step : 0u;
  uint lowered = 0u;
  for (uint first = 0u; first < n_blocks; first += AHEAD) {
    uint block[AHEAD], awake[AHEAD];
    for (uint i = 0u; i < AHEAD; i++) {
      const uint number = backwards ? n_blocks - 1u - (first + i) : first + i;
      block[i] = first + i < n_blocks ? blocks.first + number * blocks.step : EMPTY;
    }
    find_awake(t, block, awake, on);
    for (uint i = 0u; i < AHEAD; i++) {
      uint ways = awake[i];
      for (int turn = 0; turn < TURNS && ways; turn++) {
        uint any = 0u;
        for (int k = 0; k < EACH; k += 4) {
          const ulong at = first_edge(block[i]) + (ulong)((backwards ? EACH - 4 - k : k) * SUB_GROUP_SIZE);
          if (at < n_edges) any |= relax(ways, t, at, n_edges - 1ul, keys, edges, on);
        }
        lowered |= any;
        ways = (sg_any(any & AFTER) ? AFTER : 0u) | (sg_any(any & BEFORE) ? BEFORE : 0u);
      }
    }
  }
  return lowered != 0u;
}

/* Move the edges that stay to the other list, and label the vertices whose components are found. */
INLINE void filter(int finds, ulong n_edges, blocks_t blocks, keys_t keys, __global const int2 *edges, __global int2 *kept,
                   volatile __global uint *n_kept, volatile __global uint *after_keys, volatile __global uint *before_keys,
                   volatile __global int *labels, __local uint *room) {
  for (uint b = blocks.first; b < blocks.end; b += blocks.step) {
    const ulong base = first_edge(b);
    ulong stays = 0ul;
    for (int k = 0; k < EACH; k++) {
      const ulong at = base + (ulong)(k * SUB_GROUP_SIZE);
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
    for (; stays; stays &= stays - 1ul) kept[slot++] = edges[base + (ulong)(lowest_lane(stays) * SUB_GROUP_SIZE)];
  }
}

/* Steps first ... last, or fewer if no edge is left.  Without barriers of the grid, each launch makes one step. */
KERNEL propagate(uint first, uint last, volatile __global uint *control, __global int2 *edges, __global int2 *other_edges,
                 volatile __global uint *after_keys, volatile __global uint *before_keys,
                 volatile __global uint *after_stamps, volatile __global uint *before_stamps, __global uint *chunks,
                 volatile __global int *labels) {
  const propagated_t on = {after_keys, before_keys, after_stamps, before_stamps, chunks};
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
      int lowered = sweep(t, n_edges, blocks, keys, now, on);
      if (sg_any(lowered) && sg_lane() == 0) store_relaxed(control + CHANGED, t);
    } else if (step.phase == FILTER) {
      filter(step.order == ANY, n_edges, blocks, keys, now, step.current ? edges : other_edges, n_kept, after_keys,
             before_keys, labels, room);
    } else {
      reset(t, n_edges, blocks, keys, now, on);
    }
#if ONE_LAUNCH
    if (!grid_barrier(control + PROPAGATE_GRID, members, &passed)) return;
#endif
  }
}
