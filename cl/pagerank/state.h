/* PageRank: the types, the update of one vertex, and the end of a round.
 *
 * A round computes the ranks of all vertices from the shares of the round before.  The share of a vertex is its rank
 * divided by the weight of its outgoing edges; a vertex without outgoing edges is dangling and has no share.  With
 * alpha, the probability of following an edge, the rank of v becomes
 *
 *   (1 - alpha) * home[v] + alpha * (sum of the shares of v's predecessors + ranks of dangling vertices * refuge[v])
 *
 * home is the distribution of jumps, and refuge the distribution of jumps from dangling vertices.
 *
 *   shares    two arrays of n: round k reads array (k - 1) % 2 and writes array k % 2
 *   partials  2 sums for each work-group: change of ranks, and rank of dangling vertices
 *   totals    the same two sums over all work-groups, in a fixed order.  So a device gets the same ranks in every run.
 *
 * Races: work-groups write their own partials, and the last one of a round to arrive adds all of them up.  It is the
 * last one because it has drawn the last ticket; a fence before each ticket makes the partials of others visible.
 */
#ifndef CLGRAPH_PAGERANK_STATE_H
#define CLGRAPH_PAGERANK_STATE_H
#include "common/atomics.h"

#ifndef RANK_T                   /* type of ranks and weights: float or double */
#define RANK_T float
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
typedef RANK_T rank_t;
#if DEV_HAS_FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double sum_t;
#else
typedef float sum_t;
#endif

#define ALPHA 0                  /* places in settings */
#define EVEN 1                   /* 1 / n */
#define TOLERANCE 2
#define SETTINGS 3
#define CHANGE 0                 /* places in totals, and in the partials of a work-group */
#define DANGLING 1
#define TICKET 0                 /* words of control */
#define ROUNDS 1                 /* number of finished rounds */
#define DONE 2                   /* 1 as soon as the change is below the tolerance */
#define CONTROL_WORDS 3

typedef struct {                 /* sums of a work-item over its vertices */
  sum_t change, dangling;
} sums_t;

typedef struct {                 /* the values that a round uses for all vertices */
  sum_t alpha, even, dangling;
} round_t;

INLINE round_t begin_round(__global const sum_t *settings, const volatile __global sum_t *totals) {
  round_t r = {settings[ALPHA], settings[EVEN], totals[DANGLING]};
  return r;
}

/* Store the rank of v and its share.  sum: the shares of its predecessors; old: its rank; scale: 1 / the weight of its
 * outgoing edges, or 0. */
INLINE void update(int v, sum_t sum, rank_t old, rank_t scale, round_t r, __global const rank_t *home,
                   __global const rank_t *refuge, __global rank_t *ranks, __global rank_t *share, sums_t *sums) {
#if PERSONAL
  sum_t at_home = home[v];
#else
  sum_t at_home = r.even;
#endif
#if REFUGE
  sum_t from_dangling = r.dangling * refuge[v];
#else
  sum_t from_dangling = r.dangling * at_home;
#endif
  sum_t found = ((sum_t)1 - r.alpha) * at_home + r.alpha * (sum + from_dangling);
  rank_t rank = (rank_t)found;
  sums->change += fabs((sum_t)rank - (sum_t)old);
  if (scale == (rank_t)0) sums->dangling += rank;
  ranks[v] = rank;
  share[v] = rank * scale;
}

/* Add up a pair of numbers over the work-group, in a fixed order.  The result is right in work-item 0.  A barrier must
 * follow before scratch is written again. */
INLINE sums_t over_group(sums_t sums, __local sum_t *scratch) {
#if WG_SIZE > 1
  int i = get_local_id(0);
  scratch[i] = sums.change;
  scratch[WG_SIZE + i] = sums.dangling;
  for (int width = WG_SIZE / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < width) {
      scratch[i] += scratch[i + width];
      scratch[WG_SIZE + i] += scratch[WG_SIZE + i + width];
    }
  }
  if (i == 0) {
    sums.change = scratch[0];
    sums.dangling = scratch[WG_SIZE];
  }
#endif
  return sums;
}

/* Every work-item of every group calls this once a round.  scratch has 2 * WG_SIZE numbers. */
INLINE void end_round(uint round, sums_t sums, __local sum_t *scratch, __local int *is_last,
                      __global const sum_t *settings, volatile __global sum_t *partials, volatile __global sum_t *totals,
                      volatile __global uint *control) {
  int groups = get_num_groups(0), i = get_local_id(0);
  sums = over_group(sums, scratch);
  if (i == 0) {
    partials[2 * get_group_id(0) + CHANGE] = sums.change;
    partials[2 * get_group_id(0) + DANGLING] = sums.dangling;
    fence_device();
    *is_last = fetch_add(control + TICKET, 1u) == (uint)groups - 1u;
    if (*is_last) fence_device();
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (!*is_last) return;
  sums.change = sums.dangling = (sum_t)0;
  for (int g = i; g < groups; g += WG_SIZE) {
    sums.change += partials[2 * g + CHANGE];
    sums.dangling += partials[2 * g + DANGLING];
  }
  sums = over_group(sums, scratch);
  if (i) return;
  totals[CHANGE] = sums.change;
  totals[DANGLING] = sums.dangling;
  store_relaxed(control + TICKET, 0u);
  control[ROUNDS] = round;
  control[DONE] = round > 0u && sums.change < settings[TOLERANCE];
}
#endif
