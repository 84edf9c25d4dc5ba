// Divisions and powers of integers, as kernels/scalar/integer_math.h has them. A division by zero is reported.

__device__ inline long long truncatedDivide(long long a, long long b, int* fault) {
  if (b == 0) {
    report(fault, kDivisionByZero);
    return 0;
  }
  return b == -1 ? (long long)(0ULL - (unsigned long long)a) : a / b;
}
__device__ inline long long truncatedModulo(long long a, long long b, int* fault) {
  if (b == 0) {
    report(fault, kDivisionByZero);
    return 0;
  }
  return b == -1 ? 0 : a % b;
}
__device__ inline long long integer_trunc_div(long long a, long long b, int* fault) { return truncatedDivide(a, b, fault); }
__device__ inline long long integer_fmod(long long a, long long b, int* fault) { return truncatedModulo(a, b, fault); }
__device__ inline long long integer_floor_div(long long a, long long b, int* fault) {
  const long long quotient = truncatedDivide(a, b, fault);
  return truncatedModulo(a, b, fault) != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
// The remainder with the sign of the divisor, as Python's.
__device__ inline long long integer_mod(long long a, long long b, int* fault) {
  const long long remainder = truncatedModulo(a, b, fault);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}
// Negative exponents give the integer part of the reciprocal; 0 has none and gives 0.
__device__ inline long long integer_pow(long long base, long long exponent, int*) {
  if (exponent < 0) {
    return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  }
  unsigned long long factor = (unsigned long long)base, result = 1;
  for (; exponent != 0; exponent >>= 1, factor *= factor) {
    result *= exponent & 1 ? factor : 1;
  }
  return (long long)result;
}
