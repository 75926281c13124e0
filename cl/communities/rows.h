/* Rows of a level, divided by their lengths.
 *
 * A row of at most LANE_ROW entries belongs to a lane, which keeps it in registers.  A row of at most LONG_ROW entries
 * belongs to a sub-group, and a longer one, which list_long_rows has listed, to a work-group.  CPUs have no long rows.
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
