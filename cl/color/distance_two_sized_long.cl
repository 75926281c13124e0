/* The kernels of distance_two_sized.cl with a work-group for each vertex, for vertices of many entries. */
#define GROUP_TEAM 1
#define SIZED 1
#include "color/distance_two.cl"
