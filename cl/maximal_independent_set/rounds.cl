/* A maximal independent set by priorities, round after round.
 *
 * A vertex joins the set when none of the neighbours that go before it can join any more, and then all its neighbours stay
 * out.  So the set is the one that a sequential greedy algorithm finds in the order of the priorities, whatever the timing.
 *
 *   words[v]  IN, OUT, or the priority of a vertex that is undecided.  The vertex of the higher priority goes first.  Equal
 *             priorities go by the hash of the vertex, which is a bijection.
 *   lists     two lists of n vertices that wait: a round reads one and writes the other.  An item is a vertex and the
 *             place in its row of the neighbour that it waits for.  The neighbours at places before that are out, or come
 *             after the vertex, so the next try goes on from there.
 *   state     words below
 *
 * A lane takes a vertex.  Rows that a lane has not decided after ALONE entries are gone through by its whole sub-group, and
 * the neighbours of all vertices that join are marked by the sub-group together.
 *
 * Races: words are read while others write them.  A word changes once, from a priority to IN or OUT, so an old value only
 * delays a decision.  Only the lane of a vertex writes IN.  Two lanes that write OUT write the same.  No lane writes OUT
 * where another one writes IN: of two neighbours only one can find that the other stays out.
 *
 * After G. E. Blelloch, J. T. Fineman, J. Shun, "Greedy sequential maximal independent set and matching are parallel on
 * average", SPAA 2012, and M. Burtscher, S. Devale, S. Azimi, J. Jaiganesh, E. Powers, "A high-quality and fast maximal
 * independent set implementation for GPUs", ACM TOPC 5, 2018 (priorities by degree in the words of decisions).
 */
#include "common/hashes.h"
#include "common/shares.h"
#include "common/worklist.h"

#define OUT 0u
#define IN UINT_MAX
#define INCLUDED (UINT_MAX - 1u) /* priority of vertices that the caller wants in the set */
#define STATE_LISTED 0           /* three slots that take turns: lengths of lists; one is read, one counts, one is reset */
#define STATE_MEMBERS 3          /* size of the set */
#define STATE_ROUNDS 4           /* number of rounds that had vertices to try */
#define STATE_WORDS 5

#ifndef STEPS                    /* entries that a lane has in flight */
#define STEPS 4
#endif
#ifndef ALONE                    /* entries of a row that a lane goes through alone in a try */
#define ALONE 16u
#endif
#ifndef TRIES                    /* tries of a vertex in a round */
#define TRIES 1
#endif

typedef struct {
  __global const offset_t *row_offsets;
  __global const int *column_indices;
  volatile __global uint *words;
  uint key;
} graph_t;

#define OPEN 0                   /* outcomes of a try: none so far, */
#define WAITS 1                  /* the vertex waits for a neighbour, */
#define JOINS 2                  /* it joins and has to mark its neighbours, */
#define DECIDED 3                /* it has marked them, or a neighbour has joined, whose lane marks it */
typedef struct {
  int v;
  uint own;                      /* its priority */
  offset_t next, last;           /* entries that are left to look at */
  int outcome;
} try_t;

INLINE uint hash_of(int v, uint key) { return hash_murmur3((uint)v ^ key); }

/* Returns a number from 14 on that falls with the degree: exact below 16, and of eight values for each bit length above. */
INLINE uint class_of(uint degree) {
  if (degree < 16u) return 253u - degree;
  const uint top = 31u - (uint)clz(degree);
  return 253u - (16u + 8u * (top - 4u) + (degree >> (top - 3u) & 7u));
}

/* Returns 1 if u, whose word is `word`, keeps v of priority `own` from joining for now.  OUT is below all priorities. */
INLINE int goes_first(int u, uint word, int v, uint own, uint key) {
  return word > own || (word == own && hash_of(u, key) > hash_of(v, key));
}

