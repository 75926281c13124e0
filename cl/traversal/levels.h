/* The barrier between the levels of a persistent kernel.  It also carries the flags that say if the next level has
 * work, so that a small frontier costs one atomic and one word to poll.
 *
 * A group arrives by adding 1 and its flags to one of four words, which take turns.  The word is complete when its
 * count equals the number of members.  Member 0 clears the word and the sizes of lists that come into use two turns
 * later: by then every group has left the barrier before last, where that word was polled.
 * Groups pass data to each other only through lists, so only a group that wrote to a list (LISTED) fences.
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
#define HAS_OWN (1u << 10)       /* how many groups have rows of their own; ten bits */
#define LISTED (1u << 20)
#define MAX_MEMBERS 1000u
#define NO_PREDECESSOR -9999

#ifndef MAX_TURNS                /* A path of 10^7 vertices takes a few times 10^7 turns, which are minutes. */
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
 * turn_arrive, so that the clearing is done before it arrives. */
INLINE uint clear_turn(volatile __global uint *state, uint turn) {
  uint was = exchange(state + STATE_TURNS + 32u * (turn + 2u & 3u), 0u);
  for (uint k = 0u; k < 4u; k++) was |= exchange(state + STATE_SIZES + SIZES * (turn + 2u & 3u) + k, 0u);
  return was;
}

/* One work-item of a group calls, behind a barrier of the group.  Arriving and waiting are separate functions, so that
 * a group can do work in between on which no other group depends. */
INLINE void turn_arrive(volatile __global uint *state, uint turn, uint cleared, uint flags, __local uint *sum) {
#if ALONE
  *sum = flags;
#else
  if (cleared == 0xffffffffu) report_status(state + STATE_CONTROL + GRID_STATUS, STATUS_TIMEOUT);  /* never */
  if (flags & LISTED) fence_device(); else order_reads();
  fetch_add(state + STATE_TURNS + 32u * (turn & 3u), turn < MAX_TURNS ? 1u + flags : 0u);
#endif
}

/* Every work-item calls.  Returns the sum of the flags over the groups.  0 ends the kernel: either nothing is left, or
 * a wait timed out. */
INLINE uint turn_await(volatile __global uint *state, uint turn, uint members, __local uint *sum) {
#if !ALONE
  if (get_local_id(0) == 0) {
    volatile __global uint *word = state + STATE_TURNS + 32u * (turn & 3u), *status = state + STATE_CONTROL + GRID_STATUS;
    uint seen = load_relaxed(word);
    for (uint spin = 1u; (seen & ARRIVED_MASK) != members; spin++) {
      if (spin >= SPIN_LIMIT || ((spin & 1023u) == 0u && load_relaxed(status))) {
        report_status(status, STATUS_TIMEOUT);
        seen = 0u;
        break;
      }
      seen = load_relaxed(word);
    }
    if (seen >= LISTED) fence_device(); else order_reads();
    *sum = seen & ~ARRIVED_MASK;
  }
#endif
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  return *sum;
}
#endif
