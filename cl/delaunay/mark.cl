/* Finds for each candidate the point that should be put in, and its cavity, and claims the triangles that this would
 * change: those of the cavity, and those around it, whose links change.
 *
 * A work-item takes a candidate.  The mesh does not change meanwhile.  owners[t] only grows; keys grow with the round,
 * so marks of earlier rounds need not be cleared.  A candidate has won if all its triangles have its key at the end
 * (rounds.cl).  Candidates for which a filter was unsure are listed, and `mark_exact` takes them.
 *
 * Race: only with EARLY_EXIT does it matter in which order claims arrive: a candidate that meets a higher key stops,
 * so that it leaves more to others.
 */
#include "delaunay/cavity.h"
#include "delaunay/split_points.h"

/* head: the sizes of cavity and rim; where the rim's second side begins, -1 for a point inside of a triangle, the
 * rim's size at the boundary; the segment that is split. end: the corner where the rim ends. */
INLINE int try_point(field_t f, int i, ulong key, double2 p, int t, __global int4 *heads, __global double2 *spots) {
  int n_cavity = 0, n_rim = 0, found = walk(f, i, key, p, t, 0, 3, 0, &n_cavity, &n_rim);
  if (found == WALK_DONE) {
    heads[i] = (int4)(n_cavity, n_rim, -1, -1);
    spots[i] = p;
  }
  return found;
}

INLINE int try_segment(field_t f, int i, ulong key, int link, __global int4 *heads, __global double2 *spots,
                       __global int *ends) {
  int t = link >> 2, e = link & 3, n_cavity = 0, n_rim = 0;
  int4 corner = f.corners[t];
  int va = of3(corner, next3(e)), vb = of3(corner, last3(e)), across = of3(f.links[t], e);
  double2 a = f.points[va], b = f.points[vb];
  /* From both sides the same point must come: the end of the lower number is a, whatever t is. */
  int a_is_sharp = f.point_segments[va] == SHARP_POINT, b_is_sharp = f.point_segments[vb] == SHARP_POINT;
  double2 p = va < vb ? split_of(a, b, a_is_sharp, b_is_sharp) : split_of(b, a, b_is_sharp, a_is_sharp);
  if ((p.x == a.x && p.y == a.y) || (p.x == b.x && p.y == b.y)) return WALK_FLAT;
  int found = walk(f, i, key, p, t, e, 2, 1, &n_cavity, &n_rim), second = n_rim;
  if (found == WALK_DONE && across != OUTSIDE)
    found = walk(f, i, key, p, unmarked(across) >> 2, unmarked(across) & 3, 2, 1, &n_cavity, &n_rim);
  if (found == WALK_DONE) {
    heads[i] = (int4)(n_cavity, n_rim, second, of3(f.sides[t], e));
    spots[i] = p;
    ends[i] = va;
  }
  return found;
}

INLINE void mark_one(field_t f, int i, demands_t ask, ulong key, int t, volatile __global uint *state,
                     __global int *unsure, __global int4 *heads, __global double2 *spots, __global int *ends,
                     __global uchar *urgencies) {
  int4 corner = f.corners[t], link = f.links[t];
  double2 a = f.points[corner.x], b = f.points[corner.y], c = f.points[corner.z];
  int found = WALK_FLAT;
  heads[i] = (int4)(0, 0, -1, -1);
  if (urgencies[t] == ENCROACHED) {
    if (link.x < 0 && encroaches(a, b, c, ask.lens)) found = link_to(t, 0);
    else if (link.y < 0 && encroaches(b, c, a, ask.lens)) found = link_to(t, 1);
    else if (link.z < 0 && encroaches(c, a, b, ask.lens)) found = link_to(t, 2);
  } else {
    found = try_point(f, i, key, center_of(a, b, c, ask), t, heads, spots);
    if (found == WALK_FLAT) found = try_point(f, i, key, middle_of_longest(a, b, c), t, heads, spots);
  }
  if (found >= 0) found = try_segment(f, i, key, found, heads, spots, ends);
  if (found == WALK_UNSURE) unsure[fetch_add(state + N_UNSURE, 1u)] = i;
  if (found == WALK_TOO_LARGE) fetch_add(state + N_TOO_LARGE, 1u);
  if (found == WALK_FLAT) {
    urgencies[t] = 0;
    fetch_add(state + N_GIVEN_UP, 1u);
  }
}

KERNEL mark(int n_rows, demands_t ask, __global const double2 *restrict points, __global const int4 *restrict corners,
            __global const int4 *restrict links, __global const int4 *restrict sides, __global const int *restrict point_segments,
            __global const int *restrict candidates, __global const ulong *restrict keys, volatile __global uint *state,
            volatile __global ulong *owners, __global int4 *rim, __global int *cavity, __global int *pending,
            __global int *unsure, __global int4 *heads, __global double2 *spots, __global int *ends,
            __global uchar *urgencies, __global ulong *words) {
  field_t f;
  f.points = points; f.corners = corners; f.links = links; f.sides = sides; f.owners = owners; f.point_segments = point_segments;
  f.rim = rim; f.cavity = cavity; f.pending = pending; f.n_rows = n_rows; f.lens = ask.lens;
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
    int i = unsure[k];
#else
    int i = k;
#endif
    mark_one(f, i, ask, keys[i], candidates[i], state, unsure, heads, spots, ends, urgencies);
  }
}
