"""The kernels as C++: under ThreadSanitizer, and as fibres under a seeded scheduler.

ThreadSanitizer (race/threads.cpp) reports accesses that nothing orders, even when the answer is right; it
cannot see a lost update made of atomic loads and stores. The scheduler (race/scheduler.cpp) sees wrong
answers and replays them by their seed, also those that only weak memory shows. Bugs planted into copies of
the kernels show that each lane finds what it should; mutations.json has what tools/mutate_kernels.py broke at
one place at a time. CLGRAPH_RACE_SEEDS sets how many seeds each case gets; 250 find every planted bug.
"""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests" / "race"))
import lanes

SEEDS = int(os.environ.get("CLGRAPH_RACE_SEEDS", "250"))
ONE = ("-DWG_SIZE=1",)  # work-item in a group


@dataclass(frozen=True)
class Plant:
    """A bug to plant: *old* becomes *new* in *file*, and *lane* must find it in *case*."""

    file: str
    case: str
    old: str
    new: str
    options: tuple[str, ...] = ()
    lane: str = "scheduler"
    seeds: int = SEEDS


PLANTS = {
    # A hook by load and store instead of compare-exchange: two hooks of one root lose a union.
    "lost-union": Plant(
        "components/union_find.h",
        "hook_compress",
        "int old = compare_exchange(parent + high, high, low);",
        "int old = load_relaxed(parent + high); if (old == high) store_relaxed(parent + high, low);",
        ("-DHOOK_FIRST=0",),
    ),
    **{
        name: Plant(
            "components/merge.h",
            case,
            "if (a != b) link(parent, a, b);",
            "if (a != b) store_relaxed(parent + max(a, b), min(a, b));",
        )
        for name, case in (("labels-hooked-by-stores", "merge"), ("message-hooked-by-stores", "message"))
    },
    # Another work-item's halving may overwrite a root by an ancestor that is none, so a forest is not flat after it.
    "flattened-by-halving": Plant(
        "components/phases.cl",
        "lists",
        "if (v < n) climb_four(v, parent);",
        "for (int k = v; k < min(v + 4, n); k++) store_relaxed(parent + k, find_root(parent, k));",
    ),
    "outsider-left-outside": Plant(
        "components/afforest.cl",
        "afforest",
        "link_four(parent, root, inside ? (int4)giant : p);",
        "if (!inside) link_four(parent, root, p);",
    ),
    "plain-store": Plant(
        "components/union_find.h",
        "hook_compress",
        "store_relaxed(parent + v, g);",
        "*(int *)(parent + v) = g;",
        ("-DHOOK_FIRST=0",),
        lane="threads",
    ),
    # Moves beyond the best state stay, though the cut and the weight are told of that state.
    "moves-not-undone": Plant(
        "partition/halving.h", "halving", "if (i >= n_kept) h->sides[h->order[i]] ^= 1;", "(void)i;", ONE
    ),
    "leaf-matched-twice": Plant(
        "partition/two_hop.cl",
        "leaves",
        "sg_lane() == 0 ? (int)(mates[next] != NOBODY) : 0",
        "0",
        (*lanes.WIDE, "-DWORDS_ORDER=1"),
    ),
    # The group that ends last looks at vertices that other groups have still to climb from.
    "sample-before-the-climb": Plant(
        "components/phases.cl",
        "afforest",
        "if (first < n) climb_four(first, parent);\n  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
        "if (first < n) climb_four(first, parent);",
        ("-DWG_SIZE=4",),
    ),
    "row-of-two-tiles-set-by-both": Plant("mst/discover.h", "edge_list", "if (shared) offer", "if (0) offer"),
    # An ancestor, read before the vertex was pointed at its root, is stored over the root.
    "lost-shortcut": Plant(
        "mst/climb.h", "flatten", "else compare_exchange(parent + u, p, g);", "else store_relaxed(parent + u, g);"
    ),
    "climb-that-ends-early": Plant(
        "mst/rows.cl",
        "flatten",
        "if (!at_root) store_relaxed(state + STATE_UNFINISHED + turn, 1u);",
        "",
        lanes.ONE_LAUNCH,
    ),
    # Along one edge, which is in the forest twice then.
    "both-hooked": Plant(
        "mst/edge_list.cl", "edge_list", "if (best_of_a[k] && !(best_of_b[k] && a < b)) {", "if (best_of_a[k]) {"
    ),
    "both-merged": Plant(
        "mst/segmented.cl", "min_hook", "if (r < other && best_entry(best, n, other) == e) return;", ""
    ),
    "rounds-without-barrier-after-hook": Plant(
        "mst/edge_list.cl",
        "edge_list",
        "if (!grid_barrier(control, members, &passed)) return;\n    for (int turn",
        "for (int turn",
        lanes.ONE_LAUNCH,
    ),
    "transaction-of-no-root": Plant(
        "mst/segmented.cl", "transactional", "if ((version & 1u) || load_relaxed(parent + high) != high) continue;", ""
    ),
    # Only weak memory shows it.
    "version-before-the-hook": Plant(
        "mst/segmented.cl",
        "transactional",
        "fence_device();\n    store_relaxed(versions + high, version + 2u);",
        "store_relaxed(versions + high, version + 2u);",
    ),
    # By another lane of the sub-group.
    "counter-read-before-it-is-raised": Plant(
        "primitives/sort.cl",
        "sort",
        "if (!below) own[d] = before + lane_count(same);\n    sg_sync();",
        "if (!below) own[d] = before + lane_count(same);",
        lanes.WIDE,
        lane="threads",
    ),
    "version-that-stays": Plant(
        "mst/segmented.cl",
        "transactional",
        "store_relaxed(versions + high, version + 2u);",
        "store_relaxed(versions + high, version);",
    ),
    "color-that-a-rival-may-take": Plant(
        "coloring/jones_plassmann_large.cl", "jones_plassmann", "if (keep && may_take(word[k], c)) {", "if (0) {", ONE
    ),
    "queue-without-end": Plant(
        "coloring/jones_plassmann.cl",
        "jones_plassmann",
        " && size + SUB_GROUP_SIZE <= room;",
        ";",
        ("-DWG_SIZE=1", "-DMARKED=1", "-DSPINS=9999"),
    ),
    "plain-word": Plant(
        "coloring/small_vertex.h",
        "jones_plassmann",
        "store_relaxed(word_at(order, words, x->v), word);",
        "*(uint *)(word_at(order, words, x->v)) = word;",
        ("-DWG_SIZE=1", "-DWIDE=1"),
        lane="threads",
    ),
    "check-before-all-have-colors": Plant(
        "coloring/speculative.cl",
        "speculative",
        "if (!grid_barrier(control, members, &passed)) return;\n    check_losers",
        "check_losers",
        ONE,
    ),
    # A rating without the lock of one side.
    "edge-without-user-lock": Plant("factorization/locks.h", "edge_locked", "&& take_lock(user_lock)) {", ") {"),
    "edge-without-item-lock": Plant(
        "factorization/locks.h", "edge_locked", "locked = take_lock(item_lock);", "locked = 1;"
    ),
    "edge-unlocked-before-store": Plant(
        "factorization/edge_locked.cl",
        "edge_locked",
        "update_rating(m, locked, user, item, value);\n    sg_sync();\n    if (locked && slot_lane() == 0) "
        "unlock_both(user_locks + user, item_locks + item);",
        "if (locked) unlock_both(user_locks + user, item_locks + item);\n    "
        "update_rating(m, locked, user, item, value);",
        lane="threads",
    ),
    "node-without-user-lock": Plant(
        "factorization/node_locked.cl",
        "node_locked",
        "trial.tried && take_lock(user_locks + trial.user);",
        "trial.tried;",
    ),
    "node-forgets-pending": Plant(
        "factorization/node_locked.cl",
        "node_locked",
        "kept += lane_count(put_off);",
        "kept = (offset_t)lane_count(put_off);",
    ),
    "hybrid-without-user-lock": Plant(
        "factorization/node_locked.cl",
        "hybrid_locked",
        "trial.tried && take_lock(user_locks + trial.user);",
        "trial.tried;",
    ),
    # A group takes items that another one still has.
    "block-without-wait": Plant(
        "factorization/block_grid.cl",
        "block_sweep",
        "passed = wait_until_at_least(done + (group + 1u) % n_groups * DONE_STRIDE, step, control + GRID_STATUS);",
        "passed = 1;",
        ONE,
    ),
    "block-that-waits-for-one-step-less": Plant(
        "factorization/block_grid.cl",
        "block_sweep",
        "DONE_STRIDE, step, control",
        "DONE_STRIDE, step ? step - 1u : 0u, control",
        ONE,
    ),
    **{
        f"{case}-without-barrier": Plant(
            "common/grid_barrier.h",
            case,
            "while ((int)(load_relaxed(control + GRID_TICKET) - goal) < 0)",
            "while (0)",
            ONE,
        )
        for case in ("superstep_grid", "item_blocks")
    },
    # A group does another's share, but holds one item only.
    "stand-in-that-keeps-its-item": Plant(
        "factorization/item_block.cl", "item_blocks", "stays = members >= n_groups;", "stays = 1;", ONE
    ),
    "color-that-a-net-has": Plant("coloring/distance_two.cl", "windows", "claim.clash |= team_or(lost, room);", ""),
    "bit-of-another-unset": Plant(
        "coloring/distance_two.cl",
        "windows",
        "(ulong)(!is_set & (step < 64u))",
        "(ulong)((nets[j] >= 0) & (step < 64u))",
    ),
    "color-without-all-claims": Plant(
        "coloring/distance_two_claims.cl",
        "claims",
        "lost = team_or(lost, room);",
        "lost = team_or(lost, room) && key % 3u;",
    ),
    "plain-bits": Plant(
        "coloring/distance_two.cl",
        "windows",
        "old[j] = fetch_or(word_of(words, (uint)nets[j]), bit);",
        "{ old[j] = *word_of(words, (uint)nets[j]); *word_of(words, (uint)nets[j]) = old[j] | bit; }",
        lane="threads",
    ),
    "counts-that-are-lost": Plant(
        "coloring/distance_two.cl",
        "sized",
        "if (net >= 0) fetch_add(counts + net, 1u);",
        "if (net >= 0) counts[net]++;",
        lane="threads",
    ),
    "mate-that-chose-another": Plant(
        "partition/lock_free.cl",
        "matching",
        "if (u == NOBODY || choices[u] != (int)v) continue;",
        "if (u == NOBODY) continue;",
        ONE,
    ),
    "slot-that-two-lanes-take": Plant(
        "partition/hashed.cl",
        "contraction",
        "if (found == NOBODY) found = compare_exchange(keys + slot, NOBODY, key);",
        "if (found == NOBODY) store_relaxed(keys + slot, key);",
        (*lanes.WIDE, "-DWORDS_ORDER=1"),
    ),
    # It may have moved already.
    "part-of-a-mover": Plant(
        "partition/moving.h",
        "refinement",
        "before = moves ? froms[u] : load_relaxed(ARRAY(r, PART) + u);",
        "before = load_relaxed(ARRAY(r, PART) + u);",
        ONE,
    ),
    # 1 in 100 is wrong.
    # 1 in 100 seeds is wrong.
    "vertex-listed-twice": Plant(
        "partition/refinement.h",
        "refinement",
        "if (!(fetch_or(ARRAY(r, FLAGS) + v, LISTED) & LISTED)) append_to_list(r, v);",
        "if (load_relaxed(ARRAY(r, FLAGS) + v) & LISTED) return;\n  fetch_or(ARRAY(r, FLAGS) + v, LISTED);\n"
        "  append_to_list(r, v);",
        lanes.WIDE,
        seeds=2000,
    ),
    "moves-before-all-are-confirmed": Plant(
        "partition/refining.h",
        "refinement",
        "confirm(r, &on);\n      if (!meet_all(r, passed)) return;",
        "confirm(r, &on);",
        ONE,
    ),
    "counters-cleared-by-two": Plant(
        "partition/asking.h",
        "refinement",
        "fetch_and(counters + parts[on->columns[e]], 0);",
        "counters[parts[on->columns[e]]] = 0;",
        (*lanes.WIDE, "-DWORDS_ORDER=1"),
        lane="threads",
    ),
    "place-for-two-requests": Plant(
        "partition/buffered.cl",
        "buffered",
        "begins[target] + fetch_add(OF_REQUESTS(PLACED) + target, 1)",
        "begins[target] + (load_relaxed(OF_REQUESTS(PLACED) + target), "
        "store_relaxed(OF_REQUESTS(PLACED) + target, OF_REQUESTS(PLACED)[target] + 1), "
        "OF_REQUESTS(PLACED)[target] - 1)",
        ONE,
    ),
    "who-accepts-proposes": Plant(
        "partition/segmented.cl", "segmented", " && !proposes(given, u, seed, round)", "", ONE
    ),
    "lesser-claim-that-stays": Plant(
        "partition/segmented.cl",
        "segmented",
        "fetch_max(OFFERS(round & 1u) + ends[lane], claims[v]);",
        "if (load_relaxed(OFFERS(round & 1u) + ends[lane]) < claims[v])\n"
        "      store_relaxed(OFFERS(round & 1u) + ends[lane], claims[v]);",
        ONE,
    ),
    "class-counted-by-load-and-store": Plant(
        "partition/light_edges.cl",
        "light_edges",
        "if (counts[i]) fetch_add(class_counts + i, counts[i]);",
        "if (counts[i]) store_relaxed(class_counts + i, load_relaxed(class_counts + i) + counts[i]);",
        ONE,
    ),
    "gain-counted-by-two-lanes": Plant(
        "partition/permutations.cl",
        "permutations",
        "if (tops[j] == u) fetch_add(together + k * TOP + j, ",
        "if (tops[j] == u) together[k * TOP + j] += (",
        (*lanes.WIDE, "-DWORDS_ORDER=1"),
        lane="threads",
    ),
    # Its links go to triangles that are no more.
    "ring-that-another-owns": Plant(
        "delaunay/rounds.cl",
        "three_phase",
        "if (across != OUTSIDE && owners[unmarked(across) >> 2] != key) return 0;",
        "",
        ONE,
    ),
    "ring-without-claims": Plant(
        "delaunay/rounds.cl",
        "three_phase",
        "if (across != OUTSIDE) write_key(owners + (unmarked(across) >> 2), keys[i], only_raise);",
        "",
        ONE,
    ),
    "ring-claimed-but-for-its-end": Plant(
        "delaunay/rounds.cl",
        "three_phase",
        "for (int k = 0; k < head.y; k++) {\n      int across",
        "for (int k = 0; k + 1 < head.y; k++) {\n      int across",
        ONE,
    ),
    "ring-checked-but-for-its-end": Plant(
        "delaunay/rounds.cl", "three_phase", "k < head.y && ring_counts", "k + 1 < head.y && ring_counts", ONE
    ),
    "ring-that-a-walk-does-not-claim": Plant(
        "delaunay/cavity.h",
        "priority",
        "if (across != OUTSIDE && !claim(f, unmarked(across) >> 2, key)) return WALK_LOST;",
        "",
        ONE,
    ),
    "candidate-behind-the-room": Plant(
        "delaunay/rounds.cl",
        "priority",
        "if (chosen && place < (uint)most_candidates) {",
        "if (chosen && place <= (uint)most_candidates) {",
        ("-DWG_SIZE=4",),
    ),
    "count-of-candidates-behind-the-room": Plant(
        "delaunay/rounds.cl",
        "priority",
        "min(leading, (uint)most_candidates)",
        "min(leading, (uint)most_candidates + 1u)",
        ("-DWG_SIZE=4",),
    ),
    # So that nobody finds whether these are bad.
    "new-triangles-listed-over-others": Plant(
        "delaunay/insert.cl", "checks_by_groups", "    listed += all;\n", "", lanes.CHECKED_LATER
    ),
    "claim-by-load-and-store": Plant(
        "delaunay/cavity.h",
        "patches",
        "compare_exchange(f.owners + t, held, key) == held;",
        "(store_relaxed(f.owners + t, key), 1);",
        ONE,
    ),
    "round-that-says-nothing": Plant(
        "traversal/rounds.h", "topology_driven", "if (lowered) store_relaxed(state + STATE_CHANGED, round);", ""
    ),
    "plain-lowering": Plant(
        "traversal/rounds.h",
        "topology_driven",
        "store_relaxed(to, reached);",
        "*(dist_t *)to = reached;",
        lane="threads",
    ),
    "child-of-old": Plant(
        "traversal/node_splitting.cl",
        "node_splitting",
        "if (word >= n) store_relaxed",
        "if (word >= n && round == 1u) store_relaxed",
    ),
    # What a group listed is not seen.
    "arrival-without-fence": Plant(
        "traversal/levels.h",
        "search",
        "if (flags & LISTED) fence_device(); else order_reads();",
        "if (!(flags & LISTED)) order_reads();",
        ONE,
        lane="threads",
    ),
    # What others have listed by then is lost.
    "sizes-cleared-a-turn-late": Plant(
        "traversal/levels.h", "search", "SIZES * (turn + 2u & 3u) + k", "SIZES * (turn + 1u & 3u) + k", lanes.SHORT_ROWS
    ),
    "row-behind-the-queue": Plant(
        "traversal/queues.h", "search", "if (slot < next.room) {", "if (slot <= next.room) {", lanes.SHORT_ROWS
    ),
    "bits-read-before-all-are-marked": Plant(
        "bfs/frontier.cl", "search", "if (!next_turn(turn, all->flags)) return 0u;\n    int left", "int left", ONE
    ),
    # What was listed in the turn before is not listed again.
    "stamp-for-two-turns": Plant(
        "sssp/frontier.cl", "near_far", "next.stamp = turn.number + 2u;", "next.stamp = turn.number / 2u + 2u;", ONE
    ),
    "round-that-runs-on": Plant(
        "traversal/predecessors.cl",
        "predecessors",
        "is_found = v < n && load_relaxed(rounds + v) == 1;",
        "is_found = v < n && load_relaxed(rounds + v) != 0;",
        lanes.LIGHT_FIRST,
    ),
    "lock-that-never-fails": Plant(
        "vocabulary.cl", "locks", "if (!done && try_lock(&lock_words[k])) {", "if (!done) {"
    ),
    "lock-without-acquire": Plant("common/atomics.h", "locks", "if (acquired) fence_device();", "", lane="threads"),
    "push-without-barrier": Plant(
        "common/worklist.h", "pushes", "room[0] = 0u;\n  barrier(CLK_LOCAL_MEM_FENCE);", "room[0] = 0u;", lane="threads"
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
