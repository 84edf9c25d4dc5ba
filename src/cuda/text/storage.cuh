// Elements of every dtype as they lie in memory, and the three types that are computed in: float, double, long long.
// store() does the one rounding of a layer. Bit by bit as kernels/scalar/half.h, except for the bits of a NaN.

#ifdef __CUDACC_RTC__
#define INFINITY __int_as_float(0x7f800000)
#endif

struct Half {
  unsigned short bits;
};
struct BFloat {
  unsigned short bits;
};
struct Bool {
  unsigned char byte;
};

__device__ inline unsigned bitsOf(float value) {
  return __float_as_uint(value);
}
__device__ inline float floatOf(unsigned bits) {
  return __uint_as_float(bits);
}

__device__ inline float load(const float* p) { return *p; }
__device__ inline double load(const double* p) { return *p; }
__device__ inline long long load(const signed char* p) { return *p; }
__device__ inline long long load(const unsigned char* p) { return *p; }
__device__ inline long long load(const short* p) { return *p; }
__device__ inline long long load(const int* p) { return *p; }
__device__ inline long long load(const long long* p) { return *p; }
__device__ inline long long load(const Bool* p) { return p->byte != 0; }
__device__ inline float load(const BFloat* p) { return floatOf((unsigned)p->bits << 16); }
#ifdef __CUDACC_RTC__
__device__ inline float load(const Half* p) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(p->bits));
  return value;
}
#else
__device__ inline float load(const Half* p) {
  const unsigned sign = (unsigned)(p->bits & 0x8000u) << 16;
  const unsigned magnitude = p->bits & 0x7fffu;
  unsigned result;
  if (magnitude >= 0x7c00u) {
    result = 0x7f800000u | ((magnitude & 0x3ffu) << 13);
  } else if (magnitude < 0x400u) {
    result = bitsOf((float)magnitude * 5.9604644775390625e-8f);
  } else {
    result = (magnitude << 13) + (112u << 23);
  }
  return floatOf(sign | result);
}
#endif

__device__ inline long long wholeOf(double value) {
  // Towards zero; NaN and all that is out of range as x86 gives it.
  return value >= -9223372036854775808.0 && value < 9223372036854775808.0 ? (long long)value : -9223372036854775807LL - 1;
}
__device__ inline int wholeIntOf(double value) {
  return value > -2147483649.0 && value < 2147483648.0 ? (int)value : -2147483647 - 1;
}

