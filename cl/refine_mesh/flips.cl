/* Makes a mesh Delaunay, except for its segments, by C. Lawson's flips: if the far corner of one triangle of an edge is
 * inside the circle of the other, the edge is replaced by the other diagonal of the two triangles.
 *
 *   propose   every stride-th triangle: finds an edge to flip, and claims its two triangles and those around them
 *   flip      every stride-th triangle: flips its edge if it has won all claims
 *
 * Flips in one round share no triangle.  The flips terminate: lift the points to a paraboloid; in exact arithmetic each
 * flip lowers the surface of the lifted triangles.
 *
 * Race: claims arrive in any order, but the highest key does not depend on it.
 */
#include "refine_mesh/mesh.h"
#include "refine_mesh/exact.h"
#include "common/hashes.h"

#define N_FLIPS 0                /* word of `found`: the number of edges to flip */
#define FOUND_WORDS 1

INLINE ulong flip_key(int t, uint round) { return ((ulong)round << 32) | hash_murmur3((uint)t ^ round * 0x9e3779b9u); }

/* Returns triangle k of the six that a flip of edge e of t changes; -1 outside.  While others flip, only a work-item that
 * has won the first two may ask for the others, because then no other work-item changes the links of the first two. */
INLINE int changed(int t, int e, int k, __global const int4 *restrict links) {
  if (k == 0) return t;
  int4 own = links[t];
  int across = of3(own, e), n = across >> 2, j = across & 3;
  if (k == 1) return n;
  int4 other = links[n];
  int link = k == 2 ? of3(own, next3(e)) : k == 3 ? of3(own, last3(e)) : of3(other, k == 4 ? next3(j) : last3(j));
  return link == OUTSIDE ? -1 : unmarked(link) >> 2;
}

KERNEL propose(int n_triangles, uint round, __global const double2 *restrict points,
               __global const int4 *restrict corners, __global const int4 *restrict links,
               volatile __global ulong *owners, __global uchar *restrict edges, volatile __global uint *found,
               __global ulong *words) {
  for (int t = get_global_id(0); t < n_triangles; t += (int)get_global_size(0)) {
    int4 corner = corners[t], link = links[t];
    double2 a = points[corner.x], b = points[corner.y], c = points[corner.z];
    int edge = 3;
    for (int e = 0; e < 3 && edge == 3; e++) {
      int across = of3(link, e);
      if (across < 0 || across >> 2 < t) continue;
      double2 d = points[of3(corners[across >> 2], across & 3)];
      int side = incircle_filter(a, b, c, d);
      if (side == 0) side = incircle_exact(a, b, c, d, words + get_global_id(0), get_global_size(0));
      if (side > 0) edge = e;
    }
    edges[t] = (uchar)edge;
    if (edge == 3) continue;
    fetch_add(found + N_FLIPS, 1u);
    for (int k = 0; k < 6; k++) {
      int n = changed(t, edge, k, links);
      if (n >= 0 && load_relaxed(owners + n) < flip_key(t, round)) fetch_max(owners + n, flip_key(t, round));
    }
  }
}

INLINE void relink(__global int4 *links, int link, int own) {
  if (link != OUTSIDE) ((__global int *)links)[unmarked(link)] = link < 0 ? ~own : own;
}

KERNEL flip(int n_triangles, uint round, __global const ulong *restrict owners, __global const uchar *restrict edges,
            __global int4 *corners, __global int4 *links, __global int4 *sides) {
  for (int t = get_global_id(0); t < n_triangles; t += (int)get_global_size(0)) {
    int e = edges[t], has_won = e < 3;
    for (int k = 0; k < 6 && has_won; k++) {
      int n = changed(t, e, k, links);
      has_won = n < 0 || owners[n] == flip_key(t, round);
    }
    if (!has_won) continue;
    int4 link = links[t], corner = corners[t], side = sides[t];
    int across = of3(link, e), n = across >> 2, j = across & 3;
    int4 far_link = links[n], far_corner = corners[n], far_side = sides[n];
    int p = of3(corner, e), a = of3(corner, next3(e)), b = of3(corner, last3(e)), d = of3(far_corner, j);
    int ad = of3(far_link, next3(j)), pa = of3(link, last3(e)), bp = of3(link, next3(e)), db = of3(far_link, last3(j));
    corners[t] = (int4)(p, a, d, corner.w);
    corners[n] = (int4)(d, b, p, far_corner.w);
    links[t] = (int4)(ad, link_to(n, 1), pa, 0);
    links[n] = (int4)(bp, link_to(t, 1), db, 0);
    sides[t] = (int4)(of3(far_side, next3(j)), -1, of3(side, last3(e)), 0);
    sides[n] = (int4)(of3(side, next3(e)), -1, of3(far_side, last3(j)), 0);
    relink(links, ad, link_to(t, 0));
    relink(links, pa, link_to(t, 2));
    relink(links, bp, link_to(n, 0));
    relink(links, db, link_to(n, 2));
  }
}
