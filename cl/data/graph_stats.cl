/* What the cost model may know of a graph, as clgraph/data/stats.py defines it, found where the graph is.
 *
 * measure_rows   A work-group takes a chunk of consecutive vertices, a work-item every WG_SIZE-th of them.  Degrees are
 *                exact; distances of neighbours and roots of first hooks come from samples that all work-items share
 *                (from all entries and vertices, if there are few).
 * measure_reach  One work-group climbs the trees of first hooks from sampled vertices, and searches breadth-first from
 *                the middle one of the vertices that have entries until it has seen NEIGHBORHOOD others.
 *
 * Counters are pairs of words, low and high, because not every device has 64-bit atomics: the work-item whose addition
 * makes the low word wrap adds one to the high word, so a pair is right when all have ended.  They begin as 0.
 * In the search a vertex is listed by the work-item that first sets its bit, so the list has it once; a stale look at
 * the bits only costs an atomic.
 */
#include "common/atomics.h"
#include "common/random.h"
#include "common/subgroup.h"

#ifndef N_SAMPLES                /* of entries, and of vertices */
#define N_SAMPLES 16384
#endif
#ifndef FAR_DISTANCE             /* a neighbour beyond it is far */
#define FAR_DISTANCE 32768
#endif
#ifndef N_CLIMBS
#define N_CLIMBS 256
#endif
#ifndef MAX_CLIMB
#define MAX_CLIMB 512
#endif
#ifndef NEIGHBORHOOD
#define NEIGHBORHOOD 4096
#endif
#define N_BINS 33                /* by degree: 0, 1, 2 to 3, 4 to 7 … */
#define PAIR_VERTICES 0
#define PAIR_ENTRIES N_BINS
#define PAIR_SQUARES (2 * N_BINS)
#define PAIR_DISTANCE (PAIR_SQUARES + 1)  /* sum of log2(1 + distance) of sampled neighbours, in parts of SCALE */
#define PAIR_FAR (PAIR_SQUARES + 2)       /* sampled neighbours that are far */
#define PAIR_SAMPLED (PAIR_SQUARES + 3)   /* sampled vertices that have an entry */
#define PAIR_ROOTS (PAIR_SQUARES + 4)     /* those without a smaller first neighbour */
#define N_PAIRS (PAIR_SQUARES + 5)
#ifndef SCALE
#define SCALE 65536
#endif
/* These words begin as ~0 and are lowered. */
#define STATE_LEAST (2 * N_PAIRS)         /* least degree */
#define STATE_GREATEST (STATE_LEAST + 1)  /* ~ of the greatest degree */
#define STATE_LEVELS (STATE_LEAST + 2)    /* what the search found: levels, vertices, those of the last level */
#define STATE_SEEN (STATE_LEAST + 3)
#define STATE_FRONTIER (STATE_LEAST + 4)
#define STATE_ROOTS (STATE_LEAST + 5)     /* of each climb, or ~0 */
#define STATE_DEPTHS (STATE_ROOTS + N_CLIMBS)
#define STATE_WORDS (STATE_DEPTHS + N_CLIMBS)

#define DEFINE_ADD_PAIR(SPACE)                                                      \
  INLINE void add_pair(volatile SPACE uint *pair, ulong x) {                        \
    const uint low = (uint)x, old = low ? fetch_add(pair, low) : 0u;                \
    const uint high = (uint)(x >> 32) + (uint)(old + low < old);                    \
    if (high) fetch_add(pair + 1, high);                                            \
  }
DEFINE_ADD_PAIR(__local)
#ifndef HOST_BUILD               /* where __local is nothing */
DEFINE_ADD_PAIR(__global)
#endif

/* How many of n vertices a work-group takes. */
INLINE long chunk_of(int n, long n_chunks) { return (n + n_chunks - 1) / n_chunks; }

/* The row of entry k. */
INLINE int row_of(long k, int n, const __global offset_t *row_offsets) {
  int low = 0, high = n;         /* row_offsets[low] <= k < row_offsets[high] */
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (row_offsets[middle] <= k) low = middle;
    else high = middle;
  }
  return low;
}

