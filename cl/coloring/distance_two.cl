/* Colourings in which the members of every net differ (nets.h): at distance 2 of a graph, or of a matrix's columns.
 *
 * used: each net has some words; a bit of them says that a member has that colour of the window, which goes from base
 * to base + 32 * words - 1.  Word w of net r stands at r * net_stride + w * word_stride.  A vertex reads the words of
 * its nets, which takes O(entries) and not O(two-hop neighbours), and wants the least colour that is free in all of
 * them.  It has the colour once it was the first to set the bit in each of its nets, so colours are proper whenever
 * they are written.  Vertices that find the window full go to the next list, for the next window, and `used` starts
 * again.
 * The bits and their window are those of Deveci et al. in Kokkos Kernels (NB_BIT), and of M. K. Tas, K. Kaya, E. Saule,
 * "Greed is good: parallel algorithms for bipartite-graph partial coloring on multicore architectures", ICPP 2017.
 *
 * color_vertices: a team takes a vertex.  Race: two teams want one colour of one net at once.  fetch_or tells who was
 * first.  The other team clears the bits that it has set itself, which others only avoided, and tries again.  The more
 * colours were taken before its eyes, the more it chooses among, so teams that meet in one net part.
 * A lane remembers its first 64 bits.  Any further ones stay set, and keep a colour from some nets.
 *
 * claim_colors, settle_colors: the colours are the same on every device.  All vertices of a round choose a colour by
 * the words as they stand, and claim it in each of their nets.  Of several claims to one slot the highest key wins,
 * and vertices of many nets have higher keys.  A vertex that has won all its claims takes the colour; the others try
 * again in the next round.  Keys rise from round to round, so that old claims need not be cleared.
 *
 * state: sizes of the lists, in turn: a step reads one, fills the next, clears the one after that.
 */
#include "common/hashes.h"
#include "coloring/nets.h"

#define NO_COLOR (-1)
#define FULL 0xffffffffu
#define N_LISTS 3
#define CLASS_BITS 2u            /* of keys, above key_bits: how many nets a vertex has */
#define ATTEMPTS 63u             /* at a word before a vertex leaves it */

/* The bits that words of v's nets have, for the whole team; here and below `used` begins with the word in question. */
INLINE uint gather_used(int v, offset_t begin, uint places, uint stride, __global const int *restrict nets_of,
                        volatile __global uint *used TEAM_PARAMETER) {
  uint mask = 0u;
  const int is_long = looping(places > LANES * BATCH);
  for (uint first = 0u; looping(first < places); first += LANES * BATCH) {
    int nets[BATCH];
    uint held[BATCH];
    nets_at(v, begin, first + team_lane(), places, nets_of, nets);
    #pragma unroll
    for (uint j = 0u; j < BATCH; j++) held[j] = load_relaxed_if(nets[j] >= 0, used + (size_t)max(nets[j], 0) * stride);
    #pragma unroll
    for (uint j = 0u; j < BATCH; j++) mask |= held[j];
    if (is_long) {
      mask = team_or(mask);
      if (mask == FULL) places = 0u;
    }
  }
  return team_or(mask);
}

/* Sets `bit` in a word of v's nets until one has it; *seen: what the words held, *owned: the lane's first 64 that it set.
 * Returns, to the whole team, whether a net had it. */
INLINE uint claim_bit(int v, offset_t begin, uint places, uint stride, uint bit, uint *seen, ulong *owned,
                      __global const int *restrict nets_of, volatile __global uint *used TEAM_PARAMETER) {
  uint clash = 0u, step = 0u;
  for (uint first = 0u; looping(first < places && !clash); first += LANES * BATCH) {
    const uint end = clash ? 0u : places;
    uint old[BATCH], lost = 0u;
    int nets[BATCH];
    nets_at(v, begin, first + team_lane(), end, nets_of, nets);
    #pragma unroll
    for (uint j = 0u; j < BATCH; j++) {
      old[j] = bit;
      if (nets[j] >= 0) old[j] = fetch_or(used + (size_t)nets[j] * stride, bit);
    }
    #pragma unroll
    for (uint j = 0u; j < BATCH; j++, step++) {
      const uint is_set = (old[j] & bit) != 0u;
      *seen |= nets[j] >= 0 ? old[j] : 0u;
      lost |= is_set & (nets[j] >= 0);
      *owned |= (ulong)(!is_set & (step < 64u)) << (step & 63u);
    }
    clash |= team_or(lost);
  }
  return clash;
}

