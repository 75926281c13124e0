/* Rows of a level, divided by their lengths, and tables that add up the entries of a row by group.
 *
 * A row of at most LANE_ROW entries belongs to a lane, which keeps it in registers.  A row of at most LONG_ROW entries
 * belongs to a sub-group, and a longer one, which list_long_rows has listed, to a work-group.  CPUs have no long rows.
 *
 * A table has slots in local memory, and on CPUs none.  A key that finds no slot there gets one of the row's slots in global
 * memory.  These slots are empty before a row uses them; take() empties them again.
 *
 * Races: lanes of a team add to a table at once.  A slot gets its key by one compare-exchange and keeps it.  So all lanes
 * find the same slot for a key, or all find the slots of its search taken and go on to global memory.  Sums are added by
 * atomics.
 */
#ifndef CLGRAPH_COMMUNITIES_ROWS_H
#define CLGRAPH_COMMUNITIES_ROWS_H
#include "communities/level.h"

#ifndef DIVIDES_ROWS             /* 0: sub-groups process long rows, too, and tables have no slots in local memory */
#define DIVIDES_ROWS (!DEV_IS_CPU)
#endif
#if DIVIDES_ROWS
#define TABLE_IS_SHARED 1
#endif
#define TABLE_WEIGHT_T long
#include "common/row_table.h"

#ifndef LANE_ROW
#define LANE_ROW 8u
#endif
#ifndef GROUP_SLOTS              /* slots of a work-group in local memory, 12 bytes each */
#define GROUP_SLOTS 2048u
#endif
#define SUB_GROUP_SLOTS (GROUP_SLOTS / SUB_GROUPS_PER_GROUP)
#if !DIVIDES_ROWS
#define LONG_ROW 0xffffffffu
#elif !defined LONG_ROW          /* at least LANE_ROW, at most SUB_GROUP_SLOTS / 2 */
#define LONG_ROW (SUB_GROUP_SLOTS / 2u)
#endif
#define LISTS_SLOTS (!DIVIDES_ROWS && SUB_GROUP_SIZE == 1)  /* The table of a row keeps a list of its slots. */
#define FEW_TRIES 8u             /* slots that a key of a row longer than the local table tries */

/* Loop over the vertices w of a sub-group's lanes whose rows belong to a sub-group.  Lanes without a vertex pass 0. */
#define FOR_EACH_MIDDLE_ROW(w, v, degree)                                                             \
  for (lane_mask_t left_ = sg_ballot((degree) > LANE_ROW && (degree) <= LONG_ROW); left_; left_ &= left_ - 1u) \
    for (uint w = sg_broadcast(v, lowest_lane(left_)), turn_ = 1u; turn_; turn_ = 0u)
/* The long rows, and where the slots of each begin in global memory. */
typedef struct {
  __global const int *list;
  volatile __global const uint *size;
  __global const uint *slot_begins;
} long_rows_t;
#define LONG_ROWS_PARAMETERS                                                                          \
  __global const int *long_rows, volatile __global const uint *n_long_rows, __global const uint *long_begins
#define LONG_ROWS {long_rows, n_long_rows, long_begins}
/* Loop over the long rows of a work-group, whose lanes must all have come here. */
#if DIVIDES_ROWS
#define FOR_EACH_LONG_ROW_OF(rows, i, v, place)                                                       \
  barrier(CLK_LOCAL_MEM_FENCE);  /* sub-groups no longer use their slots */                           \
  for (uint i = place.member, long_end_ = *(rows).size; i < long_end_; i += place.members)            \
    for (uint v = (uint)(rows).list[i], turn_ = 1u; turn_; turn_ = 0u)
#else
#define FOR_EACH_LONG_ROW_OF(rows, i, v, place)                                                       \
  (void)(rows).list;                                                                                  \
  for (uint i = 0u, v = 0u; i; i = 0u)
#endif
#define FOR_EACH_LONG_ROW(v, place)                                                                   \
  const long_rows_t long_ = LONG_ROWS;                                                                \
  FOR_EACH_LONG_ROW_OF(long_, i_, v, place)

