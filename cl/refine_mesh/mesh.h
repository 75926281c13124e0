/* A triangulation in arrays, and the test for bad triangles.
 *
 *   corners[t]     three points, counter-clockwise, and the triangle of the input from which t has its attributes
 *   links[t]       the link across the edge opposite each corner: link_to(n, j) to triangle n, whose corner j is opposite
 *                  the same edge; ~link_to(n, j) if the edge is a part of a segment; OUTSIDE at the boundary
 *   sides[t]       the input's segment that an edge with a negative link is a part of; undefined for other edges
 *   urgencies[t]   0: t may stay; ENCROACHED: a segment of t must be split; otherwise t is bad, and its urgency is the
 *                  greater, the shorter its shortest edge is
 *   point_segments[v]   the segment of the input that v was inserted on; or FREE_POINT, INPUT_POINT, or SHARP_POINT, where
 *                  segments of the input meet at a small angle
 *
 * Angles and encroachment are computed with rounding: they decide which triangles are good enough, not whether the mesh
 * is valid.
 */
#ifndef CLGRAPH_DELAUNAY_MESH_H
#define CLGRAPH_DELAUNAY_MESH_H
#include "common/atomics.h"
#include "refine_mesh/predicates.h"

#define OUTSIDE ((int)0x80000000)
#define ENCROACHED 255
#define MOST_URGENT 254
#define FREE_POINT -1
#define INPUT_POINT -2
#define SHARP_POINT -3
#define ROUND_BIT 40             /* keys in `owners` have the round from this bit on, so they grow from round to round */

/* Words of the state. */
#define N_POINTS 0
#define N_TRIANGLES 1
#define N_BAD 2                  /* bad triangles when the round began */
#define N_CANDIDATES 3           /* candidates of the round */
#define N_STUCK 4                /* 0, or after a fault the round of a patch that made no progress */
#define N_UNSURE 5               /* candidates that need exact arithmetic */
#define N_GIVEN_UP 6             /* triangles that no point could improve, in all rounds */
#define N_TOO_LARGE 7            /* candidates whose cavity had no room */
#define STATE_WORDS 8

typedef struct {                 /* the bounds that the user asked for */
  double cos_squared;            /* cos² of the least angle allowed */
  double off_center;             /* greatest distance of a new point from a shortest edge of length 1 */
  double lens;                   /* an obtuse angle encroaches if its cos² is at least this; 0: the diametral circle */
  int longest;                   /* size_class of the squared length of the longest possible edge */
  int has_caps;
  int whole;                     /* the segments that must not be split: WHOLE_… */
} demands_t;

#define WHOLE_BOUNDARY 1
#define WHOLE_SEGMENTS 2

INLINE int of3(int4 v, int i) { return i == 0 ? v.x : i == 1 ? v.y : v.z; }
INLINE int next3(int i) { return i == 2 ? 0 : i + 1; }
INLINE int last3(int i) { return i == 0 ? 2 : i - 1; }
INLINE int link_to(int t, int j) { return 4 * t + j; }
INLINE int unmarked(int link) { return link < 0 ? ~link : link; }

/* Returns the size class of x; there are four classes per power of two. */
INLINE int size_class(double x) { return (int)(as_ulong(x) >> 50); }
INLINE double dot2(double2 a, double2 b) { return a.x * b.x + a.y * b.y; }
INLINE double cross2(double2 a, double2 b) { return a.x * b.y - a.y * b.x; }

/* Returns 1 if p sees the segment from a to b under an angle that is too large. */
INLINE int encroaches(double2 p, double2 a, double2 b, double lens) {
  a -= p;
  b -= p;
  double between = dot2(a, b);
  return between < 0.0 && between * between >= lens * dot2(a, a) * dot2(b, b);
}

/* Returns 1 if p and q are on segments that meet at less than 60 degrees, at equal distance from the common end.  Then the
 * small angle there makes the edge between them short, and no point could improve the triangle. */
INLINE int on_one_shell(int p, int q, double2 at_p, double2 at_q, __global const int *restrict point_segments,
                        __global const int2 *restrict segment_ends, __global const double2 *restrict points) {
  int one = point_segments[p], other = point_segments[q];
  if (one < 0 || other < 0 || one == other) return 0;
  int2 a = segment_ends[one], b = segment_ends[other];
  int common = a.x == b.x || a.x == b.y ? a.x : a.y == b.x || a.y == b.y ? a.y : -1;
  if (common < 0) return 0;
  double2 apex = points[common], to_p = at_p - apex, to_q = at_q - apex;
  double near = dot2(to_p, to_p), far = dot2(to_q, to_q);
  double most = 1.002 * near;
  return near < 1.002 * far && far < most && 2.0 * dot2(to_p, to_q) > most;
}

/* Returns the urgency of a triangle by its angles and area. The ends of the shortest edge are looked up last. */
INLINE int badness(double2 a, double2 b, double2 c, int va, int vb, int vc, double cap, demands_t ask,
                   __global const int *restrict point_segments, __global const int2 *restrict segment_ends,
                   __global const double2 *restrict points) {
  double2 ab = b - a, bc = c - b, ca = a - c;
  double s_ab = dot2(ab, ab), s_bc = dot2(bc, bc), s_ca = dot2(ca, ca);
  double least = s_ab, beside = s_bc * s_ca, between = -dot2(bc, ca);
  int p = va, q = vb;
  double2 at_p = a, at_q = b;
  if (s_bc < least) { least = s_bc; beside = s_ca * s_ab; between = -dot2(ca, ab); p = vb; q = vc; at_p = b; at_q = c; }
  if (s_ca < least) { least = s_ca; beside = s_ab * s_bc; between = -dot2(ab, bc); p = vc; q = va; at_p = c; at_q = a; }
  int is_bad = ask.has_caps && 0.5 * cross2(ab, -ca) > cap;
  if (!is_bad && between > 0.0 && between * between > ask.cos_squared * beside)
    is_bad = !on_one_shell(p, q, at_p, at_q, point_segments, segment_ends, points);
  if (!is_bad) return 0;
  return clamp(ask.longest - size_class(least), 1, MOST_URGENT);
}

/* Returns 1 if the edge with this link is a part of a segment that may be split. */
INLINE int may_split(int link, int whole) {
  return link < 0 && whole != WHOLE_SEGMENTS && !(whole == WHOLE_BOUNDARY && link == OUTSIDE);
}

/* Returns 1 if a segment of the triangle must be split because the opposite corner encroaches on it. */
INLINE int has_encroached(double2 a, double2 b, double2 c, int4 link, demands_t ask) {
  return (may_split(link.x, ask.whole) && encroaches(a, b, c, ask.lens)) ||
         (may_split(link.y, ask.whole) && encroaches(b, c, a, ask.lens)) ||
         (may_split(link.z, ask.whole) && encroaches(c, a, b, ask.lens));
}

INLINE int urgency_of(int4 corner, int4 link, demands_t ask, __global const double2 *restrict points,
                      __global const int *restrict point_segments, __global const int2 *restrict segment_ends,
                      __global const double *restrict caps) {
  double2 a = points[corner.x], b = points[corner.y], c = points[corner.z];
  double cap = ask.has_caps ? caps[corner.w] : 0.0;
  if (has_encroached(a, b, c, link, ask)) return ENCROACHED;
  return badness(a, b, c, corner.x, corner.y, corner.z, cap, ask, point_segments, segment_ends, points);
}
#endif
