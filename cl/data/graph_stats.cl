/* Statistics of a graph for the cost model, as clgraph/data/graphs/stats.py defines them, measured where the graph is.
 *
 * measure_rows   A work-group takes a chunk of consecutive vertices, a work-item every WG_SIZE-th of them.  Degrees are
 *                exact.  Distances of neighbours and roots of first hooks come from samples, or from all entries and
 *                vertices if there are few.  A work-item takes consecutive parts and samples one position in each, so it
 *                goes through the rows in order.  Then it climbs the trees of first hooks from sampled vertices.
 * measure_reach  The first work-group searches breadth-first from the middle of the vertices that have entries, until it
 *                has seen NEIGHBORHOOD others.  Each of N_STARTS work-items of the second group searches from another
 *                vertex, until it has seen SHORT_SEEN vertices or read SHORT_LOOKS entries.  These searches find small
 *                components and long paths.
 *
 * Counters are pairs of words (data/rows.h) and start as 0.
 * In the search a vertex is listed by the work-item that first sets its bit, so it is listed once.  A stale load of the
 * bits only costs an atomic.
 */
#include "common/random.h"
#include "common/subgroup.h"
#include "data/reach.h"

#ifndef N_SAMPLES                /* number of sampled vertices; all entries are read if there are no more than this */
#define N_SAMPLES 16384
#endif
#define N_ENTRIES (N_SAMPLES / 4)  /* sampled entries otherwise; few, because finding the row of an entry takes long */
#ifndef FAR_DISTANCE             /* a neighbour at a greater distance is far */
#define FAR_DISTANCE 32768
#endif
#ifndef N_CLIMBS
#define N_CLIMBS 256
#endif
#ifndef MAX_CLIMB
#define MAX_CLIMB 128
#endif
#define TURNS 4                  /* counters per bin, used in turn, because additions to one counter wait for each other */
#define N_BINS 33                /* bins by degree: 0, 1, 2 to 3, 4 to 7 … */
#define PAIR_VERTICES 0
#define PAIR_ENTRIES N_BINS
#define PAIR_SQUARES (2 * N_BINS)
#define PAIR_DISTANCE (PAIR_SQUARES + 1)  /* sum of log2(1 + distance) of sampled neighbours, in parts of SCALE */
#define PAIR_FAR (PAIR_SQUARES + 2)       /* sampled neighbours that are far */
#define PAIR_SAMPLED (PAIR_SQUARES + 3)   /* sampled vertices that have an entry */
#define PAIR_ROOTS (PAIR_SQUARES + 4)     /* sampled vertices whose first neighbour is not smaller */
#define N_PAIRS (PAIR_SQUARES + 5)
#ifndef SCALE
#define SCALE 65536
#endif
/* These words start as ~0 and are lowered. */
#define STATE_LEAST (2 * N_PAIRS)         /* least degree */
#define STATE_GREATEST (STATE_LEAST + 1)  /* ~ of the greatest degree */
#define STATE_SEARCHES (STATE_LEAST + 2)  /* the long search, then the N_STARTS short ones */
#define STATE_ROOTS (STATE_SEARCHES + SEARCH_WORDS * (1 + N_STARTS))  /* the root of each climb, or ~0 */
#define STATE_DEPTHS (STATE_ROOTS + N_CLIMBS)
#define STATE_WORDS (STATE_DEPTHS + N_CLIMBS)

#ifndef CLIMBS_AT_ONCE           /* climbs per work-item at the same time, so that their memory latencies overlap */
#define CLIMBS_AT_ONCE (DEV_IS_CPU ? 8 : 1)
#endif

/* Returns a random position in the i-th of n_parts equal parts of *count* positions; position i if there are no more than
 * N_SAMPLES. */
INLINE long place_of(ulong key, ulong i, ulong n_parts, long count) {
  if (count <= N_SAMPLES) return (long)i;
  const ulong begin = i * (ulong)count / n_parts, end = (i + 1) * (ulong)count / n_parts;
  return (long)(begin + random_below(key, i, (uint)(end - begin)));
}

/* Returns the first neighbour of v if that is smaller than v, else v. */
INLINE int first_hook(int v, const __global offset_t *row_offsets, const __global int *column_indices) {
  const long first = row_offsets[v];
  return first < row_offsets[v + 1] ? min(v, column_indices[first]) : v;
}

