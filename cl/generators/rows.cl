/* Makes CSR arrays from sorted keys, which have the row above the lower *shift* bits.  Rows may also be rows of a table. */
#include "generators/chunk.h"
#include "generators/search.h"

/* row_offsets: n_rows + 1 */
KERNEL find_rows(int n_rows, long count, int shift, const __global KEY_T *restrict keys,
                 __global int *restrict row_offsets) {
  long at = 0;
  FOR_CHUNK(row, n_rows + 1l) {
    at = first_at_least(keys, at, count, (ulong)row << shift);
    row_offsets[row] = (int)at;
  }
}

KERNEL take_columns(long count, int shift, const __global KEY_T *restrict keys, __global int *restrict column_indices) {
  FOR_CHUNK(i, count) column_indices[i] = (int)(keys[i] & (((KEY_T)1 << shift) - 1));
}
