/* Chunks of waiting vertices: the buckets of each worker, its pool, and the chunks that workers share.
 *
 * A chunk belongs to the pool of the worker that took it first. The worker that empties it gives it back there.
 */
#ifndef CLGRAPH_SSSP_CHUNKS_H
#define CLGRAPH_SSSP_CHUNKS_H
#include "common/status.h"
#include "traversal/distances.h"

#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef CHUNK                    /* entries per chunk */
#define CHUNK 64u
#endif
#ifndef LATE                     /* reads of a word after which a waiting work-item gives up */
#define LATE (1u << 16)
#endif
#define NONE 0xffffffffu
#define FEW_SHARED 2u            /* shared chunks that are not taken yet, per work-item, at most */
/* Words of the state. */
#define STATE_OVERFLOW 0
#define STATE_ALIVE 1            /* the number of the last launch that left chunks */
#define STATE_STATUS 2
#define STATE_ARRIVED 32         /* work-items that have started, in all launches */
#define STATE_STOP 64            /* the number of the last launch of which a work-item has used up its budget */
#define STATE_LOCK 96            /* guards the words below */
#define STATE_SHARED 97          /* the first shared chunk */
#define STATE_N_SHARED 98
#define STATE_BUSY 99            /* work-items with chunks, whether they have started or not */
#define STATE_WAITING 100
#define STATE_RETURNED 101       /* per work-item: the first chunk of its pool that another work-item has emptied */
#define STATE_OWN (STATE_RETURNED + WORKERS)  /* words for each work-item, from the launch before: */
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

/* Take the first chunk of the least bucket.  The work-item must have a chunk. */
INLINE uint take(worker_t *worker) {
  while (worker->buckets[worker->least & worker->mask].first == NONE) worker->least++;
  __global bucket_t *bucket = worker->buckets + (worker->least & worker->mask);
  const uint chunk = bucket->first;
  bucket->first = worker->chunks[chunk].next;
  worker->n_chunks--;
  return chunk;
}

/* Drop all outdated entries: those with another distance than their vertex. */
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

/* Take the lock, with a bounded wait.  Returns 1 on success. */
INLINE int take_lock(volatile __global uint *state) {
  for (uint looks = 0u; looks < LATE; looks++) {
    if (try_lock(state + STATE_LOCK)) return 1;
    spin_pause();
  }
  return 0;
}

/* Make room for entries of n_edges edges.  They need at most a chunk each, or the chunks that they fill and one for each
 * bucket. */
INLINE int has_room(worker_t *worker, ulong n_edges, volatile __global dist_t *distances, volatile __global uint *state) {
  const ulong needed = min(n_edges, n_edges / CHUNK + worker->mask + 2ul);
  if (n_left(worker) >= needed) return 1;
  uint chunk = NONE;
  if (take_lock(state)) {
    chunk = state[STATE_RETURNED + worker->id];
    state[STATE_RETURNED + worker->id] = NONE;
    unlock(state + STATE_LOCK);
  }
  while (chunk != NONE) {
    const uint next = worker->chunks[chunk].next;
    give_back(worker, chunk);
    chunk = next;
  }
  if (n_left(worker) < needed) collect(worker, distances);
  return n_left(worker) >= needed;
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

/* Return an emptied chunk to the worker that owns it; keep the chunk if the lock cannot be taken. */
INLINE void done_with(worker_t *worker, uint chunk, volatile __global uint *state) {
  const uint owner = chunk / worker->pool;
  if (owner == worker->id || !take_lock(state)) {
    give_back(worker, chunk);
    return;
  }
  worker->chunks[chunk].next = state[STATE_RETURNED + owner];
  state[STATE_RETURNED + owner] = chunk;
  unlock(state + STATE_LOCK);
}

/* Wait for a chunk of another work-item. Returns NONE if the search or this launch is over. */
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
#endif
