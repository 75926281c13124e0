/* Computes a number from each row of a dense matrix; a work-item takes a row.  The host supplies the statements that
 * compute it, and the parameters that all rows share.  No races. */
#include "common/types.h"

#ifndef BODY
#define T float
#define VALUE_T float
#define BODY result = 0; for (int k = 0; k < length; k++) result += row[k];
#endif
#ifndef SHARED
#define SHARED
#endif

KERNEL map_rows(long n, long first, int width, __global const VALUE_T *restrict matrix, SHARED __global T *restrict out) {
  const long place = get_global_id(0), i = first + place;
  (void)i;                       /* BODY may use it */
  if (place >= n) return;
  const int length = width;
  __global const VALUE_T *row = matrix + place * width;
  T result;
  BODY
  out[place] = result;
}
