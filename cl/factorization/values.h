/* The value of a rating as kernels carry it: a number, or with WEIGHTED a number and the weight of the rating's error.
 *
 * Without WEIGHTED the macros vanish, so unweighted programs stay as they are.
 *
 *   WITH_WEIGHT(x, w)    the value of a rating x of weight w
 *   RATING(v)            the rating of a value
 *   WEIGHT(v)            its weight; 0 without WEIGHTED
 *   WEIGHTED_BY(v, x)    x times the weight of a value
 */
#ifndef CLGRAPH_FACTORIZATION_VALUES_H
#define CLGRAPH_FACTORIZATION_VALUES_H

#ifndef WEIGHTED
#define WEIGHTED 0
#endif
#if WEIGHTED
typedef float2 value_t;
#define WITH_WEIGHT(x, w) ((float2)(x, w))
#define RATING(v) ((v).x)
#define WEIGHT(v) ((v).y)
#define WEIGHTED_BY(v, x) ((x) * (v).y)
#else
typedef float value_t;
#define WITH_WEIGHT(x, w) (x)
#define RATING(v) (v)
#define WEIGHT(v) 0.0f
#define WEIGHTED_BY(v, x) (x)
#endif
#define NO_VALUE WITH_WEIGHT(0.0f, 0.0f)
#endif
