/* Vertices that look for a better community: what a round reads, and how a community is weighed. */
#ifndef CLGRAPH_COMMUNITIES_MOVERS_H
#define CLGRAPH_COMMUNITIES_MOVERS_H
#include "communities/tables.h"

/* The sums of strengths and the sizes of communities. */
typedef struct { volatile __global long *out, *in; volatile __global int *sizes; } sums_t;
#define SUMS_PARAMETERS volatile __global long *out_sums, volatile __global long *in_sums, volatile __global int *sizes
/* Move a vertex of strengths out and in to, or with sign -1 from, community c. */
INLINE void add_to(const sums_t *sums, int c, int sign, long out, long in) {
  fetch_add(sums->out + c, sign * out);
  if (DIRECTED) fetch_add(sums->in + c, sign * in);
  fetch_add(sums->sizes + c, sign);
}

/* The hubs, the first slot and the first piece of each, its weight to its own community, the hub of each piece, and the
 * best community of each piece, in three words. */
typedef struct {
  __global const int *vertices;
  __global const uint *slot_begins, *pieces, *of_pieces;
  volatile __global long *to_own, *best;
} hubs_t;
#define HUBS_PARAMETERS                                                                               \
  __global int *hubs, __global uint *hub_begins, __global uint *hub_pieces, __global uint *piece_hubs, \
      volatile __global long *hub_own, volatile __global long *piece_best
#define HUBS {hubs, hub_begins, hub_pieces, piece_hubs, hub_own, piece_best}
#define HUB_PIECE (GROUP_SLOTS / 2u)
#define N_SLOTS 1                /* words of n_long_rows */
#define N_HUBS 2
#define N_PIECES 3

/* Empty all communities, and make all vertices active. */
ALWAYS_INLINE void clear_all(uint n, const sums_t *sums, volatile __global int *active, place_t place) {
  FOR_EACH_AT(place, v, n) {
    if (v >= n) continue;
    sums->out[v] = 0l;
    if (DIRECTED) sums->in[v] = 0l;
    sums->sizes[v] = 0;
    active[v] = 1;
  }
}
/* Add the strengths of each vertex to its community. */
ALWAYS_INLINE void fill_all(uint n, __global const int *labels, __global const long *out_strengths,
                     __global const long *in_strengths, const sums_t *sums, place_t place) {
  FOR_EACH_AT(place, v, n) {
    if (v < n) add_to(sums, labels[v], 1, out_strengths[v], in_strengths[v]);
  }
}

/* Lists of long rows and hubs that are being made. */
typedef struct {
  __global int *rows;
  volatile __global uint *sizes; /* the numbers of rows, slots, hubs, and pieces of hubs */
  __global uint *slot_begins;
  __global int *hubs;
  __global uint *hub_begins, *hub_pieces, *piece_hubs;
  volatile __global long *hub_own;
} long_lists_t;
#define LONG_LISTS_PARAMETERS __global int *long_rows, volatile __global uint *n_long_rows, __global uint *long_begins
#define LONG_LISTS {long_rows, n_long_rows, long_begins, hubs, hub_begins, hub_pieces, piece_hubs, hub_own}
/* List the rows of more than LONG_ROW entries.  Vertices whose rows do not fit into local memory are hubs; they are listed,
 * too, and get slots. */
ALWAYS_INLINE void list_all_rows(uint n, __global const int *row_offsets, const long_lists_t *lists, place_t place) {
  FOR_EACH_AT(place, v, n) {
    const uint degree = v < n ? (uint)(row_offsets[v + 1u] - row_offsets[v]) : 0u;
    if (degree <= LONG_ROW) continue;
    const uint at = fetch_add(lists->sizes, 1u);
    lists->rows[at] = (int)v;
    lists->slot_begins[at] = 0u;
    if (degree <= GROUP_SLOTS) continue;
    const uint slot_begin = fetch_add(lists->sizes + N_SLOTS, 2u * degree), h = fetch_add(lists->sizes + N_HUBS, 1u);
    const uint n_pieces = (degree + HUB_PIECE - 1u) / HUB_PIECE, first = fetch_add(lists->sizes + N_PIECES, n_pieces);
    lists->slot_begins[at] = lists->hub_begins[h] = slot_begin;
    lists->hubs[h] = (int)v;
    lists->hub_pieces[h] = first;
    lists->hub_own[h] = 0l;
    for (uint i = 0u; i < n_pieces; i++) lists->piece_hubs[first + i] = h;
  }
}

typedef struct {
  level_t level;
  long_rows_t long_rows;
  hubs_t hubs;
  slots_t slots;
  sums_t sums;
  uint seed;
  ulong factor, resolution;
  __global const long *out_strengths, *in_strengths;
  __global int *labels;
  volatile __global int *active;
  __global int *targets, *previous;
  volatile __global long *state;
} moved_t;

/* The community of a vertex, its strengths times the resolution, and the best other community so far. */
typedef struct {
  int own, is_alone;
  uint salt;
  ulong out_loss, in_loss;
  choice_t best;
  long to_own;
} mover_t;

INLINE mover_t mover_of(const moved_t *m, uint v, uint round) {
  mover_t mover;
  mover.own = m->labels[v];
  mover.is_alone = m->sums.sizes[mover.own] == 1;
  mover.salt = salt_of(m->seed, round);
  mover.out_loss = m->resolution * (ulong)m->out_strengths[v];
  mover.in_loss = DIRECTED ? m->resolution * (ulong)m->in_strengths[v] : 0ul;
  mover.best = no_choice();
  mover.to_own = 0l;
  return mover;
}
/* Weigh a community that the vertex has entries to. */
INLINE void weigh(const moved_t *m, mover_t *mover, part_t part) {
  const int c = part.group;
  if (c == NOBODY || (mover->is_alone && c > mover->own && m->sums.sizes[c] == 1)) return;
  choice_t other;
  const long out_sum = m->sums.out[c], in_sum = DIRECTED ? m->sums.in[c] : out_sum;
  other.gain = gain_of(m->factor, part.weight, mover->out_loss, mover->in_loss, out_sum, in_sum);
  other.community = c;
  if (is_better(other, mover->best, mover->salt)) mover->best = other;
}
/* Write the target of v: the best community if it is better than the own one.  If all are worse than none, v leaves for the
 * community of its own number, if that is empty. */
INLINE void write_target(const moved_t *m, uint v, const mover_t *mover) {
  const long own_out = m->sums.out[mover->own] - m->out_strengths[v];
  const long own_in = DIRECTED ? m->sums.in[mover->own] - m->in_strengths[v] : own_out;
  const wide_t stay = gain_of(m->factor, mover->to_own, mover->out_loss, mover->in_loss, own_out, own_in);
  const int moves = mover->best.community >= 0 && is_greater(mover->best.gain, stay);
  const int leaves = stay.hi < 0l && (!moves || mover->best.gain.hi < 0l) && m->sums.sizes[v] == 0;
  m->targets[v] = leaves ? (int)v : moves ? mover->best.community : NOBODY;
}

INLINE int takes_part(const moved_t *m, uint v, uint round, uint rarity) {
  return (round_hash(m->seed, round, v) & rarity) == 0u;
}
#endif
