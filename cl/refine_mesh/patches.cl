/* Delaunay refinement by workers.  A worker is a work-item.  It keeps the triangles that it has claimed until the launch
 * ends, and improves the bad triangles of its share, and new bad ones, one after the other like a sequential program.
 *
 * A worker's share is a range of consecutive slots.  Near slots are near in the plane, so the triangles that it claims
 * form a patch, and conflicts with other workers occur only at the patch's border.  If a worker needs a triangle that
 * belongs to another worker, it leaves the bad triangle to a later launch.
 *
 * Races: a triangle belongs to the worker that claims it first.  Only the owner reads or writes a triangle, so memory
 * order does not matter: a worker reads only values that existed when the launch began, or its own.  New points and slots
 * are counted by atomics, so their numbers differ from run to run.  Hence the shares of later launches differ, and so does
 * the mesh.
 */
#define FIRST_COME 1
#include "refine_mesh/insertion.h"

#ifndef MOST_WAITING             /* new bad triangles that a worker remembers.  The next launch finds any others. */
#define MOST_WAITING 32
#endif

KERNEL refine_patches(uint round, int n_workers, int least_urgency, uint most_points, demands_t ask,
                      __global const int *restrict candidates, __global const int2 *restrict segment_ends,
                      __global const double *restrict caps, volatile __global uint *state,
                      volatile __global ulong *owners, __global double2 *points, __global int4 *corners,
                      __global int4 *links, __global int4 *sides, __global uchar *urgencies,
                      __global int *point_segments, __global int4 *rim, __global int *cavity, __global int *waiting,
                      __global ulong *words) {
  const int worker = get_global_id(0), n = (int)state[N_CANDIDATES];
  if (worker >= n_workers) return;
  const int share = (n + n_workers - 1) / n_workers, stop = min(n, (worker + 1) * share);
  const ulong key = ((ulong)round << ROUND_BIT) | (uint)(worker + 1);
  field_t f;
  f.points = points; f.corners = corners; f.links = links; f.sides = sides; f.owners = owners;
  f.point_segments = point_segments;
  f.rim = rim; f.cavity = cavity; f.n_rows = n_workers; f.lens = ask.lens; f.whole = ask.whole;
  f.word_stride = n_workers;
  f.words = words + worker;
  grown_t m;
  m.points = points; m.corners = corners; m.links = links; m.sides = sides; m.urgencies = urgencies;
  m.point_segments = point_segments; m.segment_ends = segment_ends; m.caps = caps;
  m.rim = rim; m.cavity = cavity; m.n_rows = n_workers;
  int n_waiting = 0;
  for (int k = worker * share; k < stop || n_waiting;) {
    int t = n_waiting ? waiting[--n_waiting * (size_t)n_workers + worker] : candidates[k++];
    if (!claim(f, t, key) || urgencies[t] < least_urgency) continue;
    found_t found;
    int end = attempt(f, worker, key, t, urgencies[t], ask, &found);
    if (end == WALK_TOO_LARGE) fetch_add(state + N_TOO_LARGE, 1u);
    if (end == WALK_FLAT) {
      urgencies[t] = 0;
      fetch_add(state + N_GIVEN_UP, 1u);
    }
    if (end != WALK_DONE) continue;
    uint v = fetch_add(state + N_POINTS, 1u);
    if (v >= most_points) return;            /* the host takes the count back */
    int base = (int)fetch_add(state + N_TRIANGLES, (uint)(found.n_rim - found.n_cavity));
    insert_one(m, worker, found, (int)v, base, ask);
    for (int j = 0; j < found.n_rim; j++) {
      int made = slot_of(m, worker, found.n_cavity, j, base);
      if (j >= found.n_cavity) store_relaxed(owners + made, key);   /* no other worker knows this slot */
      if (urgencies[made] >= least_urgency && n_waiting < MOST_WAITING)
        waiting[n_waiting++ * (size_t)n_workers + worker] = made;
    }
    if (found.second >= 0 && urgencies[t] >= least_urgency && n_waiting < MOST_WAITING)  /* t may still be there */
      waiting[n_waiting++ * (size_t)n_workers + worker] = t;
  }
}
