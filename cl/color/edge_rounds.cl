/* Speculative colouring edge by edge: a work-item takes an edge, so long rows need no special treatment.
 *
 * A round has three steps.  Every edge with one coloured end forbids that colour to the other end.  Every vertex without
 * a colour picks the least allowed colour.  If both ends of an edge picked the same colour, the end that is later in the
 * order loses it.
 * forbidden[v] has bits for the 32 colours from bases[v] on.  A vertex that may have none of them moves on to the next 32.
 * picked[v] is the colour that v picked last, colors[v] the colour that it has.  Edges compare picks, which do not
 * change in that step, so the result does not depend on timing.  Only the entry in the row of the lesser end handles an
 * edge.  Rounds end once at most one vertex in FEW_OPEN is left, and speculative.cl colours those.
 *
 * Races: several edges may take the colour away from one vertex; all of them write the same value.
 *
 * After M. Deveci, E. G. Boman, K. D. Devine, S. Rajamanickam, "Parallel graph coloring for manycore architectures",
 * IPDPS 2016.
 */
#include "color/speculation.h"

#define FEW_OPEN 16

/* Writes the row of every entry; a sub-group takes a row. */
KERNEL list_sources(int n, __global const offset_t *restrict row_offsets, __global int *restrict sources) {
  for (int v = (int)(get_global_id(0) / SUB_GROUP_SIZE); v < n; v += (int)(get_global_size(0) / SUB_GROUP_SIZE))
    for (offset_t e = row_offsets[v] + (offset_t)sg_lane(); e < row_offsets[v + 1]; e += SUB_GROUP_SIZE) sources[e] = v;
}

KERNEL open_vertices(int n, __global int *restrict picked, __global uint *restrict forbidden,
                     __global uint *restrict bases) {
  int v = get_global_id(0);
  if (v >= n) return;
  picked[v] = NO_COLOR;
  forbidden[v] = bases[v] = 0u;
}

INLINE void forbid(int v, int c, volatile __global uint *forbidden, __global const uint *bases) {
  uint place = (uint)c - bases[v];
  if (place < 32u && !(load_relaxed(forbidden + v) >> place & 1u)) fetch_or(forbidden + v, 1u << place);
}

KERNEL forbid_colors(offset_t m, __global const int *restrict sources, __global const int *restrict column_indices,
                     __global const int *restrict colors, __global const uint *restrict bases,
                     volatile __global uint *forbidden) {
  for (offset_t e = get_global_id(0); e < m; e += get_global_size(0)) {
    const int v = sources[e], u = column_indices[e];
    if (v >= u) continue;
    const int a = colors[v], b = colors[u];
    if (a < 0 && b >= 0) forbid(v, b, forbidden, bases);
    if (b < 0 && a >= 0) forbid(u, a, forbidden, bases);
  }
}

KERNEL pick_colors(int n, __global int *restrict colors, __global int *restrict picked, __global uint *restrict forbidden,
                   __global uint *restrict bases, __global uint *restrict state) {
  int v = get_global_id(0);
  if (v == 0) state[STATE_SIZES] = 0u;
  if (v >= n || colors[v] >= 0) return;
  uint used = forbidden[v];
  if (~used) {
    colors[v] = picked[v] = (int)(bases[v] + 31u - (uint)clz(~used & (used + 1u)));
  } else {
    picked[v] = NO_COLOR;
    forbidden[v] = 0u;
    bases[v] += 32u;
  }
}

KERNEL drop_losers(offset_t m, __global const int *restrict sources, __global const int *restrict column_indices,
                   __global const uint *restrict ranks, __global const int *restrict picked,
                   volatile __global int *colors) {
  for (offset_t e = get_global_id(0); e < m; e += get_global_size(0)) {
    const int v = sources[e], u = column_indices[e];
    if (v < u && picked[v] >= 0 && picked[v] == picked[u])
      store_relaxed(colors + (goes_before(ranks[v], v, ranks[u], u) ? u : v), NO_COLOR);
  }
}

/* List the vertices without a colour; if many are left, there is another round. */
KERNEL list_open(int n, uint round, __global const int *restrict colors, volatile __global uint *state,
                 __global int *restrict one_list) {
  int v = get_global_id(0), open = v < n && colors[min(v, n - 1)] < 0;
  uint slot = push_sub_group(state + STATE_SIZES, open);
  if (v == 0) store_relaxed(state + STATE_EDGE_ROUNDS, round);
  if (!open) return;
  one_list[slot] = v;
  if (slot >= (uint)n / FEW_OPEN) store_relaxed(state + STATE_ALIVE, round);
}
