/* Fast tests for the side of a line or circle on which a point is.  The result may be "unsure".
 *
 *   orient2d_filter(a, b, c)      1 if a, b, c turn to the left, -1 if they turn to the right
 *   incircle_filter(a, b, c, d)   1 if d is inside the circle through a, b, c, which turn to the left; -1 if outside
 *   Both return 0 (unsure) if rounding may have affected the sign, or if the exact value is 0.  Then exact.h decides.
 *
 * The error bounds are J. R. Shewchuk's, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric
 * Predicates", Discrete & Computational Geometry 18, 1997.  They hold with and without contraction.  The possible loss
 * by underflow is added to each.
 */
#ifndef CLGRAPH_PREDICATES_H
#define CLGRAPH_PREDICATES_H
#include "common/types.h"
#ifndef HOST_BUILD
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#endif

#define ORIENT_ERROR 3.3306690738754716e-16
#define INCIRCLE_ERROR 1.1102230246251577e-15
#define UNDERFLOW_ERROR 1e-290

INLINE int sign_beyond(double value, double error) { return value > error ? 1 : value < -error ? -1 : 0; }

INLINE int orient2d_filter(double2 a, double2 b, double2 c) {
  double left = (a.x - c.x) * (b.y - c.y), right = (a.y - c.y) * (b.x - c.x);
  return sign_beyond(left - right, ORIENT_ERROR * (fabs(left) + fabs(right)) + UNDERFLOW_ERROR);
}

INLINE int incircle_filter(double2 a, double2 b, double2 c, double2 d) {
  a -= d;
  b -= d;
  c -= d;
  double bc = b.x * c.y, cb = c.x * b.y, ca = c.x * a.y, ac = a.x * c.y, ab = a.x * b.y, ba = b.x * a.y;
  double aa = a.x * a.x + a.y * a.y, bb = b.x * b.x + b.y * b.y, cc = c.x * c.x + c.y * c.y;
  double sum = aa * (bc - cb) + bb * (ca - ac) + cc * (ab - ba);
  double size = aa * (fabs(bc) + fabs(cb)) + bb * (fabs(ca) + fabs(ac)) + cc * (fabs(ab) + fabs(ba));
  return sign_beyond(sum, INCIRCLE_ERROR * size + UNDERFLOW_ERROR * (aa + bb + cc + 1.0));
}
#endif
