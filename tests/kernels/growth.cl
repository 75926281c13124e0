/* Kernels whose list may be too short, for tests of the growth protocol.
 *   list       the vertices of a binary tree, level by level: those from BEGIN to END are the last level
 *   state      words, below
 */
#include "common/status.h"
#define STATE_STATUS 0
#define STATE_SIZE 1             /* how many items the list has, or would have had, had there been room */
#define STATE_BEGIN 2
#define STATE_END 3
#define STATE_ALIVE 4
#define STATE_WORDS 5

/* One work-item: a tree of one vertex. */
KERNEL start(__global uint *list, __global uint *state) {
  if (get_global_id(0)) return;
  list[0] = 1u;
  for (int k = 0; k < STATE_WORDS; k++) state[k] = 0u;
  state[STATE_SIZE] = state[STATE_END] = 1u;
}

/* A vertex of the last level: appends both children, if they are numbered at most n. */
KERNEL append_children(uint n, uint list_capacity, volatile __global uint *list, volatile __global uint *state) {
  const uint begin = state[STATE_BEGIN], end = state[STATE_END];
  for (uint k = begin + (uint)get_global_id(0); k < end; k += (uint)get_global_size(0))
    for (uint child = 2u * list[k]; child <= min(n, 2u * list[k] + 1u); child++) {
      uint slot = fetch_add(state + STATE_SIZE, 1u);
      if (slot < list_capacity) list[slot] = child;
      else report_status(state + STATE_STATUS, STATUS_CAPACITY);
    }
}

/* One work-item: makes what was appended the last level. */
KERNEL close_level(uint number, __global uint *state) {
  if (get_global_id(0)) return;
  state[STATE_BEGIN] = state[STATE_END];
  state[STATE_END] = state[STATE_SIZE];
  if (state[STATE_BEGIN] < state[STATE_END]) state[STATE_ALIVE] = number;
}
