/* Delaunay refinement in rounds.  Bad triangles that come before their bad neighbours become candidates.  Each candidate
 * claims the triangles that its point would change (mark.cl).  Candidates that own all of these insert their points, all
 * at once (insert.cl).
 *
 *   count_bad, list_bad   list the candidates in the order of their slots; a work-group takes a chunk of slots
 *   renew                 gives each candidate that has lost a new key
 *   write_keys            writes each candidate's key to its triangles, if `mark` does not claim them
 *   judge                 finds whether each candidate has won; a work-group takes a chunk of candidates and counts winners
 *
 * Races: in `write_keys` several candidates may write to one triangle at the same time.  One key is left there, whatever
 * the order, so no two candidates can own the triangle.  Usually the highest key is left, but nothing depends on that.
 */
#include "refine_mesh/chunks.h"
#include "refine_mesh/mesh.h"
#include "common/hashes.h"

#ifndef SIFTED                   /* 1: a bad triangle waits for bad neighbours that come before it */
#define SIFTED 1
#endif

/* Returns the key of a candidate.  Keys of later rounds are greater, then keys of greater urgency, then a hash that is
 * different for each triangle. */
INLINE ulong key_of(int t, int urgency, uint round) {
  return ((ulong)round << ROUND_BIT) | ((ulong)urgency << 32) | hash_murmur3((uint)t ^ round * 0x9e3779b9u);
}

/* Returns 1 if t comes before its bad neighbours. */
INLINE int leads(int t, int urgency, uint round, __global const int4 *restrict links,
                 __global const uchar *restrict urgencies) {
#if !SIFTED
  return 1;
#endif
  ulong key = key_of(t, urgency, round);
  int4 link = links[t];
  for (int e = 0; e < 3; e++) {
    int across = of3(link, e);
    if (across == OUTSIDE) continue;
    int n = unmarked(across) >> 2, other = urgencies[n];
    if (other && key_of(n, other, round) > key) return 0;
  }
  return 1;
}

/* Counts the triangles of each urgency. */
KERNEL count_urgencies(__global const uchar *restrict urgencies, __global const uint *restrict state,
                       volatile __global uint *counts) {
  LOCAL_ARRAY uint here[ENCROACHED + 1];
  for (int u = get_local_id(0); u <= ENCROACHED; u += WG_SIZE) here[u] = 0u;
  local_barrier();
  int n = (int)state[N_TRIANGLES], chunk = chunk_of(n), first = (int)get_group_id(0) * chunk;
  int stop = min(n, first + chunk);
  for (int t = first + get_local_id(0); t < stop; t += WG_SIZE) if (urgencies[t]) fetch_add(here + urgencies[t], 1u);
  local_barrier();
  for (int u = get_local_id(0); u <= ENCROACHED; u += WG_SIZE) if (here[u]) fetch_add(counts + u, here[u]);
}

KERNEL count_bad(uint round, int least_urgency, __global const int4 *restrict links,
                 __global const uchar *restrict urgencies, __global const uint *restrict state,
                 __global uint *restrict leaders, __global uint *restrict bads) {
  LOCAL_ARRAY uint scratch[GROUP_SCRATCH];
  int n = (int)state[N_TRIANGLES], chunk = chunk_of(n), first = (int)get_group_id(0) * chunk;
  int stop = min(n, first + chunk);
  uint bad = 0u, leading = 0u;
  for (int t = first + get_local_id(0); t < stop; t += WG_SIZE) {
    int urgency = urgencies[t];
    if (urgency) {
      bad++;
      if (urgency >= least_urgency) leading += leads(t, urgency, round, links, urgencies);
    }
  }
  keep_sum(bad, bads, scratch);
  keep_sum(leading, leaders, scratch);
}

KERNEL list_bad(uint round, int most_candidates, int least_urgency, __global const int4 *restrict links,
                __global const uchar *restrict urgencies, __global const uint *restrict leaders,
                __global const uint *restrict bads, __global uint *restrict state, __global int *restrict candidates,
                __global ulong *restrict keys, __global uint *restrict totals, __global uint *restrict history) {
  LOCAL_ARRAY uint scratch[GROUP_SCRATCH];
  int n = (int)state[N_TRIANGLES], chunk = chunk_of(n), own = get_group_id(0), first = own * chunk;
  int stop = min(n, first + chunk);
  uint base = sum_before(leaders, own, scratch), all;
  if (own == 0) {
    uint bad = sum_before(bads, get_num_groups(0), scratch), leading = sum_before(leaders, get_num_groups(0), scratch);
    if (get_local_id(0) == 0) {
      state[N_BAD] = bad;
      state[N_CANDIDATES] = min(leading, (uint)most_candidates);
      history[2u * round] = bad;
      history[2u * round + 1u] = totals[0] = state[N_POINTS];
      totals[1] = state[N_TRIANGLES];
      state[N_UNSURE] = 0u;
      state[N_TOO_LARGE] = 0u;
    }
  }
  if (leaders[own] == 0u || base >= (uint)most_candidates) return;
  for (int tile = first; tile < stop; tile += WG_SIZE) {
    int t = tile + get_local_id(0), urgency = t < stop ? urgencies[t] : 0;
    uint chosen = urgency >= least_urgency ? leads(t, urgency, round, links, urgencies) : 0;
    uint place = base + group_exclusive_sum(chosen, scratch, &all);
    if (chosen && place < (uint)most_candidates) {
      candidates[place] = t;
      keys[place] = key_of(t, urgency, round);
    }
    base += all;
  }
}

