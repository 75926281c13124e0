/* PageRank and its relatives: the types, the update of one vertex, and the end of a round.
 *
 * A round computes the values of all vertices from the shares of the round before: it adds up the shares along each row
 * of v, its predecessors, and an epilogue makes the value of v from this sum.
 *
 *   PAGERANK     (1 - alpha) * home[v] + alpha * (sum + mass * refuge[v])
 *   EIGENVECTOR  (sum + value of v) / mass
 *   KATZ         home[v] + alpha * sum
 *   HITS         sum / mass; odd rounds make authorities, even rounds hubs, which add up along the rows of successors
 *
 * In PageRank, home is the distribution of jumps, refuge the distribution of jumps from dangling vertices, which have no
 * outgoing edges, and the mass is the rank of these.  The share of a vertex is its rank times scale: 1 / the weight of
 * its outgoing edges, or 0 if it is dangling.  In the others the share is the value.  The mass is then the sum of all
 * values that the round computes.  It is known before the round, because each value counts as often as its vertex's
 * edges lead on: scale is the weight of these edges.  So values add up to 1, and the change of a round needs no second
 * pass.
 *
 * A batch ranks the vertices for several homes at once.  TEAM work-items share the ranks of a vertex, and each of them
 * has LANES of these as a vector (rank_t).  So a load of a share brings all ranks of a vertex.
 *
 *   shares    two arrays of n: round k reads array (k - 1) % 2 and writes array k % 2
 *   partials  2 sums for each work-group and lane: change of values, and mass of the next round
 *   totals    the same two sums over all work-groups, in a fixed order.  So a device gets the same values in every run.
 *
 * Races: work-groups write their own partials, and the last one of a round to arrive adds all of them up.  It is the
 * last one because it has drawn the last ticket; a fence before each ticket makes the partials of others visible.
 */
#ifndef CLGRAPH_PAGERANK_STATE_H
#define CLGRAPH_PAGERANK_STATE_H
#include "common/atomics.h"

#define PAGERANK 0               /* epilogues */
#define EIGENVECTOR 1
#define KATZ 2
#define HITS 3
#ifndef EPILOGUE
#define EPILOGUE PAGERANK
#endif
#ifndef RANK_T                   /* type of a rank and of weights: float or double */
#define RANK_T float
#endif
#ifndef LANES                    /* ranks of a vertex that a work-item has: 1, 2, 4, 8 or 16 */
#define LANES 1
#endif
#ifndef TEAM                     /* work-items that share a vertex: a power of 2 that divides WG_SIZE */
#define TEAM 1
#endif
#ifndef WEIGHTED                 /* entries have weights */
#define WEIGHTED 0
#endif
#ifndef PERSONAL                 /* home is an array; otherwise all vertices have the same probability */
#define PERSONAL 0
#endif
#ifndef INITIAL                  /* the ranks before the first round are an array; otherwise all are equal */
#define INITIAL 0
#endif
#ifndef REFUGE                   /* refuge is an array; otherwise it is home */
#define REFUGE 0
#endif
#if DEV_HAS_FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define SUM_T double
#else
#define SUM_T float
#endif
typedef RANK_T number_t;
typedef SUM_T setting_t;
#if LANES == 1
typedef RANK_T rank_t;
typedef SUM_T sum_t;
#define AS_RANK(x) ((rank_t)(x))
#define AS_SUM(x) ((sum_t)(x))
#define IS_ANY(x) (x)
#else
#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)
typedef JOINED(RANK_T, LANES) rank_t;
typedef JOINED(SUM_T, LANES) sum_t;
#define AS_RANK(x) JOINED(convert_, JOINED(RANK_T, LANES))(x)
#define AS_SUM(x) JOINED(convert_, JOINED(SUM_T, LANES))(x)
#define IS_ANY(x) any(x)
#endif
#if TEAM > 1
#define MEMBER ((int)get_local_id(0) % TEAM)
#define PLACES(n) ((size_t)(n) * TEAM)          /* vectors of n vertices */
#define IS_OF_FIRST_TEAM(i) ((i) < TEAM)
#else                            /* simple forms, by which compilers keep the loads of pull_blocks together */
#define MEMBER 0
#define PLACES(n) (n)
#define IS_OF_FIRST_TEAM(i) ((i) == 0)
#endif
#define PLACE(v) (PLACES(v) + MEMBER)           /* the ranks of v that belong to this work-item */

#define ALPHA 0                  /* places in settings */
#define EVEN 1                   /* home of all vertices, if it is not an array */
#define TOLERANCE 2
#define FIRST 3                  /* value of all vertices before the first round, if these are not an array */
#define SETTINGS 4
#define CHANGE 0                 /* places in totals, and in the partials of a work-group */
#define MASS 1
#define IS_WHOLE(round) (EPILOGUE != HITS || !((round) & 1u))
#define TICKET 0                 /* words of control */
#define ROUNDS 1                 /* number of finished rounds */
#define DONE 2                   /* 1 as soon as the change is below the tolerance */
#define CONTROL_WORDS 3

typedef struct {                 /* sums of a work-item over its vertices */
  sum_t change, mass;
} sums_t;

typedef struct {                 /* the values that a round uses for all vertices */
  setting_t alpha, even;
  sum_t mass;
} round_t;

