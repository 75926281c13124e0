/* The colours of a closed row as a bitmap of 2^MAX_BITS bits: a set bit is a colour of the widest width.  Folded in
 * half, the bitmap has the colours of one bit less.
 *
 * Word w of a work-item is bins[w * WG_SIZE], so word w of all work-items of a group are adjacent in local memory.
 */
#ifndef CLGRAPH_BITMAP_H
#define CLGRAPH_BITMAP_H

#define BINS (MAX_BITS > 5 ? 1 << (MAX_BITS - 5) : 1)

INLINE void mark(uint color, __local uint *words) { words[(color >> 5) * WG_SIZE] |= 1u << (color & 31u); }

/* Add the collisions of a set of `members` vertices to the sums, for each width, and clear the bitmap. */
INLINE void keep_bitmap(uint members, __local uint *words, sums_t *sums) {
  for (int bits = MAX_BITS; bits > 5; bits--) {
    uint n_colors = 0u;
    int half_size = 1 << max(0, bits - 6);
    for (int w = 0; w < half_size; w++) {
      uint low = words[w * WG_SIZE], high = words[(w + half_size) * WG_SIZE];
      n_colors += popcount(low) + popcount(high);
      words[w * WG_SIZE] = low | high;
      words[(w + half_size) * WG_SIZE] = 0u;
    }
    #pragma unroll
    for (int counted = 6; counted <= MAX_BITS; counted++)
      if (counted == bits && IS_COUNTED(counted)) keep(counted, members - n_colors, sums);
  }
  uint word = words[0];
  words[0] = 0u;
  #pragma unroll
  for (int bits = 5; bits > 0; bits--) {
    if (bits > MAX_BITS) continue;
    if (IS_COUNTED(bits)) keep(bits, members - popcount(word), sums);
    word = (word | word >> (1u << (bits - 1))) & ((1u << (1u << (bits - 1))) - 1u);
  }
}

/* Keep the closed row of v; members: its size without v. */
INLINE void keep_row(int v, uint k, uint members, __global const COLOR_T *restrict colors, __local uint *words,
                     sums_t *sums) {
  mark(color_of(v, k, colors), words);
  keep_bitmap(members + 1u, words, sums);
}

INLINE void merge(__local uint *word, __local uint *other) {
  *word |= *other;
  *other = 0u;
}
#endif
