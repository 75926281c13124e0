/* The colours that a vertex may still get, in one word that others read while its owner narrows it.
 *
 * If the top bit is 0, the word is a set of colours 0 … 30, one bit each.  If it is 1, the word is an interval: the low
 * 16 bits are the least colour, and the next 15 bits are the range, whose largest value means no bound.  If MARKED, words
 * are sets only, of colours 0 … 29, and bit 30 is free for a mark of the vertex.
 *
 * A vertex with one possible colour has that colour.  The set of possible colours only ever shrinks, and it always
 * contains the colour that the greedy algorithm gives the vertex.  So conclusions from an old value are still right.  No
 * colour of a greedy colouring exceeds the square root of the number of entries, so 16 bits are enough.
 */
#ifndef CLGRAPH_POSSIBLE_H
#define CLGRAPH_POSSIBLE_H
#include "common/atomics.h"

#ifndef MARKED
#define MARKED 0
#endif
#ifndef INTERVALS                /* 0: words are sets only */
#define INTERVALS 1
#endif
#define MARK (MARKED ? 0x40000000u : 0u)
#define SET_COLORS (MARKED ? 30u : 31u)
#define RANGE_BITS 0x7fff0000u
#define MOST_RANGE 0x7fffu
#define ANY_COLOR 0xffff0000u

INLINE uint lowest_bit(uint x) { return popcount(~x & (x - 1u)); }  /* 32 if there is none */
INLINE uint colored(uint c) { return 0x80000000u | c; }
INLINE int is_interval(uint word) { return INTERVALS & ((int)word < 0); }
INLINE int is_colored(uint word) { return is_interval(word) ? !(word & RANGE_BITS) : popcount(word & ~MARK) == 1; }
INLINE uint least_color(uint word) { return is_interval(word) ? word & 0xffffu : lowest_bit(word); }
INLINE uint most_color(uint word) {
  if (!is_interval(word)) return 31u - (uint)clz(word);
  uint range = (word & RANGE_BITS) >> 16;
  return range == MOST_RANGE ? UINT_MAX : (word & 0xffffu) + range;
}
INLINE int may_take(uint word, uint c) {
  if (!is_interval(word)) return c < SET_COLORS && (word >> c & 1u);
  return c >= (word & 0xffffu) && c <= most_color(word);
}
INLINE uint interval(uint least, uint most) {
  return 0x80000000u | min(most - least, MOST_RANGE) << 16 | least;
}
/* Returns the possible colours among base … base + 30 as a set. */
INLINE uint as_set(uint word, uint base) {
  if (!is_interval(word)) return base ? 0u : word & ~MARK;
  const uint least = word & 0xffffu, most = most_color(word);
  if (most < base || least >= base + SET_COLORS) return 0u;
  return ((2u << min(most - base, SET_COLORS - 1u)) - 1u) & ~((1u << (max(least, base) - base)) - 1u);
}
#endif
