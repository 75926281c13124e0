/* Stable least-significant-digit radix sort for CPUs; two launches per digit, one work-item a work-group.
 *
 *   count_chunks     digits of a chunk of consecutive keys -> counts[digit * chunks + chunk]
 *   scatter_chunks   sums the counts of lower digits, and of earlier chunks, then moves the keys of its chunk in order
 */
#ifndef HAS_VALUES
#define HAS_VALUES 0
#endif
#ifndef VALUE_T
#define VALUE_T uint
#endif
#include "common/types.h"
#include "primitives/sort_keys.h"

KERNEL count_chunks(long n, long chunk, uint bit, uint mask, const __global key_bits_t *restrict keys,
                    __global uint *restrict counts) {
  LOCAL_ARRAY uint own[2][RADIX];  /* two, so that equal digits in a row do not wait for each other */
  for (uint d = 0; d < RADIX; d++) own[0][d] = own[1][d] = 0u;
  long i = get_group_id(0) * chunk, end = min(n, i + chunk);
  for (; i + 1 < end; i += 2) {
    own[0][digit_of(keys[i], bit, mask)]++;
    own[1][digit_of(keys[i + 1], bit, mask)]++;
  }
  if (i < end) own[0][digit_of(keys[i], bit, mask)]++;
  for (long d = 0; d < RADIX; d++) counts[d * get_num_groups(0) + get_group_id(0)] = own[0][d] + own[1][d];
}

KERNEL scatter_chunks(long n, long chunk, uint bit, uint mask, const __global uint *restrict counts,
                      const __global key_bits_t *restrict keys,
#if HAS_VALUES
                      const __global VALUE_T *restrict values,
#endif
                      __global key_bits_t *restrict out_keys
#if HAS_VALUES
                      , __global VALUE_T *restrict out_values
#endif
                      ) {
  LOCAL_ARRAY uint next[RADIX];
  uint group = get_group_id(0), groups = get_num_groups(0), sum = 0u;
  for (uint d = 0; d < RADIX; d++)
    for (uint g = 0; g < groups; g++) {
      if (g == group) next[d] = sum;
      sum += counts[(long)d * groups + g];
    }
  long first = group * chunk, end = min(n, first + chunk);
  for (long i = first; i < end; i++) {
    key_bits_t key = keys[i];
    uint to = next[digit_of(key, bit, mask)]++;
    out_keys[to] = key;
#if HAS_VALUES
    out_values[to] = values[i];
#endif
  }
}
