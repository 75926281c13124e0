/* Computes a number from each row of a CSR matrix; a work-item takes a row.  The host supplies the statements that
 * compute it, and the parameters that all rows share.  The offsets count entries of the whole matrix, the entries are
 * only those in the part's rows.  No races. */
#include "common/types.h"

#ifndef BODY
#define T float
#define VALUE_T float
#define BODY result = 0; for (int k = 0; k < length; k++) result += row[k] * columns[k];
#endif
#ifndef SHARED
#define SHARED
#endif

KERNEL map_sparse_rows(
    long n, long first, __global const int *restrict row_offsets, __global const int *restrict column_indices,
    __global const VALUE_T *restrict row_values, SHARED __global T *restrict out) {
  const long place = get_global_id(0), i = first + place;
  (void)i;                       /* BODY may use it */
  if (place >= n) return;
  const int begin = row_offsets[place] - row_offsets[0], length = row_offsets[place + 1] - row_offsets[place];
  __global const VALUE_T *row = row_values + begin;
  __global const int *columns = column_indices + begin;
  T result;
  BODY
  out[place] = result;
}
