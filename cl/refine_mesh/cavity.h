/* Find the cavity of a new point, and its rim in counter-clockwise order.  The cavity is the set of triangles whose
 * circumcircle contains the point.  It is found from one of them by crossing edges that are not segments.
 *
 * A cavity has no points of the mesh inside, so its triangles form a tree: a walk over their edges in counter-clockwise
 * order reaches each triangle once and needs no marks.  The results of candidate i are in column i of arrays with n_rows
 * columns:
 *
 *   rim[k]      the corner at which edge k of the rim begins, the link across it, its segment, the input's triangle
 *   cavity[k]   a triangle that is removed; from MOST_RIM on, a stack of edges that the walk has yet to cross
 */
#ifndef CLGRAPH_CAVITY_H
#define CLGRAPH_CAVITY_H
#include "refine_mesh/mesh.h"
#include "refine_mesh/exact.h"

#ifndef EXACT                    /* 1: if the filter is unsure, exact arithmetic decides; 0: the walk ends */
#define EXACT 0
#endif
#ifndef MOST_RIM                 /* rows of `rim`, and half the rows of `cavity` */
#define MOST_RIM 32
#endif
#ifndef FIRST_COME               /* 1: the first claim of a triangle wins; 0: the highest key of a round wins */
#define FIRST_COME 0
#endif

#ifndef CLAIM                    /* 1: a walk claims triangles */
#define CLAIM 1
#endif
#ifndef IN_GROUP                 /* 1: a work-group claims triangles of its patch, in local memory */
#define IN_GROUP 0
#endif

/* Least distance of a new point from the edges around it, relative to its largest coordinate: 64 units in the last place.
 * Rounding moves a point by at most one unit, so it changes an angle of a triangle that is 64 units high by about one
 * degree. */
#define CLEARANCE (64.0 * 2.220446049250313e-16)

/* How a walk ends.  Any other result is the link of a segment that must be split first; it is not negative. */
#define WALK_DONE -1
#define WALK_UNSURE -2
#define WALK_TOO_LARGE -3
#define WALK_FLAT -4             /* rounding has moved the point out of its circle, or too close to the rim */
#define WALK_LOST -5

typedef struct {
  __global const double2 *points;
  __global const int4 *corners, *links, *sides;
  __global const int *point_segments;
  volatile __global ulong *owners;
  __global int4 *rim;
  __global int *cavity;
  __global ulong *words;         /* for exact arithmetic */
  size_t word_stride;
  int n_rows;
  double lens;
  int whole;
#if IN_GROUP
  __global const uint *places;   /* the place of each triangle in patches; places of this one begin at first_place */
  volatile __local uint *claims;
  uint first_place;
#endif
} field_t;

/* A walk claims a triangle before it reads it, because other work-items may be changing the mesh. */
INLINE int claim(field_t f, int t, ulong key) {
#if IN_GROUP
  uint place = f.places[t] - f.first_place;
  if (place >= PATCH_ROOM) return 0;
  fetch_max(f.claims + place, (uint)key);
#elif CLAIM
  ulong held = load_relaxed(f.owners + t);
#if FIRST_COME
  if (held == key) return 1;
  return (held ^ key) >> ROUND_BIT && compare_exchange(f.owners + t, held, key) == held;
#else
  if (held < key) fetch_max(f.owners + t, key);
#endif
#endif
  return 1;
}

/* Returns 1 if p is inside the circle of a, b, c; -1 if not; 0 if that needs exact arithmetic, which this build lacks. */
INLINE int in_circle(field_t f, double2 a, double2 b, double2 c, double2 p) {
  int side = incircle_filter(a, b, c, p);
#if EXACT
  if (side == 0) side = incircle_exact(a, b, c, p, f.words, f.word_stride) > 0 ? 1 : -1;
#endif
  return side;
}

/* Returns 1 if p is to the left of the line from a to b and so far from it that rounding p hardly changes their triangle.
 * This is stricter than the exact test, so it needs no exact arithmetic. */
INLINE int clears(double2 p, double2 a, double2 b) {
  double left = (a.x - p.x) * (b.y - p.y), right = (a.y - p.y) * (b.x - p.x);
  double length = fabs(b.x - a.x) + fabs(b.y - a.y), size = fmax(fabs(p.x), fabs(p.y));
  return left - right > CLEARANCE * size * length + ORIENT_ERROR * (fabs(left) + fabs(right)) + UNDERFLOW_ERROR;
}

/* Walks into the triangle across link `into`, whose circle must contain p, and from there across its other two edges.
 * split: the point is on the segment of `into`, and may encroach on other segments.  Without split, the walk ends at a
 * segment on which the point encroaches. */
INLINE int walk(field_t f, int i, ulong key, double2 p, int into, int split, int *n_cavity, int *n_rim) {
  int t = into >> 2, e = into & 3, across = into, is_in = 0, top = 0;
  int4 corner = f.corners[t], link = (int4)(0, 0, 0, 0);
  int va = of3(corner, last3(e));
  double2 a = f.points[va], b = f.points[of3(corner, next3(e))];
  if (!split) f.cavity[(MOST_RIM + top++) * (size_t)f.n_rows + i] = into;
  for (;;) {
    int side = -1;
    if (across != OUTSIDE && !claim(f, unmarked(across) >> 2, key)) return WALK_LOST;
    if (across >= 0) {
      int n = across >> 2, j = across & 3;
      int4 others = f.corners[n];
      side = in_circle(f, f.points[of3(others, j)], b, a, p);
      if (side == 0) return WALK_UNSURE;
      if (side > 0) {
        if (*n_cavity >= MOST_RIM || top >= MOST_RIM) return WALK_TOO_LARGE;
        f.cavity[(*n_cavity)++ * (size_t)f.n_rows + i] = n;
        f.cavity[(MOST_RIM + top++) * (size_t)f.n_rows + i] = link_to(n, last3(j));
        t = n;
        e = next3(j);
        corner = others;
        link = f.links[n];
        is_in = 1;
      }
    }
    if (side < 0) {
      if (!is_in) return WALK_FLAT;     /* a cavity is right only if p, which is rounded, is in the first circle */
      int is_clear = clears(p, a, b);
      if (across < 0 && !split && (!is_clear || (may_split(across, f.whole) && encroaches(p, a, b, f.lens))))
        return link_to(t, e);
      if (!is_clear) return WALK_FLAT;
      if (*n_rim >= MOST_RIM) return WALK_TOO_LARGE;
      f.rim[(*n_rim)++ * (size_t)f.n_rows + i] = (int4)(va, across, across < 0 ? of3(f.sides[t], e) : -1, corner.w);
      if (top == 0) return WALK_DONE;
      int edge = f.cavity[(MOST_RIM + --top) * (size_t)f.n_rows + i];
      if (edge >> 2 != t) {
        t = edge >> 2;
        corner = f.corners[t];
        link = f.links[t];
      }
      e = edge & 3;
    }
    va = of3(corner, next3(e));
    a = f.points[va];
    b = f.points[of3(corner, last3(e))];
    across = of3(link, e);
  }
}
#endif
