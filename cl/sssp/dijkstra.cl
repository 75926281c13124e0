/* Shortest paths by one work-item: Dijkstra's algorithm, with buckets for the vertices that wait.
 *
 * A waiting vertex has an entry with its distance in bucket (level, digit).  The level is the highest digit in which the
 * distance differs from `last`, a lower bound that rises during the search.  No entry is less than last, so the least
 * entries are in the first nonempty digit of the lowest nonempty level.  In a bucket of level 0 all entries are equal.
 * If that bucket is on a higher level, last rises to the beginning of the bucket, and its entries move to lower levels.
 * So an entry moves at most once per level.  A vertex whose distance falls gets another entry; outdated entries are
 * dropped when they are read.
 * A bucket is a stack of chunks.  `top` is the position of its next entry, 0 if the bucket is empty.  link[c] is that
 * position in the chunk below chunk c; for a free chunk, the next free chunk.  If chunks run short, all outdated entries
 * are dropped.
 *
 * After E. Denardo, B. Fox, "Shortest-route methods: 1. Reaching, pruning, and buckets", Operations Research 27, 1979,
 * and R. Ahuja, K. Mehlhorn, J. Orlin, R. Tarjan, "Faster algorithms for the shortest path problem", J. ACM 37, 1990.
 */
#include "common/bits.h"
#include "traversal/distances.h"

#ifndef SKIP_LEAVES              /* 1: the only edge of a vertex of degree 1 leads back (undirected), so it need not wait */
#define SKIP_LEAVES 0
#endif
#define DIGIT_BITS 4
#define DIGITS (1 << DIGIT_BITS)
#define LEVELS ((WIDE ? 64 : 32) / DIGIT_BITS)
#define CHUNK 64                 /* entries per chunk */
#define SPARE_CHUNKS (2 * LEVELS * DIGITS)
/* Words of the state. */
#define STATE_OVERFLOW 0
#define STATE_LEVELS 1           /* bit l: level l has entries; 0 ends the search */
#define STATE_LAST 2
#define STATE_FREE 3             /* a free chunk */
#define STATE_N_FREE 4
#define STATE_ALIVE 5            /* the number of the last launch that left entries */
#define STATE_DIGITS 8           /* words of the levels: bit d is 1 if digit d has entries */
#define STATE_TOPS 24
#define STATE_WORDS (STATE_TOPS + LEVELS * DIGITS)

typedef struct { dist_t distance; int vertex; } entry_t;
typedef struct {
  dist_t last;
  uint levels;
  ulong free, n_free;
  __global ulong *restrict digits, *restrict top, *restrict link;
  __global entry_t *restrict entries;
} heap_t;

INLINE void put(heap_t *heap, dist_t distance, int vertex) {
  const dist_t differs = distance ^ heap->last;
  const uint level = differs ? ((uint)(8 * sizeof(dist_t) - 1) - (uint)clz(differs)) / DIGIT_BITS : 0u;
  const uint digit = (uint)(distance >> (level * DIGIT_BITS)) & (DIGITS - 1u);
  ulong top = heap->top[level * DIGITS + digit];
  if (top % CHUNK == 0ul) {
    const ulong chunk = heap->free;
    heap->free = heap->link[chunk];
    heap->n_free--;
    heap->link[chunk] = top;
    top = chunk * CHUNK;
    heap->levels |= 1u << level;
    heap->digits[level] |= 1u << digit;
  }
  heap->entries[top].distance = distance;
  heap->entries[top].vertex = vertex;
  heap->top[level * DIGITS + digit] = top + 1ul;
}

INLINE void mark_empty(heap_t *heap, uint level, uint digit) {
  heap->digits[level] &= ~(1u << digit);
  if (!heap->digits[level]) heap->levels &= ~(1u << level);
}

/* Free a chunk.  Returns the top of the rest of its bucket. */
INLINE ulong give_back(heap_t *heap, ulong chunk) {
  const ulong before = heap->link[chunk];
  heap->link[chunk] = heap->free;
  heap->free = chunk;
  heap->n_free++;
  return before;
}

/* Move the entries of a bucket that are not outdated to their present buckets.  Returns the number of entries it had. */
INLINE uint deal_out(heap_t *heap, uint level, uint digit, __global const dist_t *restrict distances) {
  ulong top = heap->top[level * DIGITS + digit];
  uint n_moved = 0u;
  heap->top[level * DIGITS + digit] = 0ul;
  mark_empty(heap, level, digit);
  while (top) {
    const ulong chunk = (top - 1ul) / CHUNK;
    for (ulong i = chunk * CHUNK; i < top; i++) {
      const entry_t entry = heap->entries[i];
      if (distances[entry.vertex] == entry.distance) put(heap, entry.distance, entry.vertex);
    }
    n_moved += (uint)(top - chunk * CHUNK);
    top = give_back(heap, chunk);
  }
  return n_moved;
}

