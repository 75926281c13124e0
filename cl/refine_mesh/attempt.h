/* An attempt to improve a triangle: find the point to insert for it, and the cavity of that point. */
#ifndef CLGRAPH_ATTEMPT_H
#define CLGRAPH_ATTEMPT_H
#include "refine_mesh/cavity.h"
#include "refine_mesh/split_points.h"

#define MOST_STEPS 5             /* two steps per coordinate, because rounding moves a point by less, and a last test */
#define NOWHERE 0                /* the aim of an attempt: none yet, the centre, the middle of the longest edge, */
#define AT_CENTER 1
#define AT_MIDDLE 2
#define AT_SEGMENT 3             /* a point on a segment: first the triangles on this side, then those on the other */
#define BEHIND_SEGMENT 4

typedef struct {                 /* the result of an attempt */
  double2 spot;                  /* the place of the new point */
  int n_cavity, n_rim;           /* lengths in column i of `cavity` and `rim` */
  int second;                    /* edge of the rim where its second side begins; -1 for a point inside of a triangle,
                                    n_rim at the boundary, where there is one side */
  int segment, end;              /* the segment that is split, and the corner where the rim ends */
} found_t;

/* Moves p, the rounded point on the boundary from a to b, by a few units in the last place until it is not outside the
 * mesh; outside it might be in another part of the domain.  Returns WALK_DONE if p is not outside and between a and b. */
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

/* Sets spot, segment and end for the split of this segment, whose other side is `across`; returns as bring_inside. */
INLINE int aim_at_segment(field_t f, int link, int across, found_t *found) {
  int t = link >> 2, e = link & 3;
  int4 corner = f.corners[t];
  int va = of3(corner, next3(e)), vb = of3(corner, last3(e));
  double2 a = f.points[va], b = f.points[vb];
  int a_is_sharp = f.point_segments[va] == SHARP_POINT, b_is_sharp = f.point_segments[vb] == SHARP_POINT;
  found->segment = of3(f.sides[t], e);
  found->end = va;
  /* Both sides must find the same point, so a is the end with the lower number, whatever t is. */
  found->spot = va < vb ? split_of(a, b, a_is_sharp, b_is_sharp) : split_of(b, a, b_is_sharp, a_is_sharp);
  return across == OUTSIDE ? bring_inside(f, a, b, &found->spot) : WALK_DONE;
}

/* Returns the segment that triangle t encroaches on, as its link in t; WALK_FLAT if there is none. */
INLINE int encroached_by(field_t f, int t, demands_t ask) {
  int4 corner = f.corners[t], link = f.links[t];
  double2 a = f.points[corner.x], b = f.points[corner.y], c = f.points[corner.z];
  if (may_split(link.x, ask.whole) && encroaches(a, b, c, ask.lens)) return link_to(t, 0);
  if (may_split(link.y, ask.whole) && encroaches(b, c, a, ask.lens)) return link_to(t, 1);
  if (may_split(link.z, ask.whole) && encroaches(c, a, b, ask.lens)) return link_to(t, 2);
  return WALK_FLAT;
}

/* Returns the result of the last walk.  If the walk for the centre is flat, the middle of the longest edge is tried.  A
 * point that would encroach on a segment is replaced by a point on the segment, with a walk on each side.  The loop
 * contains the only copy of the walk: with four copies, waves of 64 spill scalar registers. */
INLINE int attempt(field_t f, int i, ulong key, int t, int urgency, demands_t ask, found_t *found) {
  if (!claim(f, t, key)) return WALK_LOST;
  found->n_cavity = found->n_rim = 0;
  found->second = found->segment = found->end = -1;
  int end = WALK_FLAT, aim = urgency == ENCROACHED ? AT_MIDDLE : NOWHERE, across = OUTSIDE;
  if (urgency == ENCROACHED) end = encroached_by(f, t, ask);
  for (;;) {
    int into = link_to(t, 2);
    if (end >= 0) {
      into = end;
      across = of3(f.links[into >> 2], into & 3);
      if (!may_split(across, f.whole)) return WALK_FLAT;     /* behind this segment there is no place for the point */
      aim = AT_SEGMENT;
      end = aim_at_segment(f, into, across, found);
      if (end != WALK_DONE) return end;
    } else if (end == WALK_FLAT && aim < AT_MIDDLE) {
      int4 corner = f.corners[t];
      double2 a = f.points[corner.x], b = f.points[corner.y], c = f.points[corner.z];
      found->spot = aim++ == NOWHERE ? center_of(a, b, c, ask) : middle_of_longest(a, b, c);
    } else if (end == WALK_DONE && aim == AT_SEGMENT && across != OUTSIDE) {
      into = unmarked(across);
      aim = BEHIND_SEGMENT;
    } else return end;
    if (aim <= AT_SEGMENT) found->n_cavity = found->n_rim = 0;
    end = walk(f, i, key, found->spot, into, aim >= AT_SEGMENT, &found->n_cavity, &found->n_rim);
    if (aim == AT_SEGMENT) found->second = found->n_rim;
  }
}
#endif
