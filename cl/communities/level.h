/* A level of a communities run: a graph whose vertices are groups of the user's vertices, and exact gains.
 *
 * Weights are integers: the host scales the user's weights by a power of two and rounds them, so all sums are exact and do
 * not depend on the order of additions.  A level above the first has no self-loops: the weight inside a group is in none of
 * its entries, only in its strength.
 *
 * The gain of a vertex v in community c is  A w(v, c) - G (out_v In_c + in_v Out_c).  w(v, c) is the weight of v's entries
 * to c; out_v and in_v are v's strengths; Out_c and In_c are the sums of the strengths in c without v.  Undirected graphs
 * have one strength, and the second product is left out.  A and G have 20 bits after the binary point: for modularity A is
 * the total weight and G the resolution; for the constant Potts model strengths are numbers of vertices and A is 1.
 * A and G times a strength are below 2^63, and gains are compared as 128-bit integers.
 */
#ifndef CLGRAPH_COMMUNITIES_LEVEL_H
#define CLGRAPH_COMMUNITIES_LEVEL_H
#define TABLE_WEIGHT_T long
#include "common/row_table.h"

#ifndef DIRECTED                 /* 1: a vertex has two strengths, one for each direction */
#define DIRECTED 0
#endif
#ifndef LOOP_FACTOR              /* how often the weight of a self-loop counts: 2 in undirected graphs */
#define LOOP_FACTOR 2
#endif
#ifndef BLOCK                    /* consecutive vertices that a sub-group takes at a time */
#if DEV_IS_CPU
#define BLOCK 64u
#else
#define BLOCK 1u
#endif
#endif

/* Words of a round in the array `state`. */
#define ROUND_WEIGHT 0           /* change of the weight inside communities */
#define ROUND_HIGH 1             /* sums of products of strengths over all communities, in three parts: */
#define ROUND_MIDDLE 2           /* (a 2^20 + b)(c 2^20 + d) = ac 2^40 + (ad + bc) 2^20 + bd */
#define ROUND_LOW 3
#define ROUND_MOVED 4            /* vertices that moved */
#define ROUND_ACTIVE 5           /* vertices to look at again */
#define ROUND_WORDS 6
#define MAX_ROUNDS 128           /* Rounds of a level. Round 0 measures its start. */

#define LEVEL_PARAMETERS                                                                              \
  uint n, int is_unit, __global const int *row_offsets, __global const int *column_indices, __global const long *entry_weights

/* Loop over vertices; the lanes of a sub-group share one. */
#define FOR_EACH_OF_SUB_GROUP(v, n)                                                                   \
  for (uint from_ = sub_group_number() * BLOCK; from_ < (n); from_ += sub_group_count() * BLOCK)      \
    for (uint v = from_; v < min((uint)(n), from_ + BLOCK); v++)
/* Loop over rows of at most long_row entries; the lanes of a team share one.  A work-group as a team loops over the longer
 * rows, which list_long_rows has listed. */
#define LONG_ROWS_PARAMETERS uint long_row, __global const int *long_rows, __global const uint *n_long_rows
#if GROUP_TEAM
#define FOR_EACH_OF_TEAM(v, n, offsets)                                                               \
  for (uint i_ = get_group_id(0), long_end_ = *n_long_rows; i_ < long_end_; i_ += get_num_groups(0))  \
    for (uint v = (uint)long_rows[i_], once_ = 1u; once_; once_ = 0u)
#else
#define FOR_EACH_OF_TEAM(v, n, offsets)                                                               \
  FOR_EACH_OF_SUB_GROUP(v, n) if ((uint)(offsets[v + 1u] - offsets[v]) <= long_row)
#endif
/* Loop over vertices, one a lane; all lanes of a sub-group make the same number of turns, so v may be too large. */
#define FOR_EACH_OF_LANE(v, n)                                                                        \
  const share_t share_ = share_of(n);                                                                 \
  for (uint i_ = share_.first, v = i_ + sg_lane(); i_ < share_.end; i_ += share_.step, v = i_ + sg_lane())

