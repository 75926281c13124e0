/* Join the forests of several devices that have few vertices in common.
 *
 * Each device owns a range of vertices, first ... last - 1.  Its boundary has the vertices outside its range that its
 * forest connects with other vertices.  If boundaries are small, the host joins the trees that meet there, and tells each
 * device the numbers of the components that it cannot number itself.
 *
 * Forests are flat.  `parent` has room for n rounded up to four; the words past n hold their own index.  Race: several
 * work-items may set the bit of a vertex in `listed`; the one that changes the bit lists the vertex.
 */
#include "connected_components/numbering.h"
#include "common/atomics.h"

INLINE void list_pair(int v, int label, uint most, volatile __global uint *size, __global int2 *pairs) {
  if (load_stale(size) >= most) return;
  uint at = fetch_add(size, 1u);
  if (at < most) pairs[at] = (int2)(v, label);
}

/* pairs[0 ... size - 1] = the vertices of the boundary with their labels, if there are less than `most`; otherwise size is
 * `most` or more.  A root has itself as label, and is listed once.  `listed` has a bit for each vertex, 0 before. */
KERNEL list_boundary(int n, int first, int last, uint most, __global const int *restrict parent,
                     volatile __global uint *listed, volatile __global uint *size, __global int2 *restrict pairs) {
  int v = 4 * (int)get_global_id(0);
  if (v >= n) return;
  int4 four = *(__global const int4 *)(parent + v);
  int labels[4] = {four.x, four.y, four.z, four.w};
  for (int k = 0; k < 4; k++) {
    int label = labels[k];
    if (label == v + k) continue;
    if (v + k < first || v + k >= last) list_pair(v + k, label, most, size, pairs);
    uint bit = 1u << (label & 31);
    if ((label < first || label >= last) && !(load_relaxed(listed + (label >> 5)) & bit) &&
        !(fetch_or(listed + (label >> 5), bit) & bit))
      list_pair(label, label, most, size, pairs);
  }
}

/* found[i] = the label of vertices[i], and the rank of this root among the device's own roots, or -1 if another device
 * owns the root. */
KERNEL look_up(int count, int first, int last, __global const int *restrict vertices, __global const int *restrict parent,
               __global const uint *restrict roots, __global const int *restrict rank, __global int2 *restrict found) {
  int i = get_global_id(0);
  if (i >= count) return;
  int label = parent[vertices[i]];
  found[i] = (int2)(label, label >= first && label < last ? rank_of(label, first, roots, rank) : -1);
}

/* Give the trees of some roots the numbers of their components; see number_components. */
KERNEL set_numbers(int count, __global const int *restrict vertices, __global const int *restrict numbers,
                   __global int *restrict parent) {
  int i = get_global_id(0);
  if (i < count) parent[vertices[i]] = ~numbers[i];
}
