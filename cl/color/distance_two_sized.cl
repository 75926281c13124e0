/* The kernels of distance_two.cl for nets with bitmaps of their own size (net_bitmaps.cl). */
#define SIZED 1
#include "color/distance_two.cl"