KERNEL start(int n, uint key, int by_degree, __global const offset_t *restrict row_offsets, __global uint *restrict words,
             __global uint *restrict state) {
  for (uint i = get_global_id(0); i < STATE_WORDS; i += get_global_size(0)) state[i] = i == STATE_LISTED ? (uint)n : 0u;
  const share_t share = share_of((uint)n);
  for (uint v = share.first + sg_lane(); v < share.end; v += share.step) {
    const uint hash = hash_of((int)v, key), degree = (uint)(row_offsets[v + 1] - row_offsets[v]);
    const uint priority = by_degree ? class_of(degree) << 24 | (hash & 0xffffffu) : hash;
    words[v] = min(max(priority, OUT + 1u), INCLUDED - 1u);
  }
}

KERNEL include_vertices(int n_included, __global const int *restrict included, __global uint *restrict words) {
  const int i = get_global_id(0);
  if (i < n_included) words[included[i]] = INCLUDED;
}

/* Go through up to `most` entries of the lane's row. */
INLINE void look_alone(try_t *x, uint most, graph_t on) {
  for (uint read = 0u; x->outcome == OPEN && x->next < x->last && read < most; read += STEPS) {
    int u[STEPS];
    uint word[STEPS];
    for (int k = 0; k < STEPS; k++) u[k] = x->next + k < x->last ? on.column_indices[x->next + k] : x->v;
    for (int k = 0; k < STEPS; k++) word[k] = load_relaxed_if(u[k] != x->v, on.words + u[k]);
    int place = STEPS;
    for (int k = STEPS - 1; k >= 0; k--)
      if (goes_first(u[k], word[k], x->v, x->own, on.key)) {
        place = k;
        x->outcome = word[k] == IN ? DECIDED : WAITS;
      }
    x->next += place;
  }
  if (x->outcome == OPEN && x->next >= x->last) x->outcome = JOINS;
}

/* The same for the rest of the row of lane `owner`, by the whole sub-group. */
INLINE void look_together(try_t *x, uint owner, graph_t on) {
  const int v = sg_broadcast(x->v, owner);
  const uint own = sg_broadcast(x->own, owner);
  const offset_t last = sg_broadcast(x->last, owner);
  offset_t next = sg_broadcast(x->next, owner);
  int outcome = OPEN;
  while (next < last && outcome == OPEN) {
    int u[STEPS];
    uint word[STEPS], place = STEPS * SUB_GROUP_SIZE;
    int has_member = 0;
    for (int k = 0; k < STEPS; k++) {
      const offset_t e = next + (offset_t)(k * SUB_GROUP_SIZE + sg_lane());
      u[k] = e < last ? on.column_indices[e] : v;
    }
    for (int k = 0; k < STEPS; k++) word[k] = load_relaxed_if(u[k] != v, on.words + u[k]);
    for (int k = STEPS - 1; k >= 0; k--) {
      const int is_first = goes_first(u[k], word[k], v, own, on.key);
      has_member |= is_first && word[k] == IN;
      if (is_first) place = k * SUB_GROUP_SIZE + sg_lane();
    }
    place = sg_least(place);
    next += (offset_t)place;
    outcome = sg_any(has_member) ? DECIDED : place < STEPS * SUB_GROUP_SIZE ? WAITS : OPEN;
  }
  if (sg_lane() == owner) {
    x->next = next;
    x->outcome = outcome == OPEN ? JOINS : outcome;
  }
}

