"""The kernels as C++: under ThreadSanitizer, and as fibres under a seeded scheduler.

ThreadSanitizer (race/threads.cpp) reports accesses that nothing orders, even when the answer is right; it
cannot see a lost update made of atomic loads and stores. The scheduler (race/scheduler.cpp) sees wrong
answers, also of weak memory, and replays them by their seed. Bugs planted into copies of
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
STRONG = ("-DONE_LAUNCH=1", "-DDEV_IS_CPU=0", "-DTURNS=2")


@dataclass(frozen=True)
class Place:
    """A file into which bugs are planted, the case in which *lane* must find them, and how it is built."""

    file: str
    case: str
    options: tuple[str, ...] = ()
    lane: str = "scheduler"
    seeds: int = SEEDS


# By place and name: what the kernel says, and what it says with the bug.
DIVIDED = (*lanes.WIDE, *lanes.DIVIDED_ROWS)
BUGS: dict[Place, dict[str, tuple[str, str]]] = {
    Place("connected_components/union_find.h", "hook_compress", ("-DHOOK_FIRST=0",)): {
        # A hook by load and store instead of compare-exchange: two hooks of one root lose a union.
        "lost-union": (
            "int old = compare_exchange(parent + high, high, low);",
            "int old = load_relaxed(parent + high); if (old == high) store_relaxed(parent + high, low);",
        )
    },
    **{
        Place("connected_components/merge.h", case): {
            name: ("if (a != b) link(parent, a, b);", "if (a != b) store_relaxed(parent + max(a, b), min(a, b));")
        }
        for name, case in (("labels-hooked-by-stores", "merge"), ("message-hooked-by-stores", "message"))
    },
    Place("pagerank/state.h", "row_blocks", ("-DWG_SIZE=1", "-DDEV_HAS_FP64=1"), "threads"): {
        # The last group adds up partial sums that the others have not made visible.
        "partials-without-fence": ("    fence_device();\n  }\n#if TEAM", "  }\n#if TEAM"),
        # A group reads shares that others write in the same round.
        "shares-of-this-round": ("share[PLACE(v)] = rank * scale;", "share[PLACE(v)] = rank * scale + share[0] * 0;"),
    },
    Place("pagerank/row_blocks.cl", "row_blocks", ("-DWG_SIZE=4", "-DDEV_HAS_FP64=1"), "threads"): {
        "sums-of-others-too-early": (
            "heads[lid] = is_head ? sum : head;\n  barrier(CLK_LOCAL_MEM_FENCE);",
            "heads[lid] = is_head ? sum : head;",
        ),
    },
    Place("cores/peel.h", "peel", ONE): {
        # Of two vertices that are removed at once, a neighbour loses only one.
        "lost-neighbour": (
            "old[k] = degree[k] > level ? fetch_add(on.degrees + u[k], -1) : 0;",
            "{ old[k] = degree[k] > level ? load_relaxed(on.degrees + u[k]) : 0;"
            " if (old[k]) store_relaxed(on.degrees + u[k], old[k] - 1); }",
        ),
        # A vertex that is removed already gets too low a number.
        "taken-and-not-put-back": ("if (is_taken && old[k] <= level) fetch_add(on.degrees + u[k], 1);", ""),
        # A group counts in a slot that others reset, or have not read yet.
        "slot-reset-too-late": (
            "store_relaxed(on.state + STATE_PUSHED + (at.step + 1u) % 3u, 0u);",
            "store_relaxed(on.state + STATE_PUSHED + at.step % 3u, 0u);",
        ),
    },
    Place("maximal_independent_set/rounds.cl", "independent_set", ONE): {
        # A vertex joins beside a neighbour that has joined, but has not marked it yet.
        "member-not-seen": ("return word > own ||", "return (word > own && word != IN) ||"),
        # Vertices that still wait are lost.
        "slot-reset-too-late": (
            "store_relaxed(state + STATE_LISTED + (round + 2u) % 3u, 0u);",
            "store_relaxed(state + STATE_LISTED + (round + 1u) % 3u, 0u);",
        ),
    },
    Place("maximal_matching/rounds.cl", "maximal_matching", (*lanes.WIDE, "-DTEAM=2u", "-DTRIES=2")): {
        # A vertex whose choice has made it its mate chooses again.
        "mate-not-told-from-others": ("return mate != NOBODY && mate != v;", "return mate != NOBODY;"),
        # A lane takes the best edge of another team's row.
        "edge-of-another-team": (
            "before < TEAMS ? before * TEAM : 0u;",
            "before < TEAMS ? (before + 1u) % TEAMS * TEAM : 0u;",
        ),
    },
    Place("triangles/table.h", "triangle_tables", ("-DWG_SIZE=4",), "threads"): {
        # Two work-items take the same empty slot, and one entry is lost.
        "slot-taken-by-a-store": (
            "return compare_exchange(slot, EMPTY, key) == EMPTY;",
            "const int was_empty = *slot == EMPTY; if (was_empty) *slot = key; return was_empty;",
        ),
    },
    Place("triangles/count.cl", "triangle_tables", ("-DWG_SIZE=4",), "threads"): {
        "look-up-before-the-table-is-full": (
            "fill_table(table, row + piece, size, lid, WG_SIZE);\n      barrier(CLK_LOCAL_MEM_FENCE);",
            "fill_table(table, row + piece, size, lid, WG_SIZE);",
        ),
        "counts-before-the-last-look-up": (
            "barrier(CLK_LOCAL_MEM_FENCE);\n      add_hits(table, counts, lid, WG_SIZE);",
            "add_hits(table, counts, lid, WG_SIZE);",
        ),
    },
    Place("triangles/marks.cl", "triangle_marks", ONE): {
        # Two work-items take the same vertices, or skip some.
        "block-taken-in-two-steps": (
            "const uint first = fetch_add(control + N_TAKEN, 1u) * BLOCK;",
            "const uint first = load_relaxed(control + N_TAKEN) * BLOCK;"
            " store_relaxed(control + N_TAKEN, first / BLOCK + 1u);",
        ),
    },
    Place("triangles/merge.cl", "triangle_merge", ONE): {
        "merged-block-taken-in-two-steps": (
            "const uint first = fetch_add(control + N_TAKEN, 1u) * BLOCK;",
            "const uint first = load_relaxed(control + N_TAKEN) * BLOCK;"
            " store_relaxed(control + N_TAKEN, first / BLOCK + 1u);",
        ),
    },
    Place("connected_components/phases.cl", "lists"): {
        # Another work-item's halving may overwrite a root by an ancestor that is none. Then the forest is not flat.
        "flattened-by-halving": (
            "if (v < n) climb_four(v, parent);",
            "for (int k = v; k < min(v + 4, n); k++) store_relaxed(parent + k, find_root(parent, k));",
        )
    },
    Place("connected_components/boundary.cl", "boundary"): {
        "root-listed-twice": (
            "!(fetch_or(listed + (label >> 5), bit) & bit))",
            "(store_relaxed(listed + (label >> 5), load_relaxed(listed + (label >> 5)) | bit), 1))",
        )
    },
    Place("connected_components/afforest.cl", "afforest"): {
        "outsider-left-outside": (
            "link_four(parent, root, inside ? (int4)giant : p);",
            "if (!inside) link_four(parent, root, p);",
        )
    },
    Place("connected_components/union_find.h", "hook_compress", ("-DHOOK_FIRST=0",), lane="threads"): {
        "plain-store": ("store_relaxed(parent + v, g);", "*(int *)(parent + v) = g;")
    },
    Place("partition/halving.h", "halving", ONE): {
        # Moves beyond the best state stay, though the cut and the weight are told of that state.
        "moves-not-undone": ("if (i >= n_kept) h->sides[h->order[i]] ^= 1;", "(void)i;")
    },
    Place("partition/two_hop.cl", "leaves", (*lanes.WIDE, "-DWORDS_ORDER=1")): {
        "leaf-matched-twice": ("sg_lane() == 0 ? (int)(mates[next] != NOBODY) : 0", "0")
    },
    Place("connected_components/phases.cl", "afforest", ("-DWG_SIZE=4",)): {
        # The group that ends last looks at vertices that other groups have still to climb from.
        "sample-before-the-climb": (
            "if (first < n) climb_four(first, parent);\n  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
            "if (first < n) climb_four(first, parent);",
        )
    },
    Place("minimum_spanning_forest/discover.h", "edge_list"): {
        "row-of-two-tiles-set-by-both": ("if (shared) offer", "if (0) offer")
    },
    Place("minimum_spanning_forest/climb.h", "flatten"): {
        # An ancestor, read before the vertex was pointed at its root, is stored over the root.
        "lost-shortcut": ("else compare_exchange(parent + u, p, g);", "else store_relaxed(parent + u, g);")
    },
    Place("minimum_spanning_forest/rows.cl", "flatten", lanes.ONE_LAUNCH): {
        "climb-that-ends-early": ("if (!at_root) store_relaxed(state + STATE_UNFINISHED + turn, 1u);", "")
    },
    Place("minimum_spanning_forest/edge_list.cl", "edge_list"): {
        # Along one edge, which is in the forest twice then.
        "both-hooked": ("if (best_of_a[k] && !(best_of_b[k] && a < b)) {", "if (best_of_a[k]) {")
    },
    Place("minimum_spanning_forest/segmented.cl", "min_hook"): {
        "both-merged": ("if (r < other && best_entry(best, n, other) == e) return;", "")
    },
    Place("minimum_spanning_forest/edge_list.cl", "edge_list", lanes.ONE_LAUNCH): {
        "rounds-without-barrier-after-hook": (
            "if (!grid_barrier(control, members, &passed)) return;\n    for (int turn",
            "for (int turn",
        )
    },
    Place("minimum_spanning_forest/segmented.cl", "transactional"): {
        "transaction-of-no-root": ("if ((version & 1u) || load_relaxed(parent + high) != high) continue;", ""),
        # Only weak memory shows it.
        "version-before-the-hook": (
            "fence_device();\n    store_relaxed(versions + high, version + 2u);",
            "store_relaxed(versions + high, version + 2u);",
        ),
        "version-that-stays": (
            "store_relaxed(versions + high, version + 2u);",
            "store_relaxed(versions + high, version);",
        ),
    },
    Place("primitives/sort.cl", "sort", lanes.WIDE, lane="threads"): {
        # By another lane of the sub-group.
        "counter-read-before-it-is-raised": (
            "if (!below) own[d] = before + lane_count(same);\n    sg_sync();",
            "if (!below) own[d] = before + lane_count(same);",
        )
    },
    Place("color/jones_plassmann_large.cl", "jones_plassmann", ONE): {
        "color-that-a-rival-may-take": ("if (keep && may_take(word[k], c)) {", "if (0) {")
    },
    Place("color/jones_plassmann.cl", "jones_plassmann", ("-DWG_SIZE=1", "-DMARKED=1", "-DSPINS=9999")): {
        "queue-without-end": (" && size + SUB_GROUP_SIZE <= queue.room;", ";")
    },
    Place("color/small_vertex.h", "jones_plassmann", ("-DWG_SIZE=1", "-DWIDE=1"), lane="threads"): {
        "plain-word": (
            "store_relaxed(word_at(order, words, x->v), word);",
            "*(uint *)(word_at(order, words, x->v)) = word;",
        )
    },
    Place("color/speculative.cl", "speculative", ONE): {
        "check-before-all-have-colors": (
            "if (!grid_barrier(control, members, &passed)) return;\n    check_losers",
            "check_losers",
        )
    },
    Place("factorization/locks.h", "edge_locked"): {
        # A rating without the lock of one side.
        "edge-without-user-lock": ("&& take_lock(user_lock)) {", ") {"),
        "edge-without-item-lock": ("locked = take_lock(item_lock);", "locked = 1;"),
    },
    Place("factorization/edge_locked.cl", "edge_locked", lane="threads"): {
        "edge-unlocked-before-store": (
            "update_rating(m, locked, user, item, value);\n    sg_sync();\n    if (locked && slot_lane() == 0) "
            "unlock_both(user_locks + user, item_locks + item);",
            "if (locked) unlock_both(user_locks + user, item_locks + item);\n    "
            "update_rating(m, locked, user, item, value);",
        )
    },
    Place("factorization/node_locked.cl", "node_locked"): {
        "node-without-user-lock": ("trial.tried && take_lock(user_locks + trial.user);", "trial.tried;"),
        "node-forgets-pending": ("kept += lane_count(put_off);", "kept = (offset_t)lane_count(put_off);"),
    },
    Place("factorization/node_locked.cl", "hybrid_locked"): {
        "hybrid-without-user-lock": ("trial.tried && take_lock(user_locks + trial.user);", "trial.tried;")
    },
    Place("factorization/block_grid.cl", "block_sweep", ONE): {
        # A group takes items that another one still has.
        "block-without-wait": (
            "passed = wait_until_at_least(done + (group + 1u) % n_groups * DONE_STRIDE, step, control + GRID_STATUS);",
            "passed = 1;",
        ),
        "block-that-waits-for-one-step-less": (
            "DONE_STRIDE, step, control",
            "DONE_STRIDE, step ? step - 1u : 0u, control",
        ),
    },
    **{
        Place("common/grid_barrier.h", case, ONE): {
            f"{case}-without-barrier": ("(int)(load_relaxed(control + GRID_TICKET) - goal) < 0;", "0;")
        }
        for case in ("superstep_grid", "item_blocks")
    },
    Place("factorization/item_block.cl", "item_blocks", ONE): {
        # A group does another's share, but holds one item only.
        "stand-in-that-keeps-its-item": ("stays = members >= n_groups;", "stays = 1;")
    },
    Place("color/distance_two.cl", "windows"): {
        "color-that-a-net-has": ("claim.clash |= team_or(lost, room);", ""),
        "bit-of-another-unset": ("(ulong)(!is_set & (step < 64u))", "(ulong)((nets[j] >= 0) & (step < 64u))"),
    },
    Place("color/distance_two_claims.cl", "claims"): {
        "color-without-all-claims": ("lost = team_or(lost, room);", "lost = team_or(lost, room) && key % 3u;")
    },
    Place("color/distance_two.cl", "windows", lane="threads"): {
        "plain-bits": (
            "old[j] = fetch_or(word_of(words, (uint)nets[j]), bit);",
            "{ old[j] = *word_of(words, (uint)nets[j]); *word_of(words, (uint)nets[j]) = old[j] | bit; }",
        )
    },
    Place("color/distance_two.cl", "sized", lane="threads"): {
        "counts-that-are-lost": ("if (net >= 0) fetch_add(counts + net, 1u);", "if (net >= 0) counts[net]++;")
    },
    Place("partition/lock_free.cl", "matching", ONE): {
        "mate-that-chose-another": ("if (u == NOBODY || choices[u] != (int)v) continue;", "if (u == NOBODY) continue;")
    },
    Place("partition/clusters.cl", "pairs", ONE): {
        "cluster-that-gets-too-heavy": (
            "if (fetch_add(cluster_weights + cluster, weight) + weight > most) {\n"
            "    fetch_add(cluster_weights + cluster, -weight);\n    return 0;\n  }",
            "fetch_add(cluster_weights + cluster, weight);",
        ),
        "member-that-is-lost": (
            "next[v] = exchange(heads + clusters[v], v);",
            "next[v] = load_relaxed(heads + clusters[v]), store_relaxed(heads + clusters[v], v);",
        ),
    },
    Place("partition/pairwise_fm.cl", "pairs", ONE): {"part-in-two-pairs": ("if (try_lock(locks + b)) {", "if (1) {")},
    Place("common/row_table.h", "contraction", (*lanes.WIDE, "-DWORDS_ORDER=1")): {
        "slot-that-two-lanes-take": (
            "if (found == NOBODY) found = compare_exchange(keys + slot, NOBODY, key);",
            "if (found == NOBODY) store_relaxed(keys + slot, key);",
        )
    },
    Place("communities/rows.h", "community_moves", DIVIDED, lane="threads"): {
        # A sub-group adds up sums that others have not written.
        "sums-read-early": (
            "scratch->sums[sg_in_group()] = x;\n  meet(by_group);",
            "scratch->sums[sg_in_group()] = x;",
        )
    },
    Place("communities/tables.h", "community_moves", DIVIDED): {
        "slot-that-two-communities-take": (
            "found = compare_exchange(table->keys + slot, NOBODY, group);",
            "store_relaxed(table->keys + slot, group);",
        )
    },
    Place("communities/movers.h", "community_moves", ONE): {
        # Two vertices that join a community at once lose an addition.
        "sum-that-is-lost": (
            "fetch_add(sums->out + c, sign * out);",
            "store_relaxed(sums->out + c, load_relaxed(sums->out + c) + sign * out);",
        )
    },
    Place("communities/rounds.h", "community_moves", ONE): {
        # The edge between two vertices that both move is then counted twice.
        "edge-of-two-movers": ("(has_moved[i] ? 1 : 2)", "2")
    },
    Place("communities/contract.cl", "community_parts", ONE): {
        "parts-flattened-by-halving": (
            "while ((above = load_stale(parent + root)) != root) root = above;",
            "(void)above; root = find_root(parent, (int)v);",
        )
    },
    Place("communities/refinement.h", "community_groups", ONE): {
        # It may join another group in the same round.
        "group-that-its-vertex-leaves": (
            " || (r->groups.sizes[c] == 1 && is_head(joiner->salt, (uint)c))) return;",
            ") return;",
        )
    },
    Place("strongly_connected_components/units.h", "strong_components", (*ONE, *STRONG)): {
        # Edges rest although a key of theirs was lowered in the step before.
        "sweep-that-rests-too-early": (
            "(chunk[k] < MANY && stamp + 1u >= t)",
            "(chunk[k] < MANY && stamp >= t)",
        ),
    },
    Place("strongly_connected_components/edges.h", "strong_components", (*ONE, *STRONG)): {
        "slots-that-two-groups-take": (
            "base = fetch_add(size, all);",
            "{ base = load_relaxed(size); store_relaxed(size, base + all); }",
        ),
    },
    Place("strongly_connected_components/number.cl", "strong_components", (*ONE, *STRONG)): {
        "least-vertex-that-is-lost": (
            "lower_to(least + root_of((int)v, labels), (int)v);",
            "if (load_relaxed(least + root_of((int)v, labels)) > (int)v) "
            "store_relaxed(least + root_of((int)v, labels), (int)v);",
        ),
    },
    Place("partition/moving.h", "refinement", ONE): {
        # It may have moved already.
        "part-of-a-mover": (
            "before = moves ? froms[u] : load_relaxed(ARRAY(r, PART) + u);",
            "before = load_relaxed(ARRAY(r, PART) + u);",
        )
    },
    Place("partition/refinement.h", "refinement", lanes.WIDE, seeds=2000): {
        # 1 in 100 seeds is wrong.
        "vertex-listed-twice": (
            "if (!(fetch_or(ARRAY(r, FLAGS) + v, LISTED) & LISTED)) append_to_list(r, v);",
            "if (load_relaxed(ARRAY(r, FLAGS) + v) & LISTED) return;\n  fetch_or(ARRAY(r, FLAGS) + v, LISTED);\n"
            "  append_to_list(r, v);",
        )
    },
    Place("partition/refining.h", "refinement", ONE): {
        "moves-before-all-are-confirmed": (
            "confirm(r, &on);\n      if (!meet_all(r, passed)) return;",
            "confirm(r, &on);",
        )
    },
    Place("partition/pulls.h", "refinement", (*lanes.WIDE, "-DWORDS_ORDER=1"), lane="threads"): {
        "counters-cleared-by-two": (
            "fetch_and(counters + parts[on->columns[e]], 0);",
            "counters[parts[on->columns[e]]] = 0;",
        )
    },
    Place("partition/buffered.cl", "buffered", ONE): {
        "place-for-two-requests": (
            "begins[target] + fetch_add(OF_REQUESTS(PLACED) + target, 1)",
            "begins[target] + (load_relaxed(OF_REQUESTS(PLACED) + target), "
            "store_relaxed(OF_REQUESTS(PLACED) + target, OF_REQUESTS(PLACED)[target] + 1), "
            "OF_REQUESTS(PLACED)[target] - 1)",
        )
    },
    Place("partition/segmented.cl", "segmented", ONE): {
        "who-accepts-proposes": (" && !proposes(given, u, seed, round)", ""),
        "lesser-claim-that-stays": (
            "fetch_max(offers + end, claims[v]);",
            "if (load_relaxed(offers + end) < claims[v]) store_relaxed(offers + end, claims[v]);",
        ),
    },
    Place("partition/light_edges.cl", "light_edges", ONE): {
        "class-counted-by-load-and-store": (
            "if (counts[i]) fetch_add(class_counts + i, counts[i]);",
            "if (counts[i]) store_relaxed(class_counts + i, load_relaxed(class_counts + i) + counts[i]);",
        )
    },
    Place("partition/permutations.cl", "permutations", (*lanes.WIDE, "-DWORDS_ORDER=1"), lane="threads"): {
        "gain-counted-by-two-lanes": (
            "if (tops[j] == u) fetch_add(together + k * TOP + j, ",
            "if (tops[j] == u) together[k * TOP + j] += (",
        )
    },
    Place("refine_mesh/rounds.cl", "three_phase", ONE): {
        # Its links go to triangles that are no more.
        "ring-that-another-owns": ("if (across != OUTSIDE && owners[unmarked(across) >> 2] != key) return 0;", ""),
        "ring-without-claims": (
            "if (across != OUTSIDE) write_key(owners + (unmarked(across) >> 2), keys[i], only_raise);",
            "",
        ),
        "ring-claimed-but-for-its-end": (
            "for (int k = 0; k < head.y; k++) {\n      int across",
            "for (int k = 0; k + 1 < head.y; k++) {\n      int across",
        ),
        "ring-checked-but-for-its-end": ("k < head.y && ring_counts", "k + 1 < head.y && ring_counts"),
    },
    Place("refine_mesh/cavity.h", "priority", ONE): {
        "ring-that-a-walk-does-not-claim": (
            "if (across != OUTSIDE && !claim(f, unmarked(across) >> 2, key)) return WALK_LOST;",
            "",
        )
    },
    Place("refine_mesh/rounds.cl", "priority", ("-DWG_SIZE=4",)): {
        "candidate-behind-the-room": (
            "if (chosen && place < (uint)most_candidates) {",
            "if (chosen && place <= (uint)most_candidates) {",
        ),
        "count-of-candidates-behind-the-room": (
            "min(leading, (uint)most_candidates)",
            "min(leading, (uint)most_candidates + 1u)",
        ),
    },
    Place("refine_mesh/insert.cl", "checks_by_groups", lanes.CHECKED_LATER): {
        # So no lane finds whether these are bad.
        "new-triangles-listed-over-others": ("    if (CHECK_LATER) listed += all;\n", "")
    },
    Place("refine_mesh/cavity.h", "patches", ONE): {
        "claim-by-load-and-store": (
            "compare_exchange(f.owners + t, held, key) == held;",
            "(store_relaxed(f.owners + t, key), 1);",
        )
    },
    Place("traversal/rounds.h", "topology_driven"): {
        "round-that-says-nothing": ("if (lowered) store_relaxed(state + STATE_CHANGED, round);", "")
    },
    Place("traversal/rounds.h", "topology_driven", lane="threads"): {
        "plain-lowering": ("store_relaxed(to, reached);", "*(dist_t *)to = reached;")
    },
    Place("traversal/node_splitting.cl", "node_splitting"): {
        "child-of-old": ("if (word >= n) store_relaxed", "if (word >= n && round == 1u) store_relaxed")
    },
    Place("traversal/levels.h", "search", ONE, lane="threads"): {
        # The list of a group is not seen.
        "arrival-without-fence": (
            "if (flags & LISTED) fence_device(); else order_reads();",
            "if (!(flags & LISTED)) order_reads();",
        )
    },
    Place("traversal/levels.h", "search", lanes.SHORT_ROWS): {
        # The lists of other groups up to then are lost.
        "sizes-cleared-a-turn-late": ("SIZES * (turn + 2u & 3u) + k", "SIZES * (turn + 1u & 3u) + k")
    },
    Place("traversal/queues.h", "search", lanes.SHORT_ROWS): {
        "row-behind-the-queue": ("if (slot < next.room) {", "if (slot <= next.room) {")
    },
    Place("bfs/frontier.cl", "search", ONE): {
        "bits-read-before-all-are-marked": ("if (!next_turn(turn, all->flags)) return 0u;\n    int left", "int left")
    },
    Place("sssp/frontier.cl", "near_far", ONE): {
        # Entries of the turn before are not listed again.
        "stamp-for-two-turns": ("next.stamp = turn + 2u;", "next.stamp = turn / 2u + 2u;")
    },
    Place("traversal/predecessors.cl", "predecessors", lanes.LIGHT_FIRST): {
        "round-that-runs-on": (
            "is_found = v < n && load_relaxed(rounds + v) == 1;",
            "is_found = v < n && load_relaxed(rounds + v) != 0;",
        )
    },
    Place("vocabulary.cl", "locks"): {
        "lock-that-never-fails": ("if (!done && try_lock(&lock_words[k])) {", "if (!done) {")
    },
    Place("common/atomics.h", "locks", lane="threads"): {"lock-without-acquire": ("if (acquired) fence_device();", "")},
    Place("common/worklist.h", "pushes", lane="threads"): {
        "push-without-barrier": ("room[0] = 0u;\n  barrier(CLK_LOCAL_MEM_FENCE);", "room[0] = 0u;")
    },
}
PLANTS = {name: (place, *texts) for place, bugs in BUGS.items() for name, texts in bugs.items()}


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
    """Return all cases on all lanes. Cases of one build follow each other, so that it is compiled once."""
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
    place, old, new = PLANTS[name]
    kernels = lanes.copy_kernels(tmp_path)
    path = kernels / place.file
    text = path.read_text()
    assert text.count(old) == 1, f"nowhere to plant {name}: {place.file} has changed"
    path.write_text(text.replace(old, new))
    subject = next(subject for subject, cases in lanes.CASES.items() if place.case in cases)
    options = (*place.options, lanes.only(subject, place.case))
    program = lanes.build(compiler, place.lane, subject, kernels, options)
    ran = lanes.check(program, place.lane, place.case, place.seeds, runs=place.seeds)
    assert ran.returncode != 0, f"{name} was not found"
    if place.lane == "threads":
        assert "ThreadSanitizer: data race" in ran.stderr
        return
    replay = re.search(rf"replay with: scheduler {place.case} (\d+) 1", ran.stdout)
    assert replay, ran.stdout + ran.stderr
    again = [lanes.run([str(program), place.case, replay[1], "1"]) for _ in range(2)]
    assert "1 of 1 seeds wrong" in again[0].stdout
    assert again[0].stdout == again[1].stdout  # also the number of switches
