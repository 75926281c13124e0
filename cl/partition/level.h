/* The levels of a multilevel partition.
 *
 * levels has LEVEL_WORDS words for each level.  Level 0 is the user's graph, whose arrays are separate arguments.  The
 * arrays of all other levels follow each other in one array, the arena; the words have their positions.  A finished level
 * never changes.
 */
#ifndef CLGRAPH_LEVEL_H
#define CLGRAPH_LEVEL_H
#include "common/atomics.h"
#include "common/shares.h"

#define LEVEL_VERTICES 0
#define LEVEL_ENTRIES 1
#define LEVEL_ROWS 2             /* position in the arena of its row offsets, ... */
#define LEVEL_COLUMNS 3
#define LEVEL_EDGE_WEIGHTS 4
#define LEVEL_VERTEX_WEIGHTS 5
#define LEVEL_MAP 6              /* ... of the map from its vertices to vertices of the next level, */
#define LEVEL_END 7              /* ... and of the free space after it */
#define LEVEL_CUT 8              /* the cut after refinement, and the number of its turns */
#define LEVEL_TURNS 9
#define LEVEL_WORDS 10
#define MAX_LEVELS 64

#ifndef UNIT_EDGES               /* 1: edges of level 0 have no weights */
#define UNIT_EDGES 1
#endif
#ifndef UNIT_VERTICES
#define UNIT_VERTICES 1
#endif
#define NOBODY (-1)
#define LEFT_OUT (-2)            /* the mate of a vertex without edges, which is not on coarser levels */

/* LEVELS_PARAMETERS: the parameters of every kernel that reads levels.  LEVEL(l) reads level l from them. */
#define LEVELS_PARAMETERS                                                                             \
  __global const int *row_offsets, __global const int *column_indices, __global const int *edge_weights, \
  __global const int *vertex_weights, __global long *levels, __global int *arena
#define LEVELS_ARGUMENTS row_offsets, column_indices, edge_weights, vertex_weights, levels, arena
#define LEVEL(l) level_of(l, LEVELS_ARGUMENTS)

typedef struct {
  uint n;
  __global const int *rows, *columns, *edge_weights, *vertex_weights;  /* 0 if all weights are 1 */
  __global int *map;
} level_t;

INLINE level_t level_of(uint l, __global const int *row_offsets, __global const int *column_indices,
                        __global const int *edge_weights, __global const int *vertex_weights,
                        __global const long *levels, __global int *arena) {
  __global const long *words = levels + l * LEVEL_WORDS;
  level_t level;
  level.n = (uint)words[LEVEL_VERTICES];
  level.map = arena + words[LEVEL_MAP];
  if (l) {
    level.rows = arena + words[LEVEL_ROWS];
    level.columns = arena + words[LEVEL_COLUMNS];
    level.edge_weights = arena + words[LEVEL_EDGE_WEIGHTS];
    level.vertex_weights = arena + words[LEVEL_VERTEX_WEIGHTS];
  } else {
    level.rows = row_offsets;
    level.columns = column_indices;
    level.edge_weights = UNIT_EDGES ? 0 : edge_weights;
    level.vertex_weights = UNIT_VERTICES ? 0 : vertex_weights;
  }
  return level;
}
INLINE int edge_weight(const level_t *level, int e) { return level->edge_weights ? level->edge_weights[e] : 1; }
INLINE int vertex_weight(const level_t *level, int v) { return level->vertex_weights ? level->vertex_weights[v] : 1; }

/* Returns a hash of the edge between u and v, the same from both ends. */
INLINE uint edge_hash(uint seed, uint u, uint v) { return mixed(mixed(seed ^ min(u, v)) + max(u, v)); }

/* Returns the key of entry e, which leads from v to u; matchings take the greatest key.  Its upper half is the edge's
 * rating: its squared weight divided by the weights of both ends.  So heavy edges are taken first, and light vertices
 * before vertices that are heavy already.  This keeps coarse vertices of similar size and compact.  Edges of equal rating
 * are ordered by their hashes.
 *
 * M. Holtgrewe, P. Sanders, C. Schulz, "Engineering a scalable high quality graph partitioner", IPDPS 2010.  The bits of a
 * float are nearly linear in its logarithm, so the difference of the bits replaces the quotient.  Both products are
 * rounded the same way on every device; a quotient might not be. */
INLINE ulong edge_key(const level_t *on, uint seed, int v, int u, int e) {
  const float weight = (float)edge_weight(on, e);
  const float ends = (float)max(1, vertex_weight(on, v)) * (float)max(1, vertex_weight(on, u));
  const int rating = as_int(weight * weight) - as_int(ends);
  return (ulong)((uint)rating ^ 0x80000000u) << 32 | edge_hash(seed, (uint)u, (uint)v);
}
#endif
