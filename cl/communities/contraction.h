/* The phases of a contraction, for the work-groups of a place.  contract.cl has the kernels. */
#ifndef CLGRAPH_COMMUNITIES_CONTRACTION_H
#define CLGRAPH_COMMUNITIES_CONTRACTION_H
#include "communities/members.h"

#ifndef GIANT                    /* On GPUs all work-groups share a group of more entries. */
#define GIANT 4096u
#endif
#ifndef SHARED_GIANT             /* All work-groups share the slots of a giant of more entries when its row is written. */
#define SHARED_GIANT (4u * GIANT)
#endif

ALWAYS_INLINE void mark_all(uint n, volatile __global const int *labels, volatile __global int *used, place_t place) {
  FOR_EACH_AT(place, v, n) {
    if (v < n) store_relaxed(used + labels[v], 1);
  }
}
ALWAYS_INLINE void renumber_all(uint n, volatile __global const int *labels, __global const int *numbers, __global int *groups,
                         place_t place) {
  FOR_EACH_AT(place, v, n) {
    if (v < n) groups[v] = numbers[labels[v]];
  }
}
ALWAYS_INLINE void count_all(uint n, __global const int *row_offsets, __global const int *groups,
                             volatile __global int *members_of, volatile __global int *entries_of, place_t place) {
  FOR_EACH_AT(place, v, n) {
    if (v >= n) continue;
    fetch_add(members_of + groups[v], 1);
    fetch_add(entries_of + groups[v], row_offsets[v + 1u] - row_offsets[v]);
  }
}
ALWAYS_INLINE void place_all(uint n, __global const int *groups, __global const int *member_begins,
                             volatile __global int *members_of, __global int *members, place_t place) {
  FOR_EACH_AT(place, v, n) {
    if (v < n) members[member_begins[groups[v]] + fetch_add(members_of + groups[v], -1) - 1] = (int)v;
  }
}

/* Groups of many entries, and giants; sizes: how many there are of both. */
typedef struct { __global int *longs; volatile __global uint *sizes; __global int *giants; } group_lists_t;
#define GROUP_LISTS_PARAMETERS __global int *long_groups, volatile __global uint *n_long_groups, __global int *giants
#define GROUP_LISTS {long_groups, n_long_groups, giants}
#define FOR_EACH_LONG_GROUP(g, lists, place)                                                          \
  const long_rows_t long_ = {(lists)->longs, (lists)->sizes, 0};                                      \
  FOR_EACH_LONG_ROW_OF(long_, i_, g, place)

ALWAYS_INLINE void list_all_groups(uint n_groups, __global const int *slot_begins, const group_lists_t *lists, place_t place) {
  FOR_EACH_AT(place, g, n_groups) {
    const uint n_entries = g < n_groups ? n_entries_of(slot_begins, g) : 0u;
    if (n_entries > GIANT) lists->giants[fetch_add(lists->sizes + 1, 1u)] = (int)g;
    else if (n_entries > LONG_ROW) lists->longs[fetch_add(lists->sizes, 1u)] = (int)g;
  }
}

ALWAYS_INLINE void insert_all(const level_t *level, const members_t *groups, uint n_groups, const slots_t *slots,
                       const group_lists_t *lists, volatile __global int *counts, place_t place, __local scratch_t *scratch) {
  FOR_EACH_AT(place, g, n_groups) {
    const uint n_entries = g < n_groups ? n_entries_of(groups->slot_begins, g) : 0u;
    if (g < n_groups && n_entries <= LANE_ROW) counts[g] = insert_alone(level, groups, g, slots);
    if (n_entries > GIANT) counts[g] = 0;
    FOR_EACH_MIDDLE_ROW(h, g, n_entries) insert_together(0, level, groups, h, slots, counts, scratch);
  }
  FOR_EACH_LONG_GROUP(g, lists, place) insert_together(1, level, groups, g, slots, counts, scratch);
}
ALWAYS_INLINE void write_all(uint n_groups, __global const int *slot_begins, const slots_t *slots, const group_lists_t *lists,
                      const next_rows_t *next, place_t place, __local scratch_t *scratch) {
  FOR_EACH_AT(place, g, n_groups) {
    const uint n_entries = g < n_groups ? n_entries_of(slot_begins, g) : 0u;
    if (n_entries && n_entries <= LANE_ROW) write_row(0, g, 0u, 1u, slot_begins, slots, next, scratch);
    FOR_EACH_MIDDLE_ROW(h, g, n_entries) write_row(0, h, sg_lane(), SUB_GROUP_SIZE, slot_begins, slots, next, scratch);
  }
  FOR_EACH_LONG_GROUP(g, lists, place) write_row(1, g, (uint)get_local_id(0), WG_SIZE, slot_begins, slots, next, scratch);
}

