"""The kernels as C++: under ThreadSanitizer, and as fibres under a seeded scheduler.

ThreadSanitizer (race/threads.cpp) reports accesses that nothing orders, even when the answer is right; it
cannot see a lost update made of atomic loads and stores. The scheduler (race/scheduler.cpp) sees wrong
answers and replays them by their seed, also those that only weak memory shows. Bugs planted into copies of
the kernels show that each lane finds what it should; mutations.json has what tools/mutate_kernels.py broke at
one place at a time. CLGRAPH_RACE_SEEDS sets how many seeds each case gets; 250 find every planted bug.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests" / "race"))
import lanes

SEEDS = int(os.environ.get("CLGRAPH_RACE_SEEDS", "250"))


@dataclass(frozen=True)
class Plant:
    """A bug to plant: *old* becomes *new* in *file*, and *lane* must find it in *case*."""

    file: str
    old: str
    new: str
    lane: str
    case: str
    options: tuple[str, ...] = field(default=())
    seeds: int = SEEDS


PLANTS = {
    # A hook by load and store instead of compare-exchange: two hooks of one root lose a union.
    "lost-union": Plant(
        "components/union_find.h",
        "int old = compare_exchange(parent + high, high, low);",
        "int old = load_relaxed(parent + high); if (old == high) store_relaxed(parent + high, low);",
        "scheduler",
        "hook_compress",
        ("-DHOOK_FIRST=0",),
    ),
    "labels-hooked-by-stores": Plant(
        "components/merge.h",
        "if (a != b) link(parent, a, b);",
        "if (a != b) store_relaxed(parent + max(a, b), min(a, b));",
        "scheduler",
        "merge",
    ),
    "message-hooked-by-stores": Plant(
        "components/merge.h",
        "if (a != b) link(parent, a, b);",
        "if (a != b) store_relaxed(parent + max(a, b), min(a, b));",
        "scheduler",
        "message",
    ),
    # Another work-item's halving may overwrite a root by an ancestor that is none, so a forest is not flat after it.
    "flattened-by-halving": Plant(
        "components/phases.cl",
        "if (v < n) climb_four(v, parent);",
        "for (int k = v; k < min(v + 4, n); k++) store_relaxed(parent + k, find_root(parent, k));",
        "scheduler",
        "lists",
    ),
    "outsider-left-outside": Plant(
        "components/afforest.cl",
        "link_four(parent, root, inside ? (int4)giant : p);",
        "if (!inside) link_four(parent, root, p);",
        "scheduler",
        "afforest",
    ),
    "plain-store": Plant(
        "components/union_find.h",
        "store_relaxed(parent + v, g);",
        "*(int *)(parent + v) = g;",
        "threads",
        "hook_compress",
        ("-DHOOK_FIRST=0",),
    ),
    # Moves beyond the best state stay, though the cut and the weight are told of that state.
    "moves-not-undone": Plant(
        "partition/halving.h",
        "if (i >= n_kept) h->sides[h->order[i]] ^= 1;",
        "(void)i;",
        "scheduler",
        "halving",
        ("-DWG_SIZE=1",),
    ),
    "leaf-matched-twice": Plant(
        "partition/two_hop.cl",
        "sg_lane() == 0 ? (int)(mates[next] != NOBODY) : 0",
        "0",
        "scheduler",
        "leaves",
        (*lanes.WIDE, "-DWORDS_ORDER=1"),
    ),
    # The group that ends last looks at vertices that other groups have still to climb from.
    "sample-before-the-climb": Plant(
        "components/phases.cl",
        "if (first < n) climb_four(first, parent);\n  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
        "if (first < n) climb_four(first, parent);",
        "scheduler",
        "afforest",
        ("-DWG_SIZE=4",),
    ),
    "row-of-two-tiles-set-by-both": Plant(
        "mst/discover.h",
        "if (shared) offer",
        "if (0) offer",
        "scheduler",
        "edge_list",
    ),
    # An ancestor, read before the vertex was pointed at its root, is stored over the root.
    "lost-shortcut": Plant(
        "mst/climb.h",
        "else compare_exchange(parent + u, p, g);",
        "else store_relaxed(parent + u, g);",
        "scheduler",
        "flatten",
    ),
    "climb-that-ends-early": Plant(
        "mst/rows.cl",
        "if (!at_root) store_relaxed(state + STATE_UNFINISHED + turn, 1u);",
        "",
        "scheduler",
        "flatten",
        lanes.ONE_LAUNCH,
    ),
    "both-hooked": Plant(  # along one edge, which is in the forest twice then
        "mst/edge_list.cl",
        "if (best_of_a[k] && !(best_of_b[k] && a < b)) {",
        "if (best_of_a[k]) {",
        "scheduler",
        "edge_list",
    ),
    "both-merged": Plant(
        "mst/segmented.cl",
        "if (r < other && best_entry(best, n, other) == e) return;",
        "",
        "scheduler",
        "min_hook",
    ),
    "rounds-without-barrier-after-hook": Plant(
        "mst/edge_list.cl",
        "if (!grid_barrier(control, members, &passed)) return;\n    for (int turn",
        "for (int turn",
        "scheduler",
        "edge_list",
        lanes.ONE_LAUNCH,
    ),
    "transaction-of-no-root": Plant(
        "mst/segmented.cl",
        "if ((version & 1u) || load_relaxed(parent + high) != high) continue;",
        "",
        "scheduler",
        "transactional",
    ),
    "version-before-the-hook": Plant(  # only weak memory shows it
        "mst/segmented.cl",
        "fence_device();\n    store_relaxed(versions + high, version + 2u);",
        "store_relaxed(versions + high, version + 2u);",
        "scheduler",
        "transactional",
    ),
    "counter-read-before-it-is-raised": Plant(  # by another lane of the sub-group
        "primitives/sort.cl",
        "if (!below) own[d] = before + lane_count(same);\n    sg_sync();",
        "if (!below) own[d] = before + lane_count(same);",
        "threads",
        "sort",
        lanes.WIDE,
    ),
    "version-that-stays": Plant(
        "mst/segmented.cl",
        "store_relaxed(versions + high, version + 2u);",
        "store_relaxed(versions + high, version);",
        "scheduler",
        "transactional",
    ),
    "color-that-a-rival-may-take": Plant(
        "coloring/jones_plassmann_large.cl",
        "if (keep && may_take(word[k], c)) {",
        "if (0) {",
        "scheduler",
        "jones_plassmann",
        ("-DWG_SIZE=1",),
    ),
    "queue-without-end": Plant(
        "coloring/jones_plassmann.cl",
        " && size + SUB_GROUP_SIZE <= room;",
        ";",
        "scheduler",
        "jones_plassmann",
        ("-DWG_SIZE=1", "-DMARKED=1", "-DSPINS=9999"),
    ),
    "plain-word": Plant(
        "coloring/small_vertex.h",
        "store_relaxed(word_at(order, words, x->v), word);",
        "*(uint *)(word_at(order, words, x->v)) = word;",
        "threads",
        "jones_plassmann",
        ("-DWG_SIZE=1", "-DWIDE=1"),
    ),
    "check-before-all-have-colors": Plant(
        "coloring/speculative.cl",
        "if (!grid_barrier(control, members, &passed)) return;\n    check_losers",
        "check_losers",
        "scheduler",
        "speculative",
        ("-DWG_SIZE=1",),
    ),
    # A rating without the lock of one side.
    "edge-without-user-lock": Plant(
        "factorization/locks.h",
        "&& take_lock(user_lock)) {",
        ") {",
        "scheduler",
        "edge_locked",
    ),
    "edge-without-item-lock": Plant(
        "factorization/locks.h",
        "locked = take_lock(item_lock);",
        "locked = 1;",
        "scheduler",
        "edge_locked",
    ),
    "edge-unlocked-before-store": Plant(
        "factorization/edge_locked.cl",
        "update_rating(m, locked, user, item, value);\n    sg_sync();\n    if (locked && slot_lane() == 0) "
        "unlock_both(user_locks + user, item_locks + item);",
        "if (locked) unlock_both(user_locks + user, item_locks + item);\n    "
        "update_rating(m, locked, user, item, value);",
        "threads",
        "edge_locked",
    ),
    "node-without-user-lock": Plant(
        "factorization/node_locked.cl",
        "trial.tried && take_lock(user_locks + trial.user);",
        "trial.tried;",
        "scheduler",
        "node_locked",
    ),
    "node-forgets-pending": Plant(
        "factorization/node_locked.cl",
        "kept += lane_count(put_off);",
        "kept = (offset_t)lane_count(put_off);",
        "scheduler",
        "node_locked",
    ),
    "hybrid-without-user-lock": Plant(
        "factorization/node_locked.cl",
        "trial.tried && take_lock(user_locks + trial.user);",
        "trial.tried;",
        "scheduler",
        "hybrid_locked",
    ),
    "block-without-wait": Plant(  # a group takes items that another one still has
        "factorization/block_grid.cl",
        "passed = wait_until_at_least(done + (group + 1u) % n_groups * DONE_STRIDE, step, control + GRID_STATUS);",
        "passed = 1;",
        "scheduler",
        "block_sweep",
        ("-DWG_SIZE=1",),
    ),
    "block-that-waits-for-one-step-less": Plant(
        "factorization/block_grid.cl",
        "DONE_STRIDE, step, control",
        "DONE_STRIDE, step ? step - 1u : 0u, control",
        "scheduler",
        "block_sweep",
        ("-DWG_SIZE=1",),
    ),
    **{
        f"{case}-without-barrier": Plant(
            "common/grid_barrier.h",
            "while ((int)(load_relaxed(control + GRID_TICKET) - goal) < 0)",
            "while (0)",
            "scheduler",
            case,
            ("-DWG_SIZE=1",),
        )
        for case in ("superstep_grid", "item_blocks")
    },
    "stand-in-that-keeps-its-item": Plant(  # a group does another's share, but holds one item only
        "factorization/item_block.cl",
        "stays = members >= n_groups;",
        "stays = 1;",
        "scheduler",
        "item_blocks",
        ("-DWG_SIZE=1",),
    ),
    "color-that-a-net-has": Plant(
        "coloring/distance_two.cl",
        "claim.clash |= team_or(lost, room);",
        "",
        "scheduler",
        "windows",
    ),
    "bit-of-another-unset": Plant(
        "coloring/distance_two.cl",
        "(ulong)(!is_set & (step < 64u))",
        "(ulong)((nets[j] >= 0) & (step < 64u))",
        "scheduler",
        "windows",
    ),
    "color-without-all-claims": Plant(
        "coloring/distance_two_claims.cl",
        "lost = team_or(lost, room);",
        "lost = team_or(lost, room) && key % 3u;",
        "scheduler",
        "claims",
    ),
    "plain-bits": Plant(
        "coloring/distance_two.cl",
        "old[j] = fetch_or(word_of(words, (uint)nets[j]), bit);",
        "{ old[j] = *word_of(words, (uint)nets[j]); *word_of(words, (uint)nets[j]) = old[j] | bit; }",
        "threads",
        "windows",
    ),
    "counts-that-are-lost": Plant(
        "coloring/distance_two.cl",
        "if (net >= 0) fetch_add(counts + net, 1u);",
        "if (net >= 0) counts[net]++;",
        "threads",
        "sized",
    ),
    "mate-that-chose-another": Plant(
        "partition/lock_free.cl",
        "if (u == NOBODY || choices[u] != (int)v) continue;",
        "if (u == NOBODY) continue;",
        "scheduler",
        "matching",
        ("-DWG_SIZE=1",),
    ),
    "slot-that-two-lanes-take": Plant(
        "partition/hashed.cl",
        "if (found == NOBODY) found = compare_exchange(keys + slot, NOBODY, key);",
        "if (found == NOBODY) store_relaxed(keys + slot, key);",
        "scheduler",
        "contraction",
        (*lanes.WIDE, "-DWORDS_ORDER=1"),
    ),
    "part-of-a-mover": Plant(  # it may have moved already
        "partition/moving.h",
        "before = moves ? froms[u] : load_relaxed(ARRAY(r, PART) + u);",
        "before = load_relaxed(ARRAY(r, PART) + u);",
        "scheduler",
        "refinement",
        ("-DWG_SIZE=1",),
    ),
    "vertex-listed-twice": Plant(
        "partition/refinement.h",
        "if (!(fetch_or(ARRAY(r, FLAGS) + v, LISTED) & LISTED)) append_to_list(r, v);",
        "if (load_relaxed(ARRAY(r, FLAGS) + v) & LISTED) return;\n  fetch_or(ARRAY(r, FLAGS) + v, LISTED);\n"
        "  append_to_list(r, v);",
        "scheduler",
        "refinement",
        lanes.WIDE,
        seeds=2000,  # 1 in 100 is wrong
    ),
    "moves-before-all-are-confirmed": Plant(
        "partition/refining.h",
        "confirm(r, &on);\n      if (!meet_all(r, passed)) return;",
        "confirm(r, &on);",
        "scheduler",
        "refinement",
        ("-DWG_SIZE=1",),
    ),
    "counters-cleared-by-two": Plant(
        "partition/asking.h",
        "fetch_and(counters + parts[on->columns[e]], 0);",
        "counters[parts[on->columns[e]]] = 0;",
        "threads",
        "refinement",
        (*lanes.WIDE, "-DWORDS_ORDER=1"),
    ),
    "place-for-two-requests": Plant(
        "partition/buffered.cl",
        "begins[target] + fetch_add(OF_REQUESTS(PLACED) + target, 1)",
        "begins[target] + (load_relaxed(OF_REQUESTS(PLACED) + target), "
        "store_relaxed(OF_REQUESTS(PLACED) + target, OF_REQUESTS(PLACED)[target] + 1), "
        "OF_REQUESTS(PLACED)[target] - 1)",
        "scheduler",
        "buffered",
        ("-DWG_SIZE=1",),
    ),
    "who-accepts-proposes": Plant(
        "partition/segmented.cl",
        " && !proposes(given, u, seed, round)",
        "",
        "scheduler",
        "segmented",
        ("-DWG_SIZE=1",),
    ),
    "lesser-claim-that-stays": Plant(
        "partition/segmented.cl",
        "fetch_max(OFFERS(round & 1u) + ends[lane], claims[v]);",
        "if (load_relaxed(OFFERS(round & 1u) + ends[lane]) < claims[v])\n"
        "      store_relaxed(OFFERS(round & 1u) + ends[lane], claims[v]);",
        "scheduler",
        "segmented",
        ("-DWG_SIZE=1",),
    ),
    "class-counted-by-load-and-store": Plant(
        "partition/light_edges.cl",
        "if (counts[i]) fetch_add(class_counts + i, counts[i]);",
        "if (counts[i]) store_relaxed(class_counts + i, load_relaxed(class_counts + i) + counts[i]);",
        "scheduler",
        "light_edges",
        ("-DWG_SIZE=1",),
    ),
    "gain-counted-by-two-lanes": Plant(
        "partition/permutations.cl",
        "if (tops[j] == u) fetch_add(together + k * TOP + j, ",
        "if (tops[j] == u) together[k * TOP + j] += (",
        "threads",
        "permutations",
        (*lanes.WIDE, "-DWORDS_ORDER=1"),
    ),
    "ring-that-another-owns": Plant(  # its links go to triangles that are no more
        "delaunay/rounds.cl",
        "if (across != OUTSIDE && owners[unmarked(across) >> 2] != key) return 0;",
        "",
        "scheduler",
        "three_phase",
        ("-DWG_SIZE=1",),
    ),
    "ring-without-claims": Plant(
        "delaunay/rounds.cl",
        "if (across != OUTSIDE) write_key(owners + (unmarked(across) >> 2), keys[i], only_raise);",
        "",
        "scheduler",
        "three_phase",
        ("-DWG_SIZE=1",),
    ),
    "ring-claimed-but-for-its-end": Plant(
        "delaunay/rounds.cl",
        "for (int k = 0; k < head.y; k++) {\n      int across",
        "for (int k = 0; k + 1 < head.y; k++) {\n      int across",
        "scheduler",
        "three_phase",
        ("-DWG_SIZE=1",),
    ),
    "ring-checked-but-for-its-end": Plant(
        "delaunay/rounds.cl",
        "k < head.y && ring_counts",
        "k + 1 < head.y && ring_counts",
        "scheduler",
        "three_phase",
        ("-DWG_SIZE=1",),
    ),
    "ring-that-a-walk-does-not-claim": Plant(
        "delaunay/cavity.h",
        "if (across != OUTSIDE && !claim(f, unmarked(across) >> 2, key)) return WALK_LOST;",
        "",
        "scheduler",
        "priority",
        ("-DWG_SIZE=1",),
    ),
    "candidate-behind-the-room": Plant(
        "delaunay/rounds.cl",
        "if (chosen && place < (uint)most_candidates) {",
        "if (chosen && place <= (uint)most_candidates) {",
        "scheduler",
        "priority",
        ("-DWG_SIZE=4",),
    ),
    "count-of-candidates-behind-the-room": Plant(
        "delaunay/rounds.cl",
        "min(leading, (uint)most_candidates)",
        "min(leading, (uint)most_candidates + 1u)",
        "scheduler",
        "priority",
        ("-DWG_SIZE=4",),
    ),
    "new-triangles-listed-over-others": Plant(  # so that nobody finds whether these are bad
        "delaunay/insert.cl",
        "    listed += all;\n",
        "",
        "scheduler",
        "checks_by_groups",
        lanes.CHECKED_LATER,
    ),
    "claim-by-load-and-store": Plant(
        "delaunay/cavity.h",
        "compare_exchange(f.owners + t, held, key) == held;",
        "(store_relaxed(f.owners + t, key), 1);",
        "scheduler",
        "patches",
        ("-DWG_SIZE=1",),
    ),
    "round-that-says-nothing": Plant(
        "traversal/rounds.h",
        "if (lowered) store_relaxed(state + STATE_CHANGED, round);",
        "",
        "scheduler",
        "topology_driven",
    ),
    "plain-lowering": Plant(
        "traversal/rounds.h",
        "store_relaxed(to, reached);",
        "*(dist_t *)to = reached;",
        "threads",
        "topology_driven",
    ),
    "child-of-old": Plant(
        "traversal/node_splitting.cl",
        "if (word >= n) store_relaxed",
        "if (word >= n && round == 1u) store_relaxed",
        "scheduler",
        "node_splitting",
    ),
    "arrival-without-fence": Plant(  # what a group listed is not seen
        "traversal/levels.h",
        "if (flags & LISTED) fence_device(); else order_reads();",
        "if (!(flags & LISTED)) order_reads();",
        "threads",
        "search",
        ("-DWG_SIZE=1",),
    ),
    "sizes-cleared-a-turn-late": Plant(  # what others have listed by then is lost
        "traversal/levels.h",
        "SIZES * (turn + 2u & 3u) + k",
        "SIZES * (turn + 1u & 3u) + k",
        "scheduler",
        "search",
        lanes.SHORT_ROWS,
    ),
    "row-behind-the-queue": Plant(
        "traversal/queues.h",
        "if (slot < next.room) {",
        "if (slot <= next.room) {",
        "scheduler",
        "search",
        lanes.SHORT_ROWS,
    ),
    "bits-read-before-all-are-marked": Plant(
        "bfs/frontier.cl",
        "if (!next_turn(turn, all->flags)) return 0u;\n    int left",
        "int left",
        "scheduler",
        "search",
        ("-DWG_SIZE=1",),
    ),
    "stamp-for-two-turns": Plant(  # what was listed in the turn before is not listed again
        "sssp/frontier.cl",
        "next.stamp = turn.number + 2u;",
        "next.stamp = turn.number / 2u + 2u;",
        "scheduler",
        "near_far",
        ("-DWG_SIZE=1",),
    ),
    "round-that-runs-on": Plant(
        "traversal/predecessors.cl",
        "is_found = v < n && load_relaxed(rounds + v) == 1;",
        "is_found = v < n && load_relaxed(rounds + v) != 0;",
        "scheduler",
        "predecessors",
        lanes.LIGHT_FIRST,
    ),
    "lock-that-never-fails": Plant(
        "vocabulary.cl",
        "if (!done && try_lock(&lock_words[k])) {",
        "if (!done) {",
        "scheduler",
        "locks",
    ),
    "lock-without-acquire": Plant(
        "common/atomics.h",
        "if (acquired) fence_device();",
        "",
        "threads",
        "locks",
    ),
    "push-without-barrier": Plant(
        "common/worklist.h",
        "room[0] = 0u;\n  barrier(CLK_LOCAL_MEM_FENCE);",
        "room[0] = 0u;",
        "threads",
        "pushes",
    ),
}


@pytest.fixture(scope="module")
def compiler(tmp_path_factory):
    """A clang++ that can build and run under ThreadSanitizer."""
    name = lanes.find_compiler(tmp_path_factory.mktemp("compiler"))
    if name is not None:
        return name
    if os.environ.get("CLGRAPH_REQUIRE_TOOLS"):
        pytest.fail("CLGRAPH_REQUIRE_TOOLS is set, and no clang++ with ThreadSanitizer is on the path")
    pytest.skip("needs clang++ with ThreadSanitizer (Debian: clang-14 libclang-rt-14-dev)")


@pytest.fixture(scope="module")
def kernels(tmp_path_factory) -> Path:
    """A copy of cl/ that C++ can read."""
    return lanes.copy_kernels(tmp_path_factory.mktemp("kernels"))


def _cases() -> list[Any]:
    """Return all cases on all lanes; those of one build run one after the other, so that it is compiled once."""
    return [
        pytest.param(
            lane, *place, marks=pytest.mark.xdist_group("-".join((lane, place[0], *place[1]))),
            id="-".join((lane, place[0], "".join(place[1]), place[2])),
        )
        for lane in lanes.LANES for place in lanes.places()
    ]  # fmt: skip


@pytest.mark.parametrize(("lane", "subject", "options", "case"), _cases())
def test_kernels_are_right(compiler, kernels, lane, subject, options, case):
    ran = lanes.check(lanes.build(compiler, lane, subject, kernels, options), lane, case, SEEDS)
    assert ran.returncode == 0, ran.stdout + ran.stderr[:4000]
    assert "0 of" in ran.stdout or ": right" in ran.stdout


@pytest.mark.parametrize("name", PLANTS)
def test_planted_bug_is_found(compiler, tmp_path, name):
    plant = PLANTS[name]
    kernels = lanes.copy_kernels(tmp_path)
    path = kernels / plant.file
    text = path.read_text()
    assert text.count(plant.old) == 1, f"nowhere to plant {name}: {plant.file} has changed"
    path.write_text(text.replace(plant.old, plant.new))
    subject = next(subject for subject, cases in lanes.CASES.items() if plant.case in cases)
    program = lanes.build(compiler, plant.lane, subject, kernels, plant.options)
    ran = lanes.check(program, plant.lane, plant.case, plant.seeds, runs=plant.seeds)
    assert ran.returncode != 0, f"{name} was not found"
    if plant.lane == "threads":
        assert "ThreadSanitizer: data race" in ran.stderr
        return
    replay = re.search(rf"replay with: scheduler {plant.case} (\d+) 1", ran.stdout)
    assert replay, ran.stdout + ran.stderr
    again = [lanes.run([str(program), plant.case, replay[1], "1"]) for _ in range(2)]
    assert "1 of 1 seeds wrong" in again[0].stdout
    assert again[0].stdout == again[1].stdout  # also the number of switches
