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
#include "common/atomics.h"
#include "common/shares.h"

#ifndef DIRECTED                 /* 1: a vertex has two strengths, one for each direction */
#define DIRECTED 0
#endif
#ifndef LOOP_FACTOR              /* how often the weight of a self-loop counts: 2 in undirected graphs */
#define LOOP_FACTOR 2
#endif

/* Words of a round in the array `state`. */
#define ROUND_WEIGHT 0           /* change of the weight inside communities */
#define ROUND_HIGH 1             /* sums of products of strengths over all communities, in three parts: */
#define ROUND_MIDDLE 2           /* (a 2^20 + b)(c 2^20 + d) = ac 2^40 + (ad + bc) 2^20 + bd */
#define ROUND_LOW 3
#define ROUND_MOVED 4            /* vertices that moved */
#define ROUND_ACTIVE 5           /* 1 if a vertex is active after the round, else 0 */
#define ROUND_WORDS 6
#define MAX_ROUNDS 128           /* Rounds of a level. Round 0 measures its start. */
#define ENTRIES_A_LANE 4         /* On GPUs a level gets a work-item for 4 entries, or for each vertex if that is more. */

#define LEVEL_PARAMETERS                                                                              \
  uint n, int is_unit, __global const int *row_offsets, __global const int *column_indices, __global const long *entry_weights
typedef struct {
  uint n;
  int is_unit;
  __global const int *row_offsets, *columns;
  __global const long *weights;
} level_t;
#define LEVEL {n, is_unit, row_offsets, column_indices, entry_weights}
INLINE uint degree_of(const level_t *level, uint v) { return (uint)(level->row_offsets[v + 1u] - level->row_offsets[v]); }
INLINE long weight_of(const level_t *level, int e) { return level->is_unit ? 1l : level->weights[e]; }

/* The work-groups that run a phase: the own number, and how many there are. */
typedef struct { uint member, members; } place_t;
#define ALL_GROUPS {(uint)get_group_id(0), (uint)get_num_groups(0)}
/* Loop over vertices, one a lane.  If there are few, all sub-groups get some.  All lanes of a sub-group make the same number
 * of turns, so v may be too large. */
#define FOR_EACH_AT(place, v, n)                                                                      \
  const list_share_t share_ = share_of_list(n, place.member, place.members);                          \
  for (uint i_ = share_.first, v = i_ + sg_lane() * share_.stride; i_ < share_.end;                   \
       i_ += share_.step, v = i_ + sg_lane() * share_.stride)
#define FOR_EACH_OF_LANE(v, n)                                                                        \
  const place_t place_ = ALL_GROUPS;                                                                  \
  FOR_EACH_AT(place_, v, n)

INLINE uint salt_of(uint seed, uint round) { return mixed(seed + 0x9e3779b9u * round); }
INLINE uint round_hash(uint seed, uint round, uint v) { return mixed(salt_of(seed, round) ^ v); }

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
typedef struct { wide_t gain; int community; } choice_t;
INLINE choice_t no_choice(void) {
  const choice_t none = {{0l, 0ul}, -1};
  return none;
}
INLINE int is_better(choice_t a, choice_t b, uint salt) {
  if (b.community < 0) return a.community >= 0;
  if (a.community < 0) return 0;
  if (!is_equal(a.gain, b.gain)) return is_greater(a.gain, b.gain);
  const uint of_a = mixed(salt ^ ~(uint)a.community), of_b = mixed(salt ^ ~(uint)b.community);
  return of_a != of_b ? of_a > of_b : a.community < b.community;
}
#endif
