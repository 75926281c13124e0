/* Search in an array that never decreases, from a place that is known to be early enough. */
#ifndef CLGRAPH_SEARCH_H
#define CLGRAPH_SEARCH_H
#include "common/types.h"

#ifndef KEY_T
#define KEY_T ulong
#endif

/* The first place from *from* on, or *count*, where keys is at least *key*: first in steps that double, then between
 * the last two of them, so that it is quick where the place is near. */
INLINE long first_at_least(const __global KEY_T *keys, long from, long count, ulong key) {
  long step = 1;
  while (from + step <= count && (ulong)keys[from + step - 1] < key) {
    from += step;
    step *= 2;
  }
  long end = min(count, from + step - 1);
  while (from < end) {
    const long middle = (from + end) / 2;
    if ((ulong)keys[middle] < key) from = middle + 1;
    else end = middle;
  }
  return from;
}
#endif
