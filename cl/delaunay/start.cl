/* Brings a mesh into the arrays of mesh.h, and takes it out again.
 *
 *   start    a triangle: its links, and which of its edges are segments
 *   look     a triangle: its urgency
 *   finish   a triangle: its corners and neighbours in rows of three, and the parts of segments that it has
 *
 * Race: `finish` appends parts of segments in any order; the host sorts them.
 */
#include "delaunay/mesh.h"

/* segment_rows, segment_ends: the segments in rows of their lower ends */
INLINE int segment_between(int a, int b, __global const int *restrict segment_rows, __global const int2 *restrict segment_ends) {
  int lower = min(a, b), upper = max(a, b);
  for (int s = segment_rows[lower]; s < segment_rows[lower + 1]; s++) if (segment_ends[s].y == upper) return s;
  return -1;
}

KERNEL start(int n_triangles, __global const int *restrict triangles, __global const int *restrict neighbors,
             __global const int *restrict segment_rows, __global const int2 *restrict segment_ends,
             __global int4 *restrict corners, __global int4 *restrict links, __global int4 *restrict sides) {
  int t = get_global_id(0);
  if (t >= n_triangles) return;
  int corner[3], link[3], side[3];
  #pragma unroll
  for (int e = 0; e < 3; e++) corner[e] = triangles[3 * (size_t)t + e];
  #pragma unroll
  for (int e = 0; e < 3; e++) {
    int a = corner[(e + 1) % 3], b = corner[(e + 2) % 3], n = neighbors[3 * (size_t)t + e];
    side[e] = segment_between(a, b, segment_rows, segment_ends);
    link[e] = OUTSIDE;
    if (n >= 0) {                /* the corner that looks back is the one before its corner b */
      int j = triangles[3 * (size_t)n + 1] == b ? 0 : triangles[3 * (size_t)n + 2] == b ? 1 : 2;
      link[e] = side[e] < 0 ? link_to(n, j) : ~link_to(n, j);
    }
  }
  corners[t] = (int4)(corner[0], corner[1], corner[2], t);
  links[t] = (int4)(link[0], link[1], link[2], 0);
  sides[t] = (int4)(side[0], side[1], side[2], 0);
}

KERNEL look(int n_triangles, demands_t ask, __global const double2 *restrict points, __global const int4 *restrict corners,
            __global const int4 *restrict links, __global const int *restrict point_segments,
            __global const int2 *restrict segment_ends, __global const double *restrict caps, __global uchar *restrict urgencies) {
  int t = get_global_id(0);
  if (t >= n_triangles) return;
  int4 corner = corners[t], link = links[t];
  double2 a = points[corner.x], b = points[corner.y], c = points[corner.z];
  int urgency = badness(a, b, c, corner.x, corner.y, corner.z, ask.has_caps ? caps[corner.w] : 0.0, ask, point_segments, segment_ends, points);
  if ((link.x < 0 && encroaches(a, b, c, ask.lens)) || (link.y < 0 && encroaches(b, c, a, ask.lens)) ||
      (link.z < 0 && encroaches(c, a, b, ask.lens)))
    urgency = ENCROACHED;
  urgencies[t] = (uchar)urgency;
}

KERNEL finish(int n_triangles, __global const int4 *restrict corners, __global const int4 *restrict links,
              __global const int4 *restrict sides, __global int *restrict triangles, __global int *restrict neighbors,
              __global int *restrict origins, __global int4 *restrict parts, volatile __global uint *n_parts) {
  int t = get_global_id(0);
  if (t >= n_triangles) return;
  int4 corner = corners[t], link = links[t];
  #pragma unroll
  for (int e = 0; e < 3; e++) {
    int across = of3(link, e), n = across == OUTSIDE ? -1 : unmarked(across) >> 2;
    triangles[3 * (size_t)t + e] = of3(corner, e);
    neighbors[3 * (size_t)t + e] = n;
    if (across < 0 && (n < 0 || t < n))
      parts[fetch_add(n_parts, 1u)] = (int4)(link_to(t, e), of3(corner, next3(e)), of3(corner, last3(e)), of3(sides[t], e));
  }
  origins[t] = corner.w;
}
