/* A histogram of pairs of colours by the number of low bits in which they agree.  Two vertices collide at all widths up to
 * that number, so the bins, summed from the top, give the collisions at every width.
 *
 * bins[b * WG_SIZE] is a work-item's number of pairs that agree in exactly b bits (at most MAX_BITS).  If METHOD is SORTED,
 * the bits of colours are reversed.
 */
#ifndef CLGRAPH_BINS_H
#define CLGRAPH_BINS_H

#define BINS (MAX_BITS + 1)

/* Count a pair of colours that differ in these bits. */
INLINE void mark(uint differ, __local uint *bins) {
#if METHOD == SORTED
  uint agreeing = (uint)clz(differ) - (32u - MAX_BITS);
#else
  uint agreeing = lowest_lane(differ | 1u << MAX_BITS);
#endif
  bins[agreeing * WG_SIZE] += 1u;
}

/* Add the pairs of a row to the sums, except `excess` pairs that are not collisions, and clear the bins. */
INLINE void keep_bins(uint excess, __local uint *bins, sums_t *sums) {
  uint sum = 0u;
  #pragma unroll
  for (int bits = MAX_BITS; bits > 0; bits--) {
    sum += bins[bits * WG_SIZE];
    bins[bits * WG_SIZE] = 0u;
    if (IS_COUNTED(bits)) keep(bits, sum - excess, sums);
  }
}

/* PAIRS counts entries, not members of a set, and every pair is a collision. */
INLINE void keep_row(int v, uint k, uint members, __global const COLOR_T *restrict colors, __local uint *bins,
                     sums_t *sums) {
  keep_bins(members, bins, sums);
}

INLINE void merge(__local uint *bin, __local uint *other) {
  *bin += *other;
  *other = 0u;
}
#endif
