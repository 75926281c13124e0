/* Shortest paths by a few work-items of a CPU, each with buckets of its own and no barrier between them.
 *
 * Bucket b has the entries with distances from b * delta up to (b + 1) * delta; slot b modulo the number of buckets holds
 * it. A bucket is a queue of chunks. A work-item takes the first chunk of its least bucket, and expands each entry whose
 * distance is still that of its vertex. A vertex whose distance falls gets another entry. So a vertex may be expanded
 * several times, and the answer does not depend on the order.
 * A work-item without chunks waits; another one that sees it shares a chunk. The search is over when no work-item has
 * chunks and none is shared. A launch ends early if a work-item has used up its budget or waited too long. The next
 * launch goes on from the chunks that are left, so work-items may also run one after the other.
 * If chunks run short, all own entries that are out of date are dropped: a vertex has one entry then.
 * Races: distances only fall, by atomic minima, and an entry is made by the work-item that lowered the distance.
 *
 * After R. Dial, "Algorithm 360", Comm. ACM 12, 1969; U. Meyer, P. Sanders, "Delta-stepping", J. Algorithms 49, 2003; and
 * M. D'Antonio et al., "Wasp", 2024, for chunks that are shared without a barrier.
 */
#include "traversal/distances.h"

#ifndef SKIP_LEAVES              /* 1: the only edge of a vertex of degree 1 leads back (undirected), so it need not wait */
#define SKIP_LEAVES 0
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef CHUNK                    /* entries */
#define CHUNK 64u
#endif
#ifndef LATE                     /* looks at a word after which a work-item that waits leaves */
#define LATE (1u << 16)
#endif
#define NONE 0xffffffffu
#define FEW_SHARED 2u            /* chunks that wait for a taker, for each work-item, at most */
/* Words of the state. */
#define STATE_OVERFLOW 0
#define STATE_ALIVE 1            /* the number of the last launch that left chunks */
#define STATE_ARRIVED 32         /* work-items that have started, in all launches */
#define STATE_STOP 64            /* the number of the last launch of which a work-item has used up its budget */
#define STATE_LOCK 96            /* of the words below */
#define STATE_SHARED 97          /* the first chunk of those that are shared */
#define STATE_N_SHARED 98
#define STATE_BUSY 99            /* work-items with chunks, also those that have not started */
#define STATE_WAITING 100
#define STATE_RETURNED 101       /* for each work-item, the first of the chunks from its pool that others have emptied */
#define STATE_OWN (STATE_RETURNED + WORKERS)  /* for each work-item, of the launch before: */
#define OWN_LEAST 0              /* its least bucket, two words */
#define OWN_CHUNKS 2             /* its chunks */
#define OWN_MADE 3               /* chunks that it has taken from its pool */
#define OWN_FREE 4               /* the first of its free chunks */
#define OWN_N_FREE 5
#define OWN_BUSY 6               /* whether STATE_BUSY counts it */
#define OWN_WORDS 7
#define STATE_WORDS (STATE_OWN + OWN_WORDS * WORKERS)

#if REAL
typedef sum_t scale_t;           /* 1 / delta */
INLINE ulong bucket_of(dist_t distance, scale_t scale) { return (ulong)(AS_SUM(distance) * scale); }
#else
typedef uint scale_t;            /* the binary logarithm of delta */
INLINE ulong bucket_of(dist_t distance, scale_t scale) { return (ulong)(distance >> scale); }
#endif

typedef struct { dist_t distance; int vertex; } entry_t;
typedef struct { ulong bucket; uint next, size; } chunk_t;
typedef struct { uint first, last; } bucket_t;

/* A work-item, its buckets and its free chunks. */
typedef struct {
  uint id, mask, n_chunks, n_made, pool, n_free, free;
  ulong least;                   /* no bucket before this one has entries */
  __global bucket_t *restrict buckets;
  __global chunk_t *restrict chunks;
  __global entry_t *restrict entries;
} worker_t;