/* connected: of the chunk of each work-group, how many vertices have an entry */
KERNEL measure_rows(int n, long m, const __global offset_t *restrict row_offsets,
                    const __global int *restrict column_indices, __global uint *restrict connected,
                    volatile __global uint *state) {
  LOCAL_ARRAY uint pairs[2 * N_PAIRS];
  for (uint k = get_local_id(0); k < 2 * N_PAIRS; k += WG_SIZE) pairs[k] = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  const long chunk = chunk_of(n, (long)get_num_groups(0));
  const long begin = (long)get_group_id(0) * chunk, end = min((long)n, begin + chunk);
  ulong squares = 0ul;
  uint least = ~0u, greatest = 0u;
  for (long v = begin + (long)get_local_id(0); v < end; v += WG_SIZE) {
    const uint degree = (uint)(row_offsets[v + 1] - row_offsets[v]), bin = degree ? 32u - clz(degree) : 0u;
    add_pair(pairs + 2 * (PAIR_VERTICES + bin), 1ul);
    add_pair(pairs + 2 * (PAIR_ENTRIES + bin), (ulong)degree);
    squares += (ulong)degree * degree;
    least = min(least, degree);
    greatest = max(greatest, degree);
  }
  add_pair(pairs + 2 * PAIR_SQUARES, squares);
  lower_to(state + STATE_LEAST, least);
  lower_to(state + STATE_GREATEST, ~greatest);

  const ulong key = random_key(1ul), n_items = get_global_size(0);
  for (ulong i = get_global_id(0); i < (ulong)min(m, (long)N_SAMPLES); i += n_items) {
    const long k = m > N_SAMPLES ? (long)mul_hi((ulong)random_uint(key, i) << 32, (ulong)m) : (long)i;
    const float distance = fabs((float)((long)column_indices[k] - row_of(k, n, row_offsets)));
    add_pair(pairs + 2 * PAIR_DISTANCE, (ulong)((float)SCALE * log2(1.0f + distance) + 0.5f));
    if (distance > FAR_DISTANCE) add_pair(pairs + 2 * PAIR_FAR, 1ul);
  }
  for (ulong i = get_global_id(0); i < (ulong)min(n, N_SAMPLES); i += n_items) {
    const int v = n > N_SAMPLES ? (int)random_below(key, N_SAMPLES + i, (uint)n) : (int)i;
    const long first = row_offsets[v];
    if (first == row_offsets[v + 1]) continue;
    add_pair(pairs + 2 * PAIR_SAMPLED, 1ul);
    if (column_indices[first] >= v) add_pair(pairs + 2 * PAIR_ROOTS, 1ul);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0)
    connected[get_group_id(0)] = begin < end ? (uint)(end - begin) - pairs[2 * PAIR_VERTICES] : 0u;
  for (uint k = get_local_id(0); k < N_PAIRS; k += WG_SIZE)
    add_pair(state + 2 * k, (ulong)pairs[2 * k + 1] << 32 | pairs[2 * k]);
}

/* connected: as measure_rows has left it, of n_chunks work-groups; seen: a bit for each vertex, 0; list: room for n
 * vertices, or for 33 * NEIGHBORHOOD if they are fewer */
KERNEL measure_reach(int n, int n_chunks, const __global offset_t *restrict row_offsets,
                     const __global int *restrict column_indices, const __global uint *restrict connected,
                     volatile __global uint *seen, volatile __global int *list, __global uint *state) {
  LOCAL_ARRAY uint counts[WG_SIZE], chosen, rank, size;
  for (int s = (int)get_local_id(0); s < min(n, N_CLIMBS); s += WG_SIZE) {
    int v = n > N_CLIMBS ? (int)((long)n * s / N_CLIMBS) : s;
    uint depth = 0u;
    const int has_entry = row_offsets[v] < row_offsets[v + 1];
    while (depth < MAX_CLIMB && row_offsets[v] < row_offsets[v + 1] && column_indices[row_offsets[v]] < v) {
      v = column_indices[row_offsets[v]];
      depth++;
    }
    state[STATE_ROOTS + s] = has_entry ? (uint)v : ~0u;
    state[STATE_DEPTHS + s] = depth;
  }

  if (get_local_id(0) == 0) {    /* in which chunk the middle vertex is */
    uint total = 0u, c = 0u;
    for (int k = 0; k < n_chunks; k++) total += connected[k];
    size = total > 0u;
    for (total /= 2u; size && total >= connected[c]; c++) total -= connected[c];
    chosen = c;
    rank = total;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  uint begin = 0u, end = size, levels = 0u;
  const long chunk = chunk_of(n, n_chunks), first_vertex = chosen * chunk, piece = chunk_of((int)chunk, WG_SIZE);
  const long from = first_vertex + (long)get_local_id(0) * piece;
  uint count = 0u;
  for (long v = from; end && v < min((long)n, min(first_vertex + chunk, from + piece)); v++)
    count += row_offsets[v] < row_offsets[v + 1];
  counts[get_local_id(0)] = count;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (end && get_local_id(0) == 0) {
    uint left = rank, l = 0u;
    for (; left >= counts[l]; l++) left -= counts[l];
    long v = first_vertex + l * piece;
    for (;; v++)
      if (row_offsets[v] < row_offsets[v + 1] && !left--) break;
    list[0] = (int)v;
    seen[v >> 5] = 1u << (v & 31);
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  while (begin < end && end < NEIGHBORHOOD) {
    const long most = NEIGHBORHOOD / max(1u, (end - begin) / 16u);
    for (uint row = begin + sg_in_group(); row < end; row += SUB_GROUPS_PER_GROUP) {
      const int v = load_relaxed(list + row);
      const long first = row_offsets[v], stop = min((long)row_offsets[v + 1], first + most);
      for (long k = first + (long)sg_lane(); k < stop; k += SUB_GROUP_SIZE) {
        const int u = column_indices[k];
        const uint bit = 1u << (u & 31);
        if (load_relaxed(seen + (u >> 5)) & bit) continue;
        if (!(fetch_or(seen + (u >> 5), bit) & bit)) store_relaxed(list + fetch_add(&size, 1u), u);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    begin = end;
    end = size;
    levels++;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (get_local_id(0) == 0) {
    state[STATE_LEVELS] = levels;
    state[STATE_SEEN] = end;
    state[STATE_FRONTIER] = end - begin;
  }
}
