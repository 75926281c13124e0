/* Bitwise functions that compilers do not generate by themselves. */
#ifndef CLGRAPH_BITS_H
#define CLGRAPH_BITS_H
#include "common/types.h"

/* Keeps the bits of x at which a and b agree.  On NVIDIA this is one instruction; compilers would use more, because they
 * share a ^ b between several calls. */
INLINE uint and_equal(uint x, uint a, uint b) {
#if DEV_NVIDIA_SM
  uint found;
  __asm__("lop3.b32 %0, %1, %2, %3, 0x90;" : "=r"(found) : "r"(x), "r"(a), "r"(b));
  return found;
#else
  return x & ~(a ^ b);
#endif
}

INLINE uint lowest_bit(uint x) { return 31u - (uint)clz(x & (0u - x)); }     /* x != 0 */
INLINE uint lowest_bit(ulong x) { return 63u - (uint)clz(x & (0ul - x)); }  /* x != 0 */
#endif
