/* Balances the sizes of colour classes.  A vertex of a class that is too full moves to the least full class that none of
 * its neighbours has.  A sub-group takes a vertex.
 *
 * One launch moves vertices of one class only.  No two of them are neighbours (or, at DISTANCE 2, have a common
 * neighbour), so their moves never conflict, and a proper colouring stays proper.  A class gives while it has more than
 * *cap* vertices, and takes while it has fewer.
 *
 * Races: sizes change while other sub-groups search for the least.  A move reserves its departure from one class and its
 * place in the other by atomics, and undoes them if it did not get both.  If one sub-group runs alone, the result is
 * always the same.
 *
 * After A. H. Gebremedhin, F. Manne, A. Pothen; H. Lu, M. Halappanavar, D. Chavarria-Miranda, A. H. Gebremedhin,
 * A. Panyala, A. Kalyanaraman, "Algorithms for balanced graph colorings with applications in parallel computing", IEEE
 * TPDS 28, 2017 (scheduled moves).
 */
#include "common/atomics.h"
#include "common/subgroup.h"

#ifndef DISTANCE
#define DISTANCE 1
#endif
#ifndef BITMAP_WORDS             /* words of 32 colours each.  More colours are processed one window at a time. */
#define BITMAP_WORDS 32
#endif
#ifndef ATTEMPTS
#define ATTEMPTS 4
#endif
#define NO_CLASS ULONG_MAX

INLINE void mark_row(offset_t first, offset_t last, uint base, __global const int *restrict column_indices,
                     __global const int *colors, __local uint *used) {
  for (offset_t e = first + (offset_t)sg_lane(); e < last; e += SUB_GROUP_SIZE) {
    uint c = (uint)colors[column_indices[e]] - base;
    if (c < 32u * BITMAP_WORDS) fetch_or(&used[c >> 5], 1u << (c & 31u));
  }
}

/* Returns the least full class that v may move to and that has room: its size in the high half, its colour in the low. */
INLINE ulong least_full(int v, uint cap, uint n_colors, __global const offset_t *restrict row_offsets,
                        __global const int *restrict column_indices, __global const int *colors,
                        volatile __global uint *sizes, __local uint *used) {
  const uint lane = sg_lane();
  const offset_t first = row_offsets[v], last = row_offsets[v + 1];
  ulong best = NO_CLASS;
  for (uint base = 0u; base < n_colors; base += 32u * BITMAP_WORDS) {
    for (uint w = lane; w < BITMAP_WORDS; w += SUB_GROUP_SIZE) used[w] = 0u;
    sg_sync();
    mark_row(first, last, base, column_indices, colors, used);
#if DISTANCE == 2
    for (offset_t e = first; e < last; e++) {
      const int u = column_indices[e];
      mark_row(row_offsets[u], row_offsets[u + 1], base, column_indices, colors, used);
    }
#endif
    sg_sync();
    for (uint c = base + lane; c < min(n_colors, base + 32u * BITMAP_WORDS); c += SUB_GROUP_SIZE) {
      if (used[(c - base) >> 5] >> (c & 31u) & 1u) continue;
      uint size = load_relaxed(sizes + c);
      if (size < cap) best = min(best, (ulong)size << 32 | c);
    }
    sg_sync();
  }
  return sg_least(best);
}

/* Move vertices first … last - 1 of the list, all of colour `giver`, while that class has more than cap. */
KERNEL move_class(uint first, uint last, int giver, uint cap, uint n_colors,
                  __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                  __global const int *restrict list, volatile __global uint *sizes, __global int *colors) {
  LOCAL_ARRAY uint bitmaps[SUB_GROUPS_PER_GROUP * BITMAP_WORDS];
  __local uint *used = bitmaps + sg_in_group() * BITMAP_WORDS;
  for (uint i = first + (uint)(get_global_id(0) / SUB_GROUP_SIZE); i < last; i += (uint)(get_global_size(0) / SUB_GROUP_SIZE)) {
    const int v = list[i];
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (sg_broadcast(load_relaxed(sizes + giver), 0u) <= cap) return;
      ulong to = least_full(v, cap, n_colors, row_offsets, column_indices, colors, sizes, used);
      if (to == NO_CLASS) break;
      int moved = 0;
      if (sg_lane() == 0) {
        volatile __global uint *target = sizes + (uint)to;
        if (fetch_add(sizes + giver, ~0u) > cap) {
          moved = fetch_add(target, 1u) < cap;
          if (moved) colors[v] = (int)(uint)to;
          else fetch_add(target, ~0u);
        }
        if (!moved) fetch_add(sizes + giver, 1u);
      }
      if (sg_any(moved)) break;
    }
  }
}
