/* The published state of a vertex: its word (possible.h) and its priority (orders.h), so that one load reads both.  The
 * owner changes the word by store_relaxed; the priority is constant. */
#ifndef CLGRAPH_STATES_H
#define CLGRAPH_STATES_H
#include "color/possible.h"

#define word_of(states, v) ((states) + 2 * (long)(v))
#define load_rank(states, v) ((states)[2 * (long)(v) + 1])

/* Returns the word in the low half and the priority in the high half; 0 unless wanted. */
INLINE ulong load_state(int wanted, volatile __global uint *states, int v) {
#if DEV_LOADS == LOADS_ATOMIC || !DEV_HAS_INT64_ATOMICS
  return wanted ? (ulong)load_rank(states, v) << 32 | load_relaxed(word_of(states, v)) : 0u;
#else
  return load_relaxed_if(wanted, (volatile __global ulong *)states + v);
#endif
}
#endif
