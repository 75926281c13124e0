/* The state of a refinement: the current partition, and the best one so far.
 *
 * work has VERTEX_ARRAYS arrays of `room` items each; parts_work has PART_ARRAYS arrays of n_parts items each.
 * A stamp is the number of an iteration.  It only grows, so nothing has to be cleared between iterations.
 *
 * The best partition is kept as BEST.  Vertices that have moved since are in the journal, once each (IN_JOURNAL).
 * Their parts are copied to BEST when the current partition is the best again.
 *
 * Nothing here is volatile: a step reads values of earlier steps, and after the barrier between steps the caches of a
 * compute unit have nothing older.  So if many work-items read the same word of the state, memory is read once.
 */
#ifndef CLGRAPH_REFINEMENT_H
#define CLGRAPH_REFINEMENT_H
#include "partition/level.h"
#include "common/grid_barrier.h"

#define PART 0                   /* the part of each vertex */
#define BEST 1
#define TARGET 2                 /* the part to which a candidate would move */
#define GAIN 3                   /* decrease of the cut by that move (label propagation), or bucket of its increase */
#define ASKED 4                  /* stamp of the last iteration in which the vertex was a candidate */
#define MOVED 5                  /* stamp of the last iteration in which it moved, ... */
#define FROM 6                   /* ... and the part that it left */
#define LOCKED 7                 /* stamp of the last iteration of label propagation in which it moved */
#define FLAGS 8                  /* LISTED, IN_JOURNAL */
#define LIST 9                   /* two lists of vertices that may be at the border of their parts */
#define CANDIDATES 11
#define MOVERS 12
#define JOURNAL 13
#define PULL_PART 14             /* the other part with the greatest edge weight to the vertex; NOBODY inside a part */
#define PULL_GAIN 15             /* decrease of the cut by a move there */
#define PULL_OWN 16              /* edge weight to the own part.  All three are valid while the vertex is FRESH. */
#define VERTEX_ARRAYS 17
#define LISTED 1
#define IN_JOURNAL 2
#define FRESH 4                  /* no neighbour has moved since pulls were counted */

#define SIZES 0                  /* the weight of each part, ... */
#define BEST_SIZES 1             /* ... in the best partition, */
#define LIMITS 2                 /* the greatest weight allowed, */
#define SHARES 3                 /* and the intended weight */
#define FINAL_LIMITS 4           /* LIMITS on level 0; coarser levels allow for their heavier vertices */
#define FREE 5                   /* sums of the room in all parts before each part, n_parts + 1 items */
#define PART_ARRAYS 7
#ifndef RECOUNTS                 /* 1: coarse levels lack edges, so the cut is computed again on each level */
#define RECOUNTS 0
#endif
#ifndef SLACK                    /* quarters of the mean vertex weight by which parts of coarse levels may be heavier */
#define SLACK 8
#endif
#ifndef ZONE                     /* a part that receives in a rebalancing keeps 1 / ZONE of its limit free */
#define ZONE 512
#endif
#define DEAD_ZONE(limit) ((limit) / ZONE)
#define BUCKETS 32               /* buckets of losses per part */

#define REFINE_MODE GRID_CONTROL_WORDS  /* words of the state, after the words of the grid barrier */
#define REFINE_STAMP (GRID_CONTROL_WORDS + 1)
#define REFINE_CUT (GRID_CONTROL_WORDS + 2)
#define REFINE_BEST_CUT (GRID_CONTROL_WORDS + 3)
#define REFINE_BEST_OVER (GRID_CONTROL_WORDS + 4)  /* weight beyond the limits */
#define REFINE_CHANGE (GRID_CONTROL_WORDS + 5)     /* twice the change of the cut by the current moves */
#define REFINE_FRUITLESS (GRID_CONTROL_WORDS + 6)  /* iterations since the best partition improved by enough */
#define REFINE_HEAVY (GRID_CONTROL_WORDS + 7)      /* iterations in a row in which a part was too heavy */
#define REFINE_SPREAD (GRID_CONTROL_WORDS + 8)     /* stamp of the last iteration of label propagation */
#define REFINE_READ (GRID_CONTROL_WORDS + 9)       /* the list that is read, and the list that is written */
#define REFINE_WRITE (GRID_CONTROL_WORDS + 10)
#define REFINE_LISTED (GRID_CONTROL_WORDS + 11)    /* length of the list that is read */
#define REFINE_LENGTH (GRID_CONTROL_WORDS + 12)    /* lengths of both lists */
#define REFINE_CANDIDATES (GRID_CONTROL_WORDS + 14)
#define REFINE_MOVERS (GRID_CONTROL_WORDS + 15)
#define REFINE_JOURNAL (GRID_CONTROL_WORDS + 16)
#define REFINE_COPIED (GRID_CONTROL_WORDS + 17)    /* journal entries to copy to BEST */
#define REFINE_TURN (GRID_CONTROL_WORDS + 18)      /* iterations on this level */
#define REFINE_ROUND (GRID_CONTROL_WORDS + 19)     /* round of label propagation; each begins from the best */
#define REFINE_BACK (GRID_CONTROL_WORDS + 20)      /* journal entries to take back */
#define REFINE_FULL (GRID_CONTROL_WORDS + 21)      /* a longer list is written again, without vertices inside parts */
#define REFINE_WORDS (GRID_CONTROL_WORDS + 22)