INLINE void unset_bit(int v, offset_t begin, uint places, uint stride, uint bit, ulong owned,
                      __global const int *restrict nets_of, volatile __global uint *used) {
  for (uint place = team_lane(); owned; place += LANES, owned >>= 1)
    if (owned & 1ul) fetch_and(used + (size_t)net_at(v, begin, place, places, nets_of) * stride, ~bit);
}

/* The position of one of the first `spread` ones of x. */
INLINE uint one_of(uint x, uint random, uint spread) {
  for (uint skip = (random & 0xffffu) * min(spread, (uint)popcount(x)) >> 16; skip; skip--) x &= x - 1u;
  return x ? lowest_lane(x) : 0u;
}

/* prefer: take the preferred colour or none; it is in the window.  chunk: consecutive items that a team takes; 0: all of
 * them, so that vertices which are coloured at the same time lie far apart. */
KERNEL color_vertices(uint step, int base, int prefer, uint words, uint net_stride, uint word_stride, uint chunk,
                      uint seed, __global const offset_t *restrict row_offsets, __global const int *restrict nets_of,
                      __global const int *restrict list, __global const int *restrict preferences,
                      volatile __global uint *state, volatile __global uint *used, __global int *restrict next,
                      __global int *restrict colors) {
  TEAM_ARRAY
  const uint size = load_relaxed(state + step % N_LISTS), teams = team_total();
  if (get_global_id(0) == 0) store_relaxed(state + (step + 2u) % N_LISTS, 0u);
  if (!chunk) chunk = (size + teams - 1u) / teams;
  for (uint start = 0u; start < size; start += teams * chunk)
    for (uint turn = 0u; turn < chunk; turn++) {
      const uint i = start + team_number() * chunk + turn;
      const int is_item = i < size;
      const int v = is_item ? list[i] : 0;
      const offset_t begin = row_offsets[v];
      const uint places = is_item ? (uint)(row_offsets[v + 1] - begin) + CLOSED : 0u;
      const uint preferred = prefer ? (uint)preferences[v] : 0u;
      int color = NO_COLOR, looking = is_item;
      for (uint w = preferred / 32u; looping(looking); w++) {
        volatile __global uint *plane = used + (size_t)w * word_stride;
        int trying = looking;
        for (uint attempt = 0u, fresh = 0u; looping(trying); attempt++) {
          uint mask = 0u;
          if (!prefer) mask = gather_used(v, begin, trying ? places : 0u, net_stride, nets_of, plane TEAM_ARGUMENT);
          trying = trying && mask != FULL;
          const uint random = hash_murmur3((uint)v * 32u + attempt + seed);
          const uint at = prefer ? preferred & 31u : one_of(~mask, random, 1u + fresh), bit = 1u << at;
          uint seen = 0u;
          ulong owned = 0ul;
          const uint clash = claim_bit(v, begin, trying ? places : 0u, net_stride, bit, &seen, &owned, nets_of,
                                       plane TEAM_ARGUMENT);
          if (clash) unset_bit(v, begin, places, net_stride, bit, owned, nets_of, plane);
          else if (trying) color = base + (int)(32u * w + at);
          fresh += popcount(team_or(seen) & ~mask);
          trying = trying && clash && attempt < ATTEMPTS && !prefer;
        }
        looking = looking && color == NO_COLOR && w + 1u < words && !prefer;
      }
      const int leads = team_lane() == 0u && is_item;
      if (leads && color != NO_COLOR) colors[v] = color;
      const int failed = leads && color == NO_COLOR;
      const uint slot = push_sub_group(state + (step + 1u) % N_LISTS, failed);
      if (failed) next[slot] = v;
    }
}

/* A number of `bits` bits for each vertex, all different: odd factors and shifts are invertible. */
INLINE uint permuted(uint v, uint bits, uint seed) {
  const uint mask = (1u << bits) - 1u;
  uint x = (v ^ hash_murmur3(seed)) & mask;
  x = (x * 0x9e3779b1u) & mask;
  x ^= x >> (bits / 2u + 1u);
  x = (x * 0x85ebca77u) & mask;
  return x ^ (x >> (bits / 2u + 1u));
}

/* The items of a round: `count` of the order, from `first` on, and the losers of the round before. */
#define ROUND_ITEM(i)                                                                                  \
  const int is_item = (i) < count + n_losers;                                                          \
  const int v = !is_item ? 0 : (i) < count ? order[first + (size_t)(i) * stride] : losers[(i) - count]; \
  const offset_t begin = row_offsets[v];                                                               \
  const uint places = is_item ? (uint)(row_offsets[v + 1] - begin) + CLOSED : 0u;                      \
  const uint weight = min((1u << CLASS_BITS) - 1u, (31u - clz(places | 1u)) / 5u);                     \
  const uint key = round_key | weight << key_bits | permuted((uint)v, key_bits, seed);

