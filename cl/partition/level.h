/* The levels of a multilevel partition, and how work-items share the work on a level.
 *
 * levels has LEVEL_WORDS words for each level.  Level 0 is the user's graph, whose arrays are separate arguments.  The
 * arrays of all other levels follow each other in one array, the arena; the words have their positions.  A finished level
 * never changes.
 */
#ifndef CLGRAPH_LEVEL_H
#define CLGRAPH_LEVEL_H
#include "common/atomics.h"
#include "common/subgroup.h"

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

/* The items of 0 ... n - 1 that a sub-group takes: on GPUs with a stride, on CPUs consecutive ones.  The loop over them is
 * `for (uint i = share.first; i < share.end; i += share.step)`; a lane takes item i + sg_lane() if that is less than n.
 * All lanes of a sub-group loop together. */
typedef struct { uint first, end, step; } share_t;
INLINE share_t share_of_members(uint n, uint member, uint members) {
  share_t share;
#if DEV_IS_CPU
  const uint teams = members * SUB_GROUPS_PER_GROUP, team = member * SUB_GROUPS_PER_GROUP + sg_in_group();
  const uint each = ((n + teams - 1u) / teams + SUB_GROUP_SIZE - 1u) / SUB_GROUP_SIZE * SUB_GROUP_SIZE;
  share.first = min(n, team * each);
  share.end = min(n, share.first + each);
  share.step = SUB_GROUP_SIZE;
#else
  share.first = member * WG_SIZE + sg_in_group() * SUB_GROUP_SIZE;
  share.end = n;
  share.step = members * WG_SIZE;
#endif
  return share;
}
/* The same for a list whose items differ in work; it takes item i + sg_lane() * stride.  A short list is spread over
 * all sub-groups. */
typedef struct { uint first, end, step, stride; } list_share_t;
INLINE list_share_t share_of_list(uint n, uint member, uint members) {
  const share_t share = share_of_members(n, member, members);
  list_share_t list;
  list.end = share.end;
  list.step = share.step;
#if DEV_IS_CPU
  list.stride = 1u;
  list.first = share.first;
#else
  const int is_few = n <= members * WG_SIZE;
  list.stride = is_few ? members * SUB_GROUPS_PER_GROUP : 1u;
  list.first = is_few ? sg_in_group() * members + member : share.first;
#endif
  return list;
}
INLINE share_t share_of(uint n) { return share_of_members(n, get_group_id(0), get_num_groups(0)); }
/* The same if all lanes of a sub-group share an item. */
INLINE share_t team_share_of(uint n) {
  const uint team = get_group_id(0) * SUB_GROUPS_PER_GROUP + sg_in_group();
  const uint teams = get_num_groups(0) * SUB_GROUPS_PER_GROUP;
  share_t share;
#if DEV_IS_CPU
  const uint each = (n + teams - 1u) / teams;
  share.first = min(n, team * each);
  share.end = min(n, share.first + each);
  share.step = 1u;
#else
  share.first = team;
  share.end = n;
  share.step = teams;
#endif
  return share;
}

INLINE uint mixed(uint x) {      /* murmur3's finaliser */
  x = (x ^ (x >> 16)) * 0x85ebca6bu;
  x = (x ^ (x >> 13)) * 0xc2b2ae35u;
  return x ^ (x >> 16);
}
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
