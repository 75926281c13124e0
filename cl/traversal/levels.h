/* The barrier between the levels of a persistent kernel.  It also sums flags that tell whether the next level has work.
 * So a small frontier costs one atomic, and polling one word.
 *
 * A group arrives by adding 1 and its flags to one of four words, which take turns.  The word is complete when its
 * count equals the number of members.  Member 0 clears the word and the sizes of lists that come into use two turns
 * later: by then every group has left the barrier before last, where that word was polled.
 * Groups pass data to each other only through lists, so only a group that wrote to a list (LISTED) fences.
 * docs/protocols/bfs_queues.md has a table of the words and a timeline of a turn.
 */
#ifndef CLGRAPH_TRAVERSAL_LEVELS_H
#define CLGRAPH_TRAVERSAL_LEVELS_H
#include "common/grid_barrier.h"

#define STATE_CONTROL 0
#define STATE_TURNS 32           /* four words, 32 apart */
#define STATE_SIZES 160          /* four sets of SIZES words */
#define SIZES 32
#define STATE_WORDS 288
#define ARRIVED_MASK 0x3ffu
#define HAS_OWN (1u << 10)       /* flag: the group has rows of its own.  Ten bits count these groups. */
#define LISTED (1u << 20)
#define MAX_MEMBERS 1000u
#define NO_PREDECESSOR -9999

#ifndef MAX_TURNS                /* a bound: a path of 10^7 vertices takes a few times 10^7 turns, several minutes */
#define MAX_TURNS (1u << 28)
#endif

#ifndef ALONE                    /* 1: there is one work-group */
#define ALONE 0
#endif

/* The list entries that a group read decided its work before it arrived, so no other group overwrites them too early.
 * ThreadSanitizer does not follow such dependencies. */
#if DEV_ATOMICS == ATOMICS_HOST
#define order_reads() fence_device()
#else
#define order_reads()
#endif

/* Clear the words that come into use two turns later.  Member 0 calls it early in a turn and passes the result to
 * turn_arrive, so that the clearing is done before it arrives.
 * Race: none.  Groups last used these words in turn - 2, and have left it: they arrived at turn - 1, which member 0 has
 * passed.  They use them again in turn + 1 at the earliest, after member 0 has arrived. */
INLINE uint clear_turn(volatile __global uint *state, uint turn) {
  uint was = exchange(state + STATE_TURNS + 32u * (turn + 2u & 3u), 0u);
  for (uint k = 0u; k < 4u; k++) was |= exchange(state + STATE_SIZES + SIZES * (turn + 2u & 3u) + k, 0u);
  return was;
}

/* One work-item of a group calls, after a barrier of the group.  Arriving and waiting are separate functions, so that a
 * group can do other work in between, on which no other group depends.
 * Race: all groups add to one word.  The sum shows that all have arrived; the order of additions does not matter. */
INLINE void turn_arrive(volatile __global uint *state, uint turn, uint cleared, uint flags, __local uint *sum) {
#if ALONE
  *sum = flags;
#else
  if (cleared == 0xffffffffu) report_status(state + STATE_CONTROL + GRID_STATUS, STATUS_TIMEOUT);  /* never */
  if (flags & LISTED) fence_device(); else order_reads();
  fetch_add(state + STATE_TURNS + 32u * (turn & 3u), turn < MAX_TURNS ? 1u + flags : 0u);
#endif
}

/* One work-item of a group calls: poll the word of the turn until all members have arrived, and return it.  Returns 0 after
 * SPIN_LIMIT polls, or if another group has reported a time-out.
 * Race: an old value only costs another poll.  The word is complete until member 0 clears it, two turns later. */
INLINE uint poll_arrivals(volatile __global uint *state, uint turn, uint members) {
  volatile __global uint *word = state + STATE_TURNS + 32u * (turn & 3u), *status = state + STATE_CONTROL + GRID_STATUS;
  uint seen = load_relaxed(word);
  for (uint spin = 1u; (seen & ARRIVED_MASK) != members; spin++) {
    if (spin >= SPIN_LIMIT || ((spin & 1023u) == 0u && load_relaxed(status))) {
      report_status(status, STATUS_TIMEOUT);
      return 0u;
    }
    seen = load_relaxed(word);
  }
  return seen;
}

/* Every work-item calls.  Returns the sum of the flags over the groups.  0 ends the kernel: either nothing is left, or
 * a wait timed out.
 * One work-item writes *sum; the barrier stands before the others read it, and a later barrier before it is written again. */
INLINE uint turn_await(volatile __global uint *state, uint turn, uint members, __local uint *sum) {
#if !ALONE
  if (get_local_id(0) == 0) {
    uint seen = poll_arrivals(state, turn, members);
    if (seen >= LISTED) fence_device(); else order_reads();
    *sum = seen & ~ARRIVED_MASK;
  }
#endif
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  return *sum;
}
#endif