/* prefer: claim the preferred colours, which are in the window.  spread: of how many colours one is chosen. */
KERNEL claim_colors(uint step, uint first, uint stride, uint count, uint round_key, uint key_bits, uint seed,
                    uint words, uint net_stride, uint word_stride, uint slots, int prefer, uint spread,
                    __global const offset_t *restrict row_offsets, __global const int *restrict nets_of,
                    __global const int *restrict order, __global const int *restrict losers,
                    __global const int *restrict preferences, volatile __global uint *state,
                    volatile __global uint *used, volatile __global uint *claims, __global int *restrict choices) {
  TEAM_ARRAY
  const uint n_losers = load_relaxed(state + step % N_LISTS);
  if (get_global_id(0) == 0) store_relaxed(state + (step + 2u) % N_LISTS, 0u);
  for (uint start = 0u; start < count + n_losers; start += team_total()) {
    const uint i = start + team_number();
    ROUND_ITEM(i)
    int choice = NO_COLOR, looking = is_item;
    if (prefer) choice = preferences[v];
    const uint random = hash_murmur3((uint)v + seed + round_key);
    uint w = spread > 32u ? random / 32u % (spread / 32u) : 0u;
    for (uint turn = 0u; looping(looking && !prefer); turn++, w = w + 1u < words ? w + 1u : 0u) {
      volatile __global uint *plane = used + (size_t)w * word_stride;
      const uint mask = gather_used(v, begin, looking ? places : 0u, net_stride, nets_of, plane TEAM_ARGUMENT);
      if (looking && mask != FULL) {
        choice = (int)(32u * w + one_of(~mask, random, spread));
      }
      looking = looking && choice == NO_COLOR && turn + 1u < words;
    }
    if (team_lane() == 0u && is_item) choices[v] = choice;
    const uint claimed = choice == NO_COLOR ? 0u : places;
    for (uint place = team_lane(); place < claimed; place += LANES) {
      const int net = net_at(v, begin, place, places, nets_of);
      if (net < 0) continue;
      volatile __global uint *claim = claims + (size_t)net * slots + ((uint)choice & (slots - 1u));
      if (load_relaxed(claim) < key) fetch_max(claim, key);
    }
  }
}

KERNEL settle_colors(uint step, uint first, uint stride, uint count, uint round_key, uint key_bits, uint seed,
                     uint net_stride, uint word_stride, uint slots, int base,
                     __global const offset_t *restrict row_offsets, __global const int *restrict nets_of,
                     __global const int *restrict order, __global const int *restrict losers,
                     __global const int *restrict choices, __global const uint *restrict claims,
                     volatile __global uint *state, volatile __global uint *used, __global int *restrict next,
                     __global int *restrict colors) {
  TEAM_ARRAY
  const uint n_losers = load_relaxed(state + step % N_LISTS);
  for (uint start = 0u; start < count + n_losers; start += team_total()) {
    const uint i = start + team_number();
    ROUND_ITEM(i)
    const int choice = is_item ? choices[v] : NO_COLOR;
    const uint w = (uint)choice / 32u, bit = 1u << ((uint)choice & 31u), slot = (uint)choice & (slots - 1u);
    const uint mine = choice == NO_COLOR ? 0u : places;
    uint lost = 0u;
    for (uint place = team_lane(); place < mine && !lost; place += LANES) {
      const int net = net_at(v, begin, place, places, nets_of);
      lost = net >= 0 && claims[(size_t)net * slots + slot] != key;
    }
    lost = team_or(lost);
    for (uint place = team_lane(); place < mine && !lost; place += LANES) {
      const int net = net_at(v, begin, place, places, nets_of);
      if (net >= 0) fetch_or(used + (size_t)net * net_stride + (size_t)w * word_stride, bit);
    }
    const int leads = team_lane() == 0u && choice != NO_COLOR, failed = leads && lost;
    if (leads && !lost) colors[v] = base + choice;
    const uint at = push_sub_group(state + (step + 1u) % N_LISTS, failed);
    if (failed) next[at] = v;
  }
}

/* Ascending keys of the order: of the greatest rank first. */
KERNEL invert_ranks(int n, __global uint *restrict ranks) {
  const int i = get_global_id(0);
  if (i < n) ranks[i] = ~ranks[i];
}
