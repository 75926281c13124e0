/* Breadth-first search on CPUs along the rows of an unchecked matrix: the search checks everything that it reads.
 *
 * All offsets are checked first, so that rows lie in the matrix and none is read twice. Each column is compared with n
 * before it is used. The rows that the search did not reach are checked last. If anything is wrong, the answer is
 * useless. `meeting.h` describes how several work-groups share a search.
 */
#define UNCHECKED 1
#include "bfs/meeting.h"

#define MATRIX_STATUS 0
#define MATRIX_WRONG 1            /* 1: the arrays are not a valid graph */
#define MATRIX_WORDS 2

KERNEL search_matrix(int n, uint max_depth, int n_sources, __global const int *restrict sources,
                     __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                     volatile __global uint *words, __global int *queue,
                     volatile __global int *distances, volatile __global int *predecessors) {
  volatile __global uint *state = words, *meeting = words + MATRIX_WORDS;
  const uint groups = (uint)get_num_groups(0), ticket = fetch_add(meeting + MEET_ARRIVED, 1u);
  const uint launch = ticket / groups, member = ticket % groups;
  const search_t in = {row_offsets, column_indices, distances, predecessors, queue, (ulong)n, state + MATRIX_WRONG, max_depth};
  if (member) {
    follow(member, launch, meeting, in);
    return;
  }
  share_of_level_t level;
  uint most = MEMBERS, status = STATUS_OK;
  ulong rows = 0ul;
  state[MATRIX_WRONG] = row_offsets[0] != 0;
  lead_all(&level, SHARE_OF_OFFSETS, (ulong)n, &most, launch, meeting, in, &status);
  for (int i = 0; i < n_sources; i++) {
    if (load_relaxed(distances + sources[i]) == 0) continue;
    store_relaxed(distances + sources[i], 0);
    queue[rows++] = sources[i];
  }
#pragma unroll
  for (uint k = 0u; k < MEMBERS; k++) {
    level.segments[k].begin = 0u;
    level.segments[k].end = level.segments[k].tail = k ? 0u : (uint)rows;
  }
  if (load_relaxed(state + MATRIX_WRONG)) rows = 0ul;
  for (uint depth = 1u; rows && depth <= max_depth && status == STATUS_OK; depth++) {
    lead_all(&level, depth, rows, &most, launch, meeting, in, &status);
    rows = next_level(&level);
  }
  if (!load_relaxed(state + MATRIX_WRONG))
    lead_all(&level, SHARE_OF_UNREACHED, (ulong)n, &most, launch, meeting, in, &status);
  state[MATRIX_STATUS] = status;
  store_relaxed(meeting + MEET_ENDED, launch + 1u);
}
