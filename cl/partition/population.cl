/* Many partitions of the coarse levels at once: each work-group has one, an individual, and refines it alone.  Two parents
 * are combined into a child: it keeps the blocks on which they agree, and other vertices join neighbouring blocks.
 *
 * A child's block is the intersection of a block of the first parent with the block of the second that shares most weight
 * with it.  For a few rounds, a vertex without a block takes the block of its heaviest edge to a vertex with one.  After
 * that, it takes its block in the first parent.  A child that is better replaces its first parent.
 *
 * population has, for each individual, VERTEX_ARRAYS arrays of room_each items, then the PART_ARRAYS arrays of the parts,
 * the histogram and the state.  parents has, for each individual, its parts (room_each items) and the parts' weights.
 *
 * After P. Sanders, C. Schulz, "Distributed evolutionary graph partitioning", ALENEX 2012, and for the blocks B. Galinier,
 * Z. Boujbel, M. Fernandes, "An efficient memetic algorithm for the graph partitioning problem", Annals of Operations
 * Research 191, 2011.
 */
#include "partition/refining.h"

#ifndef FILLING_ROUNDS
#define FILLING_ROUNDS 8
#endif
#define INDIVIDUAL_PART_WORDS (PART_ARRAYS + BUCKETS)
#define POPULATION_PARAMETERS                                                                         \
  uint level, uint last_level, uint n_parts, uint room_each, LEVELS_PARAMETERS, __global const int *parts_work, \
  __global int *population
/* Declares the individual of this group: its arrays, and its initial state. */
#define INDIVIDUAL                                                                                    \
  LOCAL_ARRAY uint desk[DESK_WORDS];                                                                  \
  LOCAL_ARRAY int counters[SUB_GROUPS_PER_GROUP * PARTS_ROOM];                                        \
  const uint individual = get_group_id(0);                                                            \
  refined_t r;                                                                                        \
  r.n_parts = n_parts; r.room = room_each; r.member = 0u; r.members = 1u; r.counters = counters;      \
  r.work = population + individual * ((size_t)VERTEX_ARRAYS * room_each +                             \
                                      (size_t)INDIVIDUAL_PART_WORDS * n_parts + REFINE_WORDS);        \
  r.parts_work = r.work + (size_t)VERTEX_ARRAYS * room_each;                                          \
  r.histogram = r.parts_work + (size_t)PART_ARRAYS * n_parts;                                         \
  r.state = (__global uint *)(r.histogram + (size_t)BUCKETS * n_parts);                               \
  for (uint i = get_local_id(0); i < REFINE_WORDS; i += WG_SIZE) r.state[i] = 0u;                     \
  for (uint i = get_local_id(0); i < PART_ARRAYS * n_parts; i += WG_SIZE) r.parts_work[i] = parts_work[i]; \
  group_barrier();
#define FOR_ITEMS(i, n) for (uint i = get_local_id(0); i < (n); i += WG_SIZE)
INLINE ulong score_of(const refined_t *r) {
  return ((ulong)r->state[REFINE_BEST_OVER] << 32) | r->state[REFINE_BEST_CUT];
}

/* The individuals begin with the partitions that grow_parts made. */
KERNEL refine_individuals(POPULATION_PARAMETERS, __global const int *blocks, uint grown_each, __global const int *grown,
                          __global ulong *scores) {
  INDIVIDUAL
  FOR_ITEMS(p, n_parts) OF_PARTS(&r, BEST_SIZES)[p] = blocks[individual * n_parts + p];
  FOR_ITEMS(v, LEVEL(level).n) ARRAY(&r, BEST)[v] = grown[(size_t)individual * grown_each + v];
  group_barrier();
  refine(&r, level, last_level, 0, 0, desk, 0, LEVELS_ARGUMENTS);
  if (get_local_id(0) == 0) scores[individual] = score_of(&r);
}

/* Finds, for each block of the first parent, the block of the second that shares most weight; shared: n_parts x n_parts. */
INLINE void find_partners(const level_t *on, uint n_parts, __global const int *first, __global const int *second,
                          __global int *shared, __global int *partners) {
  FOR_ITEMS(i, n_parts * n_parts) shared[i] = 0;
  group_barrier();
  FOR_ITEMS(v, on->n)
    if (first[v] != NOBODY) fetch_add(shared + (uint)first[v] * n_parts + (uint)second[v], vertex_weight(on, (int)v));
  group_barrier();
  FOR_ITEMS(p, n_parts) {
    int best = 0;
    for (uint q = 1u; q < n_parts; q++) best = shared[p * n_parts + q] > shared[p * n_parts + (uint)best] ? (int)q : best;
    partners[p] = best;
  }
  group_barrier();
}

