/* What refinement keeps of a partition while it moves vertices, and how it knows the best one that it has seen.
 *
 * work has the arrays of VERTEX_ARRAYS, each of room items; parts_work those of PART_ARRAYS, each of n_parts items.
 * A stamp is the number of an iteration, which only grows, so nothing has to be cleared between iterations.
 *
 * The best partition is kept as BEST.  What has moved since is in the journal, once each (IN_JOURNAL), and is copied to
 * BEST when the partition is the best again.
 */
#ifndef CLGRAPH_REFINEMENT_H
#define CLGRAPH_REFINEMENT_H
#include "partition/level.h"
#include "common/grid_barrier.h"

#define PART 0                   /* of each vertex */
#define BEST 1
#define TARGET 2                 /* the part to which a candidate would move, */
#define GAIN 3                   /* what the cut would lose by that (LP), or the bucket of what it would gain */
#define ASKED 4                  /* stamp: the vertex is a candidate */
#define MOVED 5                  /* stamp: it moves in this iteration, ... */
#define FROM 6                   /* ... out of this part */
#define LOCKED 7                 /* stamp of the last iteration of label propagation in which it moved */
#define FLAGS 8                  /* LISTED, IN_JOURNAL */
#define LIST 9                   /* two lists of vertices that may be at the border of their parts */
#define CANDIDATES 11
#define MOVERS 12
#define JOURNAL 13
#define VERTEX_ARRAYS 14
#define LISTED 1
#define IN_JOURNAL 2

#define SIZES 0                  /* the weight of each part, ... */
#define BEST_SIZES 1             /* ... in the best partition, */
#define LIMITS 2                 /* the most that it may be, */
#define SHARES 3                 /* and what it is to be */
#define FREE 4                   /* sums of what is free in the parts before, n_parts + 1 of them */
#define PART_ARRAYS 6
#define BUCKETS 32               /* of losses, for each part */

#define REFINE_MODE GRID_CONTROL_WORDS  /* words of the state; those of the grid barrier stand before them */
#define REFINE_STAMP (GRID_CONTROL_WORDS + 1)
#define REFINE_CUT (GRID_CONTROL_WORDS + 2)
#define REFINE_BEST_CUT (GRID_CONTROL_WORDS + 3)
#define REFINE_BEST_OVER (GRID_CONTROL_WORDS + 4)  /* weight beyond the limits */
#define REFINE_CHANGE (GRID_CONTROL_WORDS + 5)     /* of the cut by what moves now, twice */
#define REFINE_FRUITLESS (GRID_CONTROL_WORDS + 6)  /* iterations since the best became better by much */
#define REFINE_HEAVY (GRID_CONTROL_WORDS + 7)      /* iterations since no part was too heavy */
#define REFINE_SPREAD (GRID_CONTROL_WORDS + 8)     /* stamp of the last iteration of label propagation */
#define REFINE_READ (GRID_CONTROL_WORDS + 9)       /* which list is read, and which is written */
#define REFINE_WRITE (GRID_CONTROL_WORDS + 10)
#define REFINE_LISTED (GRID_CONTROL_WORDS + 11)    /* how long the list is that is read */
#define REFINE_LENGTH (GRID_CONTROL_WORDS + 12)    /* how long both lists are */
#define REFINE_CANDIDATES (GRID_CONTROL_WORDS + 14)
#define REFINE_MOVERS (GRID_CONTROL_WORDS + 15)
#define REFINE_JOURNAL (GRID_CONTROL_WORDS + 16)
#define REFINE_COPIED (GRID_CONTROL_WORDS + 17)    /* what is to be copied of the journal */
#define REFINE_TURN (GRID_CONTROL_WORDS + 18)      /* iterations on this level */
#define REFINE_WORDS (GRID_CONTROL_WORDS + 20)

#define MODE_SPREAD 0            /* label propagation */
#define MODE_WEAK 1              /* rebalancing of vertices at the border */
#define MODE_STRONG 2            /* ... and of all */
#define MODE_DONE 3

typedef struct {
  uint n_parts, room, member, members;
  int is_finest;
  volatile __global int *work, *parts_work, *histogram;
  volatile __global uint *state;
  __local int *counters;
} refined_t;

#define ARRAY(r, k) ((r)->work + (size_t)(k) * (r)->room)
#define OF_PARTS(r, k) ((r)->parts_work + (size_t)(k) * (r)->n_parts)
#define SHARE_OF(r, n) share_of_members(n, (r)->member, (r)->members)

/* Puts v on the list that is written, if it is on none. */
INLINE void list_vertex(const refined_t *r, int v) {
  if (fetch_or(ARRAY(r, FLAGS) + v, LISTED) & LISTED) return;
  const uint list = r->state[REFINE_WRITE], at = fetch_add(r->state + REFINE_LENGTH + list, 1u);
  ARRAY(r, LIST + list)[at] = v;
}

/* The part of each vertex from that of its coarse one; without a coarser level they are there. */
INLINE void project_parts(const refined_t *r, const level_t *on, int has_coarser) {
  const share_t share = SHARE_OF(r, on->n);
  for (uint i = share.first; i < share.end; i += share.step) {
    const uint v = i + sg_lane();
    if (v >= on->n) continue;
    const int c = has_coarser ? on->map[v] : (int)v;
    ARRAY(r, PART)[v] = c == NOBODY ? NOBODY : ARRAY(r, BEST)[c];
    ARRAY(r, ASKED)[v] = ARRAY(r, MOVED)[v] = ARRAY(r, LOCKED)[v] = 0;
    ARRAY(r, FLAGS)[v] = 0;
  }
  if (r->member == 0 && get_local_id(0) == 0) {
    r->state[REFINE_LENGTH] = r->state[REFINE_LENGTH + 1] = 0u;
    r->state[REFINE_READ] = 1u;
    r->state[REFINE_WRITE] = 0u;
    r->state[REFINE_JOURNAL] = r->state[REFINE_COPIED] = 0u;
    r->state[REFINE_TURN] = r->state[REFINE_FRUITLESS] = r->state[REFINE_HEAVY] = 0u;
    r->state[REFINE_MODE] = MODE_SPREAD;
    r->state[REFINE_CHANGE] = 0u;
    r->state[REFINE_CUT] = has_coarser ? r->state[REFINE_BEST_CUT] : 0u;
  }
}

/* Lists the vertices at the border; returns, where asked for, the weight of the edges there, each from both ends. */
INLINE void list_border(const refined_t *r, const level_t *on, int counts_cut) {
  __global const int *parts = (__global const int *)ARRAY(r, PART);
  const share_t share = SHARE_OF(r, on->n);
  uint cut = 0u;
  for (uint i = share.first; i < share.end; i += share.step) {
    const uint v = i + sg_lane();
    if (v >= on->n) continue;
    const int part = parts[v];
    ARRAY(r, BEST)[v] = part;
    int is_border = 0;
    for (int e = on->rows[v]; e < on->rows[v + 1] && (counts_cut || !is_border); e++) {
      if (parts[on->columns[e]] == part) continue;
      is_border = 1;
      cut += (uint)edge_weight(on, e);
    }
    if (is_border) list_vertex(r, (int)v);
  }
  if (counts_cut) {
    cut = sg_sum(cut);
    if (cut && sg_lane() == 0) fetch_add(r->state + REFINE_CHANGE, cut);
  }
  if (r->member == 0)
    for (uint p = get_local_id(0); p < r->n_parts; p += WG_SIZE) OF_PARTS(r, SIZES)[p] = OF_PARTS(r, BEST_SIZES)[p];
}
#endif
