/* A vertex that a work-item colours, by narrowing its possible colours until one is certain.
 *
 * One word has a bit for each entry of the row that still matters, another a bit for each possible colour.  With WIDE the
 * row may have more than 30 entries.  Then bit i stands for the entries i, i + 32, …, and 31 possible colours are
 * processed at a time, from base on.
 */
#ifndef CLGRAPH_SMALL_VERTEX_H
#define CLGRAPH_SMALL_VERTEX_H
#include "color/vertex_words.h"

typedef struct {
  uint v;
  offset_t first;
  uint degree;                   /* set for the first try, and if WIDE */
  uint pending;                  /* bit i: entry i goes before v and matters; if WIDE, any of i, i + 32, ... may */
  uint set;                      /* possible colours, counted from base */
  uint base;                     /* 0 unless WIDE */
  uint mark;                     /* 0 unless MARKED */
} small_t;

INLINE small_t new_small(uint v, offset_t first, uint degree) {
  small_t x;
  x.v = v;
  x.first = first;
  x.degree = degree;
  x.pending = low_bits(degree);
  x.set = low_bits(min(degree + 1u, SET_COLORS));
  x.base = 0u;
  x.mark = mark_of(degree);
  return x;
}

/* The result of reading the neighbours that matter: the colours still possible, the colours that open neighbours may take
 * too, and the neighbours that still matter. */
typedef struct {
  uint set, rivals, kept, n_kept;
} look_t;

INLINE look_t look_before(const small_t *x, int is_first, order_t order, __global const int *restrict column_indices,
                          volatile __global uint *words) {
  const int unsure = is_first || WIDE, v = (int)x->v;
  const uint rank = unsure ? own_rank(order, v, x->degree, words) : 0u, end = WIDE ? x->degree : 1u;
  look_t seen = {x->set, 0u, 0u, 0u};
  for (uint begin = 0u; begin < end; begin += 32u) {
    uint left = WIDE ? x->pending & low_bits(x->degree - begin) : x->pending;
    while (left) {
      uint bit[BATCH], word[BATCH];
      int u[BATCH];
      for (int k = 0; k < BATCH; k++) {
        bit[k] = left & (0u - left);
        left &= left - 1u;
        u[k] = column_indices[x->first + (offset_t)(begin + lowest_bit(bit[k] ? bit[k] : bit[0]))];
      }
      if (unsure) load_before(order, u, bit, rank, v, words, word);
      else for (int k = 0; k < BATCH; k++) word[k] = load_relaxed_if(bit[k] != 0u, word_at(order, words, (uint)u[k]));
      for (int k = 0; k < BATCH; k++) {
        const uint theirs = as_set(word[k], x->base);
        if (word[k] && is_colored(word[k])) {
          seen.set &= ~theirs;
        } else if (theirs & seen.set) {
          seen.rivals |= theirs;
          seen.kept |= bit[k];
          seen.n_kept++;
        }
      }
    }
  }
  return seen;
}

/* Narrow the possible colours of *x and publish them.  Returns 1 if it is coloured.  is_first: this is the first try. */
INLINE int try_small(small_t *x, int is_first, order_t order, __global const int *restrict column_indices,
                     volatile __global uint *words, __global int *restrict colors) {
  const look_t seen = look_before(x, is_first, order, column_indices, words);
  const uint old = x->set;
  uint set = seen.set, spare = set;  /* one colour more than neighbours that matter is enough */
  for (uint k = min(seen.n_kept + 1u, SET_COLORS); k; k--) spare &= spare - 1u;
  set &= ~spare;
  const uint least = set & (0u - set);
  const int done = least && !(seen.rivals & least);
  uint word = (done ? least : set) | x->mark;
  x->pending = seen.kept;
  if (WIDE) {
    if (done && x->base) word = colored(x->base + lowest_bit(least));
    if (!done && (x->base || popcount(set) <= seen.n_kept))
      word = interval(x->base + (set ? lowest_bit(set) : 0u), UINT_MAX);
    if (!set) {
      x->base += SET_COLORS;
      set = low_bits(SET_COLORS);
      x->pending = UINT_MAX;
    }
  }
  x->set = set;
  if (is_first || set != old || done) store_relaxed(word_at(order, words, x->v), word);
  if (done) colors[x->v] = (int)(x->base + lowest_bit(least));
  return done;
}
#endif
