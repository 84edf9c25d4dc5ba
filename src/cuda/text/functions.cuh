// The arithmetic of unary, binary and activation layers, one function for each name of the layer table. The meaning is
// that of the CPU's reference.

template <class T> __device__ T unary_exp(T x) { return exp(x); }
template <class T> __device__ T unary_log(T x) { return log(x); }
template <class T> __device__ T unary_sqrt(T x) { return sqrt(x); }
template <class T> __device__ T unary_reciprocal(T x) { return T(1) / x; }
template <class T> __device__ T unary_abs(T x) { return fabs(x); }
__device__ inline long long unary_abs(long long x) { return x < 0 ? (long long)(0ULL - (unsigned long long)x) : x; }
template <class T> __device__ T unary_neg(T x) { return -x; }
__device__ inline long long unary_neg(long long x) { return (long long)(0ULL - (unsigned long long)x); }
template <class T> __device__ T unary_sin(T x) { return sin(x); }
template <class T> __device__ T unary_cos(T x) { return cos(x); }
template <class T> __device__ T unary_tan(T x) { return tan(x); }
template <class T> __device__ T unary_sinh(T x) { return sinh(x); }
template <class T> __device__ T unary_cosh(T x) { return cosh(x); }
template <class T> __device__ T unary_asin(T x) { return asin(x); }
template <class T> __device__ T unary_acos(T x) { return acos(x); }
template <class T> __device__ T unary_atan(T x) { return atan(x); }
template <class T> __device__ T unary_asinh(T x) { return asinh(x); }
template <class T> __device__ T unary_acosh(T x) { return acosh(x); }
template <class T> __device__ T unary_atanh(T x) { return atanh(x); }
template <class T> __device__ T unary_ceil(T x) { return ceil(x); }
template <class T> __device__ T unary_floor(T x) { return floor(x); }
template <class T> __device__ T unary_round(T x) { return rint(x); }
template <class T> __device__ T unary_trunc(T x) { return trunc(x); }
__device__ inline long long unary_ceil(long long x) { return x; }
__device__ inline long long unary_floor(long long x) { return x; }
__device__ inline long long unary_round(long long x) { return x; }
__device__ inline long long unary_trunc(long long x) { return x; }
template <class T> __device__ T unary_erf(T x) { return erf(x); }
template <class T> __device__ T unary_erfc(T x) { return erfc(x); }
template <class T> __device__ T unary_sign(T x) { return T(T(0) < x) - T(x < T(0)); }
template <class T> __device__ T unary_not(T x) { return T(x == T(0)); }
__device__ inline long long unary_bitwise_not(long long x) { return ~x; }
template <class T> __device__ T unary_isinf(T x) { return T(fabs(x) == T(INFINITY)); }
template <class T> __device__ T unary_isnan(T x) { return T(x != x); }
template <class T> __device__ T unary_isfinite(T x) { return T(fabs(x) < T(INFINITY)); }
__device__ inline long long unary_isinf(long long) { return 0; }
__device__ inline long long unary_isnan(long long) { return 0; }
__device__ inline long long unary_isfinite(long long) { return 1; }
template <class T> __device__ T unary_rsqrt(T x) { return T(1) / sqrt(x); }
template <class T> __device__ T unary_square(T x) { return x * x; }
__device__ inline long long unary_square(long long x) {
  return (long long)((unsigned long long)x * (unsigned long long)x);
}
template <class T> __device__ T unary_expm1(T x) { return expm1(x); }
template <class T> __device__ T unary_log1p(T x) { return log1p(x); }
template <class T> __device__ T unary_log2(T x) { return log2(x); }
template <class T> __device__ T unary_log10(T x) { return log10(x); }
template <class T> __device__ T unary_exp2(T x) { return exp2(x); }
template <class T> __device__ T unary_frac(T x) { return x - trunc(x); }
__device__ inline long long unary_frac(long long) { return 0; }
template <class T> __device__ T unary_lgamma(T x) { return lgamma(x); }

