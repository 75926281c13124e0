/* The order of edges, the same on every device: by weight, then by the position of the entry in the row of the edge's
 * lesser end.  No two edges are equal in this order, so the forest is unique.
 *
 * WEIGHT_KIND  the kind of edge_weights; all are compared as uints of the same order
 * MAXIMUM      1: the heaviest edges first
 * SPLIT_KEYS   0: best[v] is weight key << 32 | entry, lowered by one 64-bit atomic
 *              1: best[v] the weight key, best[n + v] the entry, lowered in two passes of 32-bit atomics
 */
#ifndef CLGRAPH_MST_KEYS_H
#define CLGRAPH_MST_KEYS_H
#include "common/atomics.h"

#define WEIGHT_NONE 0            /* all edges weigh the same */
#define WEIGHT_INT 1
#define WEIGHT_FLOAT 2
#define WEIGHT_RANK 3            /* uints in the order of 64-bit weights */
#ifndef WEIGHT_KIND
#define WEIGHT_KIND WEIGHT_INT
#endif
#ifndef MAXIMUM
#define MAXIMUM 0
#endif
#ifndef SPLIT_KEYS
#define SPLIT_KEYS (!DEV_HAS_INT64_ATOMICS)
#endif
#define NO_ENTRY 0xffffffffu

INLINE uint key_of(uint weight) {
#if WEIGHT_KIND == WEIGHT_INT
  weight ^= 0x80000000u;
#elif WEIGHT_KIND == WEIGHT_FLOAT
  weight = float_to_key(as_float(weight == 0x80000000u ? 0u : weight));  /* -0.0 is 0.0 */
#endif
  return MAXIMUM ? ~weight : weight;
}

INLINE uint weight_key(__global const uint *restrict edge_weights, offset_t e) {
  return WEIGHT_KIND == WEIGHT_NONE ? 0u : key_of(edge_weights[e]);
}

/* The same for lanes that go along the entries together. */
INLINE uint weight_key_once(__global const uint *restrict edge_weights, offset_t e) {
  return WEIGHT_KIND == WEIGHT_NONE ? 0u : key_of(load_once(edge_weights + e));
}

/* The lightest edge offered to a vertex.  Other work-items may make offers during any of these functions. */
#if SPLIT_KEYS
#define N_PASSES 2               /* first the weights are offered, then the entries of the edges that won */
typedef uint best_t;
INLINE void offer(volatile __global best_t *best, int n, int v, uint weight, uint entry, int pass) {
  if (pass == 0) lower_to(best + v, weight);
  else if (load_relaxed(best + v) == weight) lower_to(best + n + v, entry);
}
INLINE int may_lower(volatile __global best_t *best, int v, uint weight) { return weight <= load_relaxed(best + v); }
INLINE uint best_entry(volatile __global best_t *best, int n, int v) { return load_relaxed(best + n + v); }
INLINE int is_best(volatile __global best_t *best, int n, int v, uint weight, uint entry) {
  return load_relaxed(best + n + v) == entry;
}
INLINE void set_best(volatile __global best_t *best, int n, int v, uint weight, uint entry) {
  store_relaxed(best + v, weight);
  store_relaxed(best + n + v, entry);
}
#else
#define N_PASSES 1
typedef ulong best_t;
INLINE void offer(volatile __global best_t *best, int n, int v, uint weight, uint entry, int pass) {
  lower_to(best + v, (ulong)weight << 32 | entry);
}
INLINE int may_lower(volatile __global best_t *best, int v, uint weight) {
  return weight <= (uint)(load_relaxed(best + v) >> 32);
}
INLINE uint best_entry(volatile __global best_t *best, int n, int v) { return (uint)load_relaxed(best + v); }
INLINE int is_best(volatile __global best_t *best, int n, int v, uint weight, uint entry) {
  return best_entry(best, n, v) == entry;
}
INLINE void set_best(volatile __global best_t *best, int n, int v, uint weight, uint entry) {
  store_relaxed(best + v, (ulong)weight << 32 | entry);
}
#endif
INLINE void clear_best(volatile __global best_t *best, int n, int v) { set_best(best, n, v, 0xffffffffu, NO_ENTRY); }
#endif
