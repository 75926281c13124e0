/* Gives each net a bitmap of a size of its own, for colourings at distance 2 of vertices whose nets are too large for
 * windows of colours.
 *
 * Windows have the same number of colours for every net.  So a net of d members takes d / colours windows, and in each
 * window all remaining members search for a free colour: about d^2 steps for a star.  With room for all members, each
 * vertex reads only a few words, beginning at its own share of its largest net's bitmap.
 *
 * A work-item takes a net.
 */
#include "color/used_colors.h"

#ifndef MEMBERS_PER_WORD         /* members per word, 1 … 8.  The fewer, the less often do two different colours share a bit. */
#define MEMBERS_PER_WORD 4u
#endif

/* tail[TAIL_WORDS] becomes the number of words of colours that the largest net needs, tail[TAIL_TOP] the number of
 * words of all nets. */
KERNEL size_bitmaps(int n, __global const uint *restrict counts, volatile __global uint *tail,
                    __global uint2 *restrict bitmaps) {
  const int net = get_global_id(0);
  const uint count = net < n ? counts[net] : 0u, wanted = max(1u, (count + MEMBERS_PER_WORD - 1u) / MEMBERS_PER_WORD);
  uint size = wanted > 1u ? 2u << (31u - clz(wanted - 1u)) : 1u;
  if (net >= n) size = 0u;
  const uint before = sg_exclusive_sum(size), all = sg_sum(size), most = (sg_greatest(count) + 31u) / 32u;
  uint first = 0u;
  if (sg_lane() == 0u) {
    first = fetch_add(tail + TAIL_TOP, all);
    if (load_relaxed(tail + TAIL_WORDS) < most) fetch_max(tail + TAIL_WORDS, most);
  }
  first = sg_broadcast(first, 0u) + before;
  if (net < n) bitmaps[net] = (uint2)(first, size - 1u);
}
