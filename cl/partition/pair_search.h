/* Refine two parts by the method of Fiduccia and Mattheyses: a single worker moves one vertex after the other from part to
 * part, always one of greatest gain, and then returns to the best partition that it has seen.
 *
 * A vertex of the two parts that has not moved yet and has been found beside the other part is in the heap of its part,
 * which is ordered by gains.  If a part is too heavy, only its vertices move.  So a bisection grows from a single vertex if
 * all others are in a part that is far too heavy.
 */
#ifndef CLGRAPH_PAIR_SEARCH_H
#define CLGRAPH_PAIR_SEARCH_H
#include "partition/worker_level.h"

#define MOVED (-1)               /* in places: the vertex does not move again */
#define SEARCH_WORDS 6           /* ints per vertex, ... */
#define SIDE_WORDS 8             /* ... and others */
#define SEARCH_ROOM(n) ((long)SEARCH_WORDS * (n) + SIDE_WORDS)

typedef struct {
  level_t level;
  volatile __global int *parts;
  __global int *gains, *places;  /* places: of vertices in heaps, one more than the place; else 0 or MOVED */
  __global int *heaps;           /* two heaps of `room` items, one for each part; the greatest gain is first */
  __global int *sides;           /* words for each of the two parts; see PART_OF and the like */
  __global int *moved, *found;   /* the vertices that have moved, in order, and all vertices with a place */
  int room, n_moved, n_found, cut_change;
} search_t;

/* The number of part 0 or 1, its weight and limit, and the size of its heap.  They are in memory, since GPUs cannot index
 * registers. */
#define PART_OF(s, side) (s)->sides[side]
#define WEIGHT_OF(s, side) (s)->sides[2 + (side)]
#define LIMIT_OF(s, side) (s)->sides[4 + (side)]
#define SIZE_OF(s, side) (s)->sides[6 + (side)]
#define HEAP_OF(s, side) ((s)->heaps + (long)(side) * (s)->room)

/* The arrays of a search lie in SEARCH_ROOM(n) ints, of which places must be 0. */
INLINE search_t search_of(const level_t *level, volatile __global int *parts, int n, __global int *words) {
  search_t s;
  s.level = *level;
  s.parts = parts;
  s.places = words;
  s.gains = words + n;
  s.heaps = words + 2l * n;
  s.moved = words + 4l * n;
  s.found = words + 5l * n;
  s.sides = words + (long)SEARCH_WORDS * n;
  s.room = n;
  s.n_found = 0;
  return s;
}

