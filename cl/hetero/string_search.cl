/* Counts the occurrences of several patterns in a text; a work-item tests the BLOCK positions of one block.  A part of the
 * text is a run of whole blocks, followed by the characters that a match beginning in the last block may need; n_bytes
 * counts both.  No races.
 *
 * patterns has the concatenated patterns; pattern p begins at pattern_offsets[p].
 */
#include "common/types.h"

#ifndef BLOCK
#define BLOCK 256
#endif

KERNEL string_search(
    long n, long n_bytes, int n_patterns, __global const uchar *restrict text, __global const uchar *restrict patterns,
    __global const int *restrict pattern_offsets, __global int *restrict counts) {
  const long block = get_global_id(0);
  if (block >= n) return;
  for (int p = 0; p < n_patterns; p++) {
    const int length = pattern_offsets[p + 1] - pattern_offsets[p];
    __global const uchar *pattern = patterns + pattern_offsets[p];
    const long end = min(block * BLOCK + BLOCK, n_bytes - length + 1);
    const uchar head = pattern[0];
    int count = 0;
    for (long at = block * BLOCK; at < end; at++) {
      if (text[at] != head) continue;
      int k = 1;
      while (k < length && text[at + k] == pattern[k]) k++;
      count += k == length;
    }
    counts[block * n_patterns + p] = count;
  }
}