template <class T> __device__ T binary_sum(T a, T b) { return a + b; }
template <class T> __device__ T binary_sub(T a, T b) { return a - b; }
template <class T> __device__ T binary_prod(T a, T b) { return a * b; }
__device__ inline long long binary_sum(long long a, long long b) {
  return (long long)((unsigned long long)a + (unsigned long long)b);
}
__device__ inline long long binary_sub(long long a, long long b) {
  return (long long)((unsigned long long)a - (unsigned long long)b);
}
__device__ inline long long binary_prod(long long a, long long b) {
  return (long long)((unsigned long long)a * (unsigned long long)b);
}
template <class T> __device__ T binary_div(T a, T b) { return a / b; }
template <class T> __device__ T binary_trunc_div(T a, T b) { return trunc(a / b); }
template <class T> __device__ T binary_fmod(T a, T b) { return fmod(a, b); }
template <class T> __device__ T binary_mod(T a, T b) {
  const T remainder = fmod(a, b);
  return remainder != T(0) && (remainder < T(0)) != (b < T(0)) ? remainder + b : remainder;
}
// From the exact remainder, so that the quotient is not rounded up to the next integer.
template <class T> __device__ T binary_floor_div(T a, T b) {
  if (b == T(0)) {
    return a / b;
  }
  const T remainder = fmod(a, b);
  T quotient = (a - remainder) / b;
  if (remainder != T(0) && (b < T(0)) != (remainder < T(0))) {
    quotient -= T(1);
  }
  if (quotient == T(0)) {
    return copysign(T(0), a / b);
  }
  const T floored = floor(quotient);
  return quotient - floored > T(0.5) ? floored + T(1) : floored;
}
template <class T> __device__ T binary_pow(T a, T b) { return pow(a, b); }
template <class T> __device__ T binary_atan2(T a, T b) { return atan2(a, b); }
template <class T> __device__ T binary_max(T a, T b) { return a != a || b < a ? a : b; }
template <class T> __device__ T binary_min(T a, T b) { return a != a || a < b ? a : b; }
template <class T> __device__ T binary_and(T a, T b) { return T(a != T(0) && b != T(0)); }
template <class T> __device__ T binary_or(T a, T b) { return T(a != T(0) || b != T(0)); }
template <class T> __device__ T binary_xor(T a, T b) { return T((a != T(0)) != (b != T(0))); }
template <class T> __device__ T binary_equal(T a, T b) { return T(a == b); }
template <class T> __device__ T binary_not_equal(T a, T b) { return T(a != b); }
template <class T> __device__ T binary_less(T a, T b) { return T(a < b); }
template <class T> __device__ T binary_less_equal(T a, T b) { return T(a <= b); }
template <class T> __device__ T binary_greater(T a, T b) { return T(b < a); }
template <class T> __device__ T binary_greater_equal(T a, T b) { return T(b <= a); }
__device__ inline long long binary_bitwise_and(long long a, long long b) { return a & b; }
__device__ inline long long binary_bitwise_or(long long a, long long b) { return a | b; }
__device__ inline long long binary_bitwise_xor(long long a, long long b) { return a ^ b; }

// An activation's alpha or beta in the type that is computed in; integers take the nearest that there is, 0 for NaN.
template <class T> __device__ T parameterOf(double value) { return (T)value; }
template <> __device__ inline long long parameterOf<long long>(double value) {
  const double limit = 9223372036854775808.0;
  return value != value ? 0 : value >= limit ? 9223372036854775807LL : value < -limit ? wholeOf(-limit) : (long long)value;
}
// An integer as it is stored.
template <class Stored> __device__ long long wrapped(long long value) {
  Stored stored;
  store(&stored, value);
  return load(&stored);
}

// One function for each activation; x comes first, then the layer's alpha and beta.
#include "kernels/scalar/activations.h"
template <class T> __device__ T activation_none(T x, T, T) { return x; }

// Of results of 16 bits: erf() has branches that the threads of a warp take one after the other, and takes longer than
// the memory. The relative error stays below 2^-14 down to where a result of 16 bits is zero. erfc() is Numerical
// Recipes' (section 6.2, erfcc).
#ifdef __CUDACC_RTC__
__device__ inline float shortExp(float x) { return __expf(x); }
// One instruction each. Results below the least normal float32 are zero.
__device__ inline float shortExp2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
__device__ inline float shortReciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
#else
__device__ inline float shortExp(float x) { return exp(x); }
__device__ inline float shortExp2(float x) { return exp2(x); }
__device__ inline float shortReciprocal(float x) { return 1.0f / x; }
#endif
__device__ inline float short_gelu_erf(float x, float, float) {
  const float size = fabs(x);
  const float t = shortReciprocal(1.0f + 0.35355339059f * size);
  float power = 0.17087277f;
  power = power * t - 0.82215223f;
  power = power * t + 1.48851587f;
  power = power * t - 1.13520398f;
  power = power * t + 0.27886807f;
  power = power * t - 0.18628806f;
  power = power * t + 0.09678418f;
  power = power * t + 0.37409196f;
  power = power * t + 1.00002368f;
  power = power * t - 1.26551223f;
  const float tail = 0.5f * t * shortExp(power - 0.5f * size * size);  // of the normal distribution beyond `size`
  return x * (x < 0.0f ? tail : 1.0f - tail);
}
// Of float16, which has a shorter tail. The normal distribution is a logistic curve of an odd function of x. A polynomial
// stands for that function as far as results are not zero, with an error of a tail of 2^-18 at the most.
__device__ inline float half_gelu_erf(float x, float, float) {
  const float whole = x * x, square = whole < 33.64f ? whole : 33.64f;
  float power = 2.425833920674178e-14f;
  power = power * square - 4.9215037427330355e-12f;
  power = power * square + 4.3784340042485326e-10f;
  power = power * square - 2.2413189526560018e-08f;
  power = power * square + 7.247562621159886e-07f;
  power = power * square - 1.5051456102810334e-05f;
  power = power * square + 0.00017997778195422143f;
  power = power * square + 3.526408545440063e-05f;
  power = power * square - 0.10476027429103851f;
  power = power * square - 2.3022377490997314f;
  return x * shortReciprocal(1.0f + shortExp2(x * power));
}