__device__ inline void store(float* p, float value) { *p = value; }
__device__ inline void store(float* p, double value) { *p = (float)value; }
__device__ inline void store(float* p, long long value) { *p = (float)value; }
__device__ inline void store(double* p, float value) { *p = value; }
__device__ inline void store(double* p, double value) { *p = value; }
__device__ inline void store(double* p, long long value) { *p = (double)value; }
__device__ inline void store(BFloat* p, float value) {
  const unsigned bits = bitsOf(value);
  p->bits = (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
__device__ inline void store(BFloat* p, double value) { store(p, (float)value); }
__device__ inline void store(BFloat* p, long long value) { store(p, (float)value); }
#ifdef __CUDACC_RTC__
__device__ inline void store(Half* p, float value) {
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(p->bits) : "f"(value));
}
#else
__device__ inline void store(Half* p, float value) {
  const unsigned bits = bitsOf(value);
  const unsigned sign = (bits >> 16) & 0x8000u;
  unsigned magnitude = bits & 0x7fffffffu;
  unsigned result;
  if (magnitude >= 0x477ff000u) {
    result = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  } else if (magnitude < 0x38800000u) {
    result = bitsOf(floatOf(magnitude) + 0.5f) - 0x3f000000u;
  } else {
    magnitude += 0xfffu + ((magnitude >> 13) & 1u);
    result = (magnitude - (112u << 23)) >> 13;
  }
  p->bits = (unsigned short)(sign | result);
}
#endif
__device__ inline void store(Half* p, double value) { store(p, (float)value); }
__device__ inline void store(Half* p, long long value) { store(p, (float)value); }
__device__ inline void store(long long* p, long long value) { *p = value; }
__device__ inline void store(int* p, long long value) { *p = (int)value; }
__device__ inline void store(short* p, long long value) { *p = (short)value; }
__device__ inline void store(signed char* p, long long value) { *p = (signed char)value; }
__device__ inline void store(unsigned char* p, long long value) { *p = (unsigned char)value; }
__device__ inline void store(Bool* p, long long value) { p->byte = value != 0; }
__device__ inline void store(Bool* p, float value) { p->byte = value != 0; }
__device__ inline void store(Bool* p, double value) { p->byte = value != 0; }
__device__ inline void store(long long* p, double value) { *p = wholeOf(value); }
__device__ inline void store(int* p, double value) { *p = wholeIntOf(value); }
__device__ inline void store(short* p, double value) { *p = (short)wholeIntOf(value); }
__device__ inline void store(signed char* p, double value) { *p = (signed char)wholeIntOf(value); }
__device__ inline void store(unsigned char* p, double value) { *p = (unsigned char)wholeIntOf(value); }
__device__ inline void store(long long* p, float value) { store(p, (double)value); }
__device__ inline void store(int* p, float value) { store(p, (double)value); }
__device__ inline void store(short* p, float value) { store(p, (double)value); }
__device__ inline void store(signed char* p, float value) { store(p, (double)value); }
__device__ inline void store(unsigned char* p, float value) { store(p, (double)value); }

// The flat index of this thread among all of the grid, and how many there are.
__device__ inline long long firstElement() { return (long long)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline long long allThreads() { return (long long)gridDim.x * blockDim.x; }

// Divides by 32 bits where the numbers fit, which is several times faster.
__device__ inline long long quotient(long long a, long long b) {
  return (a | b) >> 32 == 0 ? (long long)((unsigned)a / (unsigned)b) : a / b;
}

// A place in a tensor: its index along each axis.
template <int kRank>
struct Coordinates {
  long long at[kRank == 0 ? 1 : kRank];
};

// Elements from a place to the next along each axis.
template <int kRank>
struct Strides {
  long long of[kRank == 0 ? 1 : kRank];

  __device__ long long at(const Coordinates<kRank>& place) const {
    long long offset = 0;
    for (int axis = 0; axis < kRank; ++axis) {
      offset += place.at[axis] * of[axis];
    }
    return offset;
  }
};

// The place of element `flat` (row-major in the dims), by strides. Rank 0 has one element.
template <int kRank>
struct Walk {
  long long dims[kRank == 0 ? 1 : kRank];
  Strides<kRank> strides;

  // `flat` is below the number of elements: the first index needs no division.
  __device__ Coordinates<kRank> coordinates(long long flat) const {
    Coordinates<kRank> place;
    for (int axis = kRank - 1; axis > 0; --axis) {
      const long long size = dims[axis];
      const long long next = quotient(flat, size);
      place.at[axis] = flat - next * size;
      flat = next;
    }
    place.at[0] = flat;
    return place;
  }
  __device__ long long at(const Coordinates<kRank>& place) const { return strides.at(place); }
  __device__ long long at(long long flat) const { return strides.at(coordinates(flat)); }

  // Of any `flat`: behind the last element comes the first.
  __device__ long long repeatedAt(long long flat) const { return kRank == 0 ? 0 : at(flat % count()); }

  __device__ long long count() const {
    long long all = 1;
    for (int axis = 0; axis < kRank; ++axis) {
      all *= dims[axis];
    }
    return all;
  }
};

// A divisor of numbers below 2^31, as Granlund and Montgomery divide by multiplication (PLDI 1994).
struct Divisor {
  unsigned size, multiplier, shift;

  __device__ unsigned quotient(unsigned flat) const {
    return ((unsigned)((unsigned long long)flat * multiplier >> 32) + flat) >> shift;
  }
};

// Walk in 32 bits, without a division: of fewer than 2^31 elements that lie within as many.
template <int kRank>
struct ShortWalk {
  Divisor dims[kRank == 0 ? 1 : kRank];
  int strides[kRank == 0 ? 1 : kRank];

  __device__ long long at(unsigned flat) const {
    int offset = 0;
    for (int axis = kRank - 1; axis > 0; --axis) {
      const unsigned next = dims[axis].quotient(flat);
      offset += (int)(flat - next * dims[axis].size) * strides[axis];
      flat = next;
    }
    return kRank == 0 ? 0 : offset + (int)flat * strides[0];
  }
};
