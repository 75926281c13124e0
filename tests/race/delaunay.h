/* Refinement in rounds of candidates, launched as clgraph/algorithms/delaunay/rounds.py does; a walk is exact at once. */
#pragma once
#define EXACT 1
#define MOST_RIM 24
#include "meshes.h"
#include "delaunay/rounds.cl"
#include "delaunay/mark.cl"

static const int N_ROWS = 40, N_GROUPS_OF_CHUNKS = 3, MOST_ROUNDS = 100;

static bool refined(Random &random, bool by_writing) {
  const int room = 400;
  Mesh mesh(random, room);
  std::vector<int4> rim(N_ROWS * MOST_RIM), heads(N_ROWS);
  std::vector<int> cavity(2 * N_ROWS * MOST_RIM), candidates(N_ROWS), unsure(N_ROWS), ends(N_ROWS), needs(N_ROWS);
  std::vector<ulong> keys(N_ROWS), words(WIDE_WORDS * 2 * (N_ROWS + WG_SIZE));
  std::vector<double2> spots(N_ROWS);
  std::vector<uint> leaders(8), bads(8), winners(8), slots(8), totals(2), history(2 * MOST_ROUNDS + 2);
  const size_t items = N_GROUPS_OF_CHUNKS * WG_SIZE;
  const auto write = [&](int only_raise) {
    launch(items, [&] {
      write_keys(N_ROWS, only_raise, mesh.state.data(), heads.data(), keys.data(), rim.data(), cavity.data(), mesh.owners.data());
    });
  };
  int most = N_ROWS;
  bool has_asked = false;
  for (uint round = 1; round < MOST_ROUNDS; round++) {
    const uint before = mesh.state[N_POINTS];
    launch(items, [&] {
      count_bad(round, 1, mesh.links.data(), mesh.urgencies.data(), mesh.state.data(), leaders.data(), bads.data());
    }, WITH_BARRIERS);
    launch(items, [&] {
      list_bad(round, most, 1, mesh.links.data(), mesh.urgencies.data(), leaders.data(), bads.data(), mesh.state.data(),
               candidates.data(), keys.data(), totals.data(), history.data());
    }, WITH_BARRIERS);
    if (mesh.state[N_BAD] == 0) {
      if (has_asked) return mesh.is_refined();
      has_asked = true;
      mesh.ask_for_more();
      continue;
    }
    const int n = (int)mesh.state[N_CANDIDATES];
    if (n == 0) return false;
    mesh.state[N_UNSURE] = n;
    std::iota(unsure.begin(), unsure.begin() + n, 0);
    if (by_writing) std::fill(mesh.owners.begin(), mesh.owners.end(), 0ul);
    std::vector<ulong> kept = mesh.owners;
    launch(n, [&] {
      mark(N_ROWS, mesh.ask, mesh.points.data(), mesh.corners.data(), mesh.links.data(), mesh.sides.data(),
           mesh.point_segments.data(), candidates.data(), keys.data(), mesh.state.data(), mesh.owners.data(), rim.data(),
           cavity.data(), unsure.data(), heads.data(), spots.data(), ends.data(), mesh.urgencies.data(), words.data());
    });
    if (by_writing) {
      mesh.owners = kept;        /* the claims of the walk are not those that count */
      write(0);
      write(1);
    }
    launch(items, [&] {
      judge(N_ROWS, by_writing, mesh.state.data(), heads.data(), keys.data(), rim.data(), cavity.data(), mesh.owners.data(),
            needs.data(), winners.data(), slots.data());
    }, WITH_BARRIERS);
    launch(items, [&] {
      insert(N_ROWS, room, mesh.ask, heads.data(), spots.data(), ends.data(), needs.data(), winners.data(), slots.data(),
             rim.data(), cavity.data(), mesh.segment_ends.data(), mesh.caps.data(), mesh.state.data(), totals.data(),
             mesh.points.data(), mesh.corners.data(), mesh.links.data(), mesh.sides.data(), mesh.urgencies.data(),
             mesh.point_segments.data());
    }, WITH_BARRIERS);
    most = mesh.state[N_POINTS] > before ? N_ROWS : 1;  /* of one candidate alone none loses */
    if (mesh.state[N_GIVEN_UP] || mesh.state[N_POINTS] == room) return false;
  }
  return false;
}

static bool priority_right(Random &random, ulong) { return refined(random, false); }
static bool three_phase_right(Random &random, ulong) { return refined(random, true); }

static const Case cases[] = {{"priority", priority_right}, {"three_phase", three_phase_right}};
