/* Shortest paths by a few work-items of a CPU, each with buckets of its own and no barrier between them.
 *
 * Bucket b has the entries with distances from b * delta up to (b + 1) * delta; slot b modulo the number of buckets holds
 * it. A bucket is a queue of chunks. A work-item takes the first chunk of its least bucket, and expands each entry whose
 * distance still equals its vertex's distance. A vertex whose distance falls gets another entry. So a vertex may be
 * expanded several times, and the result does not depend on the order.
 * A work-item without chunks waits until another one notices this and shares a chunk. The search is over when no
 * work-item has chunks and none is shared. A launch ends early if a work-item has used up its budget or waited too long.
 * The next launch continues with the remaining chunks, so work-items may also run one after the other.
 * If a worker's chunks run short, it drops all its outdated entries. Then a vertex has at most one entry there.
 * Races: distances only fall, by atomic minima, and the work-item that lowered a distance makes the entry.
 *
 * After R. Dial, "Algorithm 360", Comm. ACM 12, 1969; U. Meyer, P. Sanders, "Delta-stepping", J. Algorithms 49, 2003; and
 * M. D'Antonio et al., "Wasp", 2024, for chunks that are shared without a barrier.
 */
#include "sssp/chunks.h"

#ifndef SKIP_LEAVES              /* 1: the only edge of a vertex of degree 1 leads back (undirected), so it need not wait */
#define SKIP_LEAVES 0
#endif
/* Lower the distance of u. Return 1 if the new distance was less than the old one. */
INLINE int lower(volatile __global dist_t *distances, int u, dist_t distance) {
#if WORKERS == 1
  if (distance >= distances[u]) return 0;
  distances[u] = distance;
  return 1;
#else
  return lower_to(distances + u, distance);
#endif
}

/* One work-item initializes the distances, and gives the sources to the first worker. */
KERNEL start(int n, int n_sources, uint n_buckets, __global const int *restrict sources, __global chunk_t *restrict chunks,
             __global entry_t *restrict entries, __global bucket_t *restrict buckets, __global uint *restrict state,
             __global dist_t *restrict distances, uint pool) {
  for (int v = 0; v < n; v++) distances[v] = FAR_AWAY;
  for (uint i = 0u; i < STATE_WORDS; i++) state[i] = 0u;
  for (uint k = 0u; k < WORKERS; k++) state[STATE_RETURNED + k] = state[STATE_OWN + OWN_WORDS * k + OWN_FREE] = NONE;
  for (ulong slot = 0ul; slot < (ulong)n_buckets * WORKERS; slot++) buckets[slot].first = NONE;
  worker_t worker = {0u, n_buckets - 1u, 0u, 0u, pool, 0u, NONE, 0ul, buckets, chunks, entries};
  for (int i = 0; i < n_sources; i++) {
    if (distances[sources[i]] == 0) continue;
    distances[sources[i]] = 0;
    put(&worker, 0, sources[i], 0ul);
  }
  state[STATE_SHARED] = NONE;
  state[STATE_BUSY] = state[STATE_OWN + OWN_BUSY] = 1u;
  state[STATE_OWN + OWN_CHUNKS] = worker.n_chunks;
  state[STATE_OWN + OWN_MADE] = worker.n_made;
}

/* Offer all neighbours of v, which is at distance `near`, a path through v. */
INLINE void expand_row(worker_t *worker, offset_t begin, offset_t end, dist_t near, dist_t limit, scale_t scale,
                       __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                       __global const weight_t *restrict edge_weights, volatile __global dist_t *distances,
                       int *overflow) {
  for (offset_t e = begin; e < end; e++) {
    const int u = column_indices[e];
    const dist_t distance = extend(near, weight_of(edge_weights, e), overflow);
    if (distance >= load_relaxed(distances + u) || distance > limit || !lower(distances, u, distance)) continue;
#if SKIP_LEAVES
    if (row_offsets[u + 1] - row_offsets[u] <= 1) continue;
#endif
    put(worker, distance, u, bucket_of(distance, scale));
  }
}

/* Keep the state of a worker for the next launch. */
INLINE void save_worker(const worker_t *worker, int is_busy, volatile __global uint *own) {
  own[OWN_LEAST] = (uint)worker->least;
  own[OWN_LEAST + 1] = (uint)(worker->least >> 32);
  own[OWN_CHUNKS] = worker->n_chunks;
  own[OWN_MADE] = worker->n_made;
  own[OWN_FREE] = worker->free;
  own[OWN_N_FREE] = worker->n_free;
  own[OWN_BUSY] = (uint)is_busy;
}

/* Launch number `round`: expand vertices until none waits, or until a work-item has read about `budget` edges and
 * entries. */
KERNEL search(uint round, dist_t limit, long budget, scale_t scale, uint n_buckets, uint pool,
              __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
              __global const weight_t *restrict edge_weights, __global chunk_t *restrict chunks,
              __global entry_t *restrict entries, __global bucket_t *restrict buckets, volatile __global uint *state,
              volatile __global dist_t *distances) {
  const uint id = fetch_add(state + STATE_ARRIVED, 1u) % WORKERS;
  volatile __global uint *own = state + STATE_OWN + OWN_WORDS * id;
  worker_t worker = {id, n_buckets - 1u, own[OWN_CHUNKS], own[OWN_MADE], pool, own[OWN_N_FREE], own[OWN_FREE],
                     own[OWN_LEAST] | (ulong)own[OWN_LEAST + 1] << 32, buckets + (ulong)n_buckets * id, chunks, entries};
  int overflow = 0, is_busy = (int)own[OWN_BUSY];
  while (budget > 0 && load_relaxed(state + STATE_STOP) != round) {
    uint chunk;
    if (worker.n_chunks) {
      chunk = take(&worker);
      share(&worker, state);
    } else {
      chunk = wait_for_chunk(&worker, round, &is_busy, state);
      if (chunk == NONE) break;
    }
    worker.least = chunks[chunk].bucket;
    const uint size = chunks[chunk].size;
    __global const entry_t *entry = entries + (ulong)chunk * CHUNK;
    for (uint i = 0u; i < size; i++) {
      FETCH_AHEAD(row_offsets + entry[min(i + 2u, size - 1u)].vertex);
      const offset_t next = row_offsets[entry[min(i + 1u, size - 1u)].vertex];
      FETCH_AHEAD(column_indices + next);
      FETCH_AHEAD(edge_weights + next);
      const int v = entry[i].vertex;
      const dist_t near = entry[i].distance;
      budget--;
      if (load_relaxed(distances + v) != near) continue;
      const offset_t begin = row_offsets[v], end = row_offsets[v + 1];
      budget -= end - begin;
      if (!has_room(&worker, (ulong)(end - begin), distances, state)) {
        report_status(state + STATE_STATUS, STATUS_CAPACITY);
        budget = 0;
        break;
      }
      expand_row(&worker, begin, end, near, limit, scale, row_offsets, column_indices, edge_weights, distances, &overflow);
    }
    done_with(&worker, chunk, state);
  }
  save_worker(&worker, is_busy, own);
  if (worker.n_chunks && !load_relaxed(state + STATE_STATUS)) {
    store_relaxed(state + STATE_STOP, round);
    store_relaxed(state + STATE_ALIVE, round);
  }
  if (overflow) store_relaxed(state + STATE_OVERFLOW, 1u);
}
