/* The exact signs of orient2d and incircle for any finite points below 2^1000.
 *
 * A difference of two doubles can be written exactly as the sum of two doubles.  So both determinants are sums of products
 * of doubles.  Each product is an integer below 2^212 times a power of two.  The products are added to one wide integer,
 * which has the words that their exponents need.  Unlike sums of doubles, this neither underflows nor depends on how
 * products are rounded.
 *
 * words: WIDE_WORDS ulongs for this work-item, `stride` apart; their contents are overwritten.
 */
#ifndef CLGRAPH_EXACT_H
#define CLGRAPH_EXACT_H
#include "refine_mesh/predicates.h"

#define WIDE_WORDS 136           /* (4 * (1023 + 1074 + 1) + 3 carries) / 64, and two for the ends */
#define MANTISSA 0xffffffffffffful
#define NO_EXPONENT 0x7fffffff

/* |x| is mantissa_of(x) * 2^exponent_of(x) */
INLINE int exponent_of(double x) {
  int e = (int)(as_ulong(x) >> 52) & 0x7ff;
  return (e ? e : 1) - 1075;
}
INLINE ulong mantissa_of(double x) {
  ulong bits = as_ulong(x);
  return (bits & MANTISSA) | ((bits >> 52) & 0x7fful ? MANTISSA + 1ul : 0ul);
}
INLINE double2 exact_difference(double a, double b) {
  double high = a - b, lost = a - high;
  return (double2)(high, (a - (high + lost)) + (lost - b));
}

typedef struct {
  __global ulong *words;
  size_t stride;
  int lowest, size;              /* bit 0 of the words stands for 2^lowest; size is their number */
} wide_t;

INLINE void exponent_range(double2 x, int *least, int *most) {
  if (x.x != 0.0) { *least = min(*least, exponent_of(x.x)); *most = max(*most, exponent_of(x.x)); }
  if (x.y != 0.0) { *least = min(*least, exponent_of(x.y)); *most = max(*most, exponent_of(x.y)); }
}
INLINE wide_t wide_zero(__global ulong *words, size_t stride, int least, int most, int degree) {
  wide_t sum;
  sum.words = words;
  sum.stride = stride;
  sum.lowest = degree * least;
  sum.size = least == NO_EXPONENT ? 0 : (degree * (most - least + 53) + 8) / 64 + 2;
  for (int k = 0; k < sum.size; k++) words[k * stride] = 0ul;
  return sum;
}
/* Adds word << 64 * at, or subtracts it, with the carry; returns the new carry. */
INLINE ulong wide_add(wide_t sum, int at, ulong word, ulong carry, int negative) {
  ulong old = sum.words[at * sum.stride], now;
  if (negative) {
    now = old - word - carry;
    carry = now > old || (now == old && carry);
  } else {
    now = old + word + carry;
    carry = now < old || (now == old && carry);
  }
  sum.words[at * sum.stride] = now;
  return carry;
}
/* adds a * b * c * d */
INLINE void wide_add_product(wide_t sum, double a, double b, double c, double d, int negative) {
  if (a == 0.0 || b == 0.0 || c == 0.0 || d == 0.0) return;
  negative ^= (int)((as_ulong(a) ^ as_ulong(b) ^ as_ulong(c) ^ as_ulong(d)) >> 63);
  ulong ma = mantissa_of(a), mb = mantissa_of(b), mc = mantissa_of(c), md = mantissa_of(d);
  ulong low = ma * mb, high = mul_hi(ma, mb), other = mc * md, above = mul_hi(mc, md);
  ulong w0 = low * other, w1 = mul_hi(low, other), w2 = mul_hi(low, above), w3 = mul_hi(high, above), part;
  part = low * above;   w1 += part; w2 += w1 < part;     /* the high words are below 2^42: these sums do not carry */
  part = high * other;  w1 += part; w2 += w1 < part;
  part = mul_hi(high, other); w2 += part; w3 += w2 < part;
  part = high * above;  w2 += part; w3 += w2 < part;
  int shift = exponent_of(a) + exponent_of(b) + exponent_of(c) + exponent_of(d) - sum.lowest, at = shift >> 6;
  ulong carry = 0ul;
  shift &= 63;
  if (shift) {
    ulong top = w3 >> (64 - shift);
    w3 = (w3 << shift) | (w2 >> (64 - shift));
    w2 = (w2 << shift) | (w1 >> (64 - shift));
    w1 = (w1 << shift) | (w0 >> (64 - shift));
    w0 <<= shift;
    carry = wide_add(sum, at, w0, carry, negative);
    carry = wide_add(sum, at + 1, w1, carry, negative);
    if (at + 2 < sum.size) carry = wide_add(sum, at + 2, w2, carry, negative);
    if (at + 3 < sum.size) carry = wide_add(sum, at + 3, w3, carry, negative);
    if (at + 4 < sum.size) carry = wide_add(sum, at + 4, top, carry, negative);
    at += 5;
  } else {
    carry = wide_add(sum, at, w0, carry, negative);
    carry = wide_add(sum, at + 1, w1, carry, negative);
    if (at + 2 < sum.size) carry = wide_add(sum, at + 2, w2, carry, negative);
    if (at + 3 < sum.size) carry = wide_add(sum, at + 3, w3, carry, negative);
    at += 4;
  }
  for (; carry && at < sum.size; at++) carry = wide_add(sum, at, 0ul, carry, negative);
}
INLINE int wide_sign(wide_t sum) {
  if (sum.size == 0) return 0;
  if ((long)sum.words[(sum.size - 1) * sum.stride] < 0) return -1;
  for (int k = 0; k < sum.size; k++) if (sum.words[k * sum.stride]) return 1;
  return 0;
}

