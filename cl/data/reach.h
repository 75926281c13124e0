/* Steps of the searches by which graph_stats.cl estimates the number of levels, and the share of the graph that a search
 * reaches. */
#ifndef CLGRAPH_REACH_H
#define CLGRAPH_REACH_H
#include "common/subgroup.h"
#include "data/rows.h"

#ifndef NEIGHBORHOOD
#define NEIGHBORHOOD 4096
#endif
#ifndef N_STARTS
#define N_STARTS 8
#endif
#ifndef SHORT_SEEN
#define SHORT_SEEN 64
#endif
#ifndef SHORT_LOOKS
#define SHORT_LOOKS 512
#endif
#ifndef ROW_PARTS
#define ROW_PARTS 8              /* the long search reads rows in at most this many parts, until one has a new vertex */
#endif
#define SEARCH_LEVELS 0          /* results of a search: levels, */
#define SEARCH_SEEN 1            /* vertices, */
#define SEARCH_FRONTIER 2        /* vertices of the last level, */
#define SEARCH_EARLIER 3         /* vertices of the first 2^(k-1) levels, if there were 2^k … 2^(k+1) - 1 levels */
#define SEARCH_WORDS 4

/* Returns the number of the n vertices that a work-group takes. */
INLINE long chunk_of(int n, long n_chunks) { return (n + n_chunks - 1) / n_chunks; }

/* The numbers of seen vertices after certain levels, from which the growth of a search is computed. */
typedef struct { uint levels, earlier, later; } growth_t;
INLINE growth_t grown(growth_t growth, uint n_seen) {
  growth.levels++;
  if (growth.levels & (growth.levels - 1u)) return growth;
  growth.earlier = growth.later;
  growth.later = n_seen;
  return growth;
}
INLINE void write_search(__global uint *words, growth_t growth, uint n_seen, uint n_last) {
  words[SEARCH_LEVELS] = growth.levels;
  words[SEARCH_SEEN] = n_seen;
  words[SEARCH_FRONTIER] = n_last;
  words[SEARCH_EARLIER] = growth.earlier;
}

/* Search from v with a list of SHORT_SEEN vertices.  A level that would exceed a limit is left out. */
INLINE void search_shortly(int v, const __global offset_t *row_offsets, const __global int *column_indices,
                           __local int *list, __global uint *words) {
  uint begin = 0u, end = 1u, looks = 0u, is_full = 0u;
  growth_t growth = {0u, 1u, 1u};
  list[0] = v;
  while (begin < end) {
    uint size = end;
    for (uint row = begin; row < end && !is_full; row++)
      for (long k = row_offsets[list[row]]; k < row_offsets[list[row] + 1] && !is_full; k++) {
        const int u = column_indices[k];
        uint at = 0u;
        while (at < size && list[at] != u) at++;
        is_full = ++looks > SHORT_LOOKS || at == SHORT_SEEN;
        if (at == size && !is_full) list[size++] = u;
      }
    if (is_full) break;
    begin = end;
    end = size;
    growth = grown(growth, end);
  }
  write_search(words, growth, end, end - begin);
}

/* Returns the chunk with the middle one of the vertices that have an entry, and its rank there.  is_any: whether there is
 * one. */
INLINE uint middle_chunk(int n_chunks, const __global uint *restrict connected, __local uint *rank, __local uint *is_any) {
  uint left = 0u, c = 0u;
  for (int k = 0; k < n_chunks; k++) left += connected[k];
  *is_any = left > 0u;
  for (left /= 2u; *is_any && left >= connected[c]; c++) left -= connected[c];
  *rank = left;
  return c;
}

/* Returns the vertex with an entry and this rank among the vertices from first_vertex on.  counts: how many there are in
 * each piece. */
INLINE long vertex_of_rank(uint rank, long first_vertex, long piece, const __global offset_t *restrict row_offsets,
                           __local const uint *counts) {
  uint l = 0u;
  for (; rank >= counts[l]; l++) rank -= counts[l];
  for (long v = first_vertex + l * piece;; v++)
    if (row_offsets[v] < row_offsets[v + 1] && !rank--) return v;
}

/* Append the new neighbours of the listed vertices begin … end to the list: the entries part * most … (part + 1) * most of
 * each row.  cut_step becomes `step` if a row has more. */
INLINE void reach_part(uint begin, uint end, uint part, long most, uint step, const __global offset_t *restrict row_offsets,
                       const __global int *restrict column_indices, volatile __global uint *seen,
                       volatile __global int *list, volatile __local uint *size, volatile __local uint *cut_step) {
  for (uint row = begin + sg_in_group(); row < end; row += SUB_GROUPS_PER_GROUP) {
    const int v = load_relaxed(list + row);
    const long first = row_offsets[v] + part * most, row_end = row_offsets[v + 1], stop = min(row_end, first + most);
    if (sg_lane() == 0 && stop < row_end) fetch_max(cut_step, step);
    for (long k = first + (long)sg_lane(); k < stop; k += SUB_GROUP_SIZE) {
      const int u = column_indices[k];
      const uint bit = 1u << (u & 31);
      if (load_relaxed(seen + (u >> 5)) & bit) continue;
      if (!(fetch_or(seen + (u >> 5), bit) & bit)) store_relaxed(list + fetch_add(size, 1u), u);
    }
  }
}
#endif
