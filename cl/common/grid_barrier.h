/* A grid barrier: a device-wide barrier for persistent kernels.
 *
 * No OpenCL version promises that all unfinished work-groups make progress.  In practice the occupancy-bound model
 * holds: a group that has started keeps running (T. Sorensen et al., "Portable Inter-workgroup Barrier Synchronisation for
 * GPUs", OOPSLA 2016).  So groups that start early join as members.  After some time no more groups are admitted; later
 * groups leave, and only the members synchronise.  Not for CPUs: under two runtimes it made no progress
 * (runtime/driver/quirks.py: has_grid_barrier).
 *
 * control: GRID_CONTROL_WORDS uints, zeroed before the launch.
 */
#ifndef CLGRAPH_GRID_BARRIER_H
#define CLGRAPH_GRID_BARRIER_H
#include "common/status.h"

#define GRID_CONTROL_WORDS 8
#define GRID_DOOR 0              /* number of groups that have started; the top bit ends admission */
#define GRID_MEMBERS 2           /* number of members; set when admission has ended */
#define GRID_TICKET 3
#define GRID_STATUS 4
#define GRID_OUTSIDE 0xffffffffu
#define GRID_CLOSED 0x80000000u
#ifndef LINGER                   /* turns for which the first group waits for the others to start */
#define LINGER 5000u
#endif
#ifndef SPIN_LIMIT               /* turns after which any wait times out */
#define SPIN_LIMIT 100000000u
#endif

/* Wait until a word that only grows is at least `least`.  Returns 0 on a time-out.  A fence must follow before data that
 * the word guards is read. */
INLINE int wait_until_at_least(volatile __global uint *word, uint least, volatile __global uint *status) {
  for (uint turn = 0u; load_relaxed(word) < least; turn++)
    if (turn >= SPIN_LIMIT || ((turn & 1023u) == 1023u && load_relaxed(status))) {
      report_status(status, STATUS_TIMEOUT);
      return 0;
    }
  return 1;
}

/* One work-item of a group calls this.  It returns the number of the group as a member, or GRID_OUTSIDE if the group
 * must leave.  linger: turns to wait for other groups to start; admission ends at once when all have started.  One word
 * has the count of groups and the end of admission, so the group that ends it knows the number of members. */
INLINE uint grid_join(volatile __global uint *control, uint linger) {
  uint member = fetch_add(control + GRID_DOOR, 1u), came = member;
  if (member & GRID_CLOSED) return GRID_OUTSIDE;
  for (uint turn = 0; turn < linger && !(came & GRID_CLOSED) && came != (uint)get_num_groups(0); turn++)
    came = load_relaxed(control + GRID_DOOR);
  if (!(came & GRID_CLOSED)) came = fetch_or(control + GRID_DOOR, GRID_CLOSED);
  if (!(came & GRID_CLOSED)) store_relaxed(control + GRID_MEMBERS, came);
  return wait_until_at_least(control + GRID_MEMBERS, 1u, control + GRID_STATUS) ? member : GRID_OUTSIDE;
}
/* Returns the number of members.  Only the work-item that called grid_join may call this, because it has seen that the
 * number is set; it must pass the number to the others. */
INLINE uint grid_members(volatile __global uint *control) { return load_relaxed(control + GRID_MEMBERS); }
/* The first statement of a persistent kernel.  It declares uint member and members; groups that start too late return
 * here. */
#define GRID_ENTER(control)                                                                           \
  LOCAL_ARRAY uint joined_[2];                                                                        \
  if (get_local_id(0) == 0) {                                                                         \
    joined_[0] = grid_join(control, LINGER);                                                          \
    joined_[1] = grid_members(control);                                                               \
  }                                                                                                   \
  local_barrier();                                                                                    \
  const uint member = joined_[0], members = joined_[1];                                               \
  if (member == GRID_OUTSIDE) return;

/* One work-item of a group waits until the number of tickets has reached the goal.  Returns 0 on a time-out. */
INLINE int grid_wait(volatile __global uint *control, uint goal) {
  for (uint turn = 0u; (int)(load_relaxed(control + GRID_TICKET) - goal) < 0;)
    if (++turn >= SPIN_LIMIT || ((turn & 1023u) == 0u && load_relaxed(control + GRID_STATUS))) {
      report_status(control + GRID_STATUS, STATUS_TIMEOUT);
      return 0;
    }
  return 1;
}
/* Every work-item of every member group calls this.  It returns 0 on a time-out, after which the kernel must end. */
INLINE int grid_barrier(volatile __global uint *control, uint members, __local int *passed) {
  group_barrier();
  if (get_local_id(0) == 0) {
    fence_device();
    const uint ticket = fetch_add(control + GRID_TICKET, 1u);
    *passed = grid_wait(control, ticket - ticket % members + members);
    fence_device();
  }
  group_barrier();
  return *passed;
}
/* The same if members may leave between barriers.  words[1] holds the goal of the last barrier, and is 0 before the first one.
 * A member that is alone does not take a ticket. */
INLINE int grid_barrier_of(volatile __global uint *control, uint members, __local int *words) {
  group_barrier();
  if (get_local_id(0) == 0) {
    fence_device();
    if (members > 1u) {
      words[1] += (int)members;
      fetch_add(control + GRID_TICKET, 1u);
    }
    words[0] = grid_wait(control, (uint)words[1]);
    fence_device();
  }
  group_barrier();
  return words[0];
}
#endif