INLINE round_t begin_round(__global const setting_t *settings, const volatile __global sum_t *totals) {
  round_t r = {settings[ALPHA], settings[EVEN], totals[2 * MEMBER + MASS]};
#if EPILOGUE == EIGENVECTOR || EPILOGUE == HITS
  r.alpha = r.mass > (sum_t)0 ? (sum_t)1 / r.mass : (sum_t)0;
#endif
  return r;
}

INLINE number_t scale_of(int v, __global const number_t *scale) {
#if EPILOGUE == KATZ
  return (number_t)1;
#else
  return scale[v];
#endif
}

/* Store the value of v and its share, and add to the mass of the next round. */
INLINE void store(int v, rank_t rank, number_t scale, __global rank_t *ranks, __global rank_t *share, sums_t *sums) {
  ranks[PLACE(v)] = rank;
#if EPILOGUE == PAGERANK
  share[PLACE(v)] = rank * scale;
  if (scale == (number_t)0) sums->mass += AS_SUM(rank);
#else
  share[PLACE(v)] = rank;
#if EPILOGUE == EIGENVECTOR
  sums->mass += AS_SUM(rank);
#endif
#if EPILOGUE != KATZ
  sums->mass += AS_SUM(rank) * (setting_t)scale;
#endif
#endif
}

/* The epilogue.  sum: the shares of the predecessors of v; old: its value before. */
INLINE sum_t value_of(int v, sum_t sum, rank_t old, round_t r, __global const rank_t *home,
                      __global const number_t *refuge) {
#if EPILOGUE == EIGENVECTOR
  return r.alpha * (sum + AS_SUM(old));
#elif EPILOGUE == HITS
  return r.alpha * sum;
#else
#if PERSONAL
  sum_t at_home = AS_SUM(home[PLACE(v)]);
#else
  sum_t at_home = (sum_t)r.even;
#endif
#if EPILOGUE == KATZ
  return at_home + r.alpha * sum;
#else
#if REFUGE
  sum_t from_dangling = r.mass * (setting_t)refuge[v];
#else
  sum_t from_dangling = r.mass * at_home;  /* A statement of its own: it is the same for all vertices without homes. */
#endif
  return ((setting_t)1 - r.alpha) * at_home + r.alpha * (sum + from_dangling);
#endif
#endif
}

/* Compute and store the value of v. */
INLINE void update(int v, sum_t sum, rank_t old, number_t scale, round_t r, __global const rank_t *home,
                   __global const number_t *refuge, __global rank_t *ranks, __global rank_t *share, sums_t *sums) {
  rank_t rank = AS_RANK(value_of(v, sum, old, r, home, refuge));
  sums->change += fabs(AS_SUM(rank) - AS_SUM(old));
  store(v, rank, scale, ranks, share, sums);
}

/* Add up pairs of numbers over the work-group, in a fixed order, and those of each lane of a batch apart.  The result is
 * right in the first TEAM work-items.  A barrier must follow before scratch is written again. */
INLINE sums_t over_group(sums_t sums, __local sum_t *scratch) {
#if WG_SIZE > TEAM
  int i = get_local_id(0);
  scratch[i] = sums.change;
  scratch[WG_SIZE + i] = sums.mass;
  for (int width = WG_SIZE / 2; width >= TEAM; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < width) {
      scratch[i] += scratch[i + width];
      scratch[WG_SIZE + i] += scratch[WG_SIZE + i + width];
    }
  }
  if (IS_OF_FIRST_TEAM(i)) {
    sums.change = scratch[MEMBER];
    sums.mass = scratch[WG_SIZE + MEMBER];
  }
#endif
  return sums;
}

/* Every work-item of every group calls this once a round.  scratch has 2 * WG_SIZE numbers. */
INLINE void end_round(uint round, sums_t sums, __local sum_t *scratch, __local int *is_last,
                      __global const setting_t *settings, volatile __global sum_t *partials,
                      volatile __global sum_t *totals, volatile __global uint *control) {
  int groups = get_num_groups(0), i = get_local_id(0);
  sums = over_group(sums, scratch);
  if (IS_OF_FIRST_TEAM(i)) {
    partials[2 * (TEAM * get_group_id(0) + MEMBER) + CHANGE] = sums.change;
    partials[2 * (TEAM * get_group_id(0) + MEMBER) + MASS] = sums.mass;
    fence_device();
  }
#if TEAM > 1
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
  if (i == 0) {
    *is_last = fetch_add(control + TICKET, 1u) == (uint)groups - 1u;
    if (*is_last) fence_device();
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (!*is_last) return;
  sums.change = sums.mass = (sum_t)0;
  for (int g = i / TEAM; g < groups; g += WG_SIZE / TEAM) {
    sums.change += partials[2 * (TEAM * g + MEMBER) + CHANGE];
    sums.mass += partials[2 * (TEAM * g + MEMBER) + MASS];
  }
  sums = over_group(sums, scratch);
  if (IS_OF_FIRST_TEAM(i)) {
    totals[2 * MEMBER + CHANGE] = sums.change;
    totals[2 * MEMBER + MASS] = sums.mass;
  }
#if TEAM > 1
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
  if (i) return;
  /* NaN does not move: values have grown beyond all numbers, which ends the run. */
  int moves = IS_ANY(sums.change >= settings[TOLERANCE]);
  for (int k = 1; k < TEAM; k++) moves |= IS_ANY(totals[2 * k + CHANGE] >= settings[TOLERANCE]);
  store_relaxed(control + TICKET, 0u);
  control[ROUNDS] = round;
  control[DONE] = round > 0u && IS_WHOLE(round) && !moves;
}
#endif