/* Loop over every step-th number from first on, four a turn, so that four loads are on their way at once.  Numbers from
 * end_, the end, on are to be left out. */
#define FOR_EACH_FOUR(e, first, end, step)                                                            \
  for (int e = first, end_ = end; e < end_; e += 4 * (step))
#define FOUR_TIMES(i) for (int i = 0; i < 4; i++)
#define FOURTH(e, i, step) ((e) + (i) * (step))

/* A group of neighbours, and the weight of the entries to it. */
typedef struct { int group; long weight; } part_t;

/* Local memory of a work-group.  Weights are kept in two words, because 64-bit atomics need not exist there. */
typedef struct {
#if DIVIDES_ROWS
  int keys[GROUP_SLOTS];
  uint low[GROUP_SLOTS];
  int high[GROUP_SLOTS];
  uint counters[SUB_GROUPS_PER_GROUP];
#endif
  long sums[SUB_GROUPS_PER_GROUP];
  choice_t choices[SUB_GROUPS_PER_GROUP];
} scratch_t;

/* The lanes that share a row: those of a sub-group, or with by_group, a constant in each call, those of the work-group. */
INLINE uint lane_of_team(int by_group) { return by_group ? (uint)get_local_id(0) : sg_lane(); }
INLINE uint lanes_of_team(int by_group) { return by_group ? WG_SIZE : SUB_GROUP_SIZE; }
#if DIVIDES_ROWS
#define meet(by_group)                                                                                \
  do {                                                                                                \
    if (by_group) barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                                \
    else sg_sync();                                                                                   \
  } while (0)
#else
#define meet(by_group) sg_sync()
#endif

/* A load and a store of a word in local memory that other lanes change. */
#if DEV_ATOMICS == ATOMICS_HOST
#define load_local(p) load_relaxed(p)
#define store_local(p, v) store_relaxed(p, v)
#else
#define load_local(p) (*(volatile __local int *)(p))
#define store_local(p, v) (*(volatile __local uint *)(p) = (v))
#endif

/* Callers meet again before the next sum or choice of the team. */
INLINE long sum_of_team(int by_group, long x, __local scratch_t *scratch) {
  x = sg_sum(x);
  if (!by_group) return x;
  if (sg_lane() == 0) scratch->sums[sg_in_group()] = x;
  meet(by_group);
  x = 0l;
  for (uint s = 0; s < SUB_GROUPS_PER_GROUP; s++) x += scratch->sums[s];
  return x;
}
INLINE choice_t best_of_team(int by_group, choice_t own, uint salt, __local scratch_t *scratch) {
  for (uint d = SUB_GROUP_SIZE / 2u; d; d >>= 1) {
    choice_t other;
    other.gain.hi = sg_xor(own.gain.hi, d);
    other.gain.lo = sg_xor(own.gain.lo, d);
    other.community = sg_xor(own.community, d);
    if (is_better(other, own, salt)) own = other;
  }
  if (!by_group) return own;
  if (sg_lane() == 0) scratch->choices[sg_in_group()] = own;
  meet(by_group);
  for (uint s = 0; s < SUB_GROUPS_PER_GROUP; s++)
    if (is_better(scratch->choices[s], own, salt)) own = scratch->choices[s];
  return own;
}

/* The slots of a run in global memory.  On CPUs a sub-group has row_room slots for all its rows: twice as many as the
 * longest row has entries, and half of that again for the list of those with keys.  On GPUs a row that does not fit into local memory has twice as many as entries. */
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
/* The entries of a row that a lane adds up alone.  Groups that are listed before get NOBODY. */
typedef struct { int groups[LANE_ROW]; long weights[LANE_ROW]; } short_row_t;
INLINE void merge_groups(short_row_t *row) {
#pragma unroll
  for (uint i = 1u; i < LANE_ROW; i++)
#pragma unroll
    for (uint j = 0u; j < i; j++)
      if (row->groups[i] != NOBODY && row->groups[j] == row->groups[i]) {
        row->weights[j] += row->weights[i];
        row->groups[i] = NOBODY;
      }
}
#endif
