/* Colourings in which the members of every net differ (nets.h): at distance 2 of a graph, or of a matrix's columns.
 *
 * A team takes a vertex.  The vertex tries the least colour of the window that is free in all its nets (used_colors.h).
 * It gets the colour if it is the first to set the colour's bit in each of them.  So a colour is proper when it is
 * written.  A vertex that finds the window full goes to the next list, for the next window.  The host clears the bits
 * before that.
 *
 * Race: two teams want the same colour in one net at the same time.  fetch_or shows which was first.  The other team
 * clears the bits that it has set itself and tries again.  Meanwhile other teams may have avoided that colour, which is
 * harmless.  The more colours were taken in the meantime, the more colours the team chooses among, so teams that collide
 * in a net soon choose differently.  A lane remembers its first 64 bits.  Further bits stay set, so a colour may stay
 * unused in some nets.
 *
 * References: see used_colors.h.
 */
#include "color/orders.h"
#include "color/used_colors.h"

#define ATTEMPTS 63u             /* further tries at a word before a vertex goes on to the next word */
#ifndef MOST_WORDS               /* words that a vertex tries, if nets have bitmaps of their own size */
#define MOST_WORDS 32u
#endif

/* The result of a team's claim to a bit: whether a net had the bit already, all bits that the words had, and which of this
 * lane's first 64 bits it has set itself. */
typedef struct {
  uint clash, seen;
  ulong owned;
} claim_t;

/* Sets `bit` in the words of x's nets, until one has it already. */
INLINE claim_t claim_bit(const member_t *x, uint places, uint bit, __global const int *restrict nets_of, words_t words,
                         __local uint *room) {
  claim_t claim = {0u, 0u, 0ul};
  uint step = 0u;
  for (uint first = 0u; looping(first < places && !claim.clash); first += LANES * BATCH) {
    const uint end = claim.clash ? 0u : places;
    uint old[BATCH], lost = 0u;
    int nets[BATCH];
    nets_at(x->v, x->begin, first + team_lane(), end, nets_of, nets);
    #pragma unroll
    for (uint j = 0u; j < BATCH; j++) {
      old[j] = bit;
      if (nets[j] >= 0) old[j] = fetch_or(word_of(words, (uint)nets[j]), bit);
    }
    #pragma unroll
    for (uint j = 0u; j < BATCH; j++, step++) {
      const uint is_set = (old[j] & bit) != 0u;
      claim.seen |= nets[j] >= 0 ? old[j] : 0u;
      lost |= is_set & (nets[j] >= 0);
      claim.owned |= (ulong)(!is_set & (step < 64u)) << (step & 63u);
    }
    claim.clash |= team_or(lost, room);
  }
  return claim;
}

INLINE void unset_bit(const member_t *x, uint bit, ulong owned, __global const int *restrict nets_of, words_t words) {
  for (uint place = team_lane(); owned; place += LANES, owned >>= 1)
    if (owned & 1ul) fetch_and(word_of(words, (uint)net_at(x->v, x->begin, place, x->places, nets_of)), ~bit);
}

/* Tries to take a colour of one word until the word is full; returns the number of its bit, or 32.  looking: whether this
 * team takes part. */
INLINE uint take_of_word(const member_t *x, int looking, uint seed, __global const int *restrict nets_of, words_t words,
                         __local uint *room) {
  uint taken = 32u, fresh = 0u;
  int trying = looking;
  for (uint attempt = 0u; looping(trying); attempt++) {
    const uint mask = gather_used(x, trying ? x->places : 0u, nets_of, words, room);
    trying = trying && mask != FULL;
    const uint random = hash_murmur3((uint)x->v * 32u + attempt + seed), at = one_of(~mask, random, 1u + fresh);
    const claim_t claim = claim_bit(x, trying ? x->places : 0u, 1u << at, nets_of, words, room);
    if (claim.clash) unset_bit(x, 1u << at, claim.owned, nets_of, words);
    else if (trying) taken = at;
    fresh += popcount(team_or(claim.seen, room) & ~mask);
    trying = trying && claim.clash && attempt < ATTEMPTS;
  }
  return taken;
}

/* Write the colour of the team's vertex, or put it on the next list. */
INLINE void finish_item(int v, int is_item, int color, volatile __global uint *n_next, __global int *restrict next,
                        __global int *restrict colors) {
  const int leads = team_lane() == 0u && is_item, failed = leads && color == NO_COLOR;
  if (leads && !failed) colors[v] = color;
  const uint slot = push_sub_group(n_next, failed);
  if (failed) next[slot] = v;
}

/* chunk: the number of consecutive items that a team takes.  0: a team's items are all consecutive, so that vertices that
 * are coloured at the same time are far apart.  If nets have bitmaps of their own size, each vertex begins at a word of
 * its own and continues cyclically. */
