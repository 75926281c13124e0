/* Coarsen a level for a few workers: each vertex joins a cluster of its neighbours, and clusters are the next level's
 * vertices.  Work-items are workers, which take blocks of vertices from a counter.
 *
 * A cluster has the number of the vertex that it began with, even if that vertex has left it.  Vertices whose neighbours' clusters are full join the cluster of another such vertex beside the same
 * cluster, so that leaves of a hub are merged, too.
 * Races: a worker may read an earlier cluster of a neighbour, which is a cluster, too.  Weights of clusters change by
 * atomic additions, and a vertex leaves a cluster again if that made it too heavy.  So no cluster gets too heavy, and
 * which vertices it has depends on the order of the workers.
 *
 * After U. N. Raghavan et al., Physical Review E 76, 2007, and L. Gottesbüren et al., "Deep multilevel graph
 * partitioning", ESA 2021.
 */
#include "partition/worker_level.h"

#ifndef RESERVED                 /* entries that a worker reserves at once; a row of more than a 16th of it is apart */
#define RESERVED 4096
#endif
/* Each vertex is a cluster, but vertices of at least core_degree entries are the cluster of core_root, which no vertex
 * leaves or joins.  A block of vertices a turn. */
KERNEL start_clusters(int turn, int level_number, int core_degree, int core_root, int core_weight, LEVELS_PARAMETERS,
                      __global int *restrict clusters, __global int *restrict cluster_weights,
                      __global int *restrict waiting, __global int *restrict heads, volatile __global int *counters) {
  const level_t level = LEVEL(level_number);
  for (int first; (first = take_items(counters + turn)) < level.n;) {
    const int end = min(first + (int)TAKEN, level.n);
    for (int v = first; v < end; v++) {
      const int is_core = row_end(&level, v) - row_begin(&level, v) >= core_degree;
      clusters[v] = is_core ? core_root : v;
      cluster_weights[v] = v == core_root ? core_weight : vertex_weight(&level, v);
      waiting[v] = heads[v] = NO_VERTEX;
    }
  }
}

/* Move v from its own cluster to another one, unless that would be heavier than most.  Return whether it moved. */
INLINE int join_cluster(int v, int weight, int own, int cluster, int most, volatile __global int *clusters,
                        volatile __global int *cluster_weights) {
  if (fetch_add(cluster_weights + cluster, weight) + weight > most) {
    fetch_add(cluster_weights + cluster, -weight);
    return 0;
  }
  store_relaxed(clusters + v, cluster);
  fetch_add(cluster_weights + own, -weight);
  return 1;
}

/* Return the best cluster that has room for v, or NO_VERTEX.  *favourite gets the cluster with the heaviest
 * edges to v.  The rating divides the weight of the edges by the root of the cluster's weight, so that clusters grow
 * evenly.  If `within`, only vertices of the same part are merged. */
INLINE int best_cluster(const level_t *level, int v, int weight, int mine, int most, uint seed, int within,
                        table_t *table, int *favourite, volatile __global int *clusters,
                        volatile __global int *cluster_weights) {
  const int begin = row_begin(level, v), end = row_end(level, v);
  open_table(table, min(end - begin, level->n));
  for (int e = begin; e < end; e++) {
    const int u = neighbour(level, e);
    if (u != v && (!within || level->parts[u] == level->parts[v]))
      add_to_table(table, load_relaxed(clusters + u), edge_weight(level, e));
  }
  int best = NO_VERTEX;
  float best_rating = -1.0f, favourite_rating = -1.0f;
  uint best_hash = 0u;
  for (int i = 0; i < table->n_used; i++) {
    const int cluster = table->keys[table->used[i]];
    const int own = max(1, load_relaxed(cluster_weights + cluster) - (cluster == mine ? weight : 0));
    const float sum = (float)table->sums[table->used[i]], rating = sum / sqrt((float)own);
    const uint hash = hash_murmur3((uint)cluster ^ seed);
    if (sum > favourite_rating) {
      favourite_rating = sum;
      *favourite = cluster;
    }
    if (own + weight > most || rating < best_rating || (rating == best_rating && hash < best_hash)) continue;
    best_rating = rating;
    best_hash = hash;
    best = cluster;
  }
  clear_table(table);
  return best;
}

/* Each vertex moves to its best cluster of at most the weight `most`.  If `hops`, a vertex that is alone and has no such
 * cluster joins another one beside its favourite.  A block of vertices a turn, in shuffled order. */
KERNEL join_clusters(int turn, int level_number, int most, int hops, int core_degree, uint seed, int within, int room,
                     LEVELS_PARAMETERS, __global int *restrict tables, volatile __global int *clusters,
                     volatile __global int *cluster_weights, volatile __global int *waiting,
                     volatile __global int *counters) {
  const level_t level = LEVEL(level_number);
  table_t table = table_of((int)get_group_id(0), room, tables);
  for (int first; (first = take_items(counters + turn)) < level.n;) {
    const uint order = hash_murmur3((uint)first ^ seed);
    for (uint i = 0u; i < TAKEN; i++) {
      const int v = first + (int)((i * (order | 1u) + (order >> 16)) & (TAKEN - 1u));
      if (v >= level.n) continue;
      const int degree = row_end(&level, v) - row_begin(&level, v), weight = vertex_weight(&level, v);
      if (!degree || degree >= core_degree) continue;
      const int own = clusters[v], alone = own == v && load_relaxed(cluster_weights + v) == weight;
      int favourite = NO_VERTEX;
      const int best = best_cluster(&level, v, weight, own, most, seed, within, &table, &favourite, clusters,
                                    cluster_weights);
      if (best == own) continue;
      if (best != NO_VERTEX && join_cluster(v, weight, own, best, most, clusters, cluster_weights)) continue;
      if (favourite == NO_VERTEX || !alone || !hops) continue;
      const int other = compare_exchange(waiting + favourite, NO_VERTEX, v);
      if (other != NO_VERTEX && !join_cluster(v, weight, v, other, most, clusters, cluster_weights))
        store_relaxed(waiting + favourite, v);
    }
  }
}

