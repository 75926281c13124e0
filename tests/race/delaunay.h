/* Refinement in rounds of candidates, launched as clgraph/algorithms/delaunay/rounds.py does. Walks are exact. */
#pragma once
#define EXACT 1
#define MOST_RIM 24
#include "delaunay/insert.cl"  /* says how insertion.h is built */
#include "meshes.h"
#include "delaunay/rounds.cl"
#include "delaunay/mark.cl"
#include "delaunay/start.cl"
#include "delaunay/flips.cl"

static const int N_ROWS = 40, MOST_ROUNDS = 200, ROOM = 400;
static const size_t ITEMS = 3 * WG_SIZE;

struct Rounds {
  Mesh mesh;
  std::vector<int4> rim, heads;
  std::vector<int> cavity, candidates, unsure, ends, needs;
  std::vector<ulong> keys, words;
  std::vector<double2> spots;
  std::vector<uint> leaders, bads, winners, slots, rims, totals, history;
  std::vector<int> made;
  int most_rows;                 /* candidates of a round; fewer than there is room for, so that some must wait */
  bool has_overrun = false;
  bool in_groups = false;        /* new triangles are checked by the groups that have made them */

  explicit Rounds(Random &random)
      : mesh(random, ROOM), rim(N_ROWS * MOST_RIM), heads(N_ROWS), cavity(2 * N_ROWS * MOST_RIM), candidates(N_ROWS + 1),
        unsure(N_ROWS), ends(N_ROWS), needs(N_ROWS), keys(N_ROWS + 1), words(WIDE_WORDS * 2 * (N_ROWS + WG_SIZE)),
        spots(N_ROWS), leaders(8), bads(8), winners(8), slots(8), rims(8), totals(2),
        history(2 * MOST_ROUNDS + 2), made(2 * ROOM), most_rows(random.below(2) ? N_ROWS : 6) {}

  void list(uint round, int most) {
    candidates[most] = -7;       /* behind the last place, so nothing may be written there */
    keys[most] = 7u;
    launch(ITEMS, [&] {
      count_bad(round, 1, mesh.links.data(), mesh.urgencies.data(), mesh.state.data(), leaders.data(), bads.data());
    }, WITH_BARRIERS);
    launch(ITEMS, [&] {
      list_bad(round, most, 1, mesh.links.data(), mesh.urgencies.data(), leaders.data(), bads.data(), mesh.state.data(),
               candidates.data(), keys.data(), totals.data(), history.data());
    }, WITH_BARRIERS);
    has_overrun |= candidates[most] != -7 || keys[most] != 7u || mesh.state[N_CANDIDATES] > (uint)most;
  }
  void again(uint round) {
    launch(ITEMS, [&] {
      renew(round, needs.data(), mesh.urgencies.data(), mesh.state.data(), candidates.data(), keys.data(), totals.data(),
            history.data());
    });
  }
  void put_in(bool by_writing) {
    int n = 0;
    for (int i = 0; i < (int)mesh.state[N_CANDIDATES]; i++)  /* as walks that are not exact do */
      if (candidates[i] < 0) heads[i] = int4(); else unsure[n++] = i;
    mesh.state[N_UNSURE] = n;
    const std::vector<ulong> kept = mesh.owners;
    if (n) launch(n, [&] {
      mark(N_ROWS, mesh.ask, mesh.points.data(), mesh.corners.data(), mesh.links.data(), mesh.sides.data(),
           mesh.point_segments.data(), candidates.data(), keys.data(), mesh.state.data(), mesh.owners.data(), rim.data(),
           cavity.data(), unsure.data(), heads.data(), spots.data(), ends.data(), mesh.urgencies.data(), words.data());
    });
    if (by_writing) mesh.owners = kept;  /* the claims of the walk are not those that count */
    for (int only_raise = 0; only_raise < 2 && by_writing; only_raise++)
      launch(ITEMS, [&] {
        write_keys(N_ROWS, only_raise, mesh.state.data(), heads.data(), keys.data(), rim.data(), cavity.data(),
                   mesh.owners.data());
      });
    launch(ITEMS, [&] {
      judge(N_ROWS, by_writing, mesh.state.data(), heads.data(), keys.data(), rim.data(), cavity.data(),
            mesh.owners.data(), needs.data(), winners.data(), slots.data(), rims.data());
    }, WITH_BARRIERS);
    launch(ITEMS, [&] {
      insert(N_ROWS, ROOM, mesh.ask, heads.data(), spots.data(), ends.data(), needs.data(), winners.data(), slots.data(),
             rim.data(), cavity.data(), mesh.segment_ends.data(), mesh.caps.data(), mesh.state.data(), totals.data(),
             mesh.points.data(), mesh.corners.data(), mesh.links.data(), mesh.sides.data(), mesh.urgencies.data(),
             mesh.point_segments.data(), rims.data(), made.data());
    }, WITH_BARRIERS);
    if (CHECKS != AT_ONCE) launch(ITEMS, [&] {
      if (in_groups)
        check_groups(mesh.ask, rims.data(), made.data(), mesh.points.data(), mesh.corners.data(), mesh.links.data(),
                     mesh.point_segments.data(), mesh.segment_ends.data(), mesh.caps.data(), mesh.urgencies.data());
      else
        check_shares(mesh.ask, ITEMS / WG_SIZE, rims.data(), made.data(), mesh.points.data(), mesh.corners.data(),
                     mesh.links.data(), mesh.point_segments.data(), mesh.segment_ends.data(), mesh.caps.data(),
                     mesh.urgencies.data());
    }, WITH_BARRIERS);
  }

