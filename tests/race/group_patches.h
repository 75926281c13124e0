/* Refinement by work-groups that take patches, launched as clgraph/algorithms/refine_mesh/launches.py does. */
#pragma once
#define MOST_RIM 24
#define PATCH 24
#define PATCH_ROOM 160
#include "refine_mesh/group_patches.cl"
#include "meshes.h"

/* Patches are runs of slots, which lie in the mesh anyhow, and begin elsewhere each time. */
static bool groups_right(Random &random, ulong) {
  const int room = 400, groups = 3, columns = groups * WG_SIZE;
  Mesh mesh(random, room);
  Array<int4> rim(columns * MOST_RIM);
  Array<int> cavity(2 * columns * MOST_RIM), order(2 * room);
  Array<uint> places(2 * room);
  uint before = 0;
  for (int turn = 0; turn < 12; turn++) {
    const int n = (int)mesh.state[N_TRIANGLES], n_patches = (n + PATCH - 1) / PATCH;
    for (int k = 0; k < n; k++) order[k] = (k + 5 * turn) % n;
    launch(n, [&] { own_patches(n, order, places); });
    launch(columns, [&] {
      refine_groups(n, n_patches, 1, room, mesh.ask, order, mesh.segment_ends, mesh.caps, mesh.state, places, mesh.points,
                    mesh.corners, mesh.links, mesh.sides, mesh.urgencies, mesh.point_segments, rim, cavity);
    }, WITH_BARRIERS);
    if (mesh.state[N_POINTS] >= (uint)room || !mesh.is_delaunay()) return false;
    for (int t = 0; t < (int)mesh.state[N_TRIANGLES]; t++)
      if (mesh.urgencies[t] != (uchar)mesh.is_bad(t) && mesh.urgencies[t] != ENCROACHED) return false;
    if (turn == 2) mesh.ask_for_more();
    before = mesh.state[N_POINTS];
  }
  return before > 20;
}

static const Case cases[] = {{"patches_of_groups", groups_right}};