#if DIVIDES_ROWS
ALWAYS_INLINE void insert_all_giants(const level_t *level, const long_rows_t *long_rows, const members_t *groups,
                              const slots_t *slots, volatile __global int *counts, place_t place, __local scratch_t *scratch) {
  const uint n = level->n;
  __global const int *of = groups->of;
  FOR_EACH_AT(place, v, n) {
    const int is_of_giant = v < n && n_entries_of(groups->slot_begins, (uint)of[v]) > GIANT;
    const uint degree = is_of_giant ? degree_of(level, v) : 0u;
    if (degree && degree <= LANE_ROW) insert_short_row(level, v, of[v], groups, slots, counts);
    FOR_EACH_MIDDLE_ROW(w, v, degree) insert_row(0, level, w, of[w], groups, slots, counts, scratch);
  }
  FOR_EACH_LONG_ROW_OF(*long_rows, i, v, place) {
    if (n_entries_of(groups->slot_begins, (uint)of[v]) > GIANT) insert_row(1, level, v, of[v], groups, slots, counts, scratch);
  }
}
/* The work-groups of a place write the row of giant g.  counts: the lengths of the rows, which are counted down. */
INLINE void write_giant(uint g, __global const int *slot_begins, const slots_t *slots, const next_rows_t *next,
                        volatile __global int *counts, place_t place) {
  const int end = slot_begins[g + 1u];
  for (int k = slot_begins[g] + (int)(place.member * WG_SIZE); k < end; k += (int)(place.members * WG_SIZE)) {
    const int own = k + (int)get_local_id(0), key = own < end ? slots->keys[own] : NOBODY;
    const lane_mask_t full = sg_ballot(key != NOBODY);
    int to = 0;
    if (full && sg_lane() == 0) to = next->offsets[g] + fetch_add(counts + g, -(int)lane_count(full));
    to = sg_broadcast(to, 0u);
    if (key == NOBODY) continue;
    const int at = to - 1 - (int)lane_count(full & lanes_below_mask());
    next->columns[at] = key;
    next->weights[at] = slots->weights[own];
    slots->keys[own] = NOBODY;
    slots->weights[own] = 0l;
  }
}
/* A work-group writes the row of a giant, or all work-groups if it is large.  The lanes of each sub-group look for those. */
ALWAYS_INLINE void write_all_giants(__global const int *slot_begins, const slots_t *slots, const group_lists_t *lists,
                                    const next_rows_t *next, volatile __global int *counts, place_t place) {
  const uint n_giants = lists->sizes[1];
  const place_t alone = {0u, 1u};
  for (uint i = place.member; i < n_giants; i += place.members) {
    const uint g = (uint)lists->giants[i];
    if (n_entries_of(slot_begins, g) <= SHARED_GIANT) write_giant(g, slot_begins, slots, next, counts, alone);
  }
  for (uint first = 0u; first < n_giants; first += SUB_GROUP_SIZE) {
    const uint i = first + sg_lane(), g = i < n_giants ? (uint)lists->giants[i] : 0u;
    const int is_shared = i < n_giants && n_entries_of(slot_begins, g) > SHARED_GIANT;
    for (lane_mask_t left = sg_ballot(is_shared); left; left &= left - 1u)
      write_giant(sg_broadcast(g, lowest_lane(left)), slot_begins, slots, next, counts, place);
  }
}
#endif

ALWAYS_INLINE void carry_all_strengths(uint n, __global const int *used, __global const int *numbers,
                                volatile __global const long *out_sums, volatile __global const long *in_sums,
                                __global long *next_out, __global long *next_in, place_t place) {
  FOR_EACH_AT(place, c, n) {
    if (c >= n || !used[c]) continue;
    next_out[numbers[c]] = out_sums[c];
    if (DIRECTED) next_in[numbers[c]] = in_sums[c];
  }
}
ALWAYS_INLINE void carry_all_labels(uint n, __global const int *groups, __global const int *labels,
                                    volatile __global int *next_labels, place_t place) {
  FOR_EACH_AT(place, v, n) {
    if (v < n) store_relaxed(next_labels + groups[v], labels[v]);
  }
}
ALWAYS_INLINE void project_all(uint n, __global const int *groups, __global const int *next_labels, __global int *labels,
                               place_t place) {
  FOR_EACH_AT(place, v, n) {
    if (v < n) labels[v] = next_labels[groups[v]];
  }
}
#endif