INLINE int orient2d_exact(double2 a, double2 b, double2 c, __global ulong *words, size_t stride) {
  double2 ax = exact_difference(a.x, c.x), ay = exact_difference(a.y, c.y);
  double2 bx = exact_difference(b.x, c.x), by = exact_difference(b.y, c.y);
  int least = NO_EXPONENT, most = -NO_EXPONENT;
  exponent_range(ax, &least, &most); exponent_range(ay, &least, &most);
  exponent_range(bx, &least, &most); exponent_range(by, &least, &most);
  if (least != NO_EXPONENT) {        /* the two factors 1 count, too */
    least = min(least, exponent_of(1.0));
    most = max(most, exponent_of(1.0));
  }
  wide_t sum = wide_zero(words, stride, least, most, 4);
  for (uint k = 0; k < 8u; k++) {    /* each part of ax with each of by, and each of ay with each of bx */
    double2 one = k & 1u ? ay : ax, other = k & 1u ? bx : by;
    wide_add_product(sum, k & 2u ? one.y : one.x, k & 4u ? other.y : other.x, 1.0, 1.0, k & 1u);
  }
  return wide_sign(sum);
}

/* adds (p.x² + p.y²) (q.x r.y - q.y r.x), each number in two parts */
INLINE void wide_add_lifted(wide_t sum, double2 px, double2 py, double2 qx, double2 qy, double2 rx, double2 ry) {
  for (uint k = 0; k < 64u; k++) {
    double2 p = k & 1u ? py : px, q = k & 2u ? qy : qx, r = k & 2u ? rx : ry;
    wide_add_product(sum, k & 4u ? p.y : p.x, k & 8u ? p.y : p.x, k & 16u ? q.y : q.x, k & 32u ? r.y : r.x,
                     (k & 2u) != 0u);
  }
}
INLINE int incircle_exact(double2 a, double2 b, double2 c, double2 d, __global ulong *words, size_t stride) {
  double2 ax = exact_difference(a.x, d.x), ay = exact_difference(a.y, d.y);
  double2 bx = exact_difference(b.x, d.x), by = exact_difference(b.y, d.y);
  double2 cx = exact_difference(c.x, d.x), cy = exact_difference(c.y, d.y);
  int least = NO_EXPONENT, most = -NO_EXPONENT;
  exponent_range(ax, &least, &most); exponent_range(ay, &least, &most);
  exponent_range(bx, &least, &most); exponent_range(by, &least, &most);
  exponent_range(cx, &least, &most); exponent_range(cy, &least, &most);
  wide_t sum = wide_zero(words, stride, least, most, 4);
  wide_add_lifted(sum, ax, ay, bx, by, cx, cy);
  wide_add_lifted(sum, bx, by, cx, cy, ax, ay);
  wide_add_lifted(sum, cx, cy, ax, ay, bx, by);
  return wide_sign(sum);
}
#endif
