// Between steps and real numbers, as cpu/quantized/requantization.h defines it: float32, every operation rounded by
// itself, so that no result is a step off.

#ifdef __CUDACC_RTC__
__device__ inline float multiplied(float a, float b) { return __fmul_rn(a, b); }
__device__ inline float added(float a, float b) { return __fadd_rn(a, b); }
#else
__device__ inline float multiplied(float a, float b) { return a * b; }
__device__ inline float added(float a, float b) { return a + b; }
#endif

struct Quantizer {
  float inverse_scale, zero_point, low, high;

  __device__ float operator()(float x) const {
    const float step = added(rint(multiplied(x, inverse_scale)), zero_point);
    return step >= low ? (step > high ? high : step) : low;  // NaN is low
  }
};

struct Dequantizer {
  float scale;
  int zero_point;

  __device__ float operator()(long long step) const { return multiplied((float)((int)step - zero_point), scale); }
  __device__ float operator()(float real) const { return real; }  // a residual that is no steps
};
