/* The levels of pairwise_fm, and the blocks of vertices that its few work-items ("workers") take.
 *
 * levels has LEVEL_WORDS words per level.  Level 0 is the user's graph, whose arrays are separate arguments.  Arrays of
 * the other levels, and the maps and parts of level 0, follow each other in one array, the arena; the words have their
 * positions.  Rows of a coarse level are in any order: a vertex has two ints, the begin and the end of its row.
 */
#ifndef CLGRAPH_WORKER_LEVEL_H
#define CLGRAPH_WORKER_LEVEL_H
#include "common/atomics.h"
#include "common/hashes.h"

#define LEVEL_VERTICES 0
#define LEVEL_ROWS 1             /* position in the arena of its rows, ... */
#define LEVEL_VERTEX_WEIGHTS 2
#define LEVEL_MAP 3              /* ... of the map from its vertices to vertices of the next level, */
#define LEVEL_PARTS 4            /* ... of the parts of its vertices, */
#define LEVEL_ENTRIES 5          /* ... and of its entries: a neighbour and a weight each */
#define LEVEL_END 6
#define LEVEL_WORDS 8
#define MAX_LEVELS 64

#ifndef UNIT_EDGES               /* 1: edges of level 0 have no weights */
#define UNIT_EDGES 1
#endif
#ifndef UNIT_VERTICES
#define UNIT_VERTICES 1
#endif
#ifndef TAKEN                    /* vertices that a worker takes at once */
#define TAKEN 512u
#endif
#define NO_VERTEX (-1)           /* also the next level's vertex of a vertex without edges, which is on no other level */

#define LEVELS_PARAMETERS                                                                                 \
  __global const int *row_offsets, __global const int *column_indices, __global const int *edge_weights, \
  __global const int *vertex_weights, __global long *levels, __global int *arena
#define LEVELS_ARGUMENTS row_offsets, column_indices, edge_weights, vertex_weights, levels, arena
#define LEVEL(l) level_of(l, LEVELS_ARGUMENTS)

typedef struct {
  int n, row_ints, entry_ints;   /* ints per vertex of rows and per entry of columns: 1 on level 0, else 2 */
  __global const int *rows, *columns, *edge_weights, *vertex_weights;  /* 0 if all weights are 1 */
  __global int *map, *parts;
} level_t;

INLINE level_t level_of(int l, __global const int *row_offsets, __global const int *column_indices,
                        __global const int *edge_weights, __global const int *vertex_weights,
                        __global const long *levels, __global int *arena) {
  __global const long *words = levels + l * LEVEL_WORDS;
  level_t level;
  level.n = (int)words[LEVEL_VERTICES];
  level.map = arena + words[LEVEL_MAP];
  level.parts = arena + words[LEVEL_PARTS];
  level.row_ints = level.entry_ints = l ? 2 : 1;
  level.rows = l ? arena + words[LEVEL_ROWS] : row_offsets;
  level.columns = l ? arena + words[LEVEL_ENTRIES] : column_indices;
  level.edge_weights = l ? level.columns + 1 : UNIT_EDGES ? 0 : edge_weights;
  level.vertex_weights = l ? arena + words[LEVEL_VERTEX_WEIGHTS] : UNIT_VERTICES ? 0 : vertex_weights;
  return level;
}
INLINE int row_begin(const level_t *level, int v) { return level->rows[(long)v * level->row_ints]; }
INLINE int row_end(const level_t *level, int v) { return level->rows[(long)v * level->row_ints + 1]; }
INLINE int neighbour(const level_t *level, int e) { return level->columns[(long)e * level->entry_ints]; }
INLINE int edge_weight(const level_t *level, int e) {
  return level->edge_weights ? level->edge_weights[(long)e * level->entry_ints] : 1;
}
/* Whether v, of the user's graph, has no edges; then it is on no other level, and in no part. */
INLINE int is_left_out(const level_t *level, int v) { return level->row_ints == 1 && row_begin(level, v) == row_end(level, v); }
INLINE int vertex_weight(const level_t *level, int v) { return level->vertex_weights ? level->vertex_weights[v] : 1; }

/* Return the first of the next TAKEN items that no worker has taken.  Each launch has a counter of its own. */
INLINE int take_items(volatile __global int *counter) { return fetch_add(counter, (int)TAKEN); }

/* Sums of edge weights by key: a hash table of a worker, as large as a row needs.  used lists the slots of its keys. */
typedef struct {
  __global int *keys, *sums, *used;
  int n_used, shift;
} table_t;

/* The tables of a worker lie in 3 * room ints; room is a power of two, and all keys are NO_VERTEX. */
INLINE table_t table_of(int worker, int room, __global int *tables) {
  table_t table;
  table.keys = tables + (long)worker * 3 * room;
  table.sums = table.keys + room;
  table.used = table.sums + room;
  table.n_used = 0;
  table.shift = 0;
  return table;
}
/* Prepare an empty table for at most n keys. */
INLINE void open_table(table_t *table, int n) {
  table->shift = (int)clz(max(2u * (uint)n, 4u) - 1u);
}
INLINE void add_to_table(table_t *table, int key, int weight) {
  const uint last = 0xFFFFFFFFu >> table->shift;
  uint slot = ((uint)key * 0x9E3779B1u) >> table->shift;
  while (table->keys[slot] != key) {
    if (table->keys[slot] == NO_VERTEX) {
      table->keys[slot] = key;
      table->sums[slot] = 0;
      table->used[table->n_used++] = (int)slot;
      break;
    }
    slot = (slot + 1u) & last;
  }
  table->sums[slot] += weight;
}
INLINE void clear_table(table_t *table) {
  for (int i = 0; i < table->n_used; i++) table->keys[table->used[i]] = NO_VERTEX;
  table->n_used = 0;
}
#endif
