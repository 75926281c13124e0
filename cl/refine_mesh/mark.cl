/* Finds for each candidate the point to insert and its cavity, and claims the triangles that would change: the triangles
 * of the cavity, and those around it, whose links change.
 *
 * heads[i] has the sizes of cavity and rim, the edge at which the second side of the rim begins, and the segment that is
 * split, as in attempt.h.  Without a cavity the sizes are 0.
 *
 * A work-item takes a candidate.  The mesh does not change meanwhile.  owners[t] only grows; keys grow with the round,
 * so marks of earlier rounds need not be cleared.  A candidate has won if all its triangles have its key at the end
 * (rounds.cl).  Candidates for which a filter was unsure are listed for a second launch, built with exact arithmetic.
 *
 * The highest key does not depend on the order of the claims, so the result does not either.
 */
#include "refine_mesh/attempt.h"

KERNEL mark(int n_rows, demands_t ask, __global const double2 *restrict points, __global const int4 *restrict corners,
            __global const int4 *restrict links, __global const int4 *restrict sides,
            __global const int *restrict point_segments, __global const int *restrict candidates,
            __global const ulong *restrict keys, volatile __global uint *state, volatile __global ulong *owners,
            __global int4 *rim, __global int *cavity, __global int *unsure, __global int4 *heads,
            __global double2 *spots, __global int *ends, __global uchar *urgencies, __global ulong *words) {
  field_t f;
  f.points = points; f.corners = corners; f.links = links; f.sides = sides; f.owners = owners;
  f.point_segments = point_segments;
  f.rim = rim; f.cavity = cavity; f.n_rows = n_rows; f.lens = ask.lens; f.whole = ask.whole;
  f.word_stride = get_global_size(0);
  f.words = words + get_global_id(0);
#if EXACT
  int n = (int)load_relaxed(state + N_UNSURE);
#else
  int n = (int)load_relaxed(state + N_CANDIDATES);
#endif
#if DEV_IS_CPU
  int share = (n + (int)get_global_size(0) - 1) / (int)get_global_size(0);
  int k = (int)get_global_id(0) * share, stop = min(n, k + share), step = 1;
#else
  int k = get_global_id(0), stop = n, step = get_global_size(0);
#endif
  for (; k < stop; k += step) {
#if EXACT
    int i = unsure[k], t = candidates[i];
#else
    int i = k, t = candidates[i];
    if (t < 0) {                 /* renew has dropped it */
      heads[i] = (int4)(0, 0, 0, 0);
      continue;
    }
#endif
    found_t found;
    int end = attempt(f, i, keys[i], t, urgencies[t], ask, &found);
    heads[i] = end == WALK_DONE ? (int4)(found.n_cavity, found.n_rim, found.second, found.segment) : (int4)(0, 0, 0, 0);
    if (end == WALK_DONE) {
      spots[i] = found.spot;
      ends[i] = found.end;
    }
    if (end == WALK_UNSURE) unsure[fetch_add(state + N_UNSURE, 1u)] = i;
    if (end == WALK_TOO_LARGE) fetch_add(state + N_TOO_LARGE, 1u);
    if (end == WALK_FLAT) {
      urgencies[t] = 0;
      fetch_add(state + N_GIVEN_UP, 1u);
    }
  }
}
