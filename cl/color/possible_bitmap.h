/* The possible colours of a vertex with many entries, as bits; the lanes of a sub-group call together.
 *
 * Bitmaps follow each other in global memory, by row.  The head of the bitmap that a sub-group works on, its first
 * BITMAP_WORDS words, is in local memory instead.  Bits are only ever cleared; several lanes do so, by atomics.
 */
#ifndef CLGRAPH_POSSIBLE_BITMAP_H
#define CLGRAPH_POSSIBLE_BITMAP_H
#include "common/subgroup.h"
#include "color/possible.h"

#ifndef BITMAP_WORDS             /* words of a bitmap in local memory; further words stay in global memory */
#define BITMAP_WORDS 64
#endif

typedef struct {
  uint n_words;
  __local uint *head;
  volatile __global uint *rest;  /* word w of the bitmap is rest[w], unless it is in the head */
} bitmap_t;

/* Returns a bitmap of degree + 1 colours, all of which are possible. */
INLINE bitmap_t full_bitmap(uint degree, __local uint *head, volatile __global uint *rest) {
  bitmap_t colors = {(degree >> 5) + 1u, head, rest};
  sg_sync();
  for (uint w = sg_lane(); w < colors.n_words; w += SUB_GROUP_SIZE) {
    if (w < BITMAP_WORDS) head[w] = UINT_MAX;
    else store_relaxed(rest + w, UINT_MAX);
  }
  sg_sync();
  return colors;
}

INLINE void forbid(uint c, const bitmap_t *colors) {
  if (c < 32u * BITMAP_WORDS) fetch_and(&colors->head[c >> 5], ~(1u << (c & 31u)));
  else if (c >> 5 < colors->n_words) fetch_and(colors->rest + (c >> 5), ~(1u << (c & 31u)));
}

/* Returns the possible colour of this rank, counted from 0; UINT_MAX if it is not in the head and *all* is 0. */
INLINE uint possible_color(uint wanted, int all, const bitmap_t *colors) {
  const uint lane = sg_lane(), end = all ? colors->n_words : min(colors->n_words, (uint)BITMAP_WORDS);
  uint passed = 0u;
  for (uint w = 0u; w < end; w += SUB_GROUP_SIZE) {
    uint bits = 0u;
    if (w + lane < end) bits = w + lane < BITMAP_WORDS ? colors->head[w + lane] : load_relaxed(colors->rest + w + lane);
    uint count = popcount(bits), below = passed + sg_exclusive_sum(count);
    const int here = below <= wanted && wanted < below + count;
    lane_mask_t holder = sg_ballot(here);
    if (holder) {
      for (uint skip = here ? wanted - below : 0u; skip; skip--) bits &= bits - 1u;
      return sg_broadcast(32u * (w + lane) + lowest_bit(bits), lowest_lane(holder));
    }
    passed = sg_broadcast(below + count, SUB_GROUP_SIZE - 1u);
  }
  return UINT_MAX;
}
#endif
