/* An attempt to improve a triangle: the point that should be put in for it, and the cavity of that point. */
#ifndef CLGRAPH_ATTEMPT_H
#define CLGRAPH_ATTEMPT_H
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

/* Returns how the walk ended.  A new point that would encroach on a segment gives way to one on the segment. */
INLINE int attempt(field_t f, int i, ulong key, int t, int urgency, demands_t ask, __global int4 *heads,
                   __global double2 *spots, __global int *ends) {
  if (!claim(f, t, key)) return WALK_LOST;
  int4 corner = f.corners[t], link = f.links[t];
  double2 a = f.points[corner.x], b = f.points[corner.y], c = f.points[corner.z];
  int found = WALK_FLAT;
  if (urgency == ENCROACHED) {
    if (link.x < 0 && encroaches(a, b, c, ask.lens)) found = link_to(t, 0);
    else if (link.y < 0 && encroaches(b, c, a, ask.lens)) found = link_to(t, 1);
    else if (link.z < 0 && encroaches(c, a, b, ask.lens)) found = link_to(t, 2);
  } else {
    double2 p = center_of(a, b, c, ask);
    for (int turn = 0; turn < 2 && found == WALK_FLAT; turn++) {
      found = try_point(f, i, key, p, t, heads, spots);
      p = middle_of_longest(a, b, c);
    }
  }
  return found >= 0 ? try_segment(f, i, key, found, heads, spots, ends) : found;
}
#endif
