/* Colourings in which the members of every net differ (nets.h): at distance 2 of a graph, or of a matrix's columns.
 *
 * A team takes a vertex.  The vertex wants the least colour of the window that is free in all its nets (used_colors.h),
 * and has it once it was the first to set the bit in each of them.  So colours are proper whenever they are written.
 * Vertices that find the window full go to the next list, for the next window, for which the host clears the bits.
 *
 * Race: two teams want one colour of one net at once.  fetch_or tells who was first.  The other team clears the bits that
 * it has set itself, which others only avoided, and tries again.  The more colours were taken before its eyes, the more it
 * chooses among, so teams that meet in one net part.  A lane remembers its first 64 bits.  Any further ones stay set, and
 * keep a colour from some nets.
 *
 * References: see used_colors.h.
 */
#include "coloring/orders.h"
#include "coloring/used_colors.h"

#define ATTEMPTS 63u             /* at a word before a vertex leaves it */

/* What a team found when it claimed a bit: whether a net had it, what the words held, and which of this lane's first 64
 * bits it has set itself. */
typedef struct {
  uint clash, seen;
  ulong owned;
} claim_t;

/* Sets `bit` in a word of x's nets until one has it. */
INLINE claim_t claim_bit(const member_t *x, uint places, uint stride, uint bit, __global const int *restrict nets_of,
                         volatile __global uint *used, __local uint *room) {
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
      if (nets[j] >= 0) old[j] = fetch_or(used + (size_t)nets[j] * stride, bit);
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

INLINE void unset_bit(const member_t *x, uint stride, uint bit, ulong owned, __global const int *restrict nets_of,
                      volatile __global uint *used) {
  for (uint place = team_lane(); owned; place += LANES, owned >>= 1)
    if (owned & 1ul) fetch_and(used + (size_t)net_at(x->v, x->begin, place, x->places, nets_of) * stride, ~bit);
}

/* Tries to take a colour of one word until it is full; returns its bit's number, or 32.  looking: whether this team does. */
INLINE uint take_of_word(const member_t *x, int looking, uint seed, uint stride, __global const int *restrict nets_of,
                         volatile __global uint *word, __local uint *room) {
  uint taken = 32u, fresh = 0u;
  int trying = looking;
  for (uint attempt = 0u; looping(trying); attempt++) {
    const uint mask = gather_used(x, trying ? x->places : 0u, stride, nets_of, word, room);
    trying = trying && mask != FULL;
    const uint random = hash_murmur3((uint)x->v * 32u + attempt + seed), at = one_of(~mask, random, 1u + fresh);
    const claim_t claim = claim_bit(x, trying ? x->places : 0u, stride, 1u << at, nets_of, word, room);
    if (claim.clash) unset_bit(x, stride, 1u << at, claim.owned, nets_of, word);
    else if (trying) taken = at;
    fresh += popcount(team_or(claim.seen, room) & ~mask);
    trying = trying && claim.clash && attempt < ATTEMPTS;
  }
  return taken;
}

/* The team's vertex has a colour, or goes to the next list. */
INLINE void finish_item(int v, int is_item, int color, volatile __global uint *n_next, __global int *restrict next,
                        __global int *restrict colors) {
  const int leads = team_lane() == 0u && is_item, failed = leads && color == NO_COLOR;
  if (leads && !failed) colors[v] = color;
  const uint slot = push_sub_group(n_next, failed);
  if (failed) next[slot] = v;
}

/* chunk: consecutive items that a team takes; 0: all of them, so that vertices which are coloured at the same time lie far
 * apart. */
KERNEL color_vertices(uint step, int base, layout_t layout, uint chunk, uint seed,
                      __global const offset_t *restrict row_offsets, __global const int *restrict nets_of,
                      __global const int *restrict list, volatile __global uint *state, volatile __global uint *used,
                      __global int *restrict next, __global int *restrict colors) {
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
      for (uint w = 0u; looping(looking); w++) {
        const uint at = take_of_word(&x, looking, seed, layout.net_stride, nets_of, used + (size_t)w * layout.word_stride, room);
        if (at < 32u) color = base + (int)(32u * w + at);
        looking = looking && color == NO_COLOR && w + 1u < layout.words;
      }
      finish_item(x.v, is_item, color, state + (step + 1u) % N_LISTS, next, colors);
    }
}

/* The first step, if hash colours come first: take the preferred colour, which is in the first window, or none. */
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
      volatile __global uint *word = used + (size_t)((uint)preferred / 32u) * layout.word_stride;
      const claim_t claim = claim_bit(&x, x.places, layout.net_stride, bit, nets_of, word, room);
      if (claim.clash) unset_bit(&x, layout.net_stride, bit, claim.owned, nets_of, word);
      finish_item(x.v, is_item, claim.clash ? NO_COLOR : preferred, state + 1, next, colors);
    }
}
