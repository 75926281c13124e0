/* Priorities of vertices (orders.h); a work-item takes a vertex.  For smallest_last the vertices of the smallest degree in
 * the rest of the graph are removed, wave after wave, and the last wave is coloured first.
 *
 * A wave removes every vertex whose degree is at most a threshold: `remove_small` begins with the vertices that are small
 * already, and `remove_neighbors` goes on with the neighbours that become small.  Once none is left, the host raises the
 * threshold to the smallest degree that is left.  So no vertex has more neighbours in its own and in later waves than the
 * graph's degeneracy, and a greedy colouring takes at most one colour more than that.
 *
 * `remove_neighbors` makes one wave if it has several work-groups.  A single group continues with the next waves while
 * they are small.  On a path or a grid the number of waves is the length of a side, so launches for each would be slow.
 *
 * ranks[v] is 0 until v is removed.  Then it has the number of its wave, which `finish_ranks` shifts above a hash.
 *
 * After D. W. Matula, L. L. Beck, "Smallest-last ordering and clustering and graph coloring algorithms", J. ACM 30,
 * 1983, with the batches of W. Hasenplaugh, T. Kaler, T. B. Schardl, C. E. Leiserson, "Ordering heuristics for parallel
 * graph coloring", SPAA 2014.
 *
 * Races: degrees fall by atomics, and only the work-item that lowers a degree from above the threshold to it removes
 * the vertex.  `remove_small` has already removed all vertices at or below the threshold.  Barriers separate the waves
 * of one group.
 */
#include "common/worklist.h"
#include "color/orders.h"

#define STATE_LISTED 0           /* number of vertices that a wave has removed; two words, used alternately */
#define STATE_LEAST 2            /* the smallest degree in the rest of the graph */
#define STATE_WAVES 3            /* waves of a launch of one group, */
#define STATE_REMOVED 4          /* and the vertices that they have removed */
#define STATE_WORDS 5

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

/* Remove and list all vertices whose degree is at most *threshold*. */
KERNEL remove_small(int n, uint wave, uint threshold, __global const uint *restrict degrees,
                    __global uint *restrict ranks, volatile __global uint *state, __global int *restrict list) {
  int v = get_global_id(0), small = 0;
  uint least = UINT_MAX;
  if (v < n && !ranks[v]) {
    small = degrees[v] <= threshold;
    if (small) ranks[v] = wave;
    else least = degrees[v];
  }
  least = sg_least(least);
  uint slot = push_sub_group(state + STATE_LISTED, small);
  if (small) list[slot] = v;
  if (sg_lane() == 0 && least != UINT_MAX) lower_to(state + STATE_LEAST, least);
}

/* Subtract the *size* listed vertices from their neighbours' degrees; remove and list neighbours that become small.
 * turn: 0 or 1, the word that counts these; the other one is cleared.  One group goes on until a wave is empty, or has
 * more than *widest* vertices. */
KERNEL remove_neighbors(int n, uint size, uint turn, uint wave, uint threshold, uint widest,
                        __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                        __global int *list, __global int *next, volatile __global uint *degrees,
                        volatile __global uint *ranks, volatile __global uint *state) {
  uint n_waves = 0u, n_removed = 0u;
  for (;;) {
    if (get_global_id(0) == 0) store_relaxed(state + STATE_LISTED + (turn ^ 1u), 0u);
    for (uint i = get_global_id(0) / SUB_GROUP_SIZE; i < size; i += get_global_size(0) / SUB_GROUP_SIZE) {
      const int v = list[i];
      const offset_t last = row_offsets[v + 1];
      for (offset_t e = row_offsets[v] + (offset_t)sg_lane(); sg_any(e < last); e += SUB_GROUP_SIZE) {
        int small = 0, u = v;
        if (e < last) {
          u = column_indices[e];
          small = u != v && fetch_add(degrees + u, ~0u) == threshold + 1u;
          if (small) store_relaxed(ranks + u, wave);
        }
        uint slot = push_sub_group(state + STATE_LISTED + turn, small);
        if (small) next[slot] = u;
      }
    }
    if (get_num_groups(0) > 1) return;
    barrier(CLK_GLOBAL_MEM_FENCE);
    size = load_relaxed(state + STATE_LISTED + turn);
    n_waves++;
    n_removed += size;
    if (!size || size > widest || n_removed > (uint)n) break;  /* n: a bound for the loop whatever the degrees hold */
    barrier(CLK_GLOBAL_MEM_FENCE);  /* all have read the word before it is cleared */
    __global int *read = next;
    next = list;
    list = read;
    turn ^= 1u;
    wave++;
  }
  if (get_local_id(0) == 0) {
    state[STATE_WAVES] = n_waves;
    state[STATE_REMOVED] = n_removed;
  }
}

/* A hash orders the vertices of a wave; it gets the bits that the number of waves leaves free. */
KERNEL finish_ranks(int n, uint shift, uint key, __global uint *restrict ranks) {
  const int v = get_global_id(0);
  if (v < n) ranks[v] = ranks[v] << shift | (hash_murmur3((uint)v ^ key) & low_bits(shift));
}

/* Turn ranks into keys that ascend in the order: the greatest rank gets the least key. */
KERNEL invert_ranks(int n, __global uint *restrict ranks) {
  const int i = get_global_id(0);
  if (i < n) ranks[i] = ~ranks[i];
}
