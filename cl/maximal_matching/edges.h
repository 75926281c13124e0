/* The order of the edges of a vertex, the same at both ends: by weight, then by a hash of the two ends.
 *
 * WEIGHT_KIND  the type of edge_weights; all are compared as unsigned numbers of the same order
 *
 * The hash adds up hashes of both ends, which are bijections, so no two neighbours of a vertex have the same one.  Edges
 * that are equal in this order have no vertex in common, or are parallel.
 */
#ifndef CLGRAPH_MAXIMAL_MATCHING_EDGES_H
#define CLGRAPH_MAXIMAL_MATCHING_EDGES_H
#include "common/atomics.h"
#include "common/hashes.h"
#include "common/subgroup.h"

#define WEIGHT_NONE 0            /* all edges weigh the same */
#define WEIGHT_INT 1
#define WEIGHT_LONG 2
#define WEIGHT_FLOAT 3
#define WEIGHT_DOUBLE 4          /* read as its bits, so that no device needs doubles */
#ifndef WEIGHT_KIND
#define WEIGHT_KIND WEIGHT_INT
#endif
#if WEIGHT_KIND == WEIGHT_LONG || WEIGHT_KIND == WEIGHT_DOUBLE
typedef ulong weight_t;
#define SIGN_BIT (1ul << 63)
#else
typedef uint weight_t;
#define SIGN_BIT (1u << 31)
#endif
#ifndef STEPS                    /* entries that a lane has in flight */
#define STEPS 4
#endif

#define NOBODY (-1)              /* the mate of a vertex that has none; the choice of a vertex that has made none */
#define NOTHING_LEFT (-2)        /* the choice of a vertex whose neighbours all have mates */

typedef struct {                 /* the best edge of a vertex so far */
  weight_t weight;
  uint hash;
  int u;                         /* NOTHING_LEFT without an edge */
} edge_t;

typedef struct {
  __global const offset_t *row_offsets;
  __global const int *column_indices;
  __global const weight_t *edge_weights;
  volatile __global int *mates;
  uint key;
} graph_t;

INLINE weight_t key_of(weight_t bits) {
#if WEIGHT_KIND == WEIGHT_FLOAT || WEIGHT_KIND == WEIGHT_DOUBLE
  if (bits == SIGN_BIT) bits = 0u;  /* -0 equals 0 */
  return bits & SIGN_BIT ? ~bits : bits | SIGN_BIT;
#else
  return bits ^ SIGN_BIT;
#endif
}
/* Returns the weight whose key is `key`. */
INLINE weight_t bits_of(weight_t key) {
#if WEIGHT_KIND == WEIGHT_FLOAT || WEIGHT_KIND == WEIGHT_DOUBLE
  return key & SIGN_BIT ? key ^ SIGN_BIT : ~key;
#else
  return key ^ SIGN_BIT;
#endif
}
INLINE uint hash_of(int v, uint key) { return hash_murmur3((uint)v ^ key); }
/* Returns the hash of an edge from the sum of its ends' hashes.  The sum itself would give cliques long chains of choices. */
INLINE uint edge_hash(uint sum) { return (sum ^ (sum >> 15)) * 0x85ebca6bu; }

INLINE int is_better(edge_t a, edge_t b) {
  if (a.u < 0 || b.u < 0) return a.u >= 0;
  return a.weight > b.weight || (a.weight == b.weight && a.hash > b.hash);
}

/* Returns the best edge of v to a neighbour without a mate among every stride-th entry from number `lane` on.  is_fresh: no
 * vertex has a mate yet. */
INLINE edge_t best_edge(int v, uint lane, uint stride, int is_fresh, graph_t on) {
  edge_t best = {0u, 0u, NOTHING_LEFT};
  const offset_t last = on.row_offsets[v + 1];
  const uint own = hash_of(v, on.key);
  for (offset_t e = on.row_offsets[v] + (offset_t)lane; e < last; e += (offset_t)(STEPS * stride)) {
    int u[STEPS], mate[STEPS];
    uint hash[STEPS];
    weight_t weight[STEPS];
    for (uint k = 0u; k < STEPS; k++) {
      const offset_t at = min(e + (offset_t)(k * stride), last - 1);
      u[k] = on.column_indices[at];
      weight[k] = WEIGHT_KIND == WEIGHT_NONE ? (weight_t)0 : key_of(on.edge_weights[at]);
    }
    for (uint k = 0u; k < STEPS; k++) {
      hash[k] = edge_hash(own + hash_of(u[k], on.key));
      const edge_t found = {weight[k], hash[k], u[k]};
      if (u[k] == v || !is_better(found, best)) u[k] = NOTHING_LEFT;
    }
    for (uint k = 0u; k < STEPS; k++)  /* 0 where the edge is not wanted */
      mate[k] = is_fresh ? NOBODY : load_relaxed_if(u[k] >= 0, on.mates + max(u[k], 0));
    for (uint k = 0u; k < STEPS; k++) {
      const edge_t found = {weight[k], hash[k], mate[k] == NOBODY ? u[k] : NOTHING_LEFT};
      if (is_better(found, best)) best = found;
    }
  }
  return best;
}

/* Returns the best edge of the lanes of each aligned group of `width` lanes. */
INLINE edge_t best_of_lanes(edge_t best, uint width) {
  for (uint mask = width / 2u; mask; mask >>= 1) {
    edge_t other;
    other.weight = sg_xor(best.weight, mask);
    other.hash = sg_xor(best.hash, mask);
    other.u = sg_xor(best.u, mask);
    if (is_better(other, best)) best = other;
  }
  return best;
}
#endif
