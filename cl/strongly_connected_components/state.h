/* Words of the array `control`, through which the kernels of one run communicate, and the classes of vertices. */
#ifndef CLGRAPH_STRONG_COMPONENTS_STATE_H
#define CLGRAPH_STRONG_COMPONENTS_STATE_H
#include "common/grid_barrier.h"
#include "common/subgroup.h"

#define SEARCH_GRID 0            /* words of the barrier of the search */
#define PROPAGATE_GRID 32        /* words of the barrier of the propagation */
#define SEARCH_FOUND 64          /* last round of the search that marked a vertex */
#define SEARCH_ROUND 65          /* last round of the search */
#define PIVOT 96                 /* the vertex from which the search starts */
#define N_PIECES 97              /* number of pieces of long rows */
#define BOUND_LOW 98             /* upper bound of the number of live edges: BOUND_LOW + 2^16 BOUND_HIGH */
#define BOUND_HIGH 99
#define N_EDGES 128              /* lengths of the two lists of edges, EDGES_APART words apart */
#define EDGES_APART 32
#define N_RISING 100             /* live edges from a vertex to one of higher number */
#define CHANGED 192              /* last step of the propagation that lowered a key */
#define STEP_STATE 224           /* two words: state of the propagation after the last even step and the last odd step */
#define STEPS 226                /* number of steps of the propagation, and of filters among them */
#define FILTERS 227
#define CONTROL_WORDS 256

#ifndef CHUNK                    /* consecutive vertices that share two stamps of the propagation */
#define CHUNK 64
#endif
#define TAIL_SLOTS 8u            /* slots of a unit of edges for the chunks of their first ends, and of their second ends */
#define HEAD_SLOTS 24u
#define SLOTS (TAIL_SLOTS + HEAD_SLOTS)
#ifndef ONE_LAUNCH               /* 1: all rounds or steps in one launch, with barriers of the grid */
#define ONE_LAUNCH 0
#endif
#ifndef SEARCHED                 /* 0: there was no search, so all vertices are in one class */
#define SEARCHED 1
#endif
#ifndef SHORT_ROW                /* Longer rows are shared by the lanes of a sub-group. */
#define SHORT_ROW 16
#endif
#ifndef LONG_ROW                 /* Longer rows are cut into pieces of as many entries. */
#define LONG_ROW 1024
#endif
#if SUB_GROUP_SIZE > 1
#define CUTS_ROWS 1
#else
#define CUTS_ROWS 0              /* A single lane reads rows of any length. */
#endif

/* The class of a vertex is a set of two bits.  Vertices of both are in the component of the pivot. */
#define AFTER 1u                 /* the pivot reaches the vertex */
#define BEFORE 2u                /* the vertex reaches the pivot */
#define CENTRAL (AFTER | BEFORE)
INLINE uint marks_of(int v, __global const uint *forward, __global const uint *backward) {
#if SEARCHED
  return (forward[v] ? AFTER : 0u) | (backward[v] ? BEFORE : 0u);
#else
  return 0u;
#endif
}
/* Whether the search marked all vertices that it reaches.  A search that was cut off has marked some of them. */
INLINE int is_whole(const volatile __global uint *control) {
  return SEARCHED && control[SEARCH_FOUND] < control[SEARCH_ROUND];
}
#endif
