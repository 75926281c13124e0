/* The status word: a kernel that cannot continue writes the reason, and the host raises an error
 * (runtime/driver/failure.py). */
#ifndef CLGRAPH_STATUS_H
#define CLGRAPH_STATUS_H
#include "common/atomics.h"
#define STATUS_OK 0u
#define STATUS_CAPACITY 1u
#define STATUS_TIMEOUT 2u
#define STATUS_STUCK 3u          /* a loop that ends only by progress made none */
INLINE void report_status(volatile __global uint *status, uint code) { compare_exchange(status, STATUS_OK, code); }
#endif
