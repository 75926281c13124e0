/* Bitmaps of the colours that the members of each net have, for one window of colours.
 *
 * Each net has `words` words.  A set bit means that a member has that colour.  The window is the colours from base to
 * base + 32 * words - 1.  Word w of net r is at r * net_stride + w * word_stride.  A vertex reads the words of its nets
 * and takes a colour that is free in all of them.  This reads O(entries) words, not O(two-hop neighbours).
 *
 * If SIZED is 1, a net has enough words for its members without a colour (net_bitmaps.cl).  The number of words is a power
 * of two, and all words whose numbers are equal modulo it are the same word.  So a set bit means that a member may have
 * the colour.
 *
 * The bits and their window come from Deveci et al. in Kokkos Kernels (NB_BIT), and from M. K. Tas, K. Kaya, E. Saule,
 * "Greed is good: parallel algorithms for bipartite-graph partial coloring on multicore architectures", ICPP 2017.
 */
#ifndef CLGRAPH_USED_COLORS_H
#define CLGRAPH_USED_COLORS_H
#include "color/nets.h"

#ifndef SIZED
#define SIZED 0
#endif
#define NO_COLOR (-1)
#define FULL 0xffffffffu
#define TAIL_TOP 0               /* number of words assigned to nets so far */
#define TAIL_WORDS 1             /* words of colours of the largest net */
#define TAIL_STATE 2
#define N_LISTS 3                /* sizes of lists, used in turn: a step reads one, fills the next, clears the one after */

typedef struct {
  uint words;
  uint net_stride;
  uint word_stride;
} layout_t;

/* One word of each net. */
typedef struct {
  volatile __global uint *used;  /* the word of net 0; or, if SIZED, the words of all nets */
  uint stride;
  uint number;
  __global const uint2 *bitmaps;  /* if SIZED: the first word of each net, and the number of its last word */
} words_t;

INLINE volatile __global uint *word_of(words_t words, uint net) {
#if SIZED
  const uint2 bitmap = words.bitmaps[net];
  return words.used + bitmap.x + (words.number & bitmap.y);
#else
  return words.used + (size_t)net * words.stride;
#endif
}
INLINE words_t words_at(uint number, layout_t layout, volatile __global uint *used, __global const uint2 *bitmaps) {
  const words_t words = {SIZED ? used : used + (size_t)number * layout.word_stride, layout.net_stride, number, bitmaps};
  return words;
}

/* The row of a vertex and its number of places; 0 places if there is no vertex. */
typedef struct {
  int v;
  offset_t begin;
  uint places;
} member_t;

INLINE member_t member_of(int v, int is_item, __global const offset_t *restrict row_offsets) {
  member_t x;
  x.v = v;
  x.begin = row_offsets[v];
  x.places = is_item ? (uint)(row_offsets[v + 1] - x.begin) + CLOSED : 0u;
  return x;
}

/* Returns the bits that are set in any word of x's nets, to the whole team.  places: 0 if this team does not take part. */
INLINE uint gather_used(const member_t *x, uint places, __global const int *restrict nets_of, words_t words,
                        __local uint *room) {
  uint mask = 0u;
  const int is_long = looping(places > LANES * BATCH);
  for (uint first = 0u; looping(first < places); first += LANES * BATCH) {
    int nets[BATCH];
    uint held[BATCH];
    nets_at(x->v, x->begin, first + team_lane(), places, nets_of, nets);
    #pragma unroll
    for (uint j = 0u; j < BATCH; j++) held[j] = load_relaxed_if(nets[j] >= 0, word_of(words, (uint)max(nets[j], 0)));
    #pragma unroll
    for (uint j = 0u; j < BATCH; j++) mask |= held[j];
    if (is_long) {
      mask = team_or(mask, room);
      if (mask == FULL) places = 0u;
    }
  }
  return team_or(mask, room);
}

/* Returns the position of a random one among the first `spread` one-bits of x. */
INLINE uint one_of(uint x, uint random, uint spread) {
  for (uint skip = (random & 0xffffu) * min(spread, (uint)popcount(x)) >> 16; skip; skip--) x &= x - 1u;
  return x ? lowest_lane(x) : 0u;
}
#endif