#define MODE_SPREAD 0            /* label propagation */
#define MODE_MIXED 1             /* rebalancing of heavy parts' vertices at the border, label propagation for others */
#define MODE_WEAK 2              /* rebalancing of vertices at the border */
#define MODE_STRONG 3            /* ... and of all vertices */
#define MODE_BACK 4              /* return to the best partition */
#define MODE_DONE 5

typedef struct {
  uint n_parts, room, member, members;
  int is_finest;
  __global int *work, *parts_work, *histogram;
  __global uint *state;
  __local int *counters;
  __global long *level;          /* the level's words, if results are written there, else 0 */
} refined_t;

#define ARRAY(r, k) ((r)->work + (size_t)(k) * (r)->room)
#define OF_PARTS(r, k) ((r)->parts_work + (size_t)(k) * (r)->n_parts)
#define SHARE_OF(r, n) share_of_members(n, (r)->member, (r)->members)
#define LIST_SHARE_OF(r, n) share_of_list(n, (r)->member, (r)->members)

/* Items that a work-item appends to a list of VERTEX_ARRAYS, whose length is a word of the state.  On CPUs it reserves
 * slots for many items at once, because work-items on other cores compete for that word. */
#if DEV_IS_CPU
#define BATCH 64u
typedef struct { uint n; int items[BATCH]; } batch_t;
#define NEW_BATCH(name) batch_t name; name.n = 0u;
#else
typedef int batch_t;
#define NEW_BATCH(name) batch_t name;
#endif
INLINE void flush(const refined_t *r, batch_t *batch, uint array, uint word) {
#if DEV_IS_CPU
  if (!batch->n) return;
  __global int *to = ARRAY(r, array) + fetch_add(r->state + word, batch->n);
  for (uint i = 0u; i < batch->n; i++) to[i] = batch->items[i];
  batch->n = 0u;
#endif
}
INLINE void push(const refined_t *r, batch_t *batch, uint array, uint word, int v) {
#if DEV_IS_CPU
  batch->items[batch->n++] = v;
  if (batch->n == BATCH) flush(r, batch, array, word);
#else
  ARRAY(r, array)[fetch_add(r->state + word, 1u)] = v;
#endif
}

INLINE void append_to_list(const refined_t *r, int v) {
  const uint list = r->state[REFINE_WRITE], at = fetch_add(r->state + REFINE_LENGTH + list, 1u);
  ARRAY(r, LIST + list)[at] = v;
}
/* Puts v on the list that is being written, unless it is on a list.
 * Race: several work-items may list v in one step.  The one whose fetch_or sets the bit appends it; the others see the
 * bit.  REFINE_WRITE changes only in `direct`. */
INLINE void list_vertex(const refined_t *r, int v) {
  if (!(fetch_or(ARRAY(r, FLAGS) + v, LISTED) & LISTED)) append_to_list(r, v);
}

/* Call it after u or a neighbour of u has changed its part.
 * Race: movers touch common neighbours at the same time.  In this step FRESH is only cleared and LISTED only set, so an
 * older value of the flags leads to an atomic that changes nothing. */
INLINE void touch(const refined_t *r, int u) {
  const int flags = load_relaxed(ARRAY(r, FLAGS) + u);
  if (flags & FRESH) fetch_and(ARRAY(r, FLAGS) + u, ~FRESH);
  if (!(flags & LISTED)) list_vertex(r, u);
}

/* Copies the part of each vertex from its coarse vertex.  Without a coarser level, BEST has the parts already. */
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
  if (r->member == 0)
    for (uint p = get_local_id(0); p < r->n_parts; p += WG_SIZE) {
      const int share = OF_PARTS(r, SHARES)[p], last = OF_PARTS(r, FINAL_LIMITS)[p];
      const long slack = (long)share * r->n_parts * SLACK / (max(on->n, 1u) * 4l);
      OF_PARTS(r, LIMITS)[p] = r->is_finest ? last : max(last, (int)min((long)INT_MAX / 2, share + slack));
    }
  if (r->member == 0 && get_local_id(0) == 0) {
    r->state[REFINE_LENGTH] = r->state[REFINE_LENGTH + 1] = 0u;
    r->state[REFINE_READ] = 1u;
    r->state[REFINE_WRITE] = 0u;
    r->state[REFINE_JOURNAL] = r->state[REFINE_COPIED] = 0u;
    r->state[REFINE_ROUND] = r->state[REFINE_TURN] = r->state[REFINE_FRUITLESS] = r->state[REFINE_HEAVY] = 0u;
    r->state[REFINE_MODE] = MODE_SPREAD;
    r->state[REFINE_CHANGE] = 0u;
    r->state[REFINE_CUT] = RECOUNTS ? 0u : has_coarser ? r->state[REFINE_BEST_CUT] : 0u;
  }
}

/* Lists the vertices at the border; if asked for, adds the weight of the edges there to REFINE_CHANGE, each from both
 * ends. */
INLINE void list_border(const refined_t *r, const level_t *on, int counts_cut) {
  __global const int *parts = (__global const int *)ARRAY(r, PART);
  const share_t share = SHARE_OF(r, on->n);
  uint cut = 0u;
  counts_cut |= RECOUNTS;
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