INLINE void put_at(search_t *s, int side, int at, int v) {
  HEAP_OF(s, side)[at] = v;
  s->places[v] = at + 1;
}
INLINE void sift(search_t *s, int side, int at, int v) {
  __global int *heap = HEAP_OF(s, side);
  const int gain = s->gains[v];
  while (at && s->gains[heap[(at - 1) / 2]] < gain) {
    put_at(s, side, at, heap[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
  for (int child; (child = 2 * at + 1) < SIZE_OF(s, side); at = child) {
    child += child + 1 < SIZE_OF(s, side) && s->gains[heap[child + 1]] > s->gains[heap[child]];
    if (s->gains[heap[child]] <= gain) break;
    put_at(s, side, at, heap[child]);
  }
  put_at(s, side, at, v);
}
/* Remove the first vertex of a heap; it does not move any more. */
INLINE int pop(search_t *s, int side) {
  const int v = HEAP_OF(s, side)[0], last = HEAP_OF(s, side)[--SIZE_OF(s, side)];
  if (SIZE_OF(s, side)) sift(s, side, 0, last);
  s->places[v] = MOVED;
  return v;
}

/* Put v, which has no place, into the heap of its part; if is_border, only if it has an edge to the other part. */
INLINE void find_vertex(search_t *s, int v, int side, int is_border) {
  int inside = 0, outside = 0, touches = 0;
  const int end = row_end(&s->level, v);
  for (int e = row_begin(&s->level, v); e < end; e++) {
    const int u = neighbour(&s->level, e), part = load_relaxed(s->parts + u), weight = edge_weight(&s->level, e);
    touches |= part == PART_OF(s, 1 - side);
    inside += part == PART_OF(s, side) && u != v ? weight : 0;
    outside += part == PART_OF(s, 1 - side) ? weight : 0;
  }
  if (is_border && !touches) return;
  s->gains[v] = outside - inside;
  s->found[s->n_found++] = v;
  sift(s, side, SIZE_OF(s, side)++, v);
}

/* Return the weight above the limits. */
INLINE int excess(const search_t *s) { return max(WEIGHT_OF(s, 0) - LIMIT_OF(s, 0), 0) + max(WEIGHT_OF(s, 1) - LIMIT_OF(s, 1), 0); }

/* Return the side whose first vertex moves next, or -1 if none may.  Vertices too heavy for the other part are dropped. */
INLINE int next_side(search_t *s) {
  const int over0 = WEIGHT_OF(s, 0) - LIMIT_OF(s, 0), over1 = WEIGHT_OF(s, 1) - LIMIT_OF(s, 1);
  int best = -1, best_gain = INT_MIN;
  for (int side = 0; side < 2; side++) {
    const int own = side ? over1 : over0, other = side ? over0 : over1;
    if (other > 0 && other > own) continue;
    while (SIZE_OF(s, side)) {
      const int v = HEAP_OF(s, side)[0], after = other + vertex_weight(&s->level, v), gain = s->gains[v];
      if (after <= 0 || after < own) {
        if (best < 0 || gain > best_gain || (gain == best_gain && over1 > over0)) best = side;
        best_gain = max(best_gain, gain);
        break;
      }
      pop(s, side);
    }
  }
  return best;
}

/* Move v to the other part, without a change of the heaps. */
INLINE void change_part(search_t *s, int v, int from) {
  const int weight = vertex_weight(&s->level, v);
  store_relaxed(s->parts + v, PART_OF(s, 1 - from));
  WEIGHT_OF(s, from) -= weight;
  WEIGHT_OF(s, 1 - from) += weight;
}
/* Move v, and update or find its neighbours. */
INLINE void move_vertex(search_t *s, int v, int from) {
  s->cut_change -= s->gains[v];
  s->moved[s->n_moved++] = v;
  change_part(s, v, from);
  const int begin = row_begin(&s->level, v), end = row_end(&s->level, v);
  for (int e = begin; e < end; e++) {
    const int u = neighbour(&s->level, e);
    if (s->places[u] <= 0 || u == v) continue;
    const int side = load_relaxed(s->parts + u) == PART_OF(s, 1), weight = 2 * edge_weight(&s->level, e);
    s->gains[u] += side == from ? weight : -weight;
    sift(s, side, s->places[u] - 1, u);
  }
  for (int e = begin; e < end; e++) {  /* A second loop, since a row may name a vertex more than once. */
    const int u = neighbour(&s->level, e), part = load_relaxed(s->parts + u);
    if ((part == PART_OF(s, 0) || part == PART_OF(s, 1)) && !s->places[u]) find_vertex(s, u, part == PART_OF(s, 1), 0);
  }
}

/* Move vertices until `patience` moves in turn have brought nothing better; return to the best partition.  If heaps run
 * empty while part 0 is too heavy, one of the n_members vertices `members` moves.  Return by how much the cut fell. */
INLINE int search_pair(search_t *s, int patience, __global const int *members, int n_members) {
  int best_excess = excess(s), best_change = 0, n_best = 0, member = 0;
  s->cut_change = s->n_moved = 0;
  for (int fruitless = 0; fruitless < patience; fruitless++) {
    int side = next_side(s);
    while (side < 0 && member < n_members && WEIGHT_OF(s, 0) > LIMIT_OF(s, 0)) {
      const int v = members[member++];
      if (s->places[v] || load_relaxed(s->parts + v) != PART_OF(s, 0)) continue;
      find_vertex(s, v, 0, 0);
      side = next_side(s);
    }
    if (side < 0) break;
    move_vertex(s, pop(s, side), side);
    const int now = excess(s);
    if (now > best_excess || (now == best_excess && s->cut_change >= best_change)) continue;
    best_excess = now;
    best_change = s->cut_change;
    n_best = s->n_moved;
    fruitless = -1;
  }
  while (s->n_moved > n_best) {
    const int v = s->moved[--s->n_moved];
    change_part(s, v, load_relaxed(s->parts + v) == PART_OF(s, 1));
  }
  for (int i = 0; i < s->n_found; i++) s->places[s->found[i]] = 0;
  s->n_found = SIZE_OF(s, 0) = SIZE_OF(s, 1) = 0;
  return -best_change;
}
#endif
