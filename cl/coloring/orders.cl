/* Priorities of vertices (orders.h); a work-item takes a vertex.  For smallest_last the vertices of the smallest degree in
 * what is left of the graph are removed, wave after wave, and those that go last are coloured first.
 *
 * A wave removes every vertex whose degree is at most a threshold, which the host raises once none is left:
 * `remove_small` begins with those that are small already, and `remove_neighbors` goes on with the neighbours that become
 * small.  ranks[v] is 0 until v goes; then it has the number of its wave and, in the low WAVE_SHIFT bits, a hash.
 *
 * After D. W. Matula, L. L. Beck, "Smallest-last ordering and clustering and graph coloring algorithms", J. ACM 30,
 * 1983, with the batches of W. Hasenplaugh, T. Kaler, T. B. Schardl, C. E. Leiserson, "Ordering heuristics for parallel
 * graph coloring", SPAA 2014.
 *
 * Races: degrees fall by atomics, and only the work-item that takes one from above the threshold to it removes the
 * vertex; a vertex that is at or below the threshold has been removed by `remove_small`, before.
 */
#include "common/worklist.h"
#include "coloring/orders.h"

#define WAVE_SHIFT 16u
#define LARGEST_WAVE 0xffffu
#define STATE_LISTED 0           /* how many vertices a launch has removed; two words that take turns */
#define STATE_LEAST 2            /* the smallest degree that is left */
#define STATE_WORDS 3

KERNEL rank_vertices(int n, order_t order, __global const offset_t *restrict row_offsets, __global uint *restrict ranks) {
  int v = get_global_id(0);
  if (v < n) ranks[v] = priority_of(order, v, (uint)(row_offsets[v + 1] - row_offsets[v]));
}

KERNEL start_degrees(int n, __global const offset_t *restrict row_offsets, __global uint *restrict degrees,
                     __global uint *restrict ranks) {
  int v = get_global_id(0);
  if (v >= n) return;
  degrees[v] = (uint)(row_offsets[v + 1] - row_offsets[v]);
  ranks[v] = 0u;
}

INLINE uint wave_rank(uint wave, int v, uint key) {
  return min(wave, LARGEST_WAVE) << WAVE_SHIFT | (hash_murmur3((uint)v ^ key) & ((1u << WAVE_SHIFT) - 1u));
}

/* Remove and list all vertices of at most *threshold*. */
KERNEL remove_small(int n, uint wave, uint threshold, uint key, __global const uint *restrict degrees,
                    __global uint *restrict ranks, volatile __global uint *state, __global int *restrict list) {
  int v = get_global_id(0), small = 0;
  uint least = UINT_MAX;
  if (v < n && !ranks[v]) {
    small = degrees[v] <= threshold;
    if (small) ranks[v] = wave_rank(wave, v, key);
    else least = degrees[v];
  }
  least = sg_least(least);
  uint slot = push_sub_group(state + STATE_LISTED, small);
  if (small) list[slot] = v;
  if (sg_lane() == 0 && least != UINT_MAX) lower_to(state + STATE_LEAST, least);
}

/* Take the listed vertices from their neighbours' degrees; remove and list those that become small.  turn: 0 or 1, which
 * of the two words counts them; the other one is cleared. */
KERNEL remove_neighbors(uint size, uint turn, uint wave, uint threshold, uint key,
                        __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                        __global const int *restrict list, volatile __global uint *degrees, volatile __global uint *ranks,
                        volatile __global uint *state, __global int *restrict next) {
  if (get_global_id(0) == 0) store_relaxed(state + STATE_LISTED + (turn ^ 1u), 0u);
  for (uint i = get_global_id(0) / SUB_GROUP_SIZE; i < size; i += get_global_size(0) / SUB_GROUP_SIZE) {
    const int v = list[i];
    const offset_t last = row_offsets[v + 1];
    for (offset_t e = row_offsets[v] + (offset_t)sg_lane(); sg_any(e < last); e += SUB_GROUP_SIZE) {
      int small = 0, u = v;
      if (e < last) {
        u = column_indices[e];
        small = u != v && fetch_add(degrees + u, ~0u) == threshold + 1u;
        if (small) store_relaxed(ranks + u, wave_rank(wave, u, key));
      }
      uint slot = push_sub_group(state + STATE_LISTED + turn, small);
      if (small) next[slot] = u;
    }
  }
}

/* Keys that rise in the order: of the greatest rank first. */
KERNEL invert_ranks(int n, __global uint *restrict ranks) {
  const int i = get_global_id(0);
  if (i < n) ranks[i] = ~ranks[i];
}
