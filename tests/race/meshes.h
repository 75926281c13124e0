/* A small mesh in the arrays of cl/refine_mesh/mesh.h, for the cases of refinement: a square of two triangles with random
 * points in them, and what a refined one must be like. */
#pragma once
#include "host.h"
#include "refine_mesh/insertion.h"

struct Mesh {
  Array<double2> points;
  Array<int4> corners, links, sides;
  Array<uchar> urgencies;
  Array<int> point_segments;
  Array<int2> segment_ends;
  Array<double> caps;
  Array<ulong> owners;
  Array<uint> state;
  demands_t ask;
  double whole_area;

  /* room: how many points there may be */
  Mesh(Random &random, int room)
      : points(room), corners(2 * room), links(2 * room), sides(2 * room), urgencies(2 * room),
        point_segments(room, FREE_POINT), segment_ends(4), caps(2), owners(2 * room), state(STATE_WORDS) {
    const double tip = 1 + random.below(1000) / 2000.0, cosine = std::cos(M_PI * (16 + random.below(10)) / 180);
    const double2 square[] = {make_double2(0, 0), make_double2(1, 0), make_double2(1, tip), make_double2(0, 1)};
    for (int v = 0; v < 4; v++) {
      points[v] = square[v];
      point_segments[v] = INPUT_POINT;
      segment_ends[v] = make_int2(v, (v + 1) % 4);
    }
    corners[0] = make_int4(0, 1, 3, 0);  /* the diagonal between the larger angles */
    corners[1] = make_int4(2, 3, 1, 1);
    links[0] = make_int4(link_to(1, 0), OUTSIDE, OUTSIDE, 0);
    links[1] = make_int4(link_to(0, 0), OUTSIDE, OUTSIDE, 0);
    sides[0] = make_int4(-1, 3, 0, 0);
    sides[1] = make_int4(-1, 1, 2, 0);
    caps[0] = caps[1] = 0.05 + random.below(50) / 1000.0;
    ask.cos_squared = cosine * cosine;
    ask.off_center = 0.475 * std::sqrt((1 + cosine) / (1 - cosine));
    ask.lens = 0.0;
    ask.longest = size_class(4.0);
    ask.has_caps = 1;
    ask.whole = 0;
    urgencies[0] = urgencies[1] = 1;
    whole_area = (1 + tip) / 2;
    state[N_POINTS] = 4;
    state[N_TRIANGLES] = 2;
  }

  int is_bad(int t) const {
    const int4 c = corners[t];
    return badness(points[c.x], points[c.y], points[c.z], c.x, c.y, c.z, caps[c.w], ask, point_segments,
                   segment_ends, points);
  }
  /* Asks for smaller triangles, so that many are bad at once. */
  void ask_for_more() {
    caps[0] = caps[1] = caps[0] / 5;
    for (uint t = 0; t < state[N_TRIANGLES]; t++) urgencies[t] = is_bad(t);
  }
  /* whether nothing is bad, and all is Delaunay */
  bool is_refined() const {
    for (int t = 0; t < (int)state[N_TRIANGLES]; t++)
      if (urgencies[t] || is_bad(t)) return false;
    return is_delaunay();
  }
  /* whether links agree, triangles turn to the left, and all is Delaunay */
  bool is_delaunay() const {
    double area = 0;
    const int n = (int)state[N_TRIANGLES];
    Array<ulong> words(WIDE_WORDS);
    for (int t = 0; t < n; t++) {
      const int4 c = corners[t];
      const double2 p[] = {points[c.x], points[c.y], points[c.z]};
      if (orient2d_exact(p[0], p[1], p[2], words, 1) <= 0) return false;
      area += cross2(p[1] - p[0], p[2] - p[0]) / 2;
      for (int e = 0; e < 3; e++) {
        const int link = of3(links[t], e);
        if (link == OUTSIDE) continue;
        const int other = unmarked(link) >> 2, j = unmarked(link) & 3;
        if (other >= n || j > 2 || of3(links[other], j) != (link < 0 ? ~link_to(t, e) : link_to(t, e))) return false;
        const int4 o = corners[other];
        if (of3(o, next3(j)) != of3(c, last3(e)) || of3(o, last3(j)) != of3(c, next3(e))) return false;
        if (link >= 0 && incircle_exact(p[0], p[1], p[2], points[of3(o, j)], words, 1) > 0) return false;
      }
    }
    return std::fabs(area - whole_area) < 1e-9 && n < 2 * (int)state[N_POINTS];
  }
};
