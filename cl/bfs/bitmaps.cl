/* Breadth-first search on CPUs, bottom-up: each unreached vertex searches its neighbours for one in the frontier.
 *
 * The frontier, the next one and the unreached vertices are bitmaps, bit k of word w for vertex 64 w + k. A work-group
 * takes every stride-th block of words. No atomics: one work-group writes a word, and the distances of its vertices.
 *
 * After S. Beamer, K. Asanović, D. Patterson, "Direction-optimizing breadth-first search", SC 2012.
 */
#include "bfs/place.h"
#include "common/bits.h"

#ifndef BLOCK_WORDS              /* words that a work-group takes at a time, of a thousand vertices */
#define BLOCK_WORDS 16
#endif
#define WORDS_OF(n) (((long)(n) + 63) / 64)
#define EACH_WORD(w, n)                                                                                               \
  for (long base = BLOCK_WORDS * (long)get_group_id(0); base < WORDS_OF(n); base += BLOCK_WORDS * (long)get_num_groups(0)) \
    for (long w = base; w < min(WORDS_OF(n), base + BLOCK_WORDS); w++)

INLINE int vertex_of(long word, ulong bits) { return (int)(64 * word) + (int)lowest_bit(bits); }

/* Mark the vertices at `depth` - 1 as the frontier, and those without a distance that have an edge as unreached. */
KERNEL mark_bits(int n, uint depth, __global const int *restrict distances, __global const offset_t *restrict in_offsets,
                 __global ulong *restrict frontier, __global ulong *restrict unreached) {
  EACH_WORD(w, n) {
    const int first = (int)(64 * w), size = min(64, n - first);
    ulong reached_last = 0ul, waits = 0ul;
    for (int k = 0; k < size; k++) {
      const int d = distances[first + k];
      reached_last |= (ulong)(d == (int)depth - 1) << k;
      waits |= (ulong)(d == UNREACHED & in_offsets[first + k + 1] != in_offsets[first + k]) << k;
    }
    frontier[w] = reached_last;
    unreached[w] = waits;
  }
}

/* Reach the vertices at `depth`. found[2 group] becomes the number of vertices that the group reached, and the next word
 * the number of their edges. */
KERNEL pull_bits(int n, uint depth, __global const offset_t *restrict row_offsets,
                 __global const offset_t *restrict in_offsets, __global const int *restrict in_neighbors,
                 __global const ulong *restrict frontier, __global ulong *restrict next, __global ulong *restrict unreached,
                 __global int *restrict distances, __global int *restrict predecessors, __global ulong *restrict found) {
  ulong n_found = 0ul, edges = 0ul;
  EACH_WORD(w, n) {
    ulong reached = 0ul;
    for (ulong waits = unreached[w]; waits; waits &= waits - 1ul) {
      const int v = vertex_of(w, waits);
      const offset_t end = in_offsets[v + 1];
      for (offset_t e = in_offsets[v]; e < end; e++) {
        const int u = in_neighbors[e];
        if (!(frontier[u >> 6] >> (u & 63) & 1ul)) continue;
        distances[v] = (int)depth;
        predecessors[v] = u;
        reached |= waits & (0ul - waits);
        edges += (ulong)(row_offsets[v + 1] - row_offsets[v]);
        break;
      }
    }
    next[w] = reached;
    unreached[w] &= ~reached;
    n_found += popcount(reached);
  }
  found[2 * get_group_id(0)] = n_found;
  found[2 * get_group_id(0) + 1] = edges;
}

/* One work-item puts the vertices of the frontier into the first queue, and sets `place` to expand them next. The levels
 * before had `edges`, and `reached` vertices are reached. */
KERNEL queue_bits(int n, uint depth, ulong edges, ulong reached, __global const ulong *restrict frontier, __global int *restrict queue,
                  __global ulong *restrict place) {
  ulong rows = 0ul;
  for (long w = 0; w < WORDS_OF(n); w++)
    for (ulong bits = frontier[w]; bits; bits &= bits - 1ul) queue[rows++] = vertex_of(w, bits);
  one_segment(place, depth, edges, rows, 0ul, reached);
}