INLINE uint sub_group_number(void) { return get_group_id(0) * SUB_GROUPS_PER_GROUP + sg_in_group(); }
INLINE uint sub_group_count(void) { return get_num_groups(0) * SUB_GROUPS_PER_GROUP; }
INLINE uint round_hash(uint seed, uint round, uint v) { return mixed(mixed(seed + 0x9e3779b9u * round) ^ v); }
INLINE long weight_of(int is_unit, __global const long *entry_weights, int e) { return is_unit ? 1l : entry_weights[e]; }

typedef struct { long hi; ulong lo; } wide_t;
INLINE wide_t wide_product(ulong a, ulong b) {
  wide_t x;
  x.hi = (long)mul_hi(a, b);
  x.lo = a * b;
  return x;
}
INLINE wide_t wide_sum(wide_t a, wide_t b) {
  wide_t x;
  x.lo = a.lo + b.lo;
  x.hi = a.hi + b.hi + (x.lo < a.lo);
  return x;
}
INLINE wide_t wide_difference(wide_t a, wide_t b) {
  wide_t x;
  x.lo = a.lo - b.lo;
  x.hi = a.hi - b.hi - (a.lo < b.lo);
  return x;
}
INLINE int is_greater(wide_t a, wide_t b) { return a.hi != b.hi ? a.hi > b.hi : a.lo > b.lo; }
INLINE int is_equal(wide_t a, wide_t b) { return a.hi == b.hi && a.lo == b.lo; }

/* Returns the gain of a vertex whose strengths times G are out and in, for weight w to a community with sums out_sum and
 * in_sum. */
INLINE wide_t gain_of(ulong factor, long w, ulong out, ulong in, long out_sum, long in_sum) {
  wide_t loss = wide_product(out, (ulong)in_sum);
#if DIRECTED
  loss = wide_sum(loss, wide_product(in, (ulong)out_sum));
#endif
  return wide_difference(wide_product(factor, (ulong)w), loss);
}

/* A community with its gain.  Of equal gains the greater hash wins, and then the lower number. */
typedef struct { wide_t gain; uint hash; int community; } choice_t;
#if GROUP_TEAM
#define CHOICE_SCRATCH LOCAL_ARRAY choice_t choices_[SUB_GROUPS_PER_GROUP];
#define best_of_team(own) best_of_group(best_of_sub_group(own), choices_)
#else
#define CHOICE_SCRATCH
#define best_of_team(own) best_of_sub_group(own)
#endif
INLINE int is_better(choice_t a, choice_t b) {
  if (b.community < 0) return a.community >= 0;
  if (a.community < 0) return 0;
  if (!is_equal(a.gain, b.gain)) return is_greater(a.gain, b.gain);
  return a.hash != b.hash ? a.hash > b.hash : a.community < b.community;
}
INLINE choice_t best_of_sub_group(choice_t own) {
  for (uint d = SUB_GROUP_SIZE / 2u; d; d >>= 1) {
    choice_t other;
    other.gain.hi = sg_xor(own.gain.hi, d);
    other.gain.lo = sg_xor(own.gain.lo, d);
    other.hash = sg_xor(own.hash, d);
    other.community = sg_xor(own.community, d);
    if (is_better(other, own)) own = other;
  }
  return own;
}
#if GROUP_TEAM
/* Callers meet again before they write the next choices, at team_sync(). */
INLINE choice_t best_of_group(choice_t own, __local choice_t *choices) {
  if (sg_lane() == 0) choices[sg_in_group()] = own;
  team_sync();
  for (uint s = 0; s < SUB_GROUPS_PER_GROUP; s++)
    if (is_better(choices[s], own)) own = choices[s];
  return own;
}
#endif
#endif
