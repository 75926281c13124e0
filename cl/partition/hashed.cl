/* Contraction: each pair of mates, and each vertex without a mate, becomes a vertex of the next level.  Its row is
 * gathered in a hash table.  A team takes a coarse vertex and inserts the entries of both rows, with the coarse neighbour
 * as the key.  If the key is there already, it adds the weight.
 *
 * The table of a coarse vertex has a slot for each entry of both rows, so it is never full.  All tables together have a
 * slot for each entry of the level.  Coarse vertices are numbered in the order of the lesser mates.  With TEAM 1 the order
 * of entries in rows is also the same on all devices.  In a wider team lanes race for slots, so the order of entries
 * varies, but the weights do not.
 *
 * After M. Gilbert, S. Acer, E. Boman, K. Madduri, S. Rajamanickam, "Performance-portable graph coarsening for efficient
 * multilevel graph analysis", IPDPS 2021.
 */
#include "partition/level.h"
#include "common/row_table.h"
#include "primitives/group_scan.h"

/* Loop over a group's chunk of consecutive items; its work-items take one item each at a time. */
#define CHUNK_OF_GROUP(n)                                                                             \
  const uint chunk = ((n + get_num_groups(0) - 1u) / get_num_groups(0) + WG_SIZE - 1u) / WG_SIZE * WG_SIZE; \
  const uint first = min(n, (uint)get_group_id(0) * chunk), end = min(n, first + chunk);

INLINE int leads(__global const int *mates, uint v) { return mates[v] == NOBODY || (int)v < mates[v]; }
/* Returns the number of coarse vertices of which v is the leader, 0 or 1, in the high word, and the number of their slots
 * in the low word. */
INLINE ulong share_of_leader(const level_t *on, __global const int *mates, uint v) {
  if (!leads(mates, v)) return 0ul;
  const int u = mates[v];
  uint slots = (uint)(on->rows[v + 1] - on->rows[v]);
  if (u != NOBODY) slots += (uint)(on->rows[u + 1] - on->rows[u]);
  return (1ul << 32) | slots;
}

KERNEL count_leaders(uint level, LEVELS_PARAMETERS, __global const int *mates, __global ulong *sums) {
  LOCAL_ARRAY ulong scratch[GROUP_SCRATCH];
  const level_t on = LEVEL(level);
  CHUNK_OF_GROUP(on.n)
  ulong sum = 0ul, all;
  for (uint v = first + get_local_id(0); v < end; v += WG_SIZE) sum += share_of_leader(&on, mates, v);
  group_exclusive_sum(sum, scratch, &all);
  if (get_local_id(0) == 0) sums[get_group_id(0)] = all;
}

/* Writes the map, the weights of the coarse vertices, their leaders, the beginnings of their slots, and the words of the
 * next level that do not depend on its number of entries. */
KERNEL number_leaders(uint level, LEVELS_PARAMETERS, __global const int *mates, __global const ulong *sums,
                      __global int *leaders, __global int *slot_begins) {
  LOCAL_ARRAY ulong scratch[GROUP_SCRATCH];
  const level_t on = LEVEL(level);
  CHUNK_OF_GROUP(on.n)
  ulong earlier = 0ul, total = 0ul, prefix, all;
  for (uint g = get_local_id(0); g < get_num_groups(0); g += WG_SIZE) {
    total += sums[g];
    if (g < get_group_id(0)) earlier += sums[g];
  }
  group_exclusive_sum(total, scratch, &all);
  const uint n = (uint)(all >> 32);
  group_exclusive_sum(earlier, scratch, &prefix);
  __global long *words = levels + level * LEVEL_WORDS, *next = words + LEVEL_WORDS;
  const long at = words[LEVEL_END], at_weights = at + n + 1, at_map = at_weights + n;
  if (get_global_id(0) == 0) {
    next[LEVEL_VERTICES] = n;
    next[LEVEL_ROWS] = at;
    next[LEVEL_VERTEX_WEIGHTS] = at_weights;
    next[LEVEL_MAP] = at_map;
    next[LEVEL_CUT] = next[LEVEL_TURNS] = 0;
    next[LEVEL_COLUMNS] = at_map + n;
  }
  for (uint start = first; start < end; start += WG_SIZE) {
    const uint v = start + get_local_id(0);
    const ulong own = v < end ? share_of_leader(&on, mates, v) : 0ul;
    ulong tile;
    const ulong at_own = prefix + group_exclusive_sum(own, scratch, &tile);
    prefix += tile;
    if (v < end && mates[v] == LEFT_OUT) on.map[v] = NOBODY;
    if (!own) continue;
    const uint c = (uint)(at_own >> 32);
    const int u = mates[v];
    on.map[v] = (int)c;
    if (u != NOBODY) on.map[u] = (int)c;
    leaders[c] = (int)v;
    slot_begins[c] = (int)(uint)at_own;
    arena[at_weights + c] = vertex_weight(&on, v) + (u == NOBODY ? 0 : vertex_weight(&on, u));
  }
}

INLINE int insert_row(const level_t *on, int v, int c, volatile __global int *keys, volatile __global int *weights,
                      uint room) {
  int n_new = 0;
  for (int e = on->rows[v] + (int)TEAM_LANE; e < on->rows[v + 1]; e += TEAM) {
    const int key = on->map[on->columns[e]];
    if (key != c) n_new += insert(keys, weights, room, key, edge_weight(on, e));
  }
  return n_new;
}

