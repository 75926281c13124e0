/* A random graph that resembles a road network; clgraph/generators/roads.py explains how it is drawn.
 *
 * Roads are numbered by their nearer crossing, the one to the left first; first_road[i] is the first road of crossing
 * i.  bends_before[r] is the number of bends on the roads before r.  The bends on a crossing's roads have the numbers
 * after it, so crossing i is vertex i + bends_before[first_road[i]].
 */
#include "common/philox.h"
#include "generators/chunk.h"

#define LEADS_LEFT 1
#define LEADS_UP 2

KERNEL choose_roads(int n_crossings, int width, uint left, uint upper, ulong key0, ulong key1,
                    __global uint *restrict n_roads, __global uchar *restrict roads) {
  FOR_CHUNK(b, (n_crossings + 15l) / 16) {
    const ulong4 drawn = philox((ulong)b, 0ul, key0, key1);
    const ulong words[4] = {drawn.x, drawn.y, drawn.z, drawn.w};
    #pragma unroll
    for (int k = 0; k < 16; k++) {
      const long i = 16 * b + k;
      if (i >= n_crossings) break;
      const uint draw = short_of(words[k / 4], k % 4);
      const int has_left = i % width > 0, has_upper = i >= width;
      const int leads_left = has_left && (!has_upper || draw < left);
      const int leads_up = has_upper && (!has_left || draw >= upper);
      n_roads[i] = (uint)(leads_left + leads_up);
      roads[i] = (uchar)(leads_left * LEADS_LEFT + leads_up * LEADS_UP);
    }
  }
}

/* bends: the road of each bend */
KERNEL draw_bends(long n_bends, ulong n_roads, ulong key0, ulong key1, __global uint *restrict bends) {
  FOR_CHUNK(b, (n_bends + 3) / 4) {
    const ulong4 drawn = philox((ulong)b, 1ul, key0, key1);
    const ulong words[4] = {drawn.x, drawn.y, drawn.z, drawn.w};
    for (int k = 0; k < 4 && 4 * b + k < n_bends; k++) bends[4 * b + k] = (uint)mul_hi(words[k], n_roads);
  }
}

INLINE int number_of(long i, const __global uint *first_road, const __global int *bends_before) {
  return (int)i + bends_before[first_road[i]];
}

KERNEL count_neighbors(int n_crossings, int width, const __global uchar *restrict roads,
                       const __global uint *restrict first_road, const __global int *restrict bends_before,
                       __global uint *restrict degrees) {
  FOR_CHUNK(i, n_crossings) {
    const int v = number_of(i, first_road, bends_before);
    uint degree = first_road[i + 1] - first_road[i];
    if (i + 1 < n_crossings) degree += (roads[i + 1] & LEADS_LEFT) != 0;
    if (i + width < n_crossings) degree += (roads[i + width] & LEADS_UP) != 0;
    degrees[v] = degree;
    for (int bend = bends_before[first_road[i + 1]] - bends_before[first_road[i]]; bend > 0; bend--) degrees[v + bend] = 2u;
  }
}

/* Insert *neighbor* into a sorted row that begins at *begin* and has a free place at *end*. */
INLINE void insert(__global int *column_indices, long begin, long end, int neighbor) {
  for (; end > begin && column_indices[end - 1] > neighbor; end--) column_indices[end] = column_indices[end - 1];
  column_indices[end] = neighbor;
}

/* Write the rows of a crossing, and of the bends of its own roads. */
KERNEL write_neighbors(int n_crossings, int width, const __global uchar *restrict roads,
                       const __global uint *restrict first_road, const __global int *restrict bends_before,
                       const __global offset_t *restrict row_offsets, __global int *column_indices) {
  FOR_CHUNK(i, n_crossings) {
    const int v = number_of(i, first_road, bends_before);
    const long begin = row_offsets[v];
    long end = begin;
    uint road = first_road[i];
    for (int direction = LEADS_LEFT; direction <= LEADS_UP; direction++) {
      if (!(roads[i] & direction)) continue;
      const int far = number_of(direction == LEADS_LEFT ? i - 1 : i - width, first_road, bends_before);
      const int first = (int)i + 1 + bends_before[road], last = (int)i + bends_before[road + 1];
      insert(column_indices, begin, end++, first <= last ? last : far);
      for (int bend = first; bend <= last; bend++) {
        const int before = bend == first ? far : bend - 1, after = bend == last ? v : bend + 1;
        const long at = row_offsets[bend];
        column_indices[at] = min(before, after);
        column_indices[at + 1] = max(before, after);
      }
      road++;
    }
    for (int direction = LEADS_LEFT; direction <= LEADS_UP; direction++) {
      const long other = i + (direction == LEADS_LEFT ? 1 : width);
      if (other >= n_crossings || !(roads[other] & direction)) continue;
      road = first_road[other] + (direction == LEADS_UP && (roads[other] & LEADS_LEFT));
      const int first = (int)other + 1 + bends_before[road], last = (int)other + bends_before[road + 1];
      insert(column_indices, begin, end++, first <= last ? first : number_of(other, first_road, bends_before));
    }
  }
}
