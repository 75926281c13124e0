/* Find the least colour that no neighbour of a vertex seems to have.
 *
 * A work-item marks the colours in a word, 32 at a time. A team marks them in a bitmap in local memory, a window of
 * BITMAP_WORDS words at a time; all of its lanes call.
 *
 * Race: colours change while they are read, so the result may be a colour that a neighbour takes at the same time.
 * losers.h detects that later.
 */
#ifndef CLGRAPH_FIRST_FREE_H
#define CLGRAPH_FIRST_FREE_H
#include "color/speculation.h"

#ifndef BATCH                    /* entries of a row that a work-item has in flight */
#define BATCH 4
#endif
#ifndef STEPS                    /* entries that each lane of a team has in flight */
#define STEPS 4
#endif
#ifndef BITMAP_WORDS             /* words of a team's bitmap: 32 colours each */
#define BITMAP_WORDS 32
#endif

INLINE uint lowest_zero(uint x) { return 31u - (uint)clz(~x & (x + 1u)); }

INLINE int least_free(const rows_t *rows, int v, volatile __global int *colors) {
  const offset_t first = rows->row_offsets[v];
  const uint degree = degree_of(rows, v);
  for (uint base = 0u;; base += 32u) {
    uint used = 0u;
    for (uint i = 0; i < degree; i += BATCH) {
      int u[BATCH];
      uint c[BATCH];
      for (int k = 0; k < BATCH; k++) u[k] = rows->column_indices[first + (offset_t)min(i + k, degree - 1u)];
      for (int k = 0; k < BATCH; k++) c[k] = (uint)load_stale(colors + u[k]) - base;
      for (int k = 0; k < BATCH; k++) used |= c[k] < 32u ? 1u << (c[k] & 31u) : 0u;
    }
    if (~used) return (int)(base + lowest_zero(used));
  }
}

/* Mark the colours of v's neighbours that are in the window. */
INLINE void mark_colors(const rows_t *rows, int v, uint base, volatile __global int *colors, __local uint *bitmap) {
  const offset_t first = rows->row_offsets[v];
  const uint degree = degree_of(rows, v);
  for (uint i = team_lane(); i < degree; i += STEPS * TEAM) {
    int u[STEPS];
    uint c[STEPS];
    for (int k = 0; k < STEPS; k++) u[k] = rows->column_indices[first + (offset_t)min(i + k * TEAM, degree - 1u)];
    for (int k = 0; k < STEPS; k++) c[k] = (uint)load_stale(colors + u[k]) - base;
    for (int k = 0; k < STEPS; k++)
      if (c[k] < 32u * BITMAP_WORDS) fetch_or(&bitmap[c[k] >> 5], 1u << (c[k] & 31u));
  }
}

INLINE int team_least_free(const rows_t *rows, int v, volatile __global int *colors, __local uint *bitmap) {
  for (uint base = 0u;; base += 32u * BITMAP_WORDS) {
    for (uint w = team_lane(); w < BITMAP_WORDS; w += TEAM) bitmap[w] = 0u;
    team_sync();
    mark_colors(rows, v, base, colors, bitmap);
    team_sync();
    int found = NO_COLOR;        /* each lane searches for itself: they read the same words */
    for (uint w = 0u; w < BITMAP_WORDS && found < 0; w++)
      if (~bitmap[w]) found = (int)(base + 32u * w + lowest_zero(bitmap[w]));
    team_sync();
    if (found >= 0) return found;
  }
}
#endif
