/* The operation of a reduction over values of type T: OPERATION is SUM_OF, LEAST_OF or GREATEST_OF.
 *   combine(a, b)     for scalars and vectors of T
 *   IDENTITY          combine(a, IDENTITY) is a; T_LOWEST and T_HIGHEST bound T */
#ifndef CLGRAPH_OPERATION_H
#define CLGRAPH_OPERATION_H
#include "common/subgroup.h"

#define SUM_OF 0
#define LEAST_OF 1
#define GREATEST_OF 2
#ifndef OPERATION
#define OPERATION SUM_OF
#endif
#ifndef T
#define T int
#define T_LOWEST INT_MIN
#define T_HIGHEST INT_MAX
#endif

#if OPERATION == SUM_OF
#define combine(a, b) ((a) + (b))
#define IDENTITY ((T)0)
#define sg_combine(x) sg_sum(x)
#elif OPERATION == LEAST_OF
#define combine(a, b) ((b) < (a) ? (b) : (a))
#define IDENTITY T_HIGHEST
#define sg_combine(x) sg_least(x)
#else
#define combine(a, b) ((b) > (a) ? (b) : (a))
#define IDENTITY T_LOWEST
#define sg_combine(x) sg_greatest(x)
#endif
#endif