/* List the vertices of each cluster.  Vertices without edges are on no other level.  A block of vertices a turn. */
KERNEL list_members(int turn, int level_number, LEVELS_PARAMETERS, __global const int *restrict clusters,
                    __global int *restrict next, volatile __global int *heads, volatile __global int *counters) {
  const level_t level = LEVEL(level_number);
  for (int first; (first = take_items(counters + turn)) < level.n;) {
    const int end = min(first + (int)TAKEN, level.n);
    for (int v = first; v < end; v++)
      if (!is_left_out(&level, v)) next[v] = exchange(heads + clusters[v], v);
  }
}

/* Number the clusters with members, an equal share for each worker, after a count of those in the shares before it. */
KERNEL count_clusters(int level_number, LEVELS_PARAMETERS, __global const int *restrict heads,
                      __global int *restrict counts) {
  const int n = LEVEL(level_number).n, workers = (int)get_num_groups(0), worker = (int)get_group_id(0);
  const int first = (int)((long)n * worker / workers), end = (int)((long)n * (worker + 1) / workers);
  int found = 0;
  for (int v = first; v < end; v++) found += heads[v] != NO_VERTEX;
  counts[worker] = found;
}
KERNEL number_clusters(int level_number, LEVELS_PARAMETERS, __global const int *restrict heads,
                       __global const int *restrict counts, __global int *restrict waiting,
                       __global int *restrict first_members) {
  const int n = LEVEL(level_number).n, workers = (int)get_num_groups(0), worker = (int)get_group_id(0);
  const int first = (int)((long)n * worker / workers), end = (int)((long)n * (worker + 1) / workers);
  int number = 0;
  for (int w = 0; w < worker; w++) number += counts[w];
  for (int v = first; v < end; v++) {
    if (heads[v] == NO_VERTEX) continue;
    waiting[v] = number;         /* waiting holds numbers of clusters now */
    first_members[number++] = heads[v];
  }
}

/* Write the next level's vertex of each vertex.  A block of vertices a turn. */
KERNEL map_vertices(int turn, int level_number, int within, LEVELS_PARAMETERS, __global const int *restrict clusters,
                    __global const int *restrict waiting, volatile __global int *counters) {
  const level_t level = LEVEL(level_number), coarse = LEVEL(level_number + 1);
  for (int first; (first = take_items(counters + turn)) < level.n;) {
    const int end = min(first + (int)TAKEN, level.n);
    for (int v = first; v < end; v++) {
      level.map[v] = is_left_out(&level, v) ? NO_VERTEX : waiting[clusters[v]];
      if (within && level.map[v] != NO_VERTEX) store_relaxed(coarse.parts + level.map[v], level.parts[v]);
    }
  }
}

/* Make the rows of the next level.  A worker reserves space for many entries at once.  A block of clusters a turn. */
KERNEL contract(int turn, int level_number, int room, LEVELS_PARAMETERS, __global const int *restrict next,
                __global const int *restrict first_members, __global int *restrict tables,
                volatile __global int *counters) {
  const level_t level = LEVEL(level_number);
  __global const long *words = levels + (level_number + 1) * LEVEL_WORDS;
  __global int *rows = arena + words[LEVEL_ROWS], *weights = arena + words[LEVEL_VERTEX_WEIGHTS];
  __global int *entries = arena + words[LEVEL_ENTRIES];
  const int n = (int)words[LEVEL_VERTICES];
  table_t table = table_of((int)get_group_id(0), room, tables);
  int place = 0, last = 0;
  for (int first; (first = take_items(counters + turn)) < n;) {
    const int end = min(first + (int)TAKEN, n);
    for (int c = first; c < end; c++) {
      int weight = 0;
      long n_entries = 0;
      for (int v = first_members[c]; v != NO_VERTEX; v = next[v]) {
        n_entries += row_end(&level, v) - row_begin(&level, v);
        weight += vertex_weight(&level, v);
      }
      open_table(&table, (int)min(n_entries, (long)n));
      for (int v = first_members[c]; v != NO_VERTEX; v = next[v]) {
        const int row = row_end(&level, v);
        for (int e = row_begin(&level, v); e < row; e++) {
          const int other = level.map[neighbour(&level, e)];
          if (other != c) add_to_table(&table, other, edge_weight(&level, e));
        }
      }
      const int is_long = table.n_used > RESERVED / 16;
      if (!is_long && last - place < table.n_used) {
        place = fetch_add(counters + turn + 1, RESERVED);
        last = place + RESERVED;
      }
      int at = is_long ? fetch_add(counters + turn + 1, table.n_used) : place;
      rows[2l * c] = at;
      for (int i = 0; i < table.n_used; i++, at++) {
        entries[2l * at] = table.keys[table.used[i]];
        entries[2l * at + 1] = table.sums[table.used[i]];
      }
      rows[2l * c + 1] = at;
      if (!is_long) place = at;
      weights[c] = weight;
      clear_table(&table);
    }
  }
}
