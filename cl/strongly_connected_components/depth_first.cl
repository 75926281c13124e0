/* Strong components by one depth-first search in one work-item, for CPUs.
 *
 *   index    0 until a vertex is found; then its number in the order of the search, or the least number of a vertex without
 *            a component that it is known to reach; at last FINISHED and the first vertex of its component
 *   stack    from the front the path of the search, from the back the vertices whose rows are done, but whose component is
 *            not known.  A vertex is in one of them at a time.  A vertex v of the path that reaches a lower number is ~v.
 *   places   for each vertex of the path the last entry of its row that was looked at
 *
 * Rows are read from their ends, so the search of a mesh that is numbered along the sweep goes the farthest way first, and its
 * path is short.
 * A vertex that reaches no lower number is the first of its component in the search.  The others are on top of the second stack.
 *
 * After R. Tarjan, "Depth-First Search and Linear Graph Algorithms", SIAM J. Comput. 1972, and D. Pearce, "A space-efficient
 * algorithm for finding strongly connected components", Inf. Process. Lett. 2016.
 */
#include "common/types.h"

#define FINISHED 0x80000000u

/* Take the other vertices of the component of its first vertex off the stack.  Returns the new top of the stack. */
INLINE int finish(int first, uint own, int n, int top, __global uint *index, __global const int *stack) {
  while (top < n && index[stack[top]] >= own) index[stack[top++]] = FINISHED | (uint)first;
  index[first] = FINISHED | (uint)first;
  return top;
}

/* Number the components by their smallest vertices.  Returns how many there are. */
INLINE int number(int n, __global const uint *index, __global int *numbers, __global int *labels) {
  int count = 0;
  for (int v = 0; v < n; v++) numbers[v] = -1;
  for (int v = 0; v < n; v++) {
    const uint first = index[v] & ~FINISHED;
    if (numbers[first] < 0) numbers[first] = count++;
    labels[v] = numbers[first];
  }
  return count;
}

KERNEL find_in_depth(int n, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                     __global uint *restrict index, __global int *restrict stack, __global offset_t *restrict places,
                     __global int *restrict labels, __global int *restrict count) {
  if (get_global_id(0)) return;
  uint next = 1u;
  int top = n;
  for (int v = 0; v < n; v++) index[v] = 0u;
  for (int first = 0; first < n; first++) {
    if (index[first]) continue;
    int v = first, depth = 0, is_first = 1;  /* is_first: v reaches no lower number, as far as is known */
    offset_t e = row_offsets[v + 1], begin = row_offsets[v];
    uint low = next++;
    index[v] = low;
    for (;;) {
      int w = -1;
      while (e > begin) {
        const uint reached = index[column_indices[--e]];
        if (!reached) {
          w = column_indices[e];
          break;
        }
        if (reached < low) low = reached, is_first = 0;
      }
      if (w >= 0) {              /* go down */
        stack[depth] = is_first ? v : ~v;
        places[depth++] = e;
        index[v] = low;
        v = w;
        is_first = 1;
        e = row_offsets[v + 1];
        begin = row_offsets[v];
        low = index[v] = next++;
        continue;
      }
      if (is_first) {
        top = finish(v, low, n, top, index, stack);
      } else {
        stack[--top] = v;
        index[v] = low;
      }
      if (!depth) break;
      v = stack[--depth];        /* go up */
      e = places[depth];
      const uint below = is_first ? FINISHED : low;
      is_first = v >= 0;
      v = is_first ? v : ~v;
      begin = row_offsets[v];
      low = index[v];
      if (below < low) low = below, is_first = 0;
    }
  }
  *count = number(n, index, stack, labels);
}
