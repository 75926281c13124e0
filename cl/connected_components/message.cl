/* Pack a flat forest into a message for another device.  It is short if neighbouring vertices have the same label, or no
 * label but their own number.
 *
 * Vertices are grouped into words of 32, and words into blocks.  The message has the offset of each block and the end,
 * then the blocks.  A block has the shortest of these forms; its size tells the form:
 *   0 words              no vertex of the block has a parent
 *   1 + words            a label, and a bit for each vertex that has it
 *   1 + 2 words + k      the same, then a bit for each of the k vertices with other labels, then these labels
 *   32 words             the label of each vertex
 * `same` and `other` have a word for each word of vertices.  Kernels that write have no races; for merge_message see
 * union_find.h, and `parent` has room for n rounded up to four there.
 */
#include "connected_components/merge.h"

#define SAMPLES 16

INLINE int label_below(int n, int v, __global const int *parent) {
  return v < n ? parent[v] : v;
}

/* Returns the labels of v ... v + 3, by one load if there are four; v is a multiple of 4. */
INLINE int4 labels_from(int n, int v, __global const int *parent) {
  if (v + 4 <= n) return *(__global const int4 *)(parent + v);
  return (int4)(label_below(n, v, parent), label_below(n, v + 1, parent), label_below(n, v + 2, parent), v + 3);
}

/* chosen[b] = the most frequent label among sampled vertices of block b that have a parent. */
KERNEL choose_labels(int n, int n_blocks, int words, __global const int *restrict parent, __global int *restrict chosen) {
  int b = get_global_id(0);
  if (b >= n_blocks) return;
  int labels[SAMPLES], best = 0, most = 0;
#pragma unroll
  for (int k = 0; k < SAMPLES; k++) {
    int v = min(b * words * 32 + k * words * (32 / SAMPLES), n - 1), label = parent[v];
    labels[k] = label == v ? -1 : label;
  }
#pragma unroll
  for (int k = 0; k < SAMPLES; k++) {
    int equal = 0;
#pragma unroll
    for (int i = 0; i < SAMPLES; i++) equal += labels[i] == labels[k];
    if (labels[k] >= 0 && equal > most) {
      most = equal;
      best = labels[k];
    }
  }
  chosen[b] = best;
}

KERNEL mark_labels(int n, int n_words, int words, __global const int *restrict parent, __global const int *restrict chosen,
                   __global uint *restrict same, __global uint *restrict other) {
  int w = get_global_id(0);
  if (w >= n_words) return;
  int label = chosen[w / words];
  uint equal = 0u, unequal = 0u;
  for (int k = 0; k < 32; k += 4) {
    int4 four = labels_from(n, 32 * w + k, parent);
    int mine[4] = {four.x, four.y, four.z, four.w};
    for (int i = 0; i < 4; i++) {
      uint is_below = mine[i] != 32 * w + k + i;
      equal |= (is_below & (uint)(mine[i] == label)) << (k + i);
      unequal |= (is_below & (uint)(mine[i] != label)) << (k + i);
    }
  }
  same[w] = equal;
  other[w] = unequal;
}

KERNEL size_blocks(int n_words, int n_blocks, int words, __global const uint *restrict same,
                   __global const uint *restrict other, __global uint *restrict sizes) {
  int b = get_global_id(0);
  if (b >= n_blocks) return;
  uint any_same = 0u, n_others = 0u;
  for (int w = b * words; w < min((b + 1) * words, n_words); w++) {
    any_same |= same[w];
    n_others += popcount(other[w]);
  }
  uint size = n_others ? 1u + 2u * (uint)words + n_others : any_same ? 1u + (uint)words : 0u;
  sizes[b] = min(size, 32u * (uint)words);
}

/* Returns the number of vertices before v in its block that have other labels; v is in word k of the block. */
INLINE uint others_before(int v, int k, __global const uint *others) {
  uint before = popcount(others[k] & ((1u << (v & 31)) - 1u));
  for (int i = 0; i < k; i++) before += popcount(others[i]);
  return before;
}

/* A work-item writes its word of vertices into the message, which already holds the offsets. */
KERNEL write_blocks(int n, int n_words, int n_blocks, int words, __global const int *restrict parent,
                    __global const int *restrict chosen, __global const uint *restrict same,
                    __global const uint *restrict other, __global uint *message) {
  int w = get_global_id(0);
  if (w >= n_words) return;
  int b = w / words, k = w - b * words;
  uint at = message[b], size = message[b + 1] - at;
  __global uint *block = message + n_blocks + 1 + at;
  if (!size) return;
  if (size == 32u * (uint)words) {
    for (int i = 0; i < 32; i++) block[32 * k + i] = (uint)label_below(n, 32 * w + i, parent);
    return;
  }
  if (k == 0) block[0] = (uint)chosen[b];
  block[1 + k] = same[w];
  if (size == 1u + (uint)words) return;
  block[1 + words + k] = other[w];
  uint place = 1u + 2u * (uint)words + others_before(32 * w, k, other + b * words);
  for (uint left = other[w]; left; left &= left - 1u)
    block[place++] = (uint)parent[32 * w + popcount((left & (0u - left)) - 1u)];
}

KERNEL merge_message(int n, int n_blocks, int words, __global const uint *restrict message, volatile __global int *parent) {
  int v = 4 * (int)get_global_id(0);
  if (v >= n) return;
  int w = v >> 5, b = w / words, k = w - b * words;
  uint at = message[b], size = message[b + 1] - at;
  __global const uint *block = message + n_blocks + 1 + at;
  if (!size) return;
  int theirs[4] = {v, v + 1, v + 2, v + 3};
  if (size == 32u * (uint)words) {
    for (int i = 0; i < 4; i++) theirs[i] = (int)block[32 * k + (v & 31) + i];
  } else {
    uint equal = block[1 + k] >> (v & 31), unequal = 0u, place = 0u;
    if (size > 1u + (uint)words) unequal = block[1 + words + k] >> (v & 31);
    if (!((equal | unequal) & 15u)) return;
    if (unequal & 15u) place = 1u + 2u * (uint)words + others_before(v, k, block + 1 + words);
    for (int i = 0; i < 4; i++) {
      if (equal >> i & 1u) theirs[i] = (int)block[0];
      if (unequal >> i & 1u) theirs[i] = (int)block[place++];
    }
  }
  join_four(n, v, (int4)(theirs[0], theirs[1], theirs[2], theirs[3]), parent);
}
