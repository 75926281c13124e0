/* Functions that the pseudocode calls, and instructions whose pseudocode is no plain expression. */
#ifndef CLGRAPH_AMD_ARITHMETIC_H
#define CLGRAPH_AMD_ARITHMETIC_H

static inline U32 float_bits(float x) {
  V v = {.f32 = x};
  return v.u32;
}
static inline float bits_float(U32 x) {
  V v = {.u32 = x};
  return v.f32;
}

/* ---- half precision, to nearest even */
static inline float f16_to_f32(U16 h) {
  U32 sign = (U32)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 1023;
  if (exponent == 31) return bits_float(sign | 0x7f800000 | fraction << 13);
  if (exponent) return bits_float(sign | (exponent + 112) << 23 | fraction << 13);
  float small = (float)fraction * 0x1p-24f;
  return sign ? -small : small;
}
static inline U16 f32_to_f16(float x) {
  U32 bits = float_bits(x), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
  if (rest > 0x7f800000) return (U16)(sign | 0x7e00 | (rest >> 13 & 1023));
  if (rest >= 0x477ff000) return (U16)(sign | 0x7c00);
  if (rest < 0x38800000) return (U16)(sign | (U16)lrintf(bits_float(rest) * 0x1p24f));
  U32 lost = rest & 0x1fff, kept = (rest - 0x38000000) >> 13;
  return (U16)(sign | (kept + (lost > 0x1000 || (lost == 0x1000 && kept & 1))));
}

/* ---- conversions; out of range saturates, NaN is 0 */
static inline U32 f32_to_u32(float x) { return !(x > 0) ? 0 : x >= 0x1p32f ? UINT32_MAX : (U32)x; }
static inline I32 f32_to_i32(float x) {
  return x != x ? 0 : x >= 0x1p31f ? INT32_MAX : x <= -0x1p31f ? INT32_MIN : (I32)x;
}
static inline U32 f64_to_u32(double x) { return !(x > 0) ? 0 : x >= 0x1p32 ? UINT32_MAX : (U32)x; }
static inline I32 f64_to_i32(double x) {
  return x != x ? 0 : x >= 0x1p31 ? INT32_MAX : x <= -0x1p31 ? INT32_MIN : (I32)x;
}
#define u32_to_f32(x) ((float)(U32)(x))
#define i32_to_f32(x) ((float)(I32)(x))
#define f32_to_f64(x) ((double)(x))
#define f64_to_f32(x) ((float)(x))
#define u32_to_f64(x) ((double)(U32)(x))
#define i32_to_f64(x) ((double)(I32)(x))
static inline I32 i24(U32 x) { return (I32)(x << 8) >> 8; }
static inline U32 u24(U32 x) { return x & 0xffffff; }

#define signext(x) ((I64)(x))
static inline I64 signext_from_bit(I64 x, U64 n) { return n == 0 || n >= 64 ? (n ? x : 0) : x << (64 - n) >> (64 - n); }
#define DEFINE_ENDS(T, NAME)                                            \
  static inline T v_min_##NAME(T a, T b) { return a < b ? a : b; }      \
  static inline T v_max_##NAME(T a, T b) { return a > b ? a : b; }
DEFINE_ENDS(U32, u32)
DEFINE_ENDS(I32, i32)

/* ---- kinds of numbers */
static inline int exponent_f32(float x) { return (int)(float_bits(x) >> 23 & 255); }
static inline int exponent_f64(double x) {
  V v = {.f64 = x};
  return (int)(v.u64 >> 52 & 2047);
}
static inline int class_f32(float x, U32 mask) {
  U32 bits = float_bits(x), e = bits >> 23 & 255, fraction = bits & 0x7fffff, minus = bits >> 31, at;
  if (e == 255 && fraction) at = fraction >> 22 & 1;
  else at = e == 255 ? (minus ? 2 : 9) : e ? (minus ? 3 : 8) : fraction ? (minus ? 4 : 7) : (minus ? 5 : 6);
  return mask >> at & 1;
}

