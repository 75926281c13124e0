/* Borůvka over the matrix.  Each round reads all entries and finds for every component its lightest edge to another
 * component.  Then the components are merged, in one of two ways.
 *
 * merge_min_hook: a work-item per root hooks it along its best edge.  Of two roots with the same best edge, the lesser
 * stays a root.  No other work-item writes the root's parent.
 * merge_transactional: a work-item per root merges in a transaction.  It reads the roots of both ends and the greater
 * root's version.  It locks that version if it is unchanged, hooks the greater root under the lesser, and raises the
 * version.  The lesser root may have been hooked meanwhile.  Then the root of its tree is smaller still, so the greater
 * root stays the greater one, and every transaction along the same edge locks the same root.  Merges into a hub do not
 * disturb each other.  A transaction that fails too often leaves its component for the next round; the resulting forest
 * is the same.
 * After S. Manoochehri, B. Goodarzi, D. Goswami, "An efficient transaction-based GPU implementation of minimum
 * spanning forest algorithm", HPCS 2017.
 *
 * Races: a transaction reads parents and versions that others write.  A root stops being one only while its version is
 * locked, so if the version is unchanged, the vertex is still a root.
 * component[v], the root of v when the edges were discovered, does not change while they are merged.
 */
#define COMPONENTS 1
#include "minimum_spanning_forest/climb.h"
#include "minimum_spanning_forest/discover.h"
#include "minimum_spanning_forest/state.h"

#ifndef ATTEMPTS
#define ATTEMPTS 64
#endif

/* Writes the root of v's tree to component[v]; roots have no best edge yet. */
KERNEL label_components(int n, volatile __global int *parent, volatile __global best_t *best,
                        __global int *restrict component) {
  int v = get_global_id(0), at_root = 1;
  if (v >= n) return;
  int root = climb(parent, v, &at_root);
  component[v] = root;
  if (root == v) clear_best(best, n, v);
}

KERNEL discover_components(int n, int n_tiles, offset_t m, __global const offset_t *restrict row_offsets,
                           __global const int *restrict column_indices, __global const uint *restrict edge_weights,
                           __global const int *restrict tile_rows, __global const int *restrict component,
                           volatile __global best_t *best) {
  discover(n, n_tiles, 0, m, row_offsets, column_indices, edge_weights, tile_rows, component, best);
}

/* Returns the root at the other end of root r's best edge e. */
INLINE int across(int r, uint e, int n, int n_tiles, __global const offset_t *restrict row_offsets,
                  __global const int *restrict column_indices, __global const int *restrict tile_rows,
                  __global const int *restrict component) {
  int root = component[column_indices[e]];
  return root != r ? root : component[source_of(e, n, n_tiles, row_offsets, tile_rows)];
}

KERNEL merge_min_hook(int n, int n_tiles, uint round, __global const offset_t *restrict row_offsets,
                      __global const int *restrict column_indices, __global const int *restrict tile_rows,
                      __global const int *restrict component, volatile __global best_t *best,
                      volatile __global uint *state, __global int *restrict parent, __global uint *restrict forest) {
  int r = get_global_id(0);
  if (r >= n || component[r] != r) return;
  uint e = best_entry(best, n, r);
  if (e == NO_ENTRY) return;
  store_relaxed(state + STATE_ALIVE, round);
  int other = across(r, e, n, n_tiles, row_offsets, column_indices, tile_rows, component);
  if (r < other && best_entry(best, n, other) == e) return;
  parent[r] = other;
  forest[r] = e;
}

/* Returns a vertex's root as it is now; another work-item may hook it at any time. */
INLINE int current_root(volatile __global int *parent, int v) {
  int at_root = 1, p;
  v = climb(parent, v, &at_root);
  while ((p = load_relaxed(parent + v)) != v) v = p;
  return v;
}

/* Versions are even, and odd while they are locked. */
KERNEL merge_transactional(int n, int n_tiles, uint round, __global const offset_t *restrict row_offsets,
                           __global const int *restrict column_indices, __global const int *restrict tile_rows,
                           __global const int *restrict component, volatile __global best_t *best,
                           volatile __global uint *state, volatile __global uint *versions,
                           volatile __global int *parent, __global uint *forest) {
  int r = get_global_id(0);
  if (r >= n || component[r] != r) return;
  uint e = best_entry(best, n, r);
  if (e == NO_ENTRY) return;
  store_relaxed(state + STATE_ALIVE, round);
  int a = r, b = across(r, e, n, n_tiles, row_offsets, column_indices, tile_rows, component);
  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
    a = current_root(parent, a);
    b = current_root(parent, b);
    if (a == b) return;          /* the other end merged along the same edge */
    int low = min(a, b), high = max(a, b);
    uint version = load_relaxed(versions + high);
    fence_device();              /* a work-item that sees the raised version must see the hook */
    if ((version & 1u) || load_relaxed(parent + high) != high) continue;
    if (compare_exchange(versions + high, version, version + 1u) != version) continue;
    store_relaxed(parent + high, low);
    forest[high] = e;
    fence_device();
    store_relaxed(versions + high, version + 2u);
    return;
  }
}
