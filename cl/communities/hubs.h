/* Hubs are vertices with rows that do not fit into the local memory of a work-group.  All work-groups decide for a hub, in
 * three phases:
 *
 *   insert_all_hubs       a work-group a piece of HUB_PIECE entries: adds them up, and moves the parts to the hub's table
 *   weigh_all_hubs        a work-group twice as many slots of the table: finds their best community
 *   choose_for_all_hubs   a sub-group a hub: compares the communities of the pieces, and writes the target
 *
 * The table is in global memory, and has twice as many slots as the hub has entries.
 */
#ifndef CLGRAPH_COMMUNITIES_HUBS_H
#define CLGRAPH_COMMUNITIES_HUBS_H
#include "communities/movers.h"

#if DIVIDES_ROWS
/* Returns the hub of a piece if it takes part in the round, else a number that is too large.  A hub stays active until
 * its target is written. */
INLINE uint hub_of(const moved_t *m, uint piece, uint round, uint rarity) {
  const uint h = m->hubs.of_pieces[piece], v = (uint)m->hubs.vertices[h];
  return m->active[v] && takes_part(m, v, round, rarity) ? h : ~0u;
}

ALWAYS_INLINE void insert_all_hubs(const moved_t *m, uint round, uint rarity, place_t place, __local scratch_t *scratch) {
  const uint n_pieces = m->long_rows.size[N_PIECES];
  for (uint piece = place.member; piece < n_pieces; piece += place.members) {
    const uint h = hub_of(m, piece, round, rarity);
    if (h == ~0u) continue;
    const int v = m->hubs.vertices[h], own = m->labels[v];
    const int begin = m->level.row_offsets[v] + (int)((piece - m->hubs.pieces[h]) * HUB_PIECE);
    const int end = min(begin + (int)HUB_PIECE, m->level.row_offsets[v + 1]);
    table_t table = empty_table(1, HUB_PIECE, (size_t)m->hubs.slot_begins[h], 2u * degree_of(&m->level, (uint)v),
                                      &m->slots, scratch);
    long to_own = 0l;
    for (int e = begin + (int)get_local_id(0); e < end; e += WG_SIZE) {
      const int u = m->level.columns[e], c = m->labels[u];
      if (u == v) continue;
      const long weight = weight_of(&m->level, e);
      if (c == own) to_own += weight;
      else add(&table, c, weight);
    }
    meet(1);
    move_parts(1, 1, &table);
    to_own = sg_sum(to_own);
    if (sg_lane() == 0 && to_own) fetch_add(m->hubs.to_own + h, to_own);
    meet(1);
  }
}

ALWAYS_INLINE void weigh_all_hubs(const moved_t *m, uint round, uint rarity, place_t place, __local scratch_t *scratch) {
  const uint n_pieces = m->long_rows.size[N_PIECES];
  for (uint piece = place.member; piece < n_pieces; piece += place.members) {
    const uint h = hub_of(m, piece, round, rarity);
    if (h == ~0u) continue;
    const uint v = (uint)m->hubs.vertices[h], degree = degree_of(&m->level, v);
    const uint first = 2u * HUB_PIECE * (piece - m->hubs.pieces[h]), last = min(first + 2u * HUB_PIECE, 2u * degree);
    mover_t mover = mover_of(m, v, round);
    for (uint k = first + (uint)get_local_id(0); k < last; k += WG_SIZE)
      weigh(m, &mover, take_from(m->slots.keys + m->hubs.slot_begins[h] + k, m->slots.weights + m->hubs.slot_begins[h] + k));
    const choice_t best = best_of_team(1, mover.best, mover.salt, scratch);
    if (get_local_id(0) == 0) {
      volatile __global long *words = m->hubs.best + 3u * piece;
      words[0] = best.gain.hi;
      words[1] = (long)best.gain.lo;
      words[2] = (long)best.community;
    }
    meet(1);
  }
}

ALWAYS_INLINE void choose_for_all_hubs(const moved_t *m, uint round, uint rarity, place_t place, __local scratch_t *scratch) {
  const uint n_hubs = m->long_rows.size[N_HUBS], step = place.members * SUB_GROUPS_PER_GROUP;
  for (uint h = sg_in_group() * place.members + place.member; h < n_hubs; h += step) {
    const uint first = m->hubs.pieces[h], v = (uint)m->hubs.vertices[h];
    const int is_active = m->active[v], moves = is_active && takes_part(m, v, round, rarity);
    sg_sync();                   /* lanes have read the active word that lane 0 clears */
    if (sg_lane() == 0) {
      m->targets[v] = NOBODY;
      if (moves) m->active[v] = 0;
      else if (is_active) store_relaxed(m->state + round * ROUND_WORDS + ROUND_ACTIVE, 1l);
    }
    if (!moves) continue;
    mover_t mover = mover_of(m, v, round);
    const uint n_pieces = (degree_of(&m->level, v) + HUB_PIECE - 1u) / HUB_PIECE;
    for (uint i = sg_lane(); i < n_pieces; i += SUB_GROUP_SIZE) {
      volatile __global const long *words = m->hubs.best + 3u * (first + i);
      choice_t other;
      other.gain.hi = words[0];
      other.gain.lo = (ulong)words[1];
      other.community = (int)words[2];
      if (is_better(other, mover.best, mover.salt)) mover.best = other;
    }
    mover.best = best_of_team(0, mover.best, mover.salt, scratch);
    if (sg_lane() == 0) {
      mover.to_own = m->hubs.to_own[h];
      m->hubs.to_own[h] = 0l;
      write_target(m, v, &mover);
    }
  }
}
#endif
#endif
