/* The positions of new points: off-centres and circumcentres for bad triangles, shells and midpoints for segments. */
#ifndef CLGRAPH_SPLIT_POINTS_H
#define CLGRAPH_SPLIT_POINTS_H
#include "refine_mesh/mesh.h"

/* Returns the circumcentre, or the off-centre if that is nearer to the shortest edge.  The triangle of the off-centre and
 * that edge has an angle a little above the bound.  A. Üngör, "Off-centers: A New Type of Steiner Points", LATIN 2004. */
INLINE double2 center_of(double2 a, double2 b, double2 c, demands_t ask) {
  double ab = dot2(b - a, b - a), bc = dot2(c - b, c - b), ca = dot2(a - c, a - c);
  double2 p = a, q = b, r = c;
  if (bc < ab && bc <= ca) { p = b; q = c; r = a; }
  else if (ca < ab && ca < bc) { p = c; q = a; r = b; }
  q -= p;
  r -= p;
  double qq = dot2(q, q), rr = dot2(r, r), twice = 2.0 * cross2(q, r);
  double2 center = (double2)(r.y * qq - q.y * rr, q.x * rr - r.x * qq) / twice;
  double2 off = 0.5 * q + ask.off_center * (double2)(-q.y, q.x);
  int is_thin = dot2(q - r, -r) > 0.0 && dot2(q - r, -r) * dot2(q - r, -r) > ask.cos_squared * dot2(q - r, q - r) * rr;
  if (!(twice > 0.0) || (is_thin && !(dot2(center, center) <= dot2(off, off)))) center = off;
  return p + center;
}

/* Returns the middle of the longest edge, which is inside the circumcircle unless the triangle is as thin as rounding. */
INLINE double2 middle_of_longest(double2 a, double2 b, double2 c) {
  double ab = dot2(b - a, b - a), bc = dot2(c - b, c - b), ca = dot2(a - c, a - c);
  return ab >= bc && ab >= ca ? 0.5 * (a + b) : bc >= ca ? 0.5 * (b + c) : 0.5 * (c + a);
}

/* Returns the point at which to split the part of a segment from a to b.  At a corner of the input with a small angle, the
 * parts get lengths that are powers of two.  Then the parts of both segments there end at equal distance from the corner
 * and do not encroach on each other.  The power is taken from the exponent's bits, because Intel's runtime has no ldexp
 * and ilogb for 32 lanes.
 * J. Ruppert, "A Delaunay Refinement Algorithm for Quality 2-Dimensional Mesh Generation", J. Algorithms 18, 1995. */
INLINE double2 split_of(double2 a, double2 b, int a_is_sharp, int b_is_sharp) {
  double share = 0.5;
  if (a_is_sharp != b_is_sharp) {
    double length = sqrt(dot2(b - a, b - a));
    double shell = 0.5 * as_double(as_ulong(length) & (0x7fful << 52));    /* half the greatest power of two below */
    if (length > 3.0 * shell) shell *= 2.0;            /* length / shell is 2 to 4 before, and 1.5 to 3 behind */
    share = shell / length;
  }
  return b_is_sharp && !a_is_sharp ? b + share * (a - b) : a + share * (b - a);
}
#endif
