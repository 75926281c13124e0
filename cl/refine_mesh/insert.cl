/* Inserts the points of the candidates that have won (rounds.cl), and finds which of the new triangles are bad.
 *
 *   insert         per winner: makes the triangles around its point (insertion.h)
 *   check_shares   finds the urgencies of all new triangles, in equal shares
 *   check_groups   finds them too: each group takes the new triangles of the same group of `insert`
 *
 * CHECKS selects where urgencies are found:
 *   AT_ONCE       by the work-item that makes the triangles
 *   LISTED        in a launch that follows; `made` lists all new triangles, -1 if there was no room for the point
 *   BY_CHILDREN   in a grid that each work-group launches when it ends; by the group itself if the device's queue is full
 *
 * Winners share no triangle, so there is no race.  The numbers of points and slots, the positions in `made`, and all other
 * results depend only on the order of the candidates.  If the claims are the same in every run, so is the mesh, on every
 * device.
 */
#include "refine_mesh/chunks.h"

#define AT_ONCE 0
#define LISTED 1
#define BY_CHILDREN 2
#ifndef CHECKS
#define CHECKS AT_ONCE
#endif
#define CHECK_LATER (CHECKS != AT_ONCE)
#include "refine_mesh/insertion.h"

INLINE void check_one(int t, demands_t ask, __global const double2 *points, __global const int4 *corners,
                      __global const int4 *links, __global const int *point_segments,
                      __global const int2 *segment_ends, __global const double *caps, __global uchar *urgencies) {
  if (t >= 0) urgencies[t] = (uchar)urgency_of(corners[t], links[t], ask, points, point_segments, segment_ends, caps);
}

/* Insert the point of the winner that won with row i of the candidates. */
INLINE void insert_row(grown_t m, demands_t ask, int i, int4 head, int point, int slot, __global const double2 *spots,
                       __global const int *ends) {
  found_t found;
  found.n_cavity = head.x;
  found.n_rim = head.y;
  found.second = head.z;
  found.segment = head.w;
  found.spot = spots[i];
  found.end = ends[i];
  insert_one(m, i, found, point, slot, ask);
}

KERNEL insert(int n_rows, uint most_points, demands_t ask, __global const int4 *restrict heads,
              __global const double2 *restrict spots, __global const int *restrict ends,
              __global const int *restrict needs, __global const uint *restrict winners,
              __global const uint *restrict slots, __global const int4 *restrict rim,
              __global const int *restrict cavity, __global const int2 *restrict segment_ends,
              __global const double *restrict caps, volatile __global uint *state,
              __global const uint *restrict totals, __global double2 *points, __global int4 *corners,
              __global int4 *links, __global int4 *sides, __global uchar *urgencies, __global int *point_segments,
              __global const uint *restrict rims, __global int *made) {
  LOCAL_ARRAY uint scratch[GROUP_SCRATCH];
  grown_t m;
  m.points = points; m.corners = corners; m.links = links; m.sides = sides; m.urgencies = urgencies;
  m.point_segments = point_segments; m.segment_ends = segment_ends; m.caps = caps;
  m.rim = rim; m.cavity = cavity; m.n_rows = n_rows;
  const int n = (int)state[N_CANDIDATES], chunk = chunk_of(n), own = get_group_id(0), stop = min(n, (own + 1) * chunk);
  uint v = totals[0] + sum_before(winners, own, scratch), base = totals[1] + sum_before(slots, own, scratch), all;
  const uint first_made = CHECK_LATER ? sum_before(rims, own, scratch) : 0u;
  uint listed = first_made;
  if (winners[own] == 0u) return;
  for (int tile = own * chunk; tile < stop; tile += WG_SIZE) {
    int i = tile + get_local_id(0), need = i < stop ? needs[i] : 0;
    uint point = v + group_exclusive_sum((uint)(need > 0), scratch, &all);
    v += all;
    uint slot = base + group_exclusive_sum((uint)need, scratch, &all);
    base += all;
    const int n_made = CHECK_LATER && need ? heads[i].y : 0;
    uint rank = CHECK_LATER ? listed + group_exclusive_sum((uint)n_made, scratch, &all) : 0u;
    if (CHECK_LATER) listed += all;
    for (int k = 0; k < n_made && point >= most_points; k++) made[rank + (uint)k] = -1;
    if (need && point < most_points) {
      insert_row(m, ask, i, heads[i], (int)point, (int)slot, spots, ends);
      for (int k = 0; k < n_made; k++) made[rank + (uint)k] = slot_of(m, i, heads[i].x, k, (int)slot);
      const int is_last_of_tile = point + 1u == min(v, most_points);
      if (is_last_of_tile) fetch_max(state + N_POINTS, point + 1u);
      if (is_last_of_tile) fetch_max(state + N_TRIANGLES, slot + (uint)need);
    }
  }
#if CHECKS == BY_CHILDREN
  const uint n_made = listed - first_made;
  LOCAL_ARRAY int launched[1];
  if (get_local_id(0) == 0)
    launched[0] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(n_made), ^{
      check_one(made[first_made + (uint)get_global_id(0)], ask, points, corners, links, point_segments, segment_ends, caps,
                urgencies);
    }) == CLK_SUCCESS;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (uint k = get_local_id(0); k < n_made && !launched[0]; k += WG_SIZE)
    check_one(made[first_made + k], ask, points, corners, links, point_segments, segment_ends, caps, urgencies);
#endif
}

KERNEL check_shares(demands_t ask, int n_groups, __global const uint *restrict rims, __global const int *restrict made,
                    __global const double2 *restrict points, __global const int4 *restrict corners,
                    __global const int4 *restrict links, __global const int *restrict point_segments,
                    __global const int2 *restrict segment_ends, __global const double *restrict caps,
                    __global uchar *restrict urgencies) {
  LOCAL_ARRAY uint scratch[GROUP_SCRATCH];
  const uint n_made = sum_before(rims, n_groups, scratch);
  for (uint k = get_global_id(0); k < n_made; k += (uint)get_global_size(0))
    check_one(made[k], ask, points, corners, links, point_segments, segment_ends, caps, urgencies);
}

KERNEL check_groups(demands_t ask, __global const uint *restrict rims, __global const int *restrict made,
                    __global const double2 *restrict points, __global const int4 *restrict corners,
                    __global const int4 *restrict links, __global const int *restrict point_segments,
                    __global const int2 *restrict segment_ends, __global const double *restrict caps,
                    __global uchar *restrict urgencies) {
  LOCAL_ARRAY uint scratch[GROUP_SCRATCH];
  const uint first = sum_before(rims, get_group_id(0), scratch), n_made = rims[get_group_id(0)];
  for (uint k = get_local_id(0); k < n_made; k += WG_SIZE)
    check_one(made[first + k], ask, points, corners, links, point_segments, segment_ends, caps, urgencies);
}
