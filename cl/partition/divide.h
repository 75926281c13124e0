/* Divide a small level into parts by recursive bisection, and refine pairs of parts: a single worker's work. */
#ifndef CLGRAPH_DIVIDE_H
#define CLGRAPH_DIVIDE_H
#include "common/random.h"
#include "partition/pair_search.h"

#ifndef TRIES                    /* bisections of a block, of which the best is kept */
#define TRIES 8
#endif
#ifndef PASSES                   /* greatest number of searches of a pair in turn; they end when the cut does not fall */
#define PASSES 3
#endif

/* The arrays of parts: wanted weights, greatest weights and present weights. */
typedef struct {
  int n;
  __global const int *shares, *limits;
  __global int *weights;
  int slack;                     /* A part may exceed its limit by this weight on this level. */
} parts_t;

/* For each part a list of its vertices beside other parts, and which parts are adjacent. */
typedef struct {
  volatile __global int *heads, *adjacent;
  __global int *next;
} border_t;

/* List v if it is beside another part. */
INLINE void list_vertex(const level_t *level, int v, volatile __global int *parts, int n_parts, const border_t *border) {
  const int part = load_relaxed(parts + v), end = row_end(level, v);
  int is_beside = 0;
  for (int e = row_begin(level, v); e < end; e++) {
    const int other = load_relaxed(parts + neighbour(level, e));
    if (other == part) continue;
    is_beside = 1;
    store_relaxed(border->adjacent + (long)part * n_parts + other, 1);
  }
  if (is_beside) border->next[v] = exchange(border->heads + part, v);
}

INLINE void clear_border(int n_parts, const border_t *border) {
  for (int p = 0; p < n_parts; p++) border->heads[p] = NO_VERTEX;
  for (long i = 0; i < (long)n_parts * n_parts; i++) border->adjacent[i] = 0;
}

/* Refine parts a and b.  Return by how much the cut fell; *moves: whether a vertex has moved. */
INLINE int refine_pair(search_t *s, int a, int b, int patience, const parts_t *parts, const border_t *border, int *moves) {
  int sum = 0;
  for (int side = 0; side < 2; side++) {
    const int part = side ? b : a;
    PART_OF(s, side) = part;
    WEIGHT_OF(s, side) = parts->weights[part];
    LIMIT_OF(s, side) = parts->limits[part] + parts->slack;
    SIZE_OF(s, side) = 0;
  }
  const int before = WEIGHT_OF(s, 0);
  for (int pass = 0; pass < PASSES; pass++) {
    for (int side = 0; side < 2; side++)
      for (int v = border->heads[side ? b : a]; v != NO_VERTEX; v = border->next[v]) {
        const int part = load_relaxed(s->parts + v);
        const int own = part == b;
        if ((part == a || part == b) && !s->places[v]) find_vertex(s, v, own, WEIGHT_OF(s, own) <= LIMIT_OF(s, own));
      }
    const int gain = search_pair(s, patience, 0, 0);
    sum += gain;
    if (gain <= 0) break;
  }
  parts->weights[a] = WEIGHT_OF(s, 0);
  parts->weights[b] = WEIGHT_OF(s, 1);
  *moves |= sum || before != WEIGHT_OF(s, 0);
  return sum;
}

/* Bisect the vertices of part p, which is to become n_parts parts; they get the numbers p and p + n_parts / 2. */
INLINE void bisect(search_t *s, int p, int n_parts, int patience, ulong key, const parts_t *parts,
                   __global int *members, __global int *saved) {
  const int middle = n_parts / 2;
  int n = 0, total = 0;
  for (int v = 0; v < s->level.n; v++) {
    if (s->parts[v] != p) continue;
    members[n++] = v;
    total += vertex_weight(&s->level, v);
  }
  const int depth = 32 - (int)clz((uint)(n_parts - 1));
  long all = 0;
  for (int i = 0; i < n_parts; i++) all += parts->shares[p + i];
  for (int side = 0; side < 2; side++) {
    long share = 0, limit = 0;
    for (int i = side ? middle : 0; i < (side ? n_parts : middle); i++) {
      share += parts->shares[p + i];
      limit += parts->limits[p + i];
    }
    PART_OF(s, side) = p + side * middle;
    LIMIT_OF(s, side) = (int)((float)total * (float)share / (float)max(1l, all)) +
                        max((int)((limit - share) / depth), parts->slack / 2);
  }
  ulong best = ULONG_MAX;
  for (int attempt = 0; n && attempt < TRIES; attempt++) {
    for (int i = 0; i < n; i++) s->parts[members[i]] = p;
    WEIGHT_OF(s, 0) = total;
    WEIGHT_OF(s, 1) = SIZE_OF(s, 0) = SIZE_OF(s, 1) = 0;
    find_vertex(s, members[random_below(key, ((ulong)p << 8) + (ulong)attempt, (uint)n)], 0, 0);
    int cut = -search_pair(s, patience, members, n);
    for (int pass = 0; pass < PASSES; pass++) {
      for (int i = 0; i < n; i++) find_vertex(s, members[i], s->parts[members[i]] != p, 1);
      const int gain = search_pair(s, patience, 0, 0);
      cut -= gain;
      if (gain <= 0) break;
    }
    const ulong score = ((ulong)excess(s) << 32) + (ulong)cut;
    if (score >= best) continue;
    best = score;
    for (int i = 0; i < n; i++) saved[i] = s->parts[members[i]];
  }
  for (int i = 0; i < n; i++) s->parts[members[i]] = saved[i];
}

/* Divide a level by recursive bisection; members, saved and counts have room for its vertices and the parts. */
INLINE void divide(search_t *s, int patience, ulong key, const parts_t *parts, __global int *members,
                   __global int *saved, __global int *counts) {
  for (int v = 0; v < s->level.n; v++) s->parts[v] = is_left_out(&s->level, v) ? NO_VERTEX : 0;
  for (int p = 0; p < parts->n; p++) counts[p] = 1;
  counts[0] = parts->n;
  for (int p = 0; p < parts->n; p++)
    for (int n; (n = counts[p]) > 1;) {
      bisect(s, p, n, patience, key, parts, members, saved);
      counts[p + n / 2] = n - n / 2;
      counts[p] = n / 2;
    }
}
#endif
