/* Inserts a point: makes a triangle of it and each edge of the rim, in the slots of the cavity and in one or two new ones.
 *
 * v is the number of the point, base the first of the new slots.
 */
#ifndef CLGRAPH_INSERTION_H
#define CLGRAPH_INSERTION_H
#include "refine_mesh/attempt.h"

#ifndef CHECK_LATER              /* 1: another kernel finds the urgencies of the new triangles */
#define CHECK_LATER 0
#endif

typedef struct {
  __global double2 *points;
  __global int4 *corners, *links, *sides;
  __global uchar *urgencies;
  __global int *point_segments;
  __global const int2 *segment_ends;
  __global const double *caps;
  __global const int4 *rim;
  __global const int *cavity;
  int n_rows;
} grown_t;

INLINE int slot_of(grown_t m, int i, int n_cavity, int k, int base) {
  return k < n_cavity ? m.cavity[k * (size_t)m.n_rows + i] : base + k - n_cavity;
}

INLINE void insert_one(grown_t m, int i, found_t found, int v, int base, demands_t ask) {
  double2 p = found.spot;
  int n = found.n_rim, on_segment = found.second >= 0, at_boundary = found.second == n;
  int4 edge = m.rim[i];
  const int first_corner = edge.x;
  m.points[v] = p;
  m.point_segments[v] = on_segment ? found.segment : FREE_POINT;
  int before = slot_of(m, i, found.n_cavity, n - 1, base), t = slot_of(m, i, found.n_cavity, 0, base);
#if !CHECK_LATER
  double2 a = m.points[edge.x];
#endif
  for (int k = 0; k < n; k++) {
    int behind = slot_of(m, i, found.n_cavity, k + 1 < n ? k + 1 : 0, base);
    int4 following = edge;
    if (k + 1 < n) following = m.rim[(k + 1) * (size_t)m.n_rows + i];
    int vb = k + 1 < n ? following.x : at_boundary ? found.end : first_corner;
    int to_next = link_to(behind, 1), to_last = link_to(before, 0);
    if (on_segment && (k == 0 || k == found.second)) to_last = at_boundary ? OUTSIDE : ~to_last;
    if (on_segment && (k + 1 == n || k + 1 == found.second)) to_next = at_boundary ? OUTSIDE : ~to_next;
    m.corners[t] = (int4)(edge.x, vb, v, edge.w);
    m.links[t] = (int4)(to_next, to_last, edge.y, 0);
    if (to_next < 0 || to_last < 0 || edge.y < 0) m.sides[t] = (int4)(found.segment, found.segment, edge.z, 0);
#if !CHECK_LATER
    double2 b = m.points[vb];
    double cap = ask.has_caps ? m.caps[edge.w] : 0.0;
    int urgency = badness(a, b, p, edge.x, vb, v, cap, ask, m.point_segments, m.segment_ends, m.points);
    if (has_encroached(a, b, p, (int4)(to_next, to_last, edge.y, 0), ask)) urgency = ENCROACHED;
    m.urgencies[t] = (uchar)urgency;
    a = b;
#endif
    if (edge.y != OUTSIDE) {
      int outer = unmarked(edge.y), own = link_to(t, 2);
      ((__global int *)m.links)[outer] = edge.y < 0 ? ~own : own;
    }
    before = t;
    t = behind;
    edge = following;
  }
}
#endif
