/* Decoupled look-back: a tile gets the sum of all earlier tiles while those are still being processed.
 *
 * Work-groups draw their tile from a counter, so every earlier tile belongs to a group that has started.  The only
 * assumption is that started groups keep running.  Nevertheless spins are bounded.
 *
 * A state word has a value and a two-bit stage: nothing -> sum of the tile -> sum of all tiles up to it.  The stages of
 * run r are counted from `nothing` = 2 * (r % 2), modulo 4.  So the final stage of the last run is this run's "nothing",
 * and the words must be cleared only after a failed run.
 *
 * Intended races: state words are polled while they are written.  One word has both value and stage, so no order between
 * words is needed.  A 64-bit sum takes two words, which are read again until their stages agree.
 *
 * Reference: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA
 * technical report NVR-2016-002.
 */
#ifndef CLGRAPH_LOOK_BACK_H
#define CLGRAPH_LOOK_BACK_H
#include "common/subgroup.h"
#include "common/status.h"

#define CONTROL_TICKET 0         /* words of the control array, which starts zeroed */
#define CONTROL_STATUS 1
#define CONTROL_WORDS 2
#ifndef SPIN_LIMIT
#define SPIN_LIMIT 100000000u
#endif
#define STAGE_NOTHING 0u
#define STAGE_TILE 1u
#define STAGE_PREFIX 2u

/* One work-item per group calls; the last ticket clears the counter for the next launch.
 * After a launch that was cut off, tickets are left over.  Then groups with later tickets take the last tile, too, and none
 * writes behind the states.  If no group has the first tile, the waits run out. */
INLINE uint draw_tile(volatile __global uint *control) {
  const uint last = (uint)get_num_groups(0) - 1u, ticket = fetch_add(control + CONTROL_TICKET, 1u);
  if (ticket == last) store_relaxed(control + CONTROL_TICKET, 0u);
  return min(ticket, last);
}

/* Returns 1 if a spin that has taken *turn* turns must give up. */
INLINE int gave_up(volatile __global uint *control, uint turn) {
  if (turn < SPIN_LIMIT && ((turn & 1023u) != 1023u || !load_relaxed(control + CONTROL_STATUS))) return 0;
  report_status(control + CONTROL_STATUS, STATUS_TIMEOUT);
  return 1;
}

#ifdef SUM_T                     /* ---- one sum per tile, a sub-group looks back together */
#if SUM_BYTES == 8
#define STATE_WORDS 2
INLINE void publish(volatile __global ulong *states, uint tile, SUM_T value, uint stage, uint nothing) {
  ulong flag = (ulong)((stage + nothing) & 3u) << 32, bits = (ulong)value;
  store_relaxed(states + 2ul * tile, flag | (bits & 0xfffffffful));
  store_relaxed(states + 2ul * tile + 1, flag | (bits >> 32));
}
INLINE uint look_at(volatile __global ulong *states, uint tile, SUM_T *value, uint nothing) {
  ulong low = load_relaxed(states + 2ul * tile), high = load_relaxed(states + 2ul * tile + 1);
  *value = (SUM_T)((high << 32) | (low & 0xfffffffful));
  return low >> 32 == high >> 32 ? ((uint)(low >> 32) - nothing) & 3u : STAGE_NOTHING;
}
#else
#define STATE_WORDS 1
INLINE void publish(volatile __global ulong *states, uint tile, SUM_T value, uint stage, uint nothing) {
  store_relaxed(states + tile, (ulong)((stage + nothing) & 3u) << 32 | (uint)value);
}
INLINE uint look_at(volatile __global ulong *states, uint tile, SUM_T *value, uint nothing) {
  ulong state = load_relaxed(states + tile);
  *value = (SUM_T)(uint)state;
  return ((uint)(state >> 32) - nothing) & 3u;
}
#endif

/* Every lane of one sub-group of the tile's work-group calls; returns the sum of all earlier tiles. */
INLINE SUM_T look_back(uint tile, SUM_T sum, uint nothing, volatile __global uint *control,
                       volatile __global ulong *states) {
  uint lane = sg_lane();
  SUM_T prefix = 0;
  if (lane == 0 && tile) publish(states, tile, sum, STAGE_TILE, nothing);
  for (long last = (long)tile - 1;; last -= SUB_GROUP_SIZE) {
    long other = last - lane;
    SUM_T value = 0;
    uint stage = other < 0 ? STAGE_PREFIX : STAGE_NOTHING;
    for (uint turn = 0; sg_any(stage == STAGE_NOTHING); turn++) {
      if (stage == STAGE_NOTHING) stage = look_at(states, (uint)other, &value, nothing);
      if (stage == STAGE_NOTHING && gave_up(control, turn)) stage = STAGE_PREFIX;
    }
    lane_mask_t ends = sg_ballot(stage == STAGE_PREFIX);
    uint nearest = ends ? lowest_lane(ends) : SUB_GROUP_SIZE - 1u;
    prefix += sg_sum(lane <= nearest ? value : (SUM_T)0);
    if (ends) break;
  }
  if (lane == 0) publish(states, tile, prefix + sum, STAGE_PREFIX, nothing);
  return prefix;
}
#endif
#endif
