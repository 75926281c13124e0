/* Search in a sorted array, from a position that is known to be early enough. */
#ifndef CLGRAPH_SEARCH_H
#define CLGRAPH_SEARCH_H
#include "common/types.h"

#ifndef KEY_T
#define KEY_T ulong
#endif

/* Returns the first position from *from* on at which keys is at least *key*, or *count*: by steps of doubling length, then
 * by bisection, so that it is fast if the position is near. */
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
