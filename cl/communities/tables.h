/* Tables that add up the entries of a row by group.
 *
 * A table has slots in local memory, and on CPUs none.  A key that finds no slot there gets one of the row's slots in global
 * memory.  These slots are empty before a row uses them; take() empties them again.
 *
 * Races: lanes of a team add to a table at once.  A slot gets its key by one compare-exchange and keeps it.  So all lanes
 * find the same slot for a key, or all find the slots of its search taken and go on to global memory.  Sums are added by
 * atomics.
 */
#ifndef CLGRAPH_COMMUNITIES_TABLES_H
#define CLGRAPH_COMMUNITIES_TABLES_H
#include "communities/rows.h"

/* The slots of a run in global memory.  On CPUs a sub-group uses the same row_room slots for all its rows: two for
 * each entry of the longest row, and another one for the list of slots with keys.  On GPUs a row that does not fit into
 * local memory has two slots for each entry. */
typedef struct {
  volatile __global int *keys;
  volatile __global long *weights;
  uint row_room;
} slots_t;
#define SLOTS_PARAMETERS uint row_room, volatile __global int *keys, volatile __global long *weights
#define SLOTS {keys, weights, row_room}

typedef struct {
#if DIVIDES_ROWS
  __local int *keys;
  __local uint *low;
  __local int *high;
  uint local_room, tries;
  __local uint *counter;         /* after the team has met: 1 if keys are in global memory, else 0 */
#endif
  volatile __global int *more_keys;
  volatile __global long *more_weights;
  uint more_room;
#if LISTS_SLOTS
  __global int *used;            /* the slots that have keys; 0 if there is no list of them */
  uint n_used;
#endif
} table_t;

/* Returns an empty table for n_entries entries, whose `room` slots in global memory begin at `at`. */
INLINE table_t empty_table(int by_group, uint n_entries, size_t at, uint room, const slots_t *slots,
                           __local scratch_t *scratch) {
  table_t table;
  table.more_keys = slots->keys + at;
  table.more_weights = slots->weights + at;
  table.more_room = room;
#if LISTS_SLOTS
  table.used = 0;
  table.n_used = 0u;
#endif
#if DIVIDES_ROWS
  const uint s = by_group ? 0u : sg_in_group();
  table.counter = scratch->counters + s;
  const uint most = by_group ? GROUP_SLOTS : SUB_GROUP_SLOTS;
  table.keys = scratch->keys + s * SUB_GROUP_SLOTS;
  table.low = scratch->low + s * SUB_GROUP_SLOTS;
  table.high = scratch->high + s * SUB_GROUP_SLOTS;
  table.local_room = min(most, 2u * n_entries);
  table.tries = n_entries <= most ? table.local_room : FEW_TRIES;
  for (uint k = lane_of_team(by_group); k < table.local_room; k += lanes_of_team(by_group)) {
    table.keys[k] = NOBODY;
    table.low[k] = 0u;
    table.high[k] = 0;
  }
  if (lane_of_team(by_group) == 0) *table.counter = 0u;
  meet(by_group);
#endif
  return table;
}
/* Returns the empty table of row v.  slot_begin: where its slots begin, for a work-group on a GPU. */
INLINE table_t table_of_row(int by_group, uint v, uint slot_begin, const level_t *level, const slots_t *slots, place_t place,
                            __local scratch_t *scratch) {
  const uint degree = degree_of(level, v);
#if DEV_IS_CPU
  const size_t team = (size_t)place.member * SUB_GROUPS_PER_GROUP + (by_group ? 0u : sg_in_group());
  table_t table = empty_table(by_group, degree, team * slots->row_room, 2u * degree, slots, scratch);
#if LISTS_SLOTS
  table.used = (__global int *)slots->keys + team * slots->row_room + slots->row_room / 3u * 2u;
#endif
  return table;
#else
  return empty_table(by_group, degree, (size_t)slot_begin, 2u * degree, slots, scratch);
#endif
}

/* Add a weight to a group.  Returns 1 if this call put the group into global memory. */
INLINE int add(table_t *table, int group, long weight) {
#if DIVIDES_ROWS
  uint slot = (uint)(((ulong)mixed((uint)group) * table->local_room) >> 32);
  for (uint turn = 0u; turn < table->tries; turn++) {
    int found = load_local(table->keys + slot);
    if (found == NOBODY) found = compare_exchange(table->keys + slot, NOBODY, group);
    if (found == NOBODY || found == group) {
      const uint low = (uint)weight, before = fetch_add(table->low + slot, low);
      const int high = (int)(weight >> 32) + (before + low < before);
      if (high) fetch_add(table->high + slot, high);
      return 0;
    }
    if (++slot == table->local_room) slot = 0u;
  }
  store_local(table->counter, 1u);
#endif
#if LISTS_SLOTS
  if (table->used) {
    __global int *keys = (__global int *)table->more_keys;
    uint slot = (uint)(((ulong)((uint)group * 0x9e3779b1u) * table->more_room) >> 32);
    while (keys[slot] != group && keys[slot] != NOBODY)
      if (++slot == table->more_room) slot = 0u;
    const int is_new = keys[slot] == NOBODY;
    if (is_new) {
      keys[slot] = group;
      table->used[table->n_used++] = (int)slot;
    }
    ((__global long *)table->more_weights)[slot] += weight;
    return is_new;
  }
#endif
  return insert(table->more_keys, table->more_weights, table->more_room, group, weight);
}

/* Returns the number of slots of a table, after its team has met. */
INLINE uint room_of(const table_t *table) {
#if DIVIDES_ROWS
  return table->local_room + (*table->counter ? table->more_room : 0u);
#elif LISTS_SLOTS
  return table->n_used;
#else
  return table->more_room;
#endif
}
/* Returns the part in a slot in global memory, and empties the slot. */
INLINE part_t take_from(volatile __global int *key, volatile __global long *weight) {
  part_t part = {load_relaxed(key), 0l};
  if (part.group == NOBODY) return part;
  part.weight = load_relaxed(weight);
  store_relaxed(key, NOBODY);
  store_relaxed(weight, 0l);
  return part;
}
/* Returns the part in slot k, and empties the slot if it is in global memory. */
INLINE part_t take(const table_t *table, uint k) {
#if DIVIDES_ROWS
  if (k < table->local_room) {
    part_t part;
    part.group = table->keys[k];
    part.weight = ((long)table->high[k] << 32) + (long)table->low[k];
    return part;
  }
  k -= table->local_room;
#endif
#if LISTS_SLOTS
  const uint at = k;
  k = (uint)table->used[at];
  table->used[at] = NOBODY;
#endif
  return take_from(table->more_keys + k, table->more_weights + k);
}

/* Move the parts of a table from local memory to global memory.  Returns how many new ones this lane has put there.
 * is_shared, a constant: other teams add to the slots in global memory, too. */
INLINE int move_parts(int by_group, int is_shared, const table_t *table) {
  int count = 0;
#if DIVIDES_ROWS
  const int has_more = is_shared || *table->counter != 0u;
  meet(by_group);                /* From here on the counter counts parts that are written one after the other. */
  for (uint k = lane_of_team(by_group); k < table->local_room; k += lanes_of_team(by_group)) {
    const part_t part = take(table, k);
    if (part.group == NOBODY) continue;
    if (has_more) {
      count += insert(table->more_keys, table->more_weights, table->more_room, part.group, part.weight);
    } else {
      count++;
      const uint to = fetch_add(table->counter, 1u);
      table->more_keys[to] = part.group;
      table->more_weights[to] = part.weight;
    }
  }
#endif
  return count;
}
#endif
