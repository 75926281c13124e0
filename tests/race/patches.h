/* Refinement by workers that keep what they claim, launched as clgraph/algorithms/refine_mesh/rounds.py does. */
#pragma once
#define EXACT 1
#define MOST_RIM 24
#include "refine_mesh/patches.cl"
#include "meshes.h"

static bool patches_right(Random &random, ulong) {
  const int room = 400, n_workers = 2 + (int)random.below(6);
  Mesh mesh(random, room);
  Array<int4> rim(n_workers * MOST_RIM);
  Array<int> cavity(2 * n_workers * MOST_RIM), waiting(n_workers * (MOST_WAITING + 1)), candidates(2 * room);
  Array<ulong> words(WIDE_WORDS * n_workers);
  int idle = 0;
  bool has_asked = false;
  for (uint round = 1; round < 200; round++) {
    uint n = 0;
    for (uint t = 0; t < mesh.state[N_TRIANGLES]; t++) if (mesh.urgencies[t]) candidates[n++] = (int)t;
    if (n == 0) {
      if (has_asked) return mesh.is_refined();
      has_asked = true;
      mesh.ask_for_more();
      continue;
    }
    mesh.state[N_CANDIDATES] = idle > 3 ? 1 : n;      /* workers that stop each other leave it to one */
    const uint before = mesh.state[N_POINTS];
    launch(n_workers, [&] {
      refine_patches(round, n_workers, 1, room, mesh.ask, candidates, mesh.segment_ends, mesh.caps, mesh.state,
                     mesh.owners, mesh.points, mesh.corners, mesh.links, mesh.sides, mesh.urgencies, mesh.point_segments,
                     rim, cavity, waiting, words);
    });
    idle = mesh.state[N_POINTS] > before ? 0 : idle + 1;
    if (mesh.state[N_GIVEN_UP] || mesh.state[N_POINTS] >= (uint)room) return false;
  }
  return false;
}

static const Case cases[] = {{"patches", patches_right}};