#if SIZED
KERNEL color_sized(uint step, int base, layout_t layout, uint chunk, uint seed,
                   __global const offset_t *restrict row_offsets, __global const int *restrict nets_of,
                   __global const int *restrict list, __global const uint2 *restrict bitmaps,
                   __global const uint2 *restrict places, __global const uint *restrict ranks,
                   __global const uint *restrict tail, volatile __global uint *state, volatile __global uint *used,
                   __global int *restrict next, __global int *restrict colors) {
  const uint n_words = tail[TAIL_WORDS], most = min(n_words, MOST_WORDS);
#else
KERNEL color_vertices(uint step, int base, layout_t layout, uint chunk, uint seed,
                      __global const offset_t *restrict row_offsets, __global const int *restrict nets_of,
                      __global const int *restrict list, volatile __global uint *state, volatile __global uint *used,
                      __global int *restrict next, __global int *restrict colors) {
  __global const uint2 *restrict bitmaps = 0;
  const uint most = layout.words;
#endif
  TEAM_ROOM(room);
  const uint size = load_relaxed(state + step % N_LISTS), teams = team_total();
  if (get_global_id(0) == 0) store_relaxed(state + (step + 2u) % N_LISTS, 0u);
  if (!chunk) chunk = (size + teams - 1u) / teams;
  for (uint start = 0u; start < size; start += teams * chunk)
    for (uint turn = 0u; turn < chunk; turn++) {
      const uint i = start + team_number() * chunk + turn;
      const int is_item = i < size;
      const member_t x = member_of(is_item ? list[i] : 0, is_item, row_offsets);
      int color = NO_COLOR, looking = is_item;
#if SIZED
      const uint2 place = places[x.v];
      uint w = is_item ? (uint)((ulong)place.y * n_words / max(ranks[place.x], 1u)) : 0u;
#else
      uint w = 0u;
#endif
      for (uint words = 0u; looping(looking); words++) {
        const uint at = take_of_word(&x, looking, seed, nets_of, words_at(w, layout, used, bitmaps), room);
        if (at < 32u) color = base + (int)(32u * w + at);
        looking = looking && color == NO_COLOR && words + 1u < most;
        w++;
#if SIZED
        if (w >= n_words) w = 0u;
#endif
      }
      finish_item(x.v, is_item, color, state + (step + 1u) % N_LISTS, next, colors);
    }
}

#if SIZED
/* Each net counts its members without a colour. */
KERNEL count_members(uint step, __global const offset_t *restrict row_offsets,
                     __global const int *restrict nets_of, __global const int *restrict list,
                     __global const uint *restrict state, volatile __global uint *counts) {
  const uint size = state[step % N_LISTS], teams = team_total();
  for (uint i = team_number(); i < size; i += teams) {
    const member_t x = member_of(list[i], 1, row_offsets);
    for (uint place = team_lane(); place < x.places; place += LANES) {
      const int net = net_at(x.v, x.begin, place, x.places, nets_of);
      if (net >= 0) fetch_add(counts + net, 1u);
    }
  }
}

/* Find the word at which each vertex begins.  It depends on the largest of its nets, by uncoloured members, and on the
 * vertex's number there.  The vertices with the same largest net are spread evenly over the words, 32 per word in the
 * largest net of all.  A place is that net and the number. */
KERNEL find_places(uint step, __global const offset_t *restrict row_offsets, __global const int *restrict nets_of,
                   __global const int *restrict list, __global const uint *restrict state,
                   __global const uint *restrict counts, volatile __global uint *ranks, __global uint2 *restrict places) {
  TEAM_ROOM(room);
  const uint size = state[step % N_LISTS], teams = team_total();
  for (uint start = 0u; start < size; start += teams) {
    const uint i = start + team_number();
    const int is_item = i < size;
    const member_t x = member_of(is_item ? list[i] : 0, is_item, row_offsets);
    uint most = 0u, where = 0u;
    for (uint place = team_lane(); place < x.places; place += LANES) {
      const int net = net_at(x.v, x.begin, place, x.places, nets_of);
      const uint count = net >= 0 ? counts[net] : 0u;
      if (count > most) {
        most = count;
        where = (uint)net;
      }
    }
    const uint greatest = team_greatest(most, room), net = team_greatest(most == greatest ? where : 0u, room);
    if (is_item && most == greatest && where == net) places[x.v] = (uint2)(net, fetch_add(ranks + net, 1u));
  }
}
#else
/* The first step, if hash colours come first: take the preferred colour if it is free.  It is in the first window. */
KERNEL take_preferred(layout_t layout, uint chunk, __global const offset_t *restrict row_offsets,
                      __global const int *restrict nets_of, __global const int *restrict list,
                      __global const int *restrict preferences, volatile __global uint *state,
                      volatile __global uint *used, __global int *restrict next, __global int *restrict colors) {
  TEAM_ROOM(room);
  const uint size = load_relaxed(state), teams = team_total();
  if (!chunk) chunk = (size + teams - 1u) / teams;
  for (uint start = 0u; start < size; start += teams * chunk)
    for (uint turn = 0u; turn < chunk; turn++) {
      const uint i = start + team_number() * chunk + turn;
      const int is_item = i < size;
      const member_t x = member_of(is_item ? list[i] : 0, is_item, row_offsets);
      const int preferred = preferences[x.v];
      const uint bit = 1u << ((uint)preferred & 31u);
      const words_t words = words_at((uint)preferred / 32u, layout, used, 0);
      const claim_t claim = claim_bit(&x, x.places, bit, nets_of, words, room);
      if (claim.clash) unset_bit(&x, bit, claim.owned, nets_of, words);
      finish_item(x.v, is_item, claim.clash ? NO_COLOR : preferred, state + 1, next, colors);
    }
}
#endif
