/* Colourings at distance 2 by the kernels of distance_two_sized.cl: each net has a bitmap of its own size. */
#pragma once
#define SIZED 1
#include "distance_two.h"

static const Case cases[] = {{"sized", sized_right}};
