/* Core numbers by peeling (peel.h): in one launch of work-groups that meet at a barrier, or in a launch for each step. */
#include "cores/peel.h"

KERNEL start(int n, __global const offset_t *restrict row_offsets, __global int *restrict degrees,
             __global uint *restrict state) {
  const int v = get_global_id(0);
  if (v < STATE_WORDS) {
    const int at = v - STATE_AT;
    state[v] = v >= STATE_LEAST && v < STATE_LEAST + 3 ? UINT_MAX : at == 5 ? (uint)n : at == 6 ? UINT_MAX : 0u;
  }
  if (v < n) degrees[v] = (int)(row_offsets[v + 1] - row_offsets[v]);
}

KERNEL peel(int n, __global const offset_t *row_offsets, __global const int *column_indices,
            volatile __global int *degrees, __global int *lists, __global offset_t *begins, __global uint *lengths,
            volatile __global uint *state) {
  LOCAL_ARRAY int passed;
  GRID_ENTER(state + STATE_CONTROL)
  const peeled_t on = {row_offsets, column_indices, degrees, lists, begins, lengths, state};
  for (peel_t at = first_step((uint)n); !at.is_done; at = after_step(at, on)) {
    if (at.step > 4u * (uint)n + 8u) {  /* a wave removes a vertex, and a level has a wave and two scans at most */
      report_status(state + STATE_CONTROL + GRID_STATUS, STATUS_STUCK);
      return;
    }
    make_step((uint)n, member, members, at, on);
    if (!grid_barrier(state + STATE_CONTROL, members, &passed)) return;
  }
}

/* One step; the last work-group to end it writes where the peeling is then. */
KERNEL peel_step(int n, __global const offset_t *row_offsets, __global const int *column_indices,
                 volatile __global int *degrees, __global int *lists, __global offset_t *begins, __global uint *lengths,
                 volatile __global uint *state) {
  const peeled_t on = {row_offsets, column_indices, degrees, lists, begins, lengths, state};
  uint words[AT_WORDS];
  for (uint i = 0u; i < AT_WORDS; i++) words[i] = load_relaxed(state + STATE_AT + i);
  peel_t at = {words[0], words[1], words[2], words[3], words[4], words[5], words[6], (int)words[7], (int)words[8]};
  if (at.is_done) return;
  make_step((uint)n, get_group_id(0), get_num_groups(0), at, on);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0)) return;
  fence_device();
  if (fetch_add(state + STATE_TICKET, 1u) != get_num_groups(0) - 1u) return;
  fence_device();
  at = after_step(at, on);
  const uint next[AT_WORDS] = {at.step, at.scan, at.level, at.head, at.tail, at.left, at.least, (uint)at.is_wave,
                               (uint)at.is_done};
  for (uint i = 0u; i < AT_WORDS; i++) store_relaxed(state + STATE_AT + i, next[i]);
  store_relaxed(state + STATE_TICKET, 0u);
}
