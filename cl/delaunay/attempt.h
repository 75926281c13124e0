/* An attempt to improve a triangle: the point that should be put in for it, and the cavity of that point. */
#ifndef CLGRAPH_ATTEMPT_H
#define CLGRAPH_ATTEMPT_H
#include "delaunay/cavity.h"
#include "delaunay/split_points.h"

#define MOST_STEPS 5             /* two of each coordinate: rounding has moved a point by less, and a look behind the last */

typedef struct {                 /* what an attempt has found */
  double2 spot;                  /* where the new point goes */
  int n_cavity, n_rim;           /* in column i of `cavity` and `rim` */
  int second;                    /* edge of the rim where its second side begins; -1 for a point inside of a triangle,
                                    n_rim at the boundary, where there is one side */
  int segment, end;              /* the segment that is split, and the corner where the rim ends */
} found_t;

INLINE int try_point(field_t f, int i, ulong key, double2 p, int t, found_t *found) {
  found->n_cavity = found->n_rim = 0;
  found->second = found->segment = found->end = -1;
  found->spot = p;
  return walk(f, i, key, p, t, 0, 3, 0, &found->n_cavity, &found->n_rim);
}

/* Moves p, the rounded point on the boundary from a to b, by a few units in the last place until it is not outside: there
 * it could be in another part of the domain.  Returns WALK_DONE if it is inside, or on the boundary, and between a and b. */
INLINE int bring_inside(field_t f, double2 a, double2 b, double2 *p) {
  if (a.x == b.x || a.y == b.y) return WALK_DONE;     /* p is on the line */
  double to_x = a.y > b.y ? INFINITY : -INFINITY, to_y = b.x > a.x ? INFINITY : -INFINITY;
  for (int step = 0; step < MOST_STEPS; step++) {
    int turn = orient2d_filter(a, b, *p);
#if EXACT
    if (turn == 0 && orient2d_exact(a, b, *p, f.words, f.word_stride) >= 0) turn = 1;
#else
    if (turn == 0) return WALK_UNSURE;
#endif
    if (turn > 0)
      return p->x >= fmin(a.x, b.x) && p->x <= fmax(a.x, b.x) && p->y >= fmin(a.y, b.y) && p->y <= fmax(a.y, b.y)
             ? WALK_DONE : WALK_FLAT;
    if (step & 1) p->y = nextafter(p->y, to_y); else p->x = nextafter(p->x, to_x);
  }
  return WALK_FLAT;
}

INLINE int try_segment(field_t f, int i, ulong key, int link, found_t *found) {
  int t = link >> 2, e = link & 3;
  int4 corner = f.corners[t];
  int va = of3(corner, next3(e)), vb = of3(corner, last3(e)), across = of3(f.links[t], e);
  double2 a = f.points[va], b = f.points[vb];
  int a_is_sharp = f.point_segments[va] == SHARP_POINT, b_is_sharp = f.point_segments[vb] == SHARP_POINT;
  /* From both sides the same point must come: the end of the lower number is a, whatever t is. */
  double2 p = va < vb ? split_of(a, b, a_is_sharp, b_is_sharp) : split_of(b, a, b_is_sharp, a_is_sharp);
  found->n_cavity = found->n_rim = 0;
  found->segment = of3(f.sides[t], e);
  found->end = va;
  found->spot = p;
  int end = across == OUTSIDE ? bring_inside(f, a, b, &found->spot) : WALK_DONE;
  if (end != WALK_DONE) return end;
  p = found->spot;
  end = walk(f, i, key, p, t, e, 2, 1, &found->n_cavity, &found->n_rim);
  found->second = found->n_rim;
  if (end == WALK_DONE && across != OUTSIDE)
    end = walk(f, i, key, p, unmarked(across) >> 2, unmarked(across) & 3, 2, 1, &found->n_cavity, &found->n_rim);
  return end;
}

/* Returns how the walk ended.  A new point that would encroach on a segment gives way to one on the segment. */
INLINE int attempt(field_t f, int i, ulong key, int t, int urgency, demands_t ask, found_t *found) {
  if (!claim(f, t, key)) return WALK_LOST;
  int4 corner = f.corners[t], link = f.links[t];
  double2 a = f.points[corner.x], b = f.points[corner.y], c = f.points[corner.z];
  int end = WALK_FLAT;
  if (urgency == ENCROACHED) {
    if (may_split(link.x, ask.whole) && encroaches(a, b, c, ask.lens)) end = link_to(t, 0);
    else if (may_split(link.y, ask.whole) && encroaches(b, c, a, ask.lens)) end = link_to(t, 1);
    else if (may_split(link.z, ask.whole) && encroaches(c, a, b, ask.lens)) end = link_to(t, 2);
  } else {
    double2 p = center_of(a, b, c, ask);
    for (int turn = 0; turn < 2 && end == WALK_FLAT; turn++) {
      end = try_point(f, i, key, p, t, found);
      p = middle_of_longest(a, b, c);
    }
  }
  /* Behind a segment that stays whole there is no place for the point. */
  if (end >= 0 && !may_split(of3(f.links[end >> 2], end & 3), ask.whole)) return WALK_FLAT;
  return end >= 0 ? try_segment(f, i, key, end, found) : end;
}
#endif