/* counts: entries of each coarse row. */
KERNEL insert_entries(uint level, LEVELS_PARAMETERS, __global const int *mates, __global const int *leaders,
                      __global const int *slot_begins, volatile __global int *keys, volatile __global int *weights,
                      __global int *counts) {
  const level_t on = LEVEL(level);
  const uint n = (uint)levels[(level + 1u) * LEVEL_WORDS + LEVEL_VERTICES];
#if TEAM == 1
  const share_t share = share_of(n);
  for (uint i = share.first; i < share.end; i += share.step) {
    const uint c = i + sg_lane();
    if (c >= n) continue;
#else
  const share_t share = team_share_of(n);
  for (uint c = share.first; c < share.end; c += share.step) {
#endif
    const int v = leaders[c], u = mates[v], begin = slot_begins[c];
    uint room = (uint)(on.rows[v + 1] - on.rows[v]);
    if (u != NOBODY) room += (uint)(on.rows[u + 1] - on.rows[u]);
    for (uint k = TEAM_LANE; k < room; k += TEAM) {
      keys[begin + k] = NOBODY;
      weights[begin + k] = 0;
    }
    team_sync();
    int count = insert_row(&on, v, (int)c, keys + begin, weights + begin, room);
    if (u != NOBODY) count += insert_row(&on, u, (int)c, keys + begin, weights + begin, room);
    count = team_sum(count);
    if (TEAM_LANE == 0) counts[c] = count;
  }
}

KERNEL count_chunks(uint level, __global const long *levels, __global const int *counts, __global ulong *sums) {
  LOCAL_ARRAY ulong scratch[GROUP_SCRATCH];
  const uint n = (uint)levels[(level + 1u) * LEVEL_WORDS + LEVEL_VERTICES];
  CHUNK_OF_GROUP(n)
  ulong sum = 0ul, all;
  for (uint c = first + get_local_id(0); c < end; c += WG_SIZE) sum += (ulong)counts[c];
  group_exclusive_sum(sum, scratch, &all);
  if (get_local_id(0) == 0) sums[get_group_id(0)] = all;
}

/* Writes the row offsets of the next level, and its remaining words. */
KERNEL place_rows(uint level, __global const int *counts, __global const ulong *sums, __global long *levels,
                  __global int *arena) {
  LOCAL_ARRAY ulong scratch[GROUP_SCRATCH];
  __global long *next = levels + (level + 1u) * LEVEL_WORDS;
  const uint n = (uint)next[LEVEL_VERTICES];
  CHUNK_OF_GROUP(n)
  ulong earlier = 0ul, total = 0ul, prefix, all;
  for (uint g = get_local_id(0); g < get_num_groups(0); g += WG_SIZE) {
    total += sums[g];
    if (g < get_group_id(0)) earlier += sums[g];
  }
  group_exclusive_sum(total, scratch, &all);
  group_exclusive_sum(earlier, scratch, &prefix);
  __global int *rows = arena + next[LEVEL_ROWS];
  for (uint start = first; start < end; start += WG_SIZE) {
    const uint c = start + get_local_id(0);
    ulong tile;
    const ulong before = prefix + group_exclusive_sum(c < end ? (ulong)counts[c] : 0ul, scratch, &tile);
    prefix += tile;
    if (c < end) rows[c] = (int)before;
  }
  if (get_global_id(0) == 0) {
    rows[n] = (int)all;
    next[LEVEL_ENTRIES] = (long)all;
    next[LEVEL_EDGE_WEIGHTS] = next[LEVEL_COLUMNS] + (long)all;
    next[LEVEL_END] = next[LEVEL_EDGE_WEIGHTS] + (long)all;
  }
}

KERNEL write_entries(uint level, LEVELS_PARAMETERS, __global const int *mates, __global const int *leaders,
                     __global const int *slot_begins, __global const int *keys, __global const int *weights) {
  const level_t on = LEVEL(level), coarse = LEVEL(level + 1u);
  __global int *columns = arena + levels[(level + 1u) * LEVEL_WORDS + LEVEL_COLUMNS];
  __global int *edge_weights_of_next = arena + levels[(level + 1u) * LEVEL_WORDS + LEVEL_EDGE_WEIGHTS];
  const share_t share = team_share_of(coarse.n);
  for (uint c = share.first; c < share.end; c += share.step) {
    const int v = leaders[c], u = mates[v], begin = slot_begins[c];
    int room = on.rows[v + 1] - on.rows[v], to = coarse.rows[c];
    if (u != NOBODY) room += on.rows[u + 1] - on.rows[u];
    for (int k = 0; k < room; k += SUB_GROUP_SIZE) {
      const int own = k + (int)sg_lane(), key = own < room ? keys[begin + own] : NOBODY;
      const lane_mask_t full = sg_ballot(key != NOBODY);
      if (key != NOBODY) {
        const int at = to + (int)lane_count(full & lanes_below_mask());
        columns[at] = key;
        edge_weights_of_next[at] = weights[begin + own];
      }
      to += (int)lane_count(full);
    }
  }
}

/* Copies the parts of a level from array `before` of work to array `after`, for the next level or the same one. */
KERNEL carry_parts(uint level, int is_coarser, uint before, uint after, uint room, __global const long *levels,
                   __global const int *leaders, __global int *work) {
  const uint n = (uint)levels[(level + (is_coarser ? 1u : 0u)) * LEVEL_WORDS + LEVEL_VERTICES];
  __global const int *from = work + (size_t)before * room;
  __global int *to = work + (size_t)after * room;
  const share_t share = share_of(n);
  for (uint i = share.first; i < share.end; i += share.step) {
    const uint c = i + sg_lane();
    if (c < n) to[c] = from[is_coarser ? (uint)leaders[c] : c];
  }
}
