/* Piles of far vertices, the words of the state, and the words from which a stopped search continues.
 *
 * A pile is a list of the vertices whose distance is not below the threshold.  When no vertex is near, open_bucket raises
 * the threshold.  Then look_through moves the vertices below it to the frontier, and the others to the next pile.
 */
#ifndef CLGRAPH_SSSP_PILES_H
#define CLGRAPH_SSSP_PILES_H
#include "sssp/relaxing.h"

#ifndef LARGE_PILE               /* a pile of n / LARGE_PILE or more is looked through in the order of all vertices */
#define LARGE_PILE 4u
#endif
/* Words of the state after the words of levels.h. */
#define STATE_PILES 320          /* size of pile k in word k mod 4, 32 words apart */
#define STATE_WORKED 448         /* rows expanded since pile k was read through; four words likewise */
#define STATE_SETTLED 576        /* sizes of the list of settled vertices */
#define STATE_OVERFLOW 608
#define STATE_ALIVE 609          /* the last launch of a work-group alone that left work */
#define PATH_STATE_WORDS 640
/* Words of `progress`: the least distance left in each of four piles, then the state of a stopped search. */
#define PROGRESS_MODE 4
#define PROGRESS_PILE 5
#define PROGRESS_THRESHOLD 6
#define PROGRESS_DELTA 7
#define PROGRESS_TURN 8
#define PROGRESS_NEAR_TURNS 9    /* turns that expanded near vertices since the pile was last read through */
#define PROGRESS_LAST_SIZE 10    /* size of the pile at that time */
#define PROGRESS_FEW_ROWS 11     /* if an average turn expands fewer rows and the pile shrinks, buckets grow */
#define PROGRESS_WORDS 12
/* The modes of a turn. */
#define NEAR 0                   /* expand the frontier */
#define SYNC 1                   /* do nothing, so that all groups see the pile and the settled vertices */
#define SETTLED 2                /* relax the heavy edges of the settled */
#define PILE 3                   /* look through the pile */

/* The arrays of the piles, and the items that a sub-group buffers for the current one. */
typedef struct { __global int *items; __local int *held; } piles_t;

INLINE list_t pile_of(uint number, int n, piles_t piles, volatile __global uint *state) {
  list_t pile = {piles.items + (ulong)n * (number & 1u), state + STATE_PILES + 32u * (number & 3u), piles.held};
  return pile;
}

/* Every sub-group calls: vertices of the pile that are near now go to the frontier, the others to the next pile.  If
 * `from` has no items, it stands for all vertices.
 * No race on the piles: this one is complete since the barrier of the turn before, and slots of the next are taken by
 * additions (release).  Distances do not change in this turn.  All sub-groups lower *least by lower_to. */
INLINE void look_through(list_t from, uint size, list_t to, dist_t floor, phase_t phase, uint sub_group,
                         uint n_sub_groups, const search_t *on, frontier_t next, volatile __global dist_t *least) {
  dist_t lowest = FAR_AWAY;
  for (uint base = sub_group * STEPS * SUB_GROUP_SIZE; base < size; base += n_sub_groups * STEPS * SUB_GROUP_SIZE) {
    int vertex[STEPS];
    uint near = 0u, far = 0u;
    entry_t found[STEPS];
#pragma unroll
    for (uint k = 0u; k < STEPS; k++) {
      const uint i = base + k * SUB_GROUP_SIZE + sg_lane();
      vertex[k] = i >= size ? -1 : from.items ? load_relaxed(from.items + i) : (int)i;
    }
#pragma unroll
    for (uint k = 0u; k < STEPS; k++) {
      found[k].vertex = vertex[k];
      found[k].d = vertex[k] >= 0 ? load_relaxed(on->distances + vertex[k]) : FAR_AWAY;
      if (found[k].d == FAR_AWAY) continue;
      if (found[k].d >= phase.threshold) {
#if DROP_LEAVES
        if (!from.items && !has_more(row_of_vertex(vertex[k], on->row_offsets))) continue;
#endif
        far |= 1u << k;
        lowest = min(lowest, found[k].d);
      } else if (found[k].d >= floor) {
        near |= 1u << k;
      }
    }
    push_near(found, near, next, on);
    append(vertex, far, to);
  }
  release(to, 0u);
  lowest = sg_least(lowest);
  if (sg_lane() == 0 && lowest != FAR_AWAY) lower_to(least, lowest);
}

