/* Breadth-first search on a CPU: queues, by groups of one work-item of which one leads the others while they are in time,
 * and bitmaps. */
#pragma once
#include "members.h"
#define BLOCK_ROWS 2u
#define BLOCK_WORDS 1
#define HELD 3u
#include "bfs/queue.cl"
#include "bfs/bitmaps.cl"

/* The search from the source, in launches of a small budget. */
struct Queued : Searched {
  const size_t n_words;
  Guarded<int> queue, held, distances, predecessors;
  Guarded<uint> meeting, tail;
  Guarded<ulong> place, found, frontier, next, unreached;
  uint max_depth;
  ulong least_rows;
  long budget;

  Queued(Random &random, ulong seed)
      : Searched(random, seed, 1 << 20), n_words((n + 63) / 64), queue(MEMBERS * n), held(HELD * n_groups),
        distances(n), predecessors(n),
        meeting(MEETING_WORDS), tail(1), place(PLACE_WORDS), found(2 * n_groups), frontier(n_words), next(n_words),
        unreached(n_words), max_depth(random.below(4) ? 1u << 30 : random.below(6)), least_rows(random.below(4)), budget(1 + random.below(40)) {
    launch(n_groups, [&] { initialize(n, distances, predecessors); }, TOGETHER);
    launch(1, [&] { start(2, sources, row_offsets, queue, distances, place); });
    lateness = random.below(2) ? 1ul << 40 : 1ul + random.below(100);
  }
  void search(ulong most_rows) {
    search_queue(n, (ulong)row_offsets[n], max_depth, most_rows, least_rows, 15ul, budget, row_offsets, column_indices, place, meeting, queue, distances,
                 predecessors);
  }
  /* Expand a level of the first queue by all groups; whether each vertex is reached once, and its edges are counted. */
  bool expand() {
    const uint first = (uint)place[PLACE_SEGMENTS], end = (uint)place[PLACE_SEGMENTS + 1], depth = (uint)place[PLACE_DEPTH];
    tail[0] = end;
    launch(n_groups, [&] {
      expand_queue(depth, first, end, row_offsets, column_indices, queue, tail, distances, predecessors, held, found);
    }, TOGETHER);
    ulong edges = 0, due = 0;
    for (size_t group = 0; group < n_groups; group++) edges += found[group];
    for (uint i = end; i < tail[0]; i++) due += (ulong)(row_offsets[queue[i] + 1] - row_offsets[queue[i]]);
    place[PLACE_DEPTH]++;
    place[PLACE_LEFT] = tail[0] - end;
    place[PLACE_REACHED] += tail[0] - end;
    place[PLACE_SEGMENTS] = end;
    place[PLACE_SEGMENTS + 1] = place[PLACE_SEGMENTS + 2] = tail[0];
    const Array<uint> expected = this->expected(false);
    return edges == due && tail[0] - end == (uint)std::count(expected.begin(), expected.end(), depth);
  }
  /* Search a few levels bottom-up; whether that told how many vertices were reached. */
  bool pull(uint n_levels) {
    const Array<uint> expected = this->expected(false);
    uint depth = (uint)place[PLACE_DEPTH];
    ulong all = place[PLACE_REACHED];
    launch(n_groups, [&] { mark_bits(n, depth, distances, in_offsets, frontier, unreached); }, TOGETHER);
    for (; n_levels-- && depth <= max_depth; depth++, std::swap(frontier, next)) {
      launch(n_groups, [&] {
        pull_bits(n, depth, row_offsets, in_offsets, in_neighbors, frontier, next, unreached, distances, predecessors, found);
      }, TOGETHER);
      ulong reached = 0, edges = 0, due = 0;
      for (size_t group = 0; group < n_groups; group++) reached += found[2 * group], edges += found[2 * group + 1];
      for (int v = 0; v < n; v++) due += expected[v] == depth ? (ulong)(row_offsets[v + 1] - row_offsets[v]) : 0;
      if (reached != (ulong)std::count(expected.begin(), expected.end(), depth) || edges != due) return false;
      all += reached;
    }
    launch(1, [&] { queue_bits(n, depth, place[PLACE_EDGES], all, frontier, queue, place); });
    return true;
  }
  bool is_whole() {
    return queue.right() && held.right() && distances.right() && predecessors.right() && meeting.right() && tail.right() && place.right()
           && found.right() && frontier.right() && next.right() && unreached.right();
  }
};

static bool queues_right(Random &random, ulong seed) {
  Queued on(random, seed);
  const ulong most_rows = random.below(2) ? 1ul << 40 : random.below(on.n);
  const bool is_one_queue = !random.below(3), has_bitmaps = random.below(2);
  for (int i = 0; on.place[PLACE_LEFT] && on.place[PLACE_DEPTH] <= on.max_depth; i++) {
    if (i > 8 * on.n) return false;
    if (!on.place[PLACE_EXPANDED] && has_bitmaps && !random.below(3)) {
      if (!on.pull(1 + random.below(3))) return false;
    } else if (is_one_queue) {
      if (!on.expand()) return false;
    } else {
      launch(on.n_groups, [&] { on.search(most_rows); });
      if (on.place[PLACE_STATUS]) return false;
    }
  }
  return on.are_levels(on.distances, on.predecessors, on.max_depth) && on.is_whole();
}

/* A leader that waits for a missing member reports STATUS_TIMEOUT and ends.  It waits only in wide levels. */
static bool alone_right(Random &random, ulong seed) {
  Queued on(random, seed);
  on.max_depth = 1u << 30;
  on.budget = 1 << 20;
  on.least_rows = 1ul << 40;
  on.meeting[MEET_JOINED + 32] = 1;
  ulong widest = 0;
  const Array<uint> expected = on.expected(false);
  for (uint depth = 0; depth < (uint)on.n; depth++)
    widest = std::max(widest, (ulong)std::count(expected.begin(), expected.end(), depth));
  uint unused;
  launch_alone(&unused, [&] { on.search(1ul << 40); });
  return on.place[PLACE_STATUS] == (widest < SHARED_ROWS ? STATUS_OK : STATUS_TIMEOUT);
}

static const Case cases[] = {{"queues", queues_right}, {"late", alone_right}};
