/* A hash table in local memory of the entries of a forward row, with the number of triangles found at each.
 *
 * A team fills it: a sub-group or a work-group, whose lanes have the numbers 0 ... lanes - 1.  It must synchronise between
 * the functions.  A slot without an entry has the key EMPTY.  Entries differ, and the table is at most half full.
 *
 * Races: lanes race for slots by compare-exchange, and an entry that lost its slot takes the next one.  So the places vary,
 * but not which entries the table has.
 */
#ifndef CLGRAPH_TRIANGLES_TABLE_H
#define CLGRAPH_TRIANGLES_TABLE_H
#include "common/atomics.h"
#include "data/rows.h"
#include "triangles/rows.h"

#define EMPTY (-1)

typedef struct {
  __local int *keys;
  __local uint *hits;
  uint bits;                     /* the table has 2^bits slots */
} table_t;

/* Return bits for a table that `count` entries fill at most by half. */
INLINE uint bits_for(uint count) { return 33u - (uint)clz(max(count, 2u) - 1u); }

INLINE uint slot_of(int key, uint bits) { return ((uint)key * 0x9e3779b1u) >> (32u - bits); }

INLINE void clear_table(table_t table, uint lane, uint lanes) {
  for (uint slot = lane; slot < 1u << table.bits; slot += lanes) {
    table.keys[slot] = EMPTY;
    table.hits[slot] = 0u;
  }
}

#if WG_SIZE == 1                 /* no other work-item has the table, and atomics of CPUs are slow */
INLINE int claim(__local int *slot, int key) {
  const int found = *slot;
  if (found == EMPTY) *slot = key;
  return found == EMPTY;
}
#define COUNT_HIT(hits) (*(hits))++
#else
INLINE int claim(volatile __local int *slot, int key) { return compare_exchange(slot, EMPTY, key) == EMPTY; }
#define COUNT_HIT(hits) fetch_add((volatile __local uint *)(hits), 1u)
#endif

INLINE void fill_table(table_t table, __global const int *entries, uint count, uint lane, uint lanes) {
  const uint mask = (1u << table.bits) - 1u;
  for (uint i = lane; i < count; i += lanes) {
    uint slot = slot_of(entries[i], table.bits);
    while (!claim(table.keys + slot, entries[i])) slot = (slot + 1u) & mask;
  }
}

/* Count a triangle at the entry `key` if the table has it; returns 1 if it has. */
INLINE uint hit(table_t table, int key) {
  const uint mask = (1u << table.bits) - 1u;
  uint slot = slot_of(key, table.bits);
  int found = table.keys[slot];
  while (found != key) {
    if (found == EMPTY) return 0u;
    slot = (slot + 1u) & mask;
    found = table.keys[slot];
  }
  COUNT_HIT(table.hits + slot);
  return 1u;
}

/* Add the triangles found at each entry to the entry's count. */
INLINE void add_hits(table_t table, volatile __global uint *counts, uint lane, uint lanes) {
  for (uint slot = lane; slot < 1u << table.bits; slot += lanes)
    if (table.hits[slot]) add_pair(counts + 2 * (size_t)table.keys[slot], table.hits[slot]);
}
#endif