/* Mark the neighbours of the vertices that join as out.  The lanes share the entries of all these rows. */
INLINE void mark_neighbors(const try_t *x, graph_t on) {
  const int joins = x->outcome == JOINS;
  const offset_t begin = joins ? on.row_offsets[x->v] : (offset_t)0;
  const uint length = joins ? (uint)(x->last - begin) : 0u;
  const uint before = sg_exclusive_sum(length), total = sg_broadcast(before + length, SUB_GROUP_SIZE - 1);
  for (uint first = 0u; first < total; first += STEPS * SUB_GROUP_SIZE) {
    int u[STEPS], v[STEPS];
    for (int k = 0; k < STEPS; k++) {
      const uint number = first + k * SUB_GROUP_SIZE + sg_lane();
      u[k] = v[k] = 0;
      if (first + k * SUB_GROUP_SIZE >= total) continue;  /* the same for all lanes */
      uint slot = 0u;
      for (uint step = SUB_GROUP_SIZE / 2; step; step >>= 1)
        if (sg_broadcast(before, slot + step) <= number) slot += step;
      const offset_t e = sg_broadcast(begin, slot) + (offset_t)(number - sg_broadcast(before, slot));
      v[k] = sg_broadcast(x->v, slot);
      u[k] = number < total ? on.column_indices[e] : v[k];
    }
    for (int k = 0; k < STEPS; k++)
      if (u[k] != v[k]) store_relaxed(on.words + u[k], OUT);
  }
}

INLINE void try_vertex(try_t *x, graph_t on) {
  look_alone(x, SUB_GROUP_SIZE > 1 ? ALONE : UINT_MAX, on);
  for (lane_mask_t left = sg_ballot(x->outcome == OPEN); left; left &= left - 1u) look_together(x, lowest_lane(left), on);
  if (!sg_any(x->outcome == JOINS)) return;
  if (x->outcome == JOINS) store_relaxed(on.words + x->v, IN);
  mark_neighbors(x, on);
  if (x->outcome == JOINS) x->outcome = DECIDED;
}

/* Try the vertices that wait, in the first round all, and list each that still waits. */
KERNEL run_round(int n, uint round, uint key, __global const offset_t *row_offsets, __global const int *column_indices,
                 volatile __global uint *words, __global uint2 *lists, volatile __global uint *state) {
  const graph_t on = {row_offsets, column_indices, words, key};
  const uint size = load_relaxed(state + STATE_LISTED + round % 3u);
  __global const uint2 *list = lists + (round % 2u) * (size_t)n;
  __global uint2 *next_list = lists + ((round + 1u) % 2u) * (size_t)n;
  if (get_global_id(0) == 0) {
    store_relaxed(state + STATE_LISTED + (round + 2u) % 3u, 0u);
    if (size) store_relaxed(state + STATE_ROUNDS, round + 1u);
  }
  const list_share_t share = share_of_list(size, get_group_id(0), get_num_groups(0));
  for (uint i = share.first; i < share.end; i += share.step) {
    const uint item = i + sg_lane() * share.stride;
    uint2 waiting = (uint2)(item, 0u);
    if (round && item < share.end) waiting = list[item];
    try_t x = {(int)waiting.x, OUT, 0, 0, DECIDED};
    if (item < share.end) x.own = load_relaxed(words + x.v);
    if (x.own != OUT) {
      x.next = row_offsets[x.v] + (offset_t)waiting.y;
      x.last = row_offsets[x.v + 1];
      x.outcome = WAITS;
    }
    for (int k = 0; k < TRIES && sg_any(x.outcome == WAITS); k++) {
      if (x.outcome == WAITS) x.outcome = OPEN;
      try_vertex(&x, on);
    }
    const int waits = x.outcome == WAITS;
    const uint slot = push_sub_group(state + STATE_LISTED + (round + 1u) % 3u, waits);
    if (waits) next_list[slot] = (uint2)((uint)x.v, (uint)(x.next - row_offsets[x.v]));
  }
}

KERNEL write_members(int n, __global const uint *restrict words, __global uchar *restrict members,
                     volatile __global uint *state) {
  const share_t share = share_of((uint)n);
  uint count = 0u;
  for (uint v = share.first + sg_lane(); v < share.end; v += share.step) {
    const int is_in = words[v] == IN;
    members[v] = (uchar)is_in;
    count += (uint)is_in;
  }
  count = sg_sum(count);
  if (sg_lane() == 0u && count) fetch_add(state + STATE_MEMBERS, count);
}
