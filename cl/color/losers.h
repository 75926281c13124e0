/* Check whether a vertex must try again because a neighbour before it in the order tries the same colour.  A work-item
 * checks alone, or all lanes of a team together; `lost` is a word of local memory.
 *
 * Race: a loser gives up its colour while others compare with it.  It will take another colour, so either result of the
 * comparison is right.
 */
#ifndef CLGRAPH_LOSERS_H
#define CLGRAPH_LOSERS_H
#include "color/first_free.h"

INLINE int must_retry(const rows_t *rows, int v, volatile __global int *tentative) {
  const offset_t first = rows->row_offsets[v];
  const uint degree = degree_of(rows, v);
  const int c = load_relaxed(tentative + v);
  for (uint i = 0; i < degree; i += BATCH) {
    int u[BATCH], theirs[BATCH], lost = 0;
    for (int k = 0; k < BATCH; k++) u[k] = rows->column_indices[first + (offset_t)min(i + k, degree - 1u)];
    for (int k = 0; k < BATCH; k++) theirs[k] = load_stale(tentative + u[k]);
    for (int k = 0; k < BATCH; k++) lost |= theirs[k] == c && loses(rows, v, u[k]);
    if (lost) return 1;
  }
  return 0;
}

INLINE int team_must_retry(const rows_t *rows, int v, volatile __global int *tentative, __local uint *lost) {
  const offset_t first = rows->row_offsets[v];
  const uint degree = degree_of(rows, v), lane = team_lane();
  const int c = load_relaxed(tentative + v);
  int found = 0;
  if (lane == 0) *lost = 0u;
  team_sync();
  for (uint i = lane; i < degree; i += STEPS * TEAM) {
    int u[STEPS], theirs[STEPS];
    for (int k = 0; k < STEPS; k++) u[k] = rows->column_indices[first + (offset_t)min(i + k * TEAM, degree - 1u)];
    for (int k = 0; k < STEPS; k++) theirs[k] = load_stale(tentative + u[k]);
    for (int k = 0; k < STEPS; k++) found |= theirs[k] == c && loses(rows, v, u[k]);
  }
  if (found) fetch_or(lost, 1u);
  team_sync();
  found = (int)*lost;
  team_sync();
  return found;
}
#endif
