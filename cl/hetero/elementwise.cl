/* Evaluates an expression for each element of some arrays; a work-item takes an element.  The host supplies the parameters,
 * the loads of element k of each array, and the expression.  No races. */
#include "common/types.h"

#ifndef EXPRESSION
#define T float
#define PARAMETERS __global const float *restrict x_items,
#define LOAD_ITEM const float x = x_items[k];
#define EXPRESSION x + i
#endif

KERNEL elementwise(long n, long first, PARAMETERS __global T *restrict out) {
  const size_t k = get_global_id(0);
  const long i = first + (long)k;  /* the element's index in the whole load */
  if ((long)k >= n) return;
  LOAD_ITEM
  out[k] = EXPRESSION;
}
