/* Predicates of cl/refine_mesh on lists of points, for tests: a work-item takes four points. */
#include "refine_mesh/exact.h"

KERNEL decide(int n, __global const double2 *restrict points, __global ulong *words, __global int4 *restrict answers) {
  int i = get_global_id(0);
  if (i >= n) return;
  double2 a = points[4 * i], b = points[4 * i + 1], c = points[4 * i + 2], d = points[4 * i + 3];
  int4 found;
  found.x = orient2d_filter(a, b, c);
  found.y = orient2d_exact(a, b, c, words + i, n);
  found.z = incircle_filter(a, b, c, d);
  found.w = incircle_exact(a, b, c, d, words + i, n);
  answers[i] = found;
}