/* The present state of a search. */
typedef struct {
  uint mode, pile;               /* mode of the turn; number of the pile */
  uint n_turns;                  /* turns that expanded near vertices since the pile was last looked through */
  uint last_size;                /* size of the pile at that time */
  phase_t phase;
} place_t;

INLINE place_t place_of(volatile __global const dist_t *progress, dist_t limit) {
  place_t at = {(uint)progress[PROGRESS_MODE], (uint)progress[PROGRESS_PILE], (uint)progress[PROGRESS_NEAR_TURNS],
                ALONE ? (uint)progress[PROGRESS_LAST_SIZE] : 0u,
                {progress[PROGRESS_THRESHOLD], limit, as_float((uint)progress[PROGRESS_DELTA]), 0}};
  return at;
}

INLINE void keep_place(const place_t *at, uint turn, volatile __global dist_t *progress) {
  progress[PROGRESS_MODE] = at->mode;
  progress[PROGRESS_PILE] = at->pile;
  progress[PROGRESS_THRESHOLD] = at->phase.threshold;
  progress[PROGRESS_DELTA] = as_uint(at->phase.delta);
  progress[PROGRESS_TURN] = turn;
  progress[PROGRESS_NEAR_TURNS] = at->n_turns;
  progress[PROGRESS_LAST_SIZE] = at->last_size;
}

/* Every work-item calls: raise the threshold and look through the pile.  Returns 0 if the pile is empty.  Buckets grow
 * while the pile shrinks and turns have little to do.  If no vertex was near, the bucket begins at the least distance
 * left.
 * All work-items read the same words, which do not change in this turn, so all compute the same threshold.  One
 * work-item clears the words of the pile after the next, which come into use when that pile is next opened. */
INLINE int open_bucket(place_t *at, const turn_t *turn, int n, piles_t piles, const search_t *on, frontier_t next,
                       frontier_t settled, volatile __global dist_t *progress) {
  list_t pile = pile_of(at->pile, n, piles, turn->state);
  const uint size = load_relaxed(pile.size);
  if (!size) return 0;
  const uint worked = load_relaxed(turn->state + STATE_WORKED + 32u * (at->pile & 3u));
  if (size < at->last_size && worked < (ulong)progress[PROGRESS_FEW_ROWS] * at->n_turns)
    at->phase.delta = fmin(2.0f * at->phase.delta, 1e30f);
  at->last_size = size;
  const dist_t floor = at->phase.threshold;
  const dist_t from = at->n_turns ? floor : max(floor, load_relaxed(progress + (at->pile + 3u & 3u)));
  at->phase.threshold = bucket_end(from, at->phase.delta);
  at->n_turns = 0u;
  at->pile++;
  const int is_large = !ALONE && size >= (uint)n / LARGE_PILE;
  if (is_large) pile.items = 0;
  look_through(pile, is_large ? (uint)n : size, pile_of(at->pile, n, piles, turn->state), floor, at->phase, turn->sub_group,
               turn->n_sub_groups, on, next, progress + (at->pile + 3u & 3u));
  if (turn->clears) {            /* clear the words of the pile after the next */
    exchange(turn->state + STATE_PILES + 32u * (at->pile + 1u & 3u), 0u);
    exchange(turn->state + STATE_WORKED + 32u * (at->pile + 1u & 3u), 0u);
    store_relaxed(progress + (at->pile & 3u), FAR_AWAY);
    for (uint k = 0u; LIGHT_FIRST && k < 3u; k++) exchange(settled.sizes + k, 0u);
  }
  return 1;
}
#endif
