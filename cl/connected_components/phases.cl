/* The phases that strategies of connected components share: start the forest, flatten it, find the label
 * of the giant component, number the components.
 *
 * A work-item handles four consecutive vertices, so that enough loads are in flight to fill the memory
 * system.  `parent` has room for n rounded up to four; the words past n hold their own index.
 * Races and why they are harmless: see union_find.h.
 */
#include "connected_components/numbering.h"
#include "connected_components/state.h"
#include "connected_components/union_find.h"
#include "common/random.h"

#ifndef HOOK_FIRST               /* 1: parent[v] = the first neighbour of v, if smaller; 0: single vertices */
#define HOOK_FIRST 1
#endif
#ifndef HOOK_STEPS               /* steps along first neighbours.  More steps shorten the chains of well ordered graphs. */
#define HOOK_STEPS 1
#endif

#ifndef KEEP_SECOND              /* 1: second[v] = the second neighbour of v, or v */
#define KEEP_SECOND 0
#endif

/* Make every vertex a root, or hook it to its first neighbour.  With sorted rows that is the smallest neighbour, so this
 * is a round of hooking without atomics.  Indices of loads are clamped instead of guarded by branches, so that all loads
 * are in flight together; m > 0 if HOOK_FIRST. */
KERNEL initialize(int n, offset_t m, __global const offset_t *restrict row_offsets,
                  __global const int *restrict column_indices, __global int *restrict parent,
                  __global int *restrict second) {
  int v = 4 * (int)get_global_id(0);
  if (v >= n) return;
  int root[4] = {v, v + 1, v + 2, v + 3};
#if HOOK_FIRST
  offset_t begin[4], end[4];
  if (v + 4 <= n) {
    offset4_t four = *(__global const offset4_t *)(row_offsets + v);
    begin[0] = four.x; end[0] = begin[1] = four.y; end[1] = begin[2] = four.z; end[2] = begin[3] = four.w;
    end[3] = row_offsets[v + 4];
  } else {
    for (int k = 0; k < 4; k++) {
      begin[k] = row_offsets[min(v + k, n)];
      end[k] = row_offsets[min(v + k + 1, n)];
    }
  }
  for (int step = 1;; step++) {
    int first[4];
    for (int k = 0; k < 4; k++) first[k] = column_indices[min(begin[k], m - 1)];
#if KEEP_SECOND
    if (step == 1) {
      int next[4];
      for (int k = 0; k < 4; k++) next[k] = column_indices[min(begin[k] + 1, m - 1)];
      for (int k = 0; k < 4; k++) next[k] = begin[k] + 1 < end[k] ? next[k] : v + k;
      store_relaxed4(second + v, (int4)(next[0], next[1], next[2], next[3]));
    }
#endif
    for (int k = 0; k < 4; k++) root[k] = begin[k] < end[k] ? min(root[k], first[k]) : root[k];
    if (step == HOOK_STEPS) break;
    for (int k = 0; k < 4; k++) {
      begin[k] = row_offsets[min(root[k], n)];  /* empty past n */
      end[k] = row_offsets[min(root[k] + 1, n)];
    }
  }
#endif
  store_relaxed4(parent + v, (int4)(root[0], root[1], root[2], root[3]));
}

/* Four vertices climb together.  Loads may be stale, so that L1 can serve roots that many vertices share. */
INLINE void climb_four(int v, volatile __global int *parent) {
  int4 start = load_stale4(parent + v), p = start, g = parents_of(parent, p);
  while (any(g != p)) {
    p = g;
    g = parents_of(parent, p);
  }
  if (any(g != start)) store_relaxed4(parent + v, g);
}

/* Point every vertex at its root.  Nothing links meanwhile, so roots are final. */
KERNEL compress(int n, volatile __global int *parent) {
  int v = 4 * (int)get_global_id(0);
  if (v < n) climb_four(v, parent);
}

/* Like compress, but only if something was linked since the giant was found. */
KERNEL compress_if_linked(int n, __global const int *restrict state, volatile __global int *parent) {
  if (!state[STATE_LINKED]) return;
  for (long v = 4 * (long)get_global_id(0); v < n; v += 4 * (long)get_global_size(0)) climb_four((int)v, parent);
}

/* Like compress.  The work-group that ends last also finds the most frequent label among WG_SIZE sampled vertices,
 * because a launch for that alone would take longer.  Roots do not count: most of them are isolated vertices. */
KERNEL compress_and_find_giant(int n, volatile __global int *parent, volatile __global int *state) {
  LOCAL_ARRAY int label[WG_SIZE];
  LOCAL_ARRAY uint best, n_valid;
  LOCAL_ARRAY int is_last;
  int i = get_local_id(0), first = 4 * (int)get_global_id(0);
  if (first < n) climb_four(first, parent);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (i == 0) {
    fence_device();
    is_last = fetch_add(state + STATE_ENDED, 1) == (int)get_num_groups(0) - 1;
    if (is_last) fence_device();
    best = n_valid = 0u;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (!is_last) return;
  int v = (int)random_below(random_key(1ul), (ulong)i, (uint)n), mine = load_relaxed(parent + v);
  label[i] = mine == v ? NO_GIANT : mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint equal = 0u;
  for (int k = 0; k < WG_SIZE; k++) equal += label[k] == mine;
  if (mine != v) {
    fetch_add(&n_valid, 1u);
    fetch_max(&best, equal * WG_SIZE + (uint)i);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i == 0) {
    store_relaxed(state + STATE_GIANT, n_valid ? label[best % WG_SIZE] : NO_GIANT);
    store_relaxed(state + STATE_SHARE, n_valid ? (int)(100u * (best / WG_SIZE) / n_valid) : 0);
    store_relaxed(state + STATE_LINKED, 0);
    store_relaxed(state + STATE_ENDED, 0);
  }
}

/* roots[w] = a bit for each of the 32 vertices of word w that is a root, sizes[w] = how many.  The words have the vertices
 * from first to last - 1; first is a multiple of 32. */
KERNEL mark_roots(int first, int last, int n_words, __global const int *restrict parent, __global uint *restrict roots,
                  __global int *restrict sizes) {
  int w = get_global_id(0);
  if (w >= n_words) return;
  uint word = 0u;
  for (int k = 0; k < 32 && first + 32 * w + k < last; k += 4) {
    int v = first + 32 * w + k;
    int4 four = *(__global const int4 *)(parent + v);
    word |= (uint)(four.x == v) << k | (uint)(four.y == v + 1 && v + 1 < last) << (k + 1) |
            (uint)(four.z == v + 2 && v + 2 < last) << (k + 2) | (uint)(four.w == v + 3 && v + 3 < last) << (k + 3);
  }
  roots[w] = word;
  sizes[w] = (int)popcount(word);
}

/* labels[v] = number of v's component, for start <= v < stop.  Components are numbered by their smallest vertices: a root
 * has the number `base` plus its rank among the roots from vertex `first` on.  A negative parent is ~ the number of the
 * tree's component.  The forest need not be flat.  The number of components follows the labels, so that one copy transfers
 * both. */
KERNEL number_components(int n, int n_words, int first, int base, int start, int stop, __global const int *restrict parent,
                         __global const uint *restrict roots, __global const int *restrict rank,
                         __global int *restrict labels) {
  int v = start + (int)get_global_id(0);
  if (v < stop) {
    int root = parent[v];
    for (int above = root; root >= 0 && (above = parent[root]) != root;) root = above;
    labels[v] = root < 0 ? ~root : base + rank_of(root, first, roots, rank);
  }
  if (v == start && stop == n) labels[n] = rank[n_words];
}
