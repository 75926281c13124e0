/* The look-back of primitives/look_back.h by groups that run together: a group is one work-item here. */
#pragma once
#include "host.h"
#define SUM_T uint
#ifndef SUM_BYTES                /* 4 or 8.  With 8-byte sums, a state has two words. */
#define SUM_BYTES 4
#endif
#include "primitives/look_back.h"

/* Tiles whose sums their groups have at hand; twice, since states are used again. */
static bool look_back_right(Random &random, ulong) {
  const uint n = 1 + random.below(30);
  Array<uint> control(2), sums(n), found(n);
  Array<ulong> states(STATE_WORDS * n);
  for (uint run = 0; run < 3; run++) {
    for (uint &sum : sums) sum = random.below(1000);
    launch(n, [&] {
      const uint tile = draw_tile(control);
      found[tile] = look_back(tile, sums[tile], 2 * (run % 2), control, states);
    });
    for (uint tile = 0, before = 0; tile < n; before += sums[tile++])
      if (found[tile] != before) return false;
  }
  return !control[CONTROL_STATUS];
}

/* A group reports STATUS_TIMEOUT if no group has the tile that it waits for. */
static bool unfinished_right(Random &, ulong) {
  Array<uint> control(2);
  Array<ulong> states(2 * STATE_WORDS);
  spin_limit = 3000;
  launch(1, [&] { look_back(1, 1, 0, control, states); });
  spin_limit = SPINS;
  return control[CONTROL_STATUS] == STATUS_TIMEOUT;
}

static const Case cases[] = {{"look_back", look_back_right}, {"unfinished", unfinished_right}};