INLINE uint new_chunk(worker_t *worker, ulong bucket) {
  uint chunk = worker->free;
  if (chunk != NONE) {
    worker->free = worker->chunks[chunk].next;
    worker->n_free--;
  } else {
    chunk = worker->id * worker->pool + worker->n_made++;
  }
  worker->chunks[chunk].bucket = bucket;
  worker->chunks[chunk].next = NONE;
  worker->chunks[chunk].size = 0u;
  return chunk;
}

INLINE void give_back(worker_t *worker, uint chunk) {
  worker->chunks[chunk].next = worker->free;
  worker->free = chunk;
  worker->n_free++;
}

INLINE void put(worker_t *worker, dist_t distance, int vertex, ulong number) {
  __global bucket_t *bucket = worker->buckets + (number & worker->mask);
  uint chunk = bucket->last;
  if (bucket->first == NONE || worker->chunks[chunk].size == CHUNK) {
    const uint before = chunk;
    chunk = new_chunk(worker, number);
    if (bucket->first == NONE) bucket->first = chunk; else worker->chunks[before].next = chunk;
    bucket->last = chunk;
    worker->n_chunks++;
  }
  const uint place = worker->chunks[chunk].size++;
  worker->entries[(ulong)chunk * CHUNK + place].distance = distance;
  worker->entries[(ulong)chunk * CHUNK + place].vertex = vertex;
}

/* Take the first chunk of the least bucket; the work-item has one. */
INLINE uint take(worker_t *worker) {
  while (worker->buckets[worker->least & worker->mask].first == NONE) worker->least++;
  __global bucket_t *bucket = worker->buckets + (worker->least & worker->mask);
  const uint chunk = bucket->first;
  bucket->first = worker->chunks[chunk].next;
  worker->n_chunks--;
  return chunk;
}

/* Drop the entries that are out of date. */
INLINE void collect(worker_t *worker, volatile __global dist_t *distances) {
  for (uint slot = 0u; slot <= worker->mask; slot++) {
    uint chunk = worker->buckets[slot].first;
    worker->buckets[slot].first = NONE;
    while (chunk != NONE) {
      const chunk_t held = worker->chunks[chunk];
      for (uint i = 0u; i < held.size; i++) {
        const entry_t entry = worker->entries[(ulong)chunk * CHUNK + i];
        if (load_relaxed(distances + entry.vertex) == entry.distance) put(worker, entry.distance, entry.vertex, held.bucket);
      }
      give_back(worker, chunk);
      worker->n_chunks--;
      chunk = held.next;
    }
  }
}

INLINE uint n_left(const worker_t *worker) { return worker->n_free + worker->pool - worker->n_made; }

/* Have room for the far ends of n_edges edges: at most a chunk for each bucket, and those that fill up. */
INLINE void make_room(worker_t *worker, ulong n_edges, volatile __global dist_t *distances, volatile __global uint *state) {
  const ulong needed = n_edges / CHUNK + worker->mask + 2ul;
  if (n_left(worker) >= needed) return;
  while (!try_lock(state + STATE_LOCK)) spin_pause();
  uint chunk = state[STATE_RETURNED + worker->id];
  state[STATE_RETURNED + worker->id] = NONE;
  unlock(state + STATE_LOCK);
  while (chunk != NONE) {
    const uint next = worker->chunks[chunk].next;
    give_back(worker, chunk);
    chunk = next;
  }
  if (n_left(worker) < needed) collect(worker, distances);
}

/* Share a chunk if another work-item waits for one. */
INLINE void share(worker_t *worker, volatile __global uint *state) {
  if (worker->n_chunks < 2u || !load_relaxed(state + STATE_WAITING)) return;
  if (load_relaxed(state + STATE_N_SHARED) >= FEW_SHARED * WORKERS || !try_lock(state + STATE_LOCK)) return;
  const uint chunk = take(worker);
  worker->chunks[chunk].next = state[STATE_SHARED];
  state[STATE_SHARED] = chunk;
  store_relaxed(state + STATE_N_SHARED, state[STATE_N_SHARED] + 1u);
  unlock(state + STATE_LOCK);
}