/* Makes a child of the group's own individual and another one, and refines it on one level.  shared: (n_parts + 1) *
 * n_parts words for each individual. */
KERNEL cross_individuals(POPULATION_PARAMETERS, uint seed, __global const int *parents, __global int *shared_all,
                         __global ulong *scores) {
  INDIVIDUAL
  const level_t coarse = LEVEL(level);
  const uint n = coarse.n, others = get_num_groups(0) - 1u;
  const uint other = (individual + 1u + (others ? mixed(seed ^ mixed(individual)) % others : 0u)) % get_num_groups(0);
  __global const int *first = parents + individual * ((size_t)room_each + n_parts);
  __global const int *second = parents + other * ((size_t)room_each + n_parts);
  __global int *shared = shared_all + individual * ((size_t)n_parts + 1u) * n_parts;
  __global int *partners = (__global int *)shared + (size_t)n_parts * n_parts;
  __global int *child = ARRAY(&r, BEST), *next = ARRAY(&r, PART), *sizes = OF_PARTS(&r, BEST_SIZES);
  find_partners(&coarse, n_parts, first, second, shared, partners);
  FOR_ITEMS(v, n) child[v] = first[v] != NOBODY && partners[first[v]] == second[v] ? first[v] : NOBODY;
  group_barrier();
  for (int round = 0; round < FILLING_ROUNDS; round++) {
    FOR_ITEMS(v, n) {
      int block = child[v], heaviest = -1;
      for (int e = coarse.rows[v]; block == NOBODY && e < coarse.rows[v + 1]; e++) {
        const int of_other = child[coarse.columns[e]], weight = edge_weight(&coarse, e);
        if (of_other == NOBODY || weight <= heaviest) continue;
        heaviest = weight;
        next[v] = of_other;
      }
      if (heaviest < 0) next[v] = block;
    }
    group_barrier();
    FOR_ITEMS(v, n) child[v] = next[v];
    group_barrier();
  }
  FOR_ITEMS(p, n_parts) sizes[p] = 0;
  group_barrier();
  FOR_ITEMS(v, n) {
    if (child[v] == NOBODY) child[v] = first[v];
    if (child[v] != NOBODY) fetch_add(sizes + child[v], vertex_weight(&coarse, (int)v));
  }
  group_barrier();
  refine(&r, level, last_level, 0, 0, desk, 0, LEVELS_ARGUMENTS);
  if (get_local_id(0) == 0) scores[individual] = score_of(&r);
}

/* Each group keeps its individual as the parent if it is better than the parent, and always in the first generation. */
KERNEL keep_children(uint level, uint n_parts, uint room_each, int is_first, __global const long *levels,
                     __global const int *population, __global const ulong *scores, __global int *parents,
                     __global ulong *parent_scores) {
  const uint individual = get_group_id(0), n = (uint)levels[level * LEVEL_WORDS + LEVEL_VERTICES];
  const ulong before = parent_scores[individual];
  group_barrier();
  if (!is_first && scores[individual] >= before) return;
  __global const int *own = population + individual * ((size_t)VERTEX_ARRAYS * room_each +
                                                       (size_t)INDIVIDUAL_PART_WORDS * n_parts + REFINE_WORDS);
  __global const int *sizes = own + (size_t)VERTEX_ARRAYS * room_each + (size_t)BEST_SIZES * n_parts;
  __global int *parent = parents + individual * ((size_t)room_each + n_parts);
  FOR_ITEMS(v, n) parent[v] = own[(size_t)BEST * room_each + v];
  FOR_ITEMS(p, n_parts) parent[room_each + p] = sizes[p];
  if (get_local_id(0) == 0) parent_scores[individual] = scores[individual];
}

/* One work-group copies the best individual to the partition that other kernels refine, and writes its cut. */
KERNEL keep_best_individual(uint level, uint n_parts, uint n_groups, uint room, uint room_each, __global long *levels,
                            __global const int *parents, __global const ulong *parent_scores, __global int *work,
                            __global int *parts_work, __global uint *state) {
  uint best = 0u;
  for (uint g = 1u; g < n_groups; g++) best = parent_scores[g] < parent_scores[best] ? g : best;
  __global const int *parent = parents + best * ((size_t)room_each + n_parts);
  FOR_ITEMS(v, (uint)levels[level * LEVEL_WORDS + LEVEL_VERTICES]) work[(size_t)BEST * room + v] = parent[v];
  FOR_ITEMS(p, n_parts) parts_work[BEST_SIZES * n_parts + p] = parent[room_each + p];
  if (get_local_id(0) == 0) state[REFINE_BEST_CUT] = levels[level * LEVEL_WORDS + LEVEL_CUT] = (uint)parent_scores[best];
}
