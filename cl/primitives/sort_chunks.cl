/* Stable least-significant-digit radix sort for CPUs; two launches per digit, one work-item per work-group.
 *
 *   count_chunks     digits of a chunk of consecutive keys -> counts[digit * chunks + chunk]
 *   scatter_chunks   sums the counts of lower digits, and of earlier chunks, then moves the keys of its chunk in order
 *
 * With LINE > 1, LINE items of a digit are collected and then written as one aligned cache line that bypasses the caches,
 * so the line need not be read first.  This is 1.7 times as fast for arrays larger than the caches, but slower for others.
 * Lines that another digit or chunk shares are written item by item.
 *
 * Reference: N. Satish et al., "Fast Sort on CPUs and GPUs: A Case for Bandwidth Oblivious SIMD Sort", SIGMOD 2010.
 */
#ifndef HAS_VALUES
#define HAS_VALUES 0
#endif
#ifndef VALUE_T
#define VALUE_T uint
#endif
#ifndef LINE                     /* items per line: 64 bytes of keys or values, whichever are wider */
#define LINE 1
#endif
#include "common/types.h"
#include "primitives/sort_keys.h"

#if HAS_VALUES
#define WITH_VALUES(text) text
#define VALUES_IN , const __global VALUE_T *restrict values
#define VALUES_OUT , __global VALUE_T *restrict out_values
#else
#define WITH_VALUES(text)
#define VALUES_IN
#define VALUES_OUT
#endif

KERNEL count_chunks(long n, long chunk, uint bit, uint mask, const __global key_bits_t *restrict keys,
                    __global uint *restrict counts) {
  LOCAL_ARRAY uint own[2][RADIX];  /* two counters per digit, so that consecutive equal digits do not wait */
  for (uint d = 0; d < RADIX; d++) own[0][d] = own[1][d] = 0u;
  long i = get_group_id(0) * chunk, end = min(n, i + chunk);
  for (; i + 1 < end; i += 2) {
    own[0][digit_of(keys[i], bit, mask)]++;
    own[1][digit_of(keys[i + 1], bit, mask)]++;
  }
  if (i < end) own[0][digit_of(keys[i], bit, mask)]++;
  for (long d = 0; d < RADIX; d++) counts[d * get_num_groups(0) + get_group_id(0)] = own[0][d] + own[1][d];
}

#if LINE > 1
#ifdef __has_builtin
#if __has_builtin(__builtin_nontemporal_store)
#define STREAM(value, p) __builtin_nontemporal_store(value, p)
#endif
#endif
#ifndef STREAM
#define STREAM(value, p) (*(p) = (value))
#endif
typedef PASTE(KEY_BITS_T, LINE) key_line_t;
typedef PASTE(VALUE_T, LINE) value_line_t;
#endif

KERNEL scatter_chunks(long n, long chunk, uint bit, uint mask, const __global uint *restrict counts,
                      const __global key_bits_t *restrict keys VALUES_IN,
                      __global key_bits_t *restrict out_keys VALUES_OUT) {
  LOCAL_ARRAY uint next[RADIX];
  uint group = get_group_id(0), groups = get_num_groups(0), sum = 0u;
  for (uint d = 0; d < RADIX; d++)
    for (uint g = 0; g < groups; g++) {
      if (g == group) next[d] = sum;
      sum += counts[(long)d * groups + g];
    }
  long first = group * chunk, end = min(n, first + chunk);
#if LINE == 1
  for (long i = first; i < end; i++) {
    key_bits_t key = keys[i];
    uint to = next[digit_of(key, bit, mask)]++;
    out_keys[to] = key;
    WITH_VALUES(out_values[to] = values[i];)
  }
#else
  LOCAL_ARRAY key_line_t key_lines[RADIX];
  WITH_VALUES(LOCAL_ARRAY value_line_t value_lines[RADIX];)
  LOCAL_ARRAY uint begins[RADIX];
  __local key_bits_t *kept = (__local key_bits_t *)key_lines;
  WITH_VALUES(__local VALUE_T *kept_values = (__local VALUE_T *)value_lines;)
  for (uint d = 0; d < RADIX; d++) begins[d] = next[d];
  for (long i = first; i < end; i++) {
    key_bits_t key = keys[i];
    uint d = digit_of(key, bit, mask), to = next[d]++, start = to + 1 - LINE;
    kept[d * LINE + to % LINE] = key;
    WITH_VALUES(kept_values[d * LINE + to % LINE] = values[i];)
    if (to % LINE != LINE - 1) continue;
    if (start >= begins[d]) {
      STREAM(key_lines[d], (__global key_line_t *)(out_keys + start));
      WITH_VALUES(STREAM(value_lines[d], (__global value_line_t *)(out_values + start));)
    } else {
      for (uint j = begins[d]; j <= to; j++) {
        out_keys[j] = kept[d * LINE + j % LINE];
        WITH_VALUES(out_values[j] = kept_values[d * LINE + j % LINE];)
      }
    }
  }
  for (uint d = 0; d < RADIX; d++)
    for (uint j = max(begins[d], next[d] / LINE * LINE); j < next[d]; j++) {
      out_keys[j] = kept[d * LINE + j % LINE];
      WITH_VALUES(out_values[j] = kept_values[d * LINE + j % LINE];)
    }
#endif
}
