/* The position of a vertex's word (possible.h), and the words of the neighbours before it in the order.
 *
 *   RANKED 1   Words are halves of states (states.h), whose other halves are the priorities.
 *   RANKED 0   The number of a vertex gives its priority; in the order many_first, its word's MARK gives it. If the
 *              order goes by place, words lie by place, so that neighbouring lanes read and write neighbouring words.
 *
 * Races: words are read while their owner narrows them, which possible.h allows.
 */
#ifndef CLGRAPH_VERTEX_WORDS_H
#define CLGRAPH_VERTEX_WORDS_H
#ifndef WIDE                     /* 1: rows of more than 30 entries, see small_vertex.h */
#define WIDE 0
#endif
#ifndef RANKED
#define RANKED 1
#endif
#ifndef INTERVALS                /* 1: vertices of many entries publish intervals */
#define INTERVALS (RANKED | WIDE)
#endif
#include "common/subgroup.h"
#include "color/orders.h"
#include "color/states.h"

#ifndef BATCH                    /* entries of a row that a work-item has in flight */
#define BATCH 4
#endif
#define CONTROL_SMALL 32         /* the control words of color_small, after the words of color_large */
#define CONTROL_WORDS 64
#define CONTROL_ALIVE (CONTROL_WORDS - 1)  /* the last launch that left vertices open, where the host repeats it */

INLINE uint word_index(order_t order, uint v) { return is_by_place(order) ? place_of(order, v) : v; }
INLINE volatile __global uint *word_at(order_t order, volatile __global uint *words, uint v) {
  return RANKED ? word_of(words, v) : words + word_index(order, v);
}
INLINE uint mark_of(uint degree) { return degree < FEW_COLORS ? 0u : MARK; }
INLINE uint own_rank(order_t order, int v, uint degree, volatile __global uint *words) {
  return RANKED ? load_rank(words, v) : priority_of(order, v, degree);
}

/* Both functions write into word[] the word of each u[] that goes before v, and 0 for the others.  They read only those
 * whose bit[] is set. */
INLINE void load_states_before(const int *u, const uint *bit, uint rank, int v, volatile __global uint *words, uint *word) {
  ulong state[BATCH];
  for (int k = 0; k < BATCH; k++) state[k] = load_state(bit[k] != 0u, words, u[k]);
  for (int k = 0; k < BATCH; k++)
    word[k] = goes_before((uint)(state[k] >> 32), u[k], rank, v) ? (uint)state[k] : 0u;
}
INLINE void load_words_before(order_t order, const int *u, const uint *bit, uint rank, volatile __global uint *words,
                              uint *word) {
  uint at[BATCH];
  int before[BATCH];
  for (int k = 0; k < BATCH; k++) {
    at[k] = word_index(order, (uint)u[k]);
    before[k] = bit[k] != 0u;
    if (!MARKED) before[k] &= priority_of(order, u[k], 0u) > rank;  /* no two are equal */
  }
  for (int k = 0; k < BATCH; k++) word[k] = load_relaxed_if(before[k], words + at[k]);
  for (int k = 0; k < BATCH; k++)
    if (MARKED & (priority_of(order, u[k], word[k] & MARK ? FEW_COLORS : 0u) <= rank)) word[k] = 0u;
}
INLINE void load_before(order_t order, const int *u, const uint *bit, uint rank, int v, volatile __global uint *words,
                        uint *word) {
  if (RANKED) load_states_before(u, bit, rank, v, words, word);
  else load_words_before(order, u, bit, rank, words, word);
}
#endif
