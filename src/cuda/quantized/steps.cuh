// Between steps and real numbers, as cpu/quantized/requantization.h defines it: float32, every operation rounded by
// itself, so that no result is a step off.

#ifdef __CUDACC_RTC__
__device__ inline float multiplied(float a, float b) { return __fmul_rn(a, b); }
__device__ inline float added(float a, float b) { return __fadd_rn(a, b); }
#else
__device__ inline float multiplied(float a, float b) { return a * b; }
__device__ inline float added(float a, float b) { return a + b; }
#endif

// Limits are distances from the zero point. NaN becomes the lower one.
struct Quantizer {
  float inverse_scale, low, high;
  int zero_point;

  __device__ int operator()(float x) const { return fromZeroPoint(x) + zero_point; }
  __device__ int fromZeroPoint(float x) const {
    constexpr float kRounds = 12582912;  // 1.5 * 2^23: a sum with it is rounded to a whole number, the lowest bits of the sum
    const float sum = added(within(multiplied(x, inverse_scale)), kRounds);
    return (int)(bitsOf(sum) - bitsOf(kRounds));
  }

 private:
  __device__ float within(float x) const {
#ifdef __CUDACC_RTC__
    return fminf(fmaxf(x, low), high);
#else
    return x >= low ? (x > high ? high : x) : low;
#endif
  }
};

struct Dequantizer {
  float scale;
  int zero_point;

  // 2^23 plus a number of eight bits has that in its lowest bits: conversions are several times slower.
  __device__ float operator()(unsigned char step) const {
    return multiplied(floatOf(0x4b000000u | step) - (8388608.0f + (float)zero_point), scale);
  }
  __device__ float operator()(signed char step) const {
    return multiplied(floatOf(0x4b000000u | (unsigned char)(step ^ 0x80)) - (8388736.0f + (float)zero_point), scale);
  }
  __device__ float operator()(float real) const { return real; }  // a residual that is no steps
};