/* Give an emptied chunk to the work-item from whose pool it is. */
INLINE void done_with(worker_t *worker, uint chunk, volatile __global uint *state) {
  const uint owner = chunk / worker->pool;
  if (owner == worker->id) {
    give_back(worker, chunk);
    return;
  }
  while (!try_lock(state + STATE_LOCK)) spin_pause();
  worker->chunks[chunk].next = state[STATE_RETURNED + owner];
  state[STATE_RETURNED + owner] = chunk;
  unlock(state + STATE_LOCK);
}

/* Wait for a chunk of another work-item. NONE: the search is over, or this launch is. */
INLINE uint wait_for_chunk(worker_t *worker, uint round, int *is_busy, volatile __global uint *state) {
  uint chunk = NONE;
  int has_waited = 0, is_over = 0;
  for (uint looks = 0u; chunk == NONE && !is_over && looks < LATE; looks++) {
    const uint busy = load_relaxed(state + STATE_BUSY);
    if (*is_busy || !busy || load_relaxed(state + STATE_N_SHARED)) {
      if (try_lock(state + STATE_LOCK)) {
        if (state[STATE_N_SHARED]) {
          chunk = state[STATE_SHARED];
          state[STATE_SHARED] = worker->chunks[chunk].next;
          store_relaxed(state + STATE_N_SHARED, state[STATE_N_SHARED] - 1u);
          if (!*is_busy) store_relaxed(state + STATE_BUSY, state[STATE_BUSY] + 1u);
          *is_busy = 1;
        } else {
          if (*is_busy) store_relaxed(state + STATE_BUSY, state[STATE_BUSY] - 1u);
          *is_busy = 0;
          is_over = !state[STATE_BUSY];
        }
        unlock(state + STATE_LOCK);
      }
    } else if (load_relaxed(state + STATE_STOP) == round) {
      is_over = 1;
    }
    if (!has_waited && chunk == NONE) fetch_add(state + STATE_WAITING, 1u);
    has_waited |= chunk == NONE;
    if (chunk == NONE) spin_pause();
  }
  if (has_waited) fetch_add(state + STATE_WAITING, (uint)-1);
  if (chunk == NONE && (load_relaxed(state + STATE_BUSY) || load_relaxed(state + STATE_N_SHARED)))
    store_relaxed(state + STATE_ALIVE, round);
  return chunk;
}

/* Lower the distance of u; return whether this was less than any before. */
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

/* Launch number `round`: expand vertices until none waits, or until a work-item has looked at about `budget` edges and
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
      make_room(&worker, (ulong)(end - begin), distances, state);
      for (offset_t e = begin; e < end; e++) {
        const int u = column_indices[e];
        const dist_t distance = extend(near, weight_of(edge_weights, e), &overflow);
        if (distance >= load_relaxed(distances + u) || distance > limit || !lower(distances, u, distance)) continue;
#if SKIP_LEAVES
        if (row_offsets[u + 1] - row_offsets[u] <= 1) continue;
#endif
        put(&worker, distance, u, bucket_of(distance, scale));
      }
    }
    done_with(&worker, chunk, state);
  }
  own[OWN_LEAST] = (uint)worker.least;
  own[OWN_LEAST + 1] = (uint)(worker.least >> 32);
  own[OWN_CHUNKS] = worker.n_chunks;
  own[OWN_MADE] = worker.n_made;
  own[OWN_FREE] = worker.free;
  own[OWN_N_FREE] = worker.n_free;
  own[OWN_BUSY] = (uint)is_busy;
  if (worker.n_chunks) {
    store_relaxed(state + STATE_STOP, round);
    store_relaxed(state + STATE_ALIVE, round);
  }
  if (overflow) store_relaxed(state + STATE_OVERFLOW, 1u);
}