INLINE void collect(heap_t *heap, __global const dist_t *restrict distances) {
  for (uint level = 0u; level < LEVELS; level++)
    for (uint digit = 0u; digit < DIGITS; digit++)
      if (heap->top[level * DIGITS + digit]) deal_out(heap, level, digit, distances);
}

INLINE heap_t heap_of(__global ulong *restrict state, __global ulong *restrict link, __global entry_t *restrict entries) {
  heap_t heap = {(dist_t)state[STATE_LAST], (uint)state[STATE_LEVELS], state[STATE_FREE], state[STATE_N_FREE],
                 state + STATE_DIGITS, state + STATE_TOPS, link, entries};
  return heap;
}

INLINE void keep(const heap_t *heap, __global ulong *restrict state) {
  state[STATE_LAST] = heap->last;
  state[STATE_LEVELS] = heap->levels;
  state[STATE_FREE] = heap->free;
  state[STATE_N_FREE] = heap->n_free;
}

/* Chunk 0 is not used. */
KERNEL start(int n, int n_sources, ulong n_chunks, __global const int *restrict sources, __global entry_t *restrict entries,
             __global ulong *restrict link, __global ulong *restrict state, __global dist_t *restrict distances) {
  if (get_global_id(0)) return;
  for (int v = 0; v < n; v++) distances[v] = FAR_AWAY;
  for (uint i = 0u; i < STATE_WORDS; i++) state[i] = 0ul;
  for (ulong chunk = 1ul; chunk < n_chunks; chunk++) link[chunk] = chunk + 1ul;
  state[STATE_FREE] = 1ul;
  state[STATE_N_FREE] = n_chunks - 1ul;
  heap_t heap = heap_of(state, link, entries);
  for (int i = 0; i < n_sources; i++) {
    if (distances[sources[i]] == 0) continue;
    distances[sources[i]] = 0;
    put(&heap, 0, sources[i]);
  }
  keep(&heap, state);
}

/* Launch number `round`: settle vertices until none waits, or until about `budget` edges and entries were read. */
KERNEL search(ulong round, dist_t limit, long budget, __global const offset_t *restrict row_offsets,
              __global const int *restrict column_indices, __global const weight_t *restrict edge_weights,
              __global entry_t *restrict entries, __global ulong *restrict link, __global ulong *restrict state,
              __global dist_t *restrict distances) {
  if (get_global_id(0)) return;
  heap_t heap = heap_of(state, link, entries);
  int overflow = 0;
  while (heap.levels && budget > 0) {
    const uint level = lowest_bit(heap.levels), digit = lowest_bit((uint)heap.digits[level]), shift = level * DIGIT_BITS;
    if (level) {
      heap.last = ((heap.last >> shift >> DIGIT_BITS << DIGIT_BITS) | digit) << shift;
      budget -= deal_out(&heap, level, digit, distances);
      continue;
    }
    ulong top = heap.top[digit] - 1ul;
    const entry_t entry = entries[top];
    const uint fill = (uint)(top % CHUNK);  /* the entries below this one come next */
    const offset_t next = row_offsets[entries[fill ? top - 1ul : top].vertex];
    FETCH_AHEAD(column_indices + next);
    FETCH_AHEAD(edge_weights + next);
    FETCH_AHEAD(row_offsets + entries[fill > 1u ? top - 2ul : top].vertex);
    if (!fill) top = give_back(&heap, top / CHUNK);
    heap.top[digit] = top;
    if (!top) mark_empty(&heap, 0u, digit);
    budget--;
    if (distances[entry.vertex] != entry.distance) continue;
    const offset_t begin = row_offsets[entry.vertex], end = row_offsets[entry.vertex + 1];
    budget -= end - begin;
    if (heap.n_free < (ulong)(end - begin) / CHUNK + SPARE_CHUNKS) collect(&heap, distances);
    for (offset_t e = begin; e < end; e++) {
      const int u = column_indices[e];
      const dist_t distance = extend(entry.distance, weight_of(edge_weights, e), &overflow);
      if (distance >= distances[u] || distance > limit) continue;
      distances[u] = distance;
#if SKIP_LEAVES
      if (row_offsets[u + 1] - row_offsets[u] <= 1) continue;
#endif
      put(&heap, distance, u);
    }
  }
  keep(&heap, state);
  if (heap.levels) state[STATE_ALIVE] = round;
  if (overflow) state[STATE_OVERFLOW] = 1ul;
}