/* Returns 1 if candidate i has won.  If the highest key is always left, it is enough to own the cavity.  Consider two
 * candidates whose cavities share an edge: the triangle at that edge in one cavity is around the other cavity, so the
 * candidate with the lower key does not own its own cavity.  Two cavities that share only a triangle around them change
 * different links of it, and the order of their points does not matter.  If any key may be left (`write_keys`), a winner
 * must own the triangles around its cavity too. */
INLINE int has_won(int i, int n_rows, int ring_counts, int4 head, ulong key, __global const int4 *restrict rim,
                   __global const int *restrict cavity, __global const ulong *restrict owners) {
  for (int k = 0; k < head.x; k++) if (owners[cavity[k * (size_t)n_rows + i]] != key) return 0;
  for (int k = 0; k < head.y && ring_counts; k++) {
    int across = rim[k * (size_t)n_rows + i].y;
    if (across != OUTSIDE && owners[unmarked(across) >> 2] != key) return 0;
  }
  return head.y > 0;
}

/* Candidates that have lost try again with new keys.  A candidate is dropped if it has won, or if its triangle is not bad
 * any more. */
KERNEL renew(uint round, __global const int *restrict needs, __global const uchar *restrict urgencies,
             __global uint *restrict state, __global int *restrict candidates, __global ulong *restrict keys,
             __global uint *restrict totals, __global uint *restrict history) {
  for (int i = get_global_id(0); i < (int)state[N_CANDIDATES]; i += (int)get_global_size(0)) {
    int t = candidates[i], urgency = t < 0 || needs[i] ? 0 : urgencies[t];
    candidates[i] = urgency ? t : -1;
    keys[i] = key_of(t, urgency, round);
  }
  if (get_global_id(0) == 0) {
    history[2u * round] = state[N_BAD];
    history[2u * round + 1u] = totals[0] = state[N_POINTS];
    totals[1] = state[N_TRIANGLES];
    state[N_UNSURE] = 0u;
  }
}

INLINE void write_key(volatile __global ulong *owner, ulong key, int only_raise) {
  if (!only_raise || load_relaxed(owner) < key) store_relaxed(owner, key);
}

/* Writes a candidate's key to all of its triangles; in a second launch only to triangles with lower keys. */
KERNEL write_keys(int n_rows, int only_raise, __global const uint *restrict state, __global const int4 *restrict heads,
                  __global const ulong *restrict keys, __global const int4 *restrict rim,
                  __global const int *restrict cavity, volatile __global ulong *owners) {
  for (int i = get_global_id(0); i < (int)state[N_CANDIDATES]; i += (int)get_global_size(0)) {
    int4 head = heads[i];
    for (int k = 0; k < head.x; k++) write_key(owners + cavity[k * (size_t)n_rows + i], keys[i], only_raise);
    for (int k = 0; k < head.y; k++) {
      int across = rim[k * (size_t)n_rows + i].y;
      if (across != OUTSIDE) write_key(owners + (unmarked(across) >> 2), keys[i], only_raise);
    }
  }
}

/* needs[i]: the number of slots that a winner needs in addition to the slots of its cavity; 0 for others.  Each group
 * writes three sums: of winners, of these slots, and of the triangles that the winners make. */
KERNEL judge(int n_rows, int ring_counts, __global const uint *restrict state, __global const int4 *restrict heads,
             __global const ulong *restrict keys, __global const int4 *restrict rim,
             __global const int *restrict cavity, __global const ulong *restrict owners, __global int *restrict needs,
             __global uint *restrict winners, __global uint *restrict slots, __global uint *restrict rims) {
  LOCAL_ARRAY uint scratch[GROUP_SCRATCH];
  int n = (int)state[N_CANDIDATES], chunk = chunk_of(n), first = (int)get_group_id(0) * chunk;
  int stop = min(n, first + chunk);
  uint won = 0u, slot = 0u, edges = 0u;
  for (int i = first + get_local_id(0); i < stop; i += WG_SIZE) {
    int4 head = heads[i];
    int need = has_won(i, n_rows, ring_counts, head, keys[i], rim, cavity, owners) ? head.y - head.x : 0;
    needs[i] = need;
    won += need > 0;
    slot += (uint)need;
    edges += need > 0 ? (uint)head.y : 0u;
  }
  keep_sum(won, winners, scratch);
  keep_sum(slot, slots, scratch);
  keep_sum(edges, rims, scratch);
}