/* Count the vertices begin … end and their entries by degree, and find the least and the greatest degree. */
INLINE void measure_degrees(long begin, long end, const __global offset_t *restrict row_offsets, __local uint *pairs,
                            volatile __global uint *state) {
  ulong squares = 0ul;
#if WG_SIZE == 1                 /* a work-item alone in its group counts in private memory */
  ulong vertices[TURNS * N_BINS], entries[TURNS * N_BINS];
  for (int bin = 0; bin < TURNS * N_BINS; bin++) vertices[bin] = entries[bin] = 0ul;
#endif
  uint least = ~0u, greatest = 0u;
  for (long v = begin + (long)get_local_id(0); v < end; v += WG_SIZE) {
    const uint degree = (uint)(row_offsets[v + 1] - row_offsets[v]), bin = degree ? 32u - clz(degree) : 0u;
#if WG_SIZE == 1
    const uint turn = (uint)v % TURNS * N_BINS + bin;
    vertices[turn]++;
    entries[turn] += degree;
#else
    add_local_pair(pairs + 2 * (PAIR_VERTICES + bin), 1ul);
    add_local_pair(pairs + 2 * (PAIR_ENTRIES + bin), (ulong)degree);
#endif
    squares += (ulong)degree * degree;
    least = min(least, degree);
    greatest = max(greatest, degree);
  }
#if WG_SIZE == 1
  for (int turn = 0; turn < TURNS * N_BINS; turn++) {
    add_local_pair(pairs + 2 * (PAIR_VERTICES + turn % N_BINS), vertices[turn]);
    add_local_pair(pairs + 2 * (PAIR_ENTRIES + turn % N_BINS), entries[turn]);
  }
#endif
  add_local_pair(pairs + 2 * PAIR_SQUARES, squares);
  lower_to(state + STATE_LEAST, least);
  lower_to(state + STATE_GREATEST, ~greatest);
}

/* Read this work-item's share of the sampled entries and vertices. */
INLINE void measure_samples(int n, long m, const __global offset_t *restrict row_offsets,
                            const __global int *restrict column_indices, __local uint *pairs) {
  const ulong key = random_key(1ul), item = get_global_id(0), n_items = get_global_size(0);
  ulong distances = 0ul;
  uint far = 0u, sampled = 0u, roots = 0u;
  int row = 0;
  for (ulong n_samples = m <= N_SAMPLES ? (ulong)m : N_ENTRIES, i = item * n_samples / n_items;
       i < (item + 1) * n_samples / n_items; i++) {
    const long k = place_of(key, i, N_ENTRIES, m);
    row = row_after(row, k, n, row_offsets);
    const float distance = fabs((float)((long)column_indices[k] - row));
    distances += (ulong)((float)SCALE * log2(1.0f + distance) + 0.5f);
    far += distance > FAR_DISTANCE;
  }
  for (ulong n_samples = (ulong)min(n, N_SAMPLES), i = item * n_samples / n_items;
       i < (item + 1) * n_samples / n_items; i++) {
    const int v = (int)place_of(key + 2ul, i, N_SAMPLES, n);
    const long first = row_offsets[v];
    if (first == row_offsets[v + 1]) continue;
    sampled++;
    roots += column_indices[first] >= v;
  }
  add_local_pair(pairs + 2 * PAIR_DISTANCE, distances);
  add_local_pair(pairs + 2 * PAIR_FAR, far);
  add_local_pair(pairs + 2 * PAIR_SAMPLED, sampled);
  add_local_pair(pairs + 2 * PAIR_ROOTS, roots);
}

/* Make the climbs number s … s + CLIMBS_AT_ONCE - 1.  A climb goes from a vertex to its first neighbour while that is
 * smaller, for at most MAX_CLIMB steps. */
INLINE void climb(int n, ulong s, const __global offset_t *restrict row_offsets,
                  const __global int *restrict column_indices, volatile __global uint *state) {
  int at[CLIMBS_AT_ONCE], is_climbing = 1;
  uint depth[CLIMBS_AT_ONCE];
  for (int c = 0; c < CLIMBS_AT_ONCE; c++) {
    const ulong i = min(s + c, (ulong)min(n, N_CLIMBS) - 1);
    at[c] = n > N_CLIMBS ? (int)((ulong)n * i / N_CLIMBS) : (int)i;
    depth[c] = 0u;
  }
  for (uint steps = 0u; is_climbing && steps < MAX_CLIMB; steps++) {
    is_climbing = 0;
    for (int c = 0; c < CLIMBS_AT_ONCE; c++) {
      const int above = first_hook(at[c], row_offsets, column_indices);
      depth[c] += above != at[c];
      is_climbing |= above != at[c];
      at[c] = above;
    }
  }
  for (int c = 0; c < CLIMBS_AT_ONCE && s + c < (ulong)min(n, N_CLIMBS); c++) {
    const int v = n > N_CLIMBS ? (int)((ulong)n * (s + c) / N_CLIMBS) : (int)(s + c);
    state[STATE_ROOTS + s + c] = row_offsets[v] < row_offsets[v + 1] ? (uint)at[c] : ~0u;
    state[STATE_DEPTHS + s + c] = depth[c];
  }
}