/* ---- minima and maxima: a NaN loses, and -0 is less than +0 */
static inline float min_f32(float a, float b) {
  if (a != a || b != b) return a != a ? b : a;
  return a < b || (a == b && signbit(a)) ? a : b;
}
static inline float max_f32(float a, float b) {
  if (a != a || b != b) return a != a ? b : a;
  return a > b || (a == b && !signbit(a)) ? a : b;
}
static inline double min_f64(double a, double b) {
  if (a != a || b != b) return a != a ? b : a;
  return a < b || (a == b && signbit(a)) ? a : b;
}
static inline double max_f64(double a, double b) {
  if (a != a || b != b) return a != a ? b : a;
  return a > b || (a == b && !signbit(a)) ? a : b;
}
static inline float med3_f32(float a, float b, float c) {
  if (a != a || b != b || c != c) return min_f32(min_f32(a, b), c);
  return max_f32(min_f32(a, b), min_f32(max_f32(a, b), c));
}
static inline U32 med3_u32(U32 a, U32 b, U32 c) {
  return v_max_u32(v_min_u32(a, b), v_min_u32(v_max_u32(a, b), c));
}
static inline I32 med3_i32(I32 a, I32 b, I32 c) {
  I32 low = a < b ? a : b, high = a < b ? b : a;
  return c < low ? low : c > high ? high : c;
}

/* ---- division: scale, Newton's steps by fma, fixup.  A numerator or denominator near the ends of the range is scaled,
 * and div_fmas undoes it.  After the pseudocode of v_div_scale, v_div_fmas and v_div_fixup. */
#define DEFINE_DIVISION(T, F, BIAS, MANY, FEW, SCALE, LDEXP)                                                          \
  static inline T div_scale_##F(T s0, T s1, T s2, int *scaled) {                                                      \
    *scaled = 0;                                                                                                      \
    if (s2 == 0 || s1 == 0) return (T)NAN;                                                                            \
    int denormal_quotient = fabs((double)s2 / (double)s1) < LDEXP(1.0, 1 - BIAS);                                     \
    int denormal_reciprocal = BIAS == 127 ? fabs(1.0 / (double)s1) < 0x1p-1022 : fabs((T)1 / s1) < LDEXP((T)1, 1 - BIAS); \
    if (exponent_##F(s2) - exponent_##F(s1) >= MANY) {                                                                \
      *scaled = 1;                                                                                                    \
      return s0 == s1 ? LDEXP(s0, SCALE) : s0;                                                                        \
    }                                                                                                                 \
    if (!exponent_##F(s1)) return LDEXP(s0, SCALE);                                                                   \
    if (denormal_reciprocal && denormal_quotient) {                                                                   \
      *scaled = 1;                                                                                                    \
      return s0 == s1 ? LDEXP(s0, SCALE) : s0;                                                                        \
    }                                                                                                                 \
    if (denormal_reciprocal) return LDEXP(s0, -SCALE);                                                                \
    if (denormal_quotient) {                                                                                          \
      *scaled = 1;                                                                                                    \
      return s0 == s2 ? LDEXP(s0, SCALE) : s0;                                                                        \
    }                                                                                                                 \
    return exponent_##F(s2) <= FEW ? LDEXP(s0, SCALE) : s0;                                                           \
  }                                                                                                                   \
  static inline T div_fixup_##F(T s0, T s1, T s2) {                                                                   \
    int minus = !!signbit(s1) ^ !!signbit(s2);                                                                        \
    if (s2 != s2) return s2;                                                                                          \
    if (s1 != s1) return s1;                                                                                          \
    if ((s1 == 0 && s2 == 0) || (isinf(s1) && isinf(s2))) return (T)-NAN;                                             \
    if (s1 == 0 || isinf(s2)) return minus ? (T)-INFINITY : (T)INFINITY;                                              \
    if (isinf(s1) || s2 == 0) return minus ? -(T)0 : (T)0;                                                            \
    if (s0 != s0) return (T)((double)s2 / (double)s1);                                                                \
    return minus ? -(T)fabs((double)s0) : (T)fabs((double)s0);                                                        \
  }
DEFINE_DIVISION(float, f32, 127, 96, 23, 64, ldexpf)
DEFINE_DIVISION(double, f64, 1023, 768, 53, 128, ldexp)

static inline U32 perm_b32(U32 high, U32 low, U32 select) {
  U64 bytes = (U64)high << 32 | low;
  U32 out = 0;
  for (int k = 0; k < 4; k++) {
    U32 s = select >> 8 * k & 255, byte;
    if (s >= 13) byte = 255;
    else if (s == 12) byte = 0;
    else if (s >= 8) byte = bytes >> (16 * (s - 8) + 15) & 1 ? 255 : 0;
    else byte = bytes >> 8 * s & 255;
    out |= byte << 8 * k;
  }
  return out;
}
#endif
