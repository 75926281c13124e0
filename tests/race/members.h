/* Sizes at which small searches have several shares, and members that are late. */
#pragma once
#include "searched.h"
#define MEMBERS 4
#define SHARED_ROWS 2ul
#define MOST_ROWS 6ul
#define LATE lateness
#define PATIENCE (ulong)spin_limit
static unsigned long lateness;
