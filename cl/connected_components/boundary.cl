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

INLINE void list_pair(int v, int label, int most, volatile __global int *size, __global int2 *pairs) {
  if (load_stale(size) >= most) return;
  int at = fetch_add(size, 1);
  if (at < most) pairs[1 + at] = (int2)(v, label);
}

/* pairs[1 ...] = the vertices of the boundary with their labels, and the first word of pairs their number, if it is less than
 * `most`; otherwise this word is `most` or more.  A root has itself as label, and is listed once.  Before, the first word and
 * `listed`, which has a bit for each vertex, are 0. */
KERNEL list_boundary(int n, int first, int last, int most, __global const int *restrict parent,
                     volatile __global uint *listed, __global int2 *pairs) {
  volatile __global int *size = (volatile __global int *)pairs;
  int v = 4 * (int)get_global_id(0);
  if (v >= n) return;
  int4 four = *(__global const int4 *)(parent + v);
  int labels[4] = {four.x, four.y, four.z, four.w};
  for (int k = 0; k < 4; k++) {
    int label = labels[k];
    if (label == v + k) continue;
    if (v + k < first || v + k >= last) list_pair(v + k, label, most, size, pairs);
    uint bit = 1u << (label & 31);
    if ((label < first || label >= last) && !(load_stale(listed + (label >> 5)) & bit) &&
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

/* Give the tree of the root numbers[i].x the number numbers[i].y of its component; see number_components. */
KERNEL set_numbers(int count, __global const int2 *restrict numbers, __global int *restrict parent) {
  int i = get_global_id(0);
  if (i < count) parent[numbers[i].x] = ~numbers[i].y;
}
