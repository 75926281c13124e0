/* Keys of a radix sort, as bits whose unsigned order is the order of the values.
 *   KEY_T             int, uint, long, ulong or float as stored; KEY_BITS_T uint or ulong of the same size
 *   ordered_bits(k)   for the stored bits k of a key; -0.0f comes before 0.0f, a NaN after the infinity of its sign */
#ifndef CLGRAPH_SORT_KEYS_H
#define CLGRAPH_SORT_KEYS_H
#define UNSIGNED_KEYS 0
#define SIGNED_KEYS 1
#define FLOAT_KEYS 2
#ifndef KEY_BITS_T
#define KEY_BITS_T uint
#define KEY_BYTES 4
#endif
#ifndef KEY_KIND
#define KEY_KIND UNSIGNED_KEYS
#endif
#ifndef RADIX_BITS
#define RADIX_BITS 8
#endif
#define RADIX (1 << RADIX_BITS)
typedef KEY_BITS_T key_bits_t;
#define TOP_BIT ((key_bits_t)1 << (8 * KEY_BYTES - 1))

INLINE key_bits_t ordered_bits(key_bits_t k) {
#if KEY_KIND == SIGNED_KEYS
  return k ^ TOP_BIT;
#elif KEY_KIND == FLOAT_KEYS
  return k ^ (k & TOP_BIT ? ~(key_bits_t)0 : TOP_BIT);
#else
  return k;
#endif
}
/* mask: 2^(bits of this pass) - 1 */
INLINE uint digit_of(key_bits_t k, uint bit, uint mask) { return (uint)(ordered_bits(k) >> bit) & mask; }
#endif
