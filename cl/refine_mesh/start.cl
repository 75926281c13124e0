/* Writes a mesh to the arrays of mesh.h, and reads the refined mesh from them.
 *
 *   key_…, place_…   order points along a Z curve and triangles by their least points, so that near ones get near numbers
 *   start    per triangle: writes its links, and marks which of its edges are segments
 *   look     per triangle: finds its urgency
 *   finish   per triangle: writes its corners and neighbours in rows of three, and appends its parts of segments
 *
 * Race: `finish` appends parts of segments in any order; the host sorts them.
 */
#include "refine_mesh/mesh.h"

/* segment_rows, given_ends: the segments in rows of their lower ends */
INLINE int segment_between(int a, int b, __global const int *restrict segment_rows,
                           __global const int2 *restrict given_ends) {
  int lower = min(a, b), upper = max(a, b);
  for (int s = segment_rows[lower]; s < segment_rows[lower + 1]; s++) if (given_ends[s].y == upper) return s;
  return -1;
}

INLINE uint spread_bits(uint x) {
  x = (x | (x << 8)) & 0x00ff00ffu;
  x = (x | (x << 4)) & 0x0f0f0f0fu;
  x = (x | (x << 2)) & 0x33333333u;
  return (x | (x << 1)) & 0x55555555u;
}

KERNEL key_points(int n_points, double low_x, double low_y, double scale, __global const double2 *restrict given,
                  __global uint *restrict keys, __global int *restrict items) {
  int v = get_global_id(0);
  if (v >= n_points) return;
  double2 p = given[v];
  uint x = (uint)min((p.x - low_x) * scale, 65535.0), y = (uint)min((p.y - low_y) * scale, 65535.0);
  keys[v] = spread_bits(x) | (spread_bits(y) << 1);
  items[v] = v;
}

KERNEL place_points(int n_points, __global const int *restrict point_order, __global const double2 *restrict given,
                    __global double2 *restrict points, __global int *restrict point_segments,
                    __global int *restrict ranks) {
  int r = get_global_id(0);
  if (r >= n_points) return;
  int v = point_order[r];
  points[r] = given[v];
  point_segments[r] = INPUT_POINT;
  ranks[v] = r;
}

KERNEL sharpen_points(int n_sharp, __global const int *restrict sharp_points, __global const int *restrict ranks,
                      __global int *restrict point_segments) {
  int i = get_global_id(0);
  if (i < n_sharp) point_segments[ranks[sharp_points[i]]] = SHARP_POINT;
}

KERNEL place_segments(int n_segments, __global const int2 *restrict given_ends, __global const int *restrict ranks,
                      __global int2 *restrict segment_ends) {
  int s = get_global_id(0);
  if (s < n_segments) segment_ends[s] = (int2)(ranks[given_ends[s].x], ranks[given_ends[s].y]);
}

KERNEL key_triangles(int n_triangles, __global const int *restrict triangles, __global const int *restrict ranks,
                     __global uint *restrict keys, __global int *restrict items) {
  int t = get_global_id(0);
  if (t >= n_triangles) return;
  __global const int *corner = triangles + 3 * (size_t)t;
  keys[t] = (uint)min(ranks[corner[0]], min(ranks[corner[1]], ranks[corner[2]]));
  items[t] = t;
}

KERNEL place_triangles(int n_triangles, __global const int *restrict triangle_order, __global int *restrict slots) {
  int s = get_global_id(0);
  if (s < n_triangles) slots[triangle_order[s]] = s;
}

KERNEL start(int n_triangles, __global const int *restrict triangle_order, __global const int *restrict slots,
             __global const int *restrict ranks, __global const int *restrict triangles,
             __global const int *restrict neighbors, __global const int *restrict segment_rows,
             __global const int2 *restrict given_ends, __global int4 *restrict corners, __global int4 *restrict links,
             __global int4 *restrict sides) {
  int s = get_global_id(0);
  if (s >= n_triangles) return;
  int t = triangle_order[s], corner[3], link[3], side[3];
  #pragma unroll
  for (int e = 0; e < 3; e++) corner[e] = triangles[3 * (size_t)t + e];
  #pragma unroll
  for (int e = 0; e < 3; e++) {
    int a = corner[(e + 1) % 3], b = corner[(e + 2) % 3], n = neighbors[3 * (size_t)t + e];
    side[e] = segment_between(a, b, segment_rows, given_ends);
    link[e] = OUTSIDE;
    if (n >= 0) {                /* the opposite corner of n is the one before its corner b */
      int j = triangles[3 * (size_t)n + 1] == b ? 0 : triangles[3 * (size_t)n + 2] == b ? 1 : 2;
      link[e] = side[e] < 0 ? link_to(slots[n], j) : ~link_to(slots[n], j);
    }
  }
  corners[s] = (int4)(ranks[corner[0]], ranks[corner[1]], ranks[corner[2]], t);
  links[s] = (int4)(link[0], link[1], link[2], 0);
  sides[s] = (int4)(side[0], side[1], side[2], 0);
}

KERNEL look(int n_triangles, demands_t ask, __global const double2 *restrict points,
            __global const int4 *restrict corners, __global const int4 *restrict links,
            __global const int *restrict point_segments, __global const int2 *restrict segment_ends,
            __global const double *restrict caps, __global uchar *restrict urgencies) {
  int t = get_global_id(0);
  if (t >= n_triangles) return;
  urgencies[t] = (uchar)urgency_of(corners[t], links[t], ask, points, point_segments, segment_ends, caps);
}

/* Returns the user's number of a point. */
INLINE int known(int v, int n_given, __global const int *restrict point_order) {
  return v < n_given ? point_order[v] : v;
}

KERNEL finish(int n_triangles, int n_given, __global const int *restrict point_order,
              __global const int4 *restrict corners, __global const int4 *restrict links,
              __global const int4 *restrict sides, __global int *restrict triangles, __global int *restrict neighbors,
              __global int *restrict origins, __global int4 *restrict parts, volatile __global uint *n_parts) {
  int t = get_global_id(0);
  if (t >= n_triangles) return;
  int4 corner = corners[t], link = links[t];
  #pragma unroll
  for (int e = 0; e < 3; e++) {
    int across = of3(link, e), n = across == OUTSIDE ? -1 : unmarked(across) >> 2;
    triangles[3 * (size_t)t + e] = known(of3(corner, e), n_given, point_order);
    neighbors[3 * (size_t)t + e] = n;
    if (across < 0 && (n < 0 || t < n))
      parts[fetch_add(n_parts, 1u)] = (int4)(link_to(t, e), known(of3(corner, next3(e)), n_given, point_order),
                                               known(of3(corner, last3(e)), n_given, point_order), of3(sides[t], e));
  }
  origins[t] = corner.w;
}
