/* Colourings in which the members of every net differ (nets.h), the same on every device.  distance_two.cl has a faster
 * form, whose result depends on timing.
 *
 * Each vertex of a round chooses a colour by the current words (used_colors.h), and claims it in each of its nets.  Of
 * several claims to one slot the highest key wins.  Vertices of many nets have higher keys.  A vertex that wins all its
 * claims takes the colour; the others try again in the next round.  Keys rise from round to round, so old claims need not
 * be cleared.  A team takes a vertex.
 *
 * Races: claims to one slot are combined by fetch_max, whose result does not depend on their order.
 *
 * References: see used_colors.h.
 */
#include "color/orders.h"
#include "color/used_colors.h"

#define CLASS_BITS 2u            /* bits of a key above keys.bits: the class of a vertex by its number of nets */

/* The items of a round: `count` vertices of an order (from `first` on, by steps of `stride`), then the losers of the
 * round before. */
typedef struct {
  uint step;
  uint first;
  uint stride;
  uint count;
  uint key;                      /* the high bits of all keys of the round */
} round_t;
typedef struct {
  uint bits;                     /* bits of a vertex's number in a key */
  uint seed;
  uint slots;                    /* words of claims per net; a power of two */
} keys_t;

/* Returns a number of `bits` bits, different for each vertex, because odd factors and shifts are invertible. */
INLINE uint permuted(uint v, uint bits, uint seed) {
  const uint mask = (1u << bits) - 1u;
  uint x = (v ^ hash_murmur3(seed)) & mask;
  x = (x * 0x9e3779b1u) & mask;
  x ^= x >> (bits / 2u + 1u);
  x = (x * 0x85ebca77u) & mask;
  return x ^ (x >> (bits / 2u + 1u));
}

INLINE int vertex_of_item(round_t round, uint i, __global const int *restrict order, __global const int *restrict losers) {
  return i < round.count ? order[round.first + (size_t)i * round.stride] : losers[i - round.count];
}
INLINE uint key_of(const member_t *x, round_t round, keys_t keys) {
  const uint weight = min((1u << CLASS_BITS) - 1u, (31u - clz(x->places | 1u)) / 5u);
  return round.key | weight << keys.bits | permuted((uint)x->v, keys.bits, keys.seed);
}

/* The team claims a colour in each of its vertex's nets. */
INLINE void claim_color(const member_t *x, int choice, uint key, uint slots, __global const int *restrict nets_of,
                        volatile __global uint *claims) {
  const uint claimed = choice == NO_COLOR ? 0u : x->places;
  for (uint place = team_lane(); place < claimed; place += LANES) {
    const int net = net_at(x->v, x->begin, place, x->places, nets_of);
    if (net < 0) continue;
    volatile __global uint *claim = claims + (size_t)net * slots + ((uint)choice & (slots - 1u));
    if (load_relaxed(claim) < key) fetch_max(claim, key);
  }
}

/* spread: the number of free colours among which a vertex chooses. */
KERNEL claim_colors(round_t round, keys_t keys, uint spread, layout_t layout,
                    __global const offset_t *restrict row_offsets, __global const int *restrict nets_of,
                    __global const int *restrict order, __global const int *restrict losers,
                    volatile __global uint *state, volatile __global uint *used, volatile __global uint *claims,
                    __global int *restrict choices) {
  TEAM_ROOM(room);
  const uint n_losers = load_relaxed(state + round.step % N_LISTS);
  if (get_global_id(0) == 0) store_relaxed(state + (round.step + 2u) % N_LISTS, 0u);
  for (uint start = 0u; start < round.count + n_losers; start += team_total()) {
    const uint i = start + team_number();
    const int is_item = i < round.count + n_losers;
    const member_t x = member_of(is_item ? vertex_of_item(round, i, order, losers) : 0, is_item, row_offsets);
    const uint random = hash_murmur3((uint)x.v + keys.seed + round.key);
    int choice = NO_COLOR, looking = is_item;
    uint w = spread > 32u ? random / 32u % (spread / 32u) : 0u;
    for (uint turn = 0u; looping(looking); turn++, w = w + 1u < layout.words ? w + 1u : 0u) {
      const uint mask = gather_used(&x, looking ? x.places : 0u, nets_of, words_at(w, layout, used, 0), room);
      if (looking && mask != FULL) choice = (int)(32u * w + one_of(~mask, random, spread));
      looking = looking && choice == NO_COLOR && turn + 1u < layout.words;
    }
    if (team_lane() == 0u && is_item) choices[x.v] = choice;
    claim_color(&x, choice, key_of(&x, round, keys), keys.slots, nets_of, claims);
  }
}

/* The first round, if hash colours come first: claim the preferred colours, which are in the first window. */
KERNEL claim_preferred(round_t round, keys_t keys, __global const offset_t *restrict row_offsets,
                       __global const int *restrict nets_of, __global const int *restrict order,
                       __global const int *restrict preferences, volatile __global uint *claims,
                       __global int *restrict choices) {
  for (uint start = 0u; start < round.count; start += team_total()) {
    const uint i = start + team_number();
    const int is_item = i < round.count;
    const member_t x = member_of(is_item ? order[i] : 0, is_item, row_offsets);
    const int choice = preferences[x.v];
    if (team_lane() == 0u && is_item) choices[x.v] = choice;
    claim_color(&x, choice, key_of(&x, round, keys), keys.slots, nets_of, claims);
  }
}

KERNEL settle_colors(round_t round, keys_t keys, int base, layout_t layout,
                     __global const offset_t *restrict row_offsets, __global const int *restrict nets_of,
                     __global const int *restrict order, __global const int *restrict losers,
                     __global const int *restrict choices, __global const uint *restrict claims,
                     volatile __global uint *state, volatile __global uint *used, __global int *restrict next,
                     __global int *restrict colors) {
  TEAM_ROOM(room);
  const uint n_losers = load_relaxed(state + round.step % N_LISTS);
  for (uint start = 0u; start < round.count + n_losers; start += team_total()) {
    const uint i = start + team_number();
    const int is_item = i < round.count + n_losers;
    const member_t x = member_of(is_item ? vertex_of_item(round, i, order, losers) : 0, is_item, row_offsets);
    const int choice = is_item ? choices[x.v] : NO_COLOR;
    const uint w = (uint)choice / 32u, bit = 1u << ((uint)choice & 31u), slot = (uint)choice & (keys.slots - 1u);
    const uint mine = choice == NO_COLOR ? 0u : x.places, key = key_of(&x, round, keys);
    uint lost = 0u;
    for (uint place = team_lane(); place < mine && !lost; place += LANES) {
      const int net = net_at(x.v, x.begin, place, x.places, nets_of);
      lost = net >= 0 && claims[(size_t)net * keys.slots + slot] != key;
    }
    lost = team_or(lost, room);
    for (uint place = team_lane(); place < mine && !lost; place += LANES) {
      const int net = net_at(x.v, x.begin, place, x.places, nets_of);
      if (net >= 0) fetch_or(used + (size_t)net * layout.net_stride + (size_t)w * layout.word_stride, bit);
    }
    const int leads = team_lane() == 0u && choice != NO_COLOR, failed = leads && lost;
    if (leads && !lost) colors[x.v] = base + choice;
    const uint at = push_sub_group(state + (round.step + 1u) % N_LISTS, failed);
    if (failed) next[at] = x.v;
  }
}
