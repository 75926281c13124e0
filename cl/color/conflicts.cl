/* Counts the conflicts of any colouring.
 *
 * count_entries: a team (nets.h) takes a row and counts its entries with a higher number and the same colour.
 * count_short_nets: a team takes a net of up to LONG_NET places and writes its colours to local memory.  A member counts
 * if an earlier place has its colour.  A place without a member gets a colour that no other place has.
 * count_long_nets: a work-group takes a net and marks its colours in a bitmap in local memory, one window of colours at a
 * time.  A member counts if its bit was set already.
 *
 * total has a low and a high word.  The work-item whose addition wraps the low one raises the high one.
 *
 * Races: members of the same colour set the same bit by fetch_or.  All but the first count; it does not matter which one
 * is first.
 */
#include "color/nets.h"

#ifndef LONG_NET
#define LONG_NET 16
#endif
#ifndef BITMAP_WORDS
#define BITMAP_WORDS 1024
#endif

#define FULL_RANGE 0xffffffffu

INLINE void add_counts(uint count, volatile __global uint *total) {
  const ulong sum = sg_sum((ulong)count);
  if (sg_lane() || !sum) return;
  const uint old = fetch_add(total, (uint)sum), high = (uint)(sum >> 32) + (old + (uint)sum < old);
  if (high) fetch_add(total + 1, high);
}

KERNEL count_entries(int n, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                     __global const int *restrict colors, volatile __global uint *total) {
  uint count = 0u;
  for (uint v = team_number(); v < (uint)n; v += team_total()) {
    const int color = colors[v];
    const offset_t end = row_offsets[v + 1];
    for (offset_t e = row_offsets[v] + team_lane(); e < end; e += LANES)
      count += column_indices[e] > (int)v && colors[column_indices[e]] == color;
  }
  add_counts(count, total);
}

KERNEL count_short_nets(int n, __global const offset_t *restrict row_offsets,
                        __global const int *restrict column_indices, __global const int *restrict colors,
                        volatile __global uint *total) {
  LOCAL_ARRAY int near[TEAMS_PER_GROUP * LONG_NET];
  __local int *mine = near + get_local_id(0) / LANES * LONG_NET;
  uint count = 0u;
  for (uint first = 0u; first < (uint)n; first += team_total()) {
    const uint net = first + team_number();
    const int v = net < (uint)n ? (int)net : 0;
    const offset_t begin = row_offsets[v];
    uint places = net < (uint)n ? (uint)(row_offsets[v + 1] - begin) + CLOSED : 0u;
    if (places > LONG_NET) places = 0u;
    for (uint place = team_lane(); place < places; place += LANES) {
      const int member = net_at(v, begin, place, places, column_indices);
      mine[place] = member < 0 ? -1 - (int)place : colors[member];
    }
    sg_sync();
    for (uint place = team_lane(); place < places; place += LANES) {
      const int color = mine[place];
      uint before = 0u;
      while (mine[before] != color) before++;
      count += before < place;
    }
    sg_sync();
  }
  add_counts(count, total);
}

KERNEL count_long_nets(int n_long, uint n_colors, __global const int *restrict long_nets,
                       __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                       __global const int *restrict colors, volatile __global uint *total) {
  LOCAL_ARRAY uint bitmap[BITMAP_WORDS];
  uint count = 0u;
  for (uint w = get_local_id(0); w < BITMAP_WORDS; w += WG_SIZE) bitmap[w] = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_group_id(0); i < (uint)n_long; i += get_num_groups(0)) {
    const int v = long_nets[i];
    const offset_t begin = row_offsets[v];
    const uint places = (uint)(row_offsets[v + 1] - begin) + CLOSED;
    for (uint base = 0u; base < n_colors; base += 32u * BITMAP_WORDS) {
      for (uint place = get_local_id(0); place < places; place += WG_SIZE) {
        const int member = net_at(v, begin, place, places, column_indices);
        const uint at = member < 0 ? FULL_RANGE : (uint)colors[member] - base;
        if (at < 32u * BITMAP_WORDS) count += fetch_or(bitmap + at / 32u, 1u << (at & 31u)) >> (at & 31u) & 1u;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      for (uint place = get_local_id(0); place < places; place += WG_SIZE) {
        const int member = net_at(v, begin, place, places, column_indices);
        const uint at = member < 0 ? FULL_RANGE : (uint)colors[member] - base;
        if (at < 32u * BITMAP_WORDS) fetch_and(bitmap + at / 32u, 0u);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  add_counts(count, total);
}
