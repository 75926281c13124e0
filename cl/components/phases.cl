/* The phases that strategies of connected components share: start the forest, flatten it, find the label
 * of the giant component, number the components.
 *
 * A work-item handles four consecutive vertices, so that enough loads are in flight to fill the memory
 * system.  `parent` has room for n rounded up to four; the words past n hold their own index.
 * Races and why they are harmless: see union_find.h.
 */
#include "components/union_find.h"
#include "common/random.h"

#define NO_GIANT -1

/* parent[v] = the first neighbour of v, if smaller: with sorted rows the smallest, so this is one round of
 * hooking without atomics.  HOOK_FIRST 0 starts with single vertices. */
#ifndef HOOK_FIRST
#define HOOK_FIRST 1
#endif
KERNEL initialize(int n, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                  __global int *restrict parent) {
  int v = 4 * (int)get_global_id(0);
  if (v >= n) return;
  int4 own = (int4)(v, v + 1, v + 2, v + 3), first = own;
#if HOOK_FIRST
  if (v + 4 <= n) {
    offset4_t begin = *(__global const offset4_t *)(row_offsets + v);
    offset_t end = row_offsets[v + 4];
    if (begin.x < begin.y) first.x = column_indices[begin.x];
    if (begin.y < begin.z) first.y = column_indices[begin.y];
    if (begin.z < begin.w) first.z = column_indices[begin.z];
    if (begin.w < end) first.w = column_indices[begin.w];
  } else {
    if (row_offsets[v] < row_offsets[v + 1]) first.x = column_indices[row_offsets[v]];
    if (v + 1 < n && row_offsets[v + 1] < row_offsets[v + 2]) first.y = column_indices[row_offsets[v + 1]];
    if (v + 2 < n && row_offsets[v + 2] < row_offsets[v + 3]) first.z = column_indices[row_offsets[v + 2]];
  }
#endif
  store_relaxed4(parent + v, min(own, first));
}

INLINE int root_from(volatile __global int *parent, int p) {
  for (int g; (g = load_stale(parent + p)) != p;) p = g;
  return p;
}

/* Point every vertex at its root.  Nothing links meanwhile, so roots are final; only what changed is written. */
KERNEL compress(int n, volatile __global int *parent) {
  int v = 4 * (int)get_global_id(0);
  if (v >= n) return;
  int4 p = load_stale4(parent + v), g;
  g.x = load_stale(parent + p.x); g.y = load_stale(parent + p.y);
  g.z = load_stale(parent + p.z); g.w = load_stale(parent + p.w);
  if (g.x != p.x) store_relaxed(parent + v, root_from(parent, g.x));
  if (g.y != p.y) store_relaxed(parent + v + 1, root_from(parent, g.y));
  if (g.z != p.z) store_relaxed(parent + v + 2, root_from(parent, g.z));
  if (g.w != p.w) store_relaxed(parent + v + 3, root_from(parent, g.w));
}

/* giant[0] = the commonest label among WG_SIZE sampled vertices, giant[1] = its share of them in percent.
 * Roots do not count: most of them are vertices without an edge.  One work-group. */
KERNEL find_giant(int n, volatile __global const int *parent, __global int *restrict giant) {
  LOCAL_ARRAY int label[WG_SIZE];
  LOCAL_ARRAY uint best, n_valid;
  int i = get_local_id(0), v = (int)random_below(random_key(1ul), (ulong)i, (uint)n), mine = load_stale(parent + v);
  label[i] = mine == v ? NO_GIANT : mine;
  if (i == 0) best = n_valid = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint equal = 0u;
  for (int k = 0; k < WG_SIZE; k++) equal += label[k] == mine;
  if (mine != v) {
    fetch_add(&n_valid, 1u);
    fetch_max(&best, equal * WG_SIZE + (uint)i);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i == 0) {
    giant[0] = n_valid ? label[best % WG_SIZE] : NO_GIANT;
    giant[1] = n_valid ? (int)(100u * (best / WG_SIZE) / n_valid) : 0;
  }
}

/* is_root[v] = 1 for the smallest vertex of each component. */
KERNEL mark_roots(int n, __global const int *restrict parent, __global int *restrict is_root) {
  int v = get_global_id(0);
  if (v < n) is_root[v] = parent[v] == v;
}

/* labels[v] = rank of v's root among the roots: components numbered by their smallest vertex. */
KERNEL number_components(int n, __global const int *restrict parent, __global const int *restrict rank,
                         __global int *restrict labels) {
  int v = get_global_id(0);
  if (v < n) labels[v] = rank[parent[v]];
}