/* checked: words that are ~0 if check_csr has found no fault; connected: for each work-group, the number of vertices of
 * its chunk that have an entry */
KERNEL measure_rows(int n, long m, const __global uint *restrict checked, const __global offset_t *restrict row_offsets,
                    const __global int *restrict column_indices, __global uint *restrict connected,
                    volatile __global uint *state) {
  LOCAL_ARRAY uint pairs[2 * N_PAIRS];
  if ((checked[0] & checked[1] & checked[2]) != ~0u) return;
  for (uint k = get_local_id(0); k < 2 * N_PAIRS; k += WG_SIZE) pairs[k] = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  const long chunk = chunk_of(n, (long)get_num_groups(0));
  const long begin = (long)get_group_id(0) * chunk, end = min((long)n, begin + chunk);
  measure_degrees(begin, end, row_offsets, pairs, state);
  measure_samples(n, m, row_offsets, column_indices, pairs);
  for (ulong s = get_global_id(0) * CLIMBS_AT_ONCE; s < (ulong)min(n, N_CLIMBS); s += get_global_size(0) * CLIMBS_AT_ONCE)
    climb(n, s, row_offsets, column_indices, state);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0)
    connected[get_group_id(0)] = begin < end ? (uint)(end - begin) - pairs[2 * PAIR_VERTICES] : 0u;
  for (uint k = get_local_id(0); k < N_PAIRS; k += WG_SIZE)
    add_pair(state + 2 * k, (ulong)pairs[2 * k + 1] << 32 | pairs[2 * k]);
}

/* connected: the result of measure_rows, from n_chunks work-groups; seen: a bit for each vertex, 0; list: room for n
 * vertices, or for 33 * NEIGHBORHOOD if that is less */
KERNEL measure_reach(int n, int n_chunks, const __global uint *restrict checked,
                     const __global offset_t *restrict row_offsets, const __global int *restrict column_indices,
                     const __global uint *restrict connected, volatile __global uint *seen, volatile __global int *list,
                     __global uint *state) {
  LOCAL_ARRAY uint counts[WG_SIZE], chosen, rank, size, cut_step;
  LOCAL_ARRAY int lists[N_STARTS * SHORT_SEEN];
  if ((checked[0] & checked[1] & checked[2]) != ~0u) return;
  if (get_group_id(0) > 0) {
    for (uint s = get_local_id(0); s < N_STARTS; s += WG_SIZE)
      search_shortly((int)((2u * s + 1u) * (ulong)n / (2u * N_STARTS)), row_offsets, column_indices,
                     lists + SHORT_SEEN * s, state + STATE_SEARCHES + SEARCH_WORDS * (1u + s));
    return;
  }
  if (get_local_id(0) == 0) {
    chosen = middle_chunk(n_chunks, connected, &rank, &size);
    cut_step = 0u;               /* the last step in which a row was longer than the part read of it */
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  uint begin = 0u, end = size;
  growth_t growth = {0u, 1u, 1u};
  const long chunk = chunk_of(n, n_chunks), first_vertex = chosen * chunk, piece = chunk_of((int)chunk, WG_SIZE);
  const long from = first_vertex + (long)get_local_id(0) * piece;
  const long stop = end ? min((long)n, min(first_vertex + chunk, from + piece)) : from;
  counts[get_local_id(0)] = 0u;
  for (long v = from; v < stop; v++) counts[get_local_id(0)] += row_offsets[v] < row_offsets[v + 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (end && get_local_id(0) == 0) {
    const long v = vertex_of_rank(rank, first_vertex, piece, row_offsets, counts);
    list[0] = (int)v;
    seen[v >> 5] = 1u << (v & 31);
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  uint step = 0u;
  while (begin < end && end < NEIGHBORHOOD) {
    const long most = NEIGHBORHOOD / max(1u, (end - begin) / 16u);
    for (uint part = 0u; part == 0u || (part < ROW_PARTS && size == end && cut_step == step); part++) {
      barrier(CLK_LOCAL_MEM_FENCE);  /* all have read size and cut_step */
      step++;
      reach_part(begin, end, part, most, step, row_offsets, column_indices, seen, list, &size, &cut_step);
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    begin = end;
    end = size;
    growth = grown(growth, end);
  }
  if (get_local_id(0) == 0) write_search(state + STATE_SEARCHES, growth, end, end - begin);
}