  bool refine(bool by_writing, int stages) {
    bool has_asked = false;
    int most = most_rows;
    for (uint round = 1; round + 3 < MOST_ROUNDS; round++) {
      const uint before = mesh.state[N_POINTS];
      list(round, most);
      if (has_overrun) return false;
      if (mesh.state[N_BAD] == 0) {
        if (has_asked) return mesh.is_refined();
        has_asked = true;
        mesh.ask_for_more();
        continue;
      }
      if (mesh.state[N_CANDIDATES] == 0) return false;
      put_in(by_writing);
      for (int stage = 1; stage < stages; stage++) {
        again(++round);
        put_in(false);
      }
      most = mesh.state[N_POINTS] > before ? most_rows : 1;  /* of one candidate alone none loses */
      if (mesh.state[N_GIVEN_UP] || mesh.state[N_POINTS] == ROOM) return false;
    }
    return false;
  }
};

static bool priority_right(Random &random, ulong) { return Rounds(random).refine(false, 1); }
static bool three_phase_right(Random &random, ulong) { return Rounds(random).refine(true, 1); }
static bool two_stage_right(Random &random, ulong) { return Rounds(random).refine(true, 3); }

static bool checks_by_groups_right(Random &random, ulong) {
  Rounds on(random);
  on.in_groups = true;
  return on.refine(true, 3);
}

static bool urgencies_right(Random &random, ulong) {
  const int n = 1 + (int)random.below(60);
  std::vector<uchar> urgencies(n);
  std::vector<uint> counts(ENCROACHED + 1), expected(ENCROACHED + 1), state(STATE_WORDS);
  for (uchar &urgency : urgencies) expected[urgency = random.below(2) ? ENCROACHED : (uchar)random.below(3)]++;
  state[N_TRIANGLES] = n;
  launch(ITEMS, [&] { count_urgencies(urgencies.data(), state.data(), counts.data()); }, WITH_BARRIERS);
  expected[0] = 0;
  return counts == expected;
}

/* Each part of a segment is listed once, with the points that the user knows it by. */
static bool finish_right(Random &random, ulong) {
  Rounds on(random);
  if (!on.refine(false, 1)) return false;
  Mesh &mesh = on.mesh;
  const int n = (int)mesh.state[N_TRIANGLES];
  std::vector<int> order = {2, 3, 1, 0}, triangles(3 * n), neighbors(3 * n), origins(n);
  std::vector<int4> parts(3 * n);
  uint n_parts = 0;
  launch(n, [&] {
    finish(n, 4, order.data(), mesh.corners.data(), mesh.links.data(), mesh.sides.data(), triangles.data(), neighbors.data(),
           origins.data(), parts.data(), &n_parts);
  });
  std::set<int> listed;
  for (uint k = 0; k < n_parts; k++) {
    const int t = parts[k].x >> 2, e = parts[k].x & 3;
    if (triangles[3 * t + next3(e)] != parts[k].y || triangles[3 * t + last3(e)] != parts[k].z) return false;
    listed.insert(parts[k].x);
  }
  uint expected = 0;
  for (int t = 0; t < n; t++)
    for (int e = 0; e < 3; e++) {
      const int across = of3(mesh.links[t], e), other = across == OUTSIDE ? -1 : unmarked(across) >> 2;
      if (neighbors[3 * t + e] != other) return false;
      expected += across < 0 && (other < 0 || t < other);
    }
  return listed.size() == n_parts && n_parts == expected;
}

/* What is stretched sideways is not Delaunay any more. */
static bool flips_right(Random &random, ulong) {
  Rounds on(random);
  if (!on.refine(false, 1)) return false;
  Mesh &mesh = on.mesh;
  for (double2 &point : mesh.points) point.x += 3 * point.y;
  const int n = (int)mesh.state[N_TRIANGLES];
  std::vector<uchar> edges(n);
  std::fill(mesh.owners.begin(), mesh.owners.end(), 0);
  for (uint round = 1; round < MOST_ROUNDS; round++) {
    uint found = 0;
    launch(2, [&] {
      propose(n, round, mesh.points.data(), mesh.corners.data(), mesh.links.data(), mesh.owners.data(), edges.data(), &found,
              on.words.data());
    });
    if (found != std::count_if(edges.begin(), edges.end(), [](uchar edge) { return edge < 3; })) return false;
    if (!found) return mesh.is_delaunay();
    launch(2, [&] {
      flip(n, round, mesh.owners.data(), edges.data(), mesh.corners.data(), mesh.links.data(), mesh.sides.data());
    });
  }
  return false;
}

static const Case cases[] = {
  {"priority", priority_right}, {"three_phase", three_phase_right}, {"two_stage", two_stage_right},
  {"checks_by_groups", checks_by_groups_right},
  {"urgencies", urgencies_right}, {"finish", finish_right}, {"flips", flips_right},
};
