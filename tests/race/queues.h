/* Breadth-first search by groups of one work-item, one of which leads the others while they are in time. */
#pragma once
#include "members.h"
#include "bfs/queue.cl"

/* The search from the source in the lists of turn 0, in launches of a small budget. */
struct Queued : Searched {
  Guarded<int> light, queue, distances, predecessors;
  Guarded<int2> heavy;
  Guarded<uint> state, meeting;
  Guarded<ulong> place;
  uint max_depth;
  long budget;

  Queued(Random &random, ulong seed)
      : Searched(random, seed, 1 << 20), light(2 * light_capacity), queue(MEMBERS * n), distances(n), predecessors(n),
        heavy(2 * heavy_capacity + 2), state(STATE_WORDS), meeting(MEETING_WORDS), place(PLACE_WORDS),
        max_depth(random.below(4) ? 1u << 30 : random.below(6)), budget(1 + random.below(40)) {
    for (int v = 0; v < n; v++) distances[v] = -1, predecessors[v] = -9999;
    distances[source] = 0;
    light[0] = source;
    state[STATE_SIZES] = 1;
    lateness = random.below(2) ? 1ul << 40 : 1ul + random.below(100);
  }
  void search(int resumed, ulong most_rows) {
    search_queue(n, resumed, 0u, 1u, max_depth, most_rows, budget, light_capacity, heavy_capacity, row_offsets,
                 column_indices, light, heavy, state, place, meeting, queue, distances, predecessors);
  }
};

static bool queues_right(Random &random, ulong seed) {
  Queued on(random, seed);
  const int n = on.n;
  const ulong most_rows = random.below(2) ? 1ul << 40 : random.below(n);
  for (int resumed = 0; ; resumed = 1) {
    launch(on.n_groups, [&] { on.search(resumed, most_rows); });
    if (on.place[PLACE_STATUS] || !on.place.right() || !on.meeting.right() || !on.state.right()) return false;
    if (!on.place[PLACE_LEFT] || on.place[PLACE_DEPTH] > on.max_depth) break;
    if (resumed > 4 * n) return false;
  }
  return on.are_levels(on.distances, on.predecessors, on.max_depth) && on.queue.right() && on.distances.right()
         && on.predecessors.right();
}

/* Who leads a member that does not come says so, and ends. */
static bool alone_right(Random &random, ulong seed) {
  Queued on(random, seed);
  on.max_depth = 1u << 30;
  on.budget = 1 << 20;
  on.meeting[MEET_JOINED + 32] = 1;
  ulong widest = 0;
  const Array<uint> expected = on.expected(false);
  for (uint depth = 0; depth < (uint)on.n; depth++)
    widest = std::max(widest, (ulong)std::count(expected.begin(), expected.end(), depth));
  uint unused;
  launch_alone(&unused, [&] { on.search(0, 1ul << 40); });
  return on.place[PLACE_STATUS] == (widest < SHARED_ROWS ? STATUS_OK : STATUS_TIMEOUT);
}

static const Case cases[] = {{"queues", queues_right}, {"late", alone_right}};
