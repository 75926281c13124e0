/* Refinement in rounds of candidates, launched as clgraph/algorithms/refine_mesh/rounds.py does. Walks are exact. */
#pragma once
#define EXACT 1
#define MOST_RIM 24
#include "refine_mesh/insert.cl"  /* says how insertion.h is built */
#include "meshes.h"
#include "refine_mesh/rounds.cl"
#include "refine_mesh/mark.cl"
#include "refine_mesh/start.cl"
#include "refine_mesh/flips.cl"

static const int N_ROWS = 40, MOST_ROUNDS = 200, ROOM = 400;
static const size_t ITEMS = 3 * WG_SIZE;

struct Rounds {
  Mesh mesh;
  Array<int4> rim, heads;
  Array<int> cavity, candidates, unsure, ends, needs;
  Array<ulong> keys, words;
  Array<double2> spots;
  Array<uint> leaders, bads, winners, slots, rims, totals, history;
  Array<int> made;
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
    launch(ITEMS, [&] { count_bad(round, 1, mesh.links, mesh.urgencies, mesh.state, leaders, bads); }, WITH_BARRIERS);
    launch(ITEMS, [&] {
      list_bad(round, most, 1, mesh.links, mesh.urgencies, leaders, bads, mesh.state, candidates, keys, totals, history);
    }, WITH_BARRIERS);
    has_overrun |= candidates[most] != -7 || keys[most] != 7u || mesh.state[N_CANDIDATES] > (uint)most;
  }
  void again(uint round) {
    launch(ITEMS, [&] { renew(round, needs, mesh.urgencies, mesh.state, candidates, keys, totals, history); });
  }
  void put_in(bool by_writing) {
    int n = 0;
    for (int i = 0; i < (int)mesh.state[N_CANDIDATES]; i++)  /* as walks that are not exact do */
      if (candidates[i] < 0) heads[i] = int4(); else unsure[n++] = i;
    mesh.state[N_UNSURE] = n;
    const Array<ulong> kept = mesh.owners;
    if (n) launch(n, [&] {
      mark(N_ROWS, mesh.ask, mesh.points, mesh.corners, mesh.links, mesh.sides, mesh.point_segments, candidates, keys,
           mesh.state, mesh.owners, rim, cavity, unsure, heads, spots, ends, mesh.urgencies, words);
    });
    if (by_writing) mesh.owners = kept;  /* Undo the claims of `mark`: write_keys makes the claims instead. */
    for (int only_raise = 0; only_raise < 2 && by_writing; only_raise++)
      launch(ITEMS, [&] { write_keys(N_ROWS, only_raise, mesh.state, heads, keys, rim, cavity, mesh.owners); });
    launch(ITEMS, [&] {
      judge(N_ROWS, by_writing, mesh.state, heads, keys, rim, cavity, mesh.owners, needs, winners, slots, rims);
    }, WITH_BARRIERS);
    launch(ITEMS, [&] {
      insert(N_ROWS, ROOM, mesh.ask, heads, spots, ends, needs, winners, slots, rim, cavity, mesh.segment_ends, mesh.caps,
             mesh.state, totals, mesh.points, mesh.corners, mesh.links, mesh.sides, mesh.urgencies, mesh.point_segments,
             rims, made);
    }, WITH_BARRIERS);
    if (CHECKS != AT_ONCE) launch(ITEMS, [&] {
      if (in_groups)
        check_groups(mesh.ask, rims, made, mesh.points, mesh.corners, mesh.links, mesh.point_segments, mesh.segment_ends,
                     mesh.caps, mesh.urgencies);
      else
        check_shares(mesh.ask, ITEMS / WG_SIZE, rims, made, mesh.points, mesh.corners, mesh.links, mesh.point_segments,
                     mesh.segment_ends, mesh.caps, mesh.urgencies);
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
      most = mesh.state[N_POINTS] > before ? most_rows : 1;  /* A single candidate cannot lose. */
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
  Array<uchar> urgencies(n);
  Array<uint> counts(ENCROACHED + 1), expected(ENCROACHED + 1), state(STATE_WORDS);
  for (uchar &urgency : urgencies) expected[urgency = random.below(2) ? ENCROACHED : (uchar)random.below(3)]++;
  state[N_TRIANGLES] = n;
  launch(ITEMS, [&] { count_urgencies(urgencies, state, counts); }, WITH_BARRIERS);
  expected[0] = 0;
  return counts == expected;
}

/* Each part of a segment is listed once, with the points that the user knows it by. */
static bool finish_right(Random &random, ulong) {
  Rounds on(random);
  if (!on.refine(false, 1)) return false;
  Mesh &mesh = on.mesh;
  const int n = (int)mesh.state[N_TRIANGLES];
  Array<int> order = {2, 3, 1, 0}, triangles(3 * n), neighbors(3 * n), origins(n);
  Array<int4> parts(3 * n);
  uint n_parts = 0;
  launch(n, [&] {
    finish(n, 4, order, mesh.corners, mesh.links, mesh.sides, triangles, neighbors, origins, parts, &n_parts);
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

/* Shearing makes a mesh non-Delaunay, and flips repair it. */
static bool flips_right(Random &random, ulong) {
  Rounds on(random);
  if (!on.refine(false, 1)) return false;
  Mesh &mesh = on.mesh;
  for (double2 &point : mesh.points) point.x += 3 * point.y;
  const int n = (int)mesh.state[N_TRIANGLES];
  Array<uchar> edges(n);
  std::fill(mesh.owners.begin(), mesh.owners.end(), 0);
  for (uint round = 1; round < MOST_ROUNDS; round++) {
    uint found = 0;
    launch(2, [&] { propose(n, round, mesh.points, mesh.corners, mesh.links, mesh.owners, edges, &found, on.words); });
    if (found != std::count_if(edges.begin(), edges.end(), [](uchar edge) { return edge < 3; })) return false;
    if (!found) return mesh.is_delaunay();
    launch(2, [&] { flip(n, round, mesh.owners, edges, mesh.corners, mesh.links, mesh.sides); });
  }
  return false;
}

static const Case cases[] = {
  {"priority", priority_right}, {"three_phase", three_phase_right}, {"two_stage", two_stage_right},
  {"checks_by_groups", checks_by_groups_right},
  {"urgencies", urgencies_right}, {"finish", finish_right}, {"flips", flips_right},
};
