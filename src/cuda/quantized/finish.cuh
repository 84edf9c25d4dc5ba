// From a sum of products of steps in 32 bits to a result: scale, bias, residual and activation, and steps again where OUT is
// of steps.

struct Finish {
  Dequantizer residual;
  Quantizer output;
  float alpha, beta;
};

#if MAKES_STEPS
using Finished = long long;
#else
using Finished = float;
#endif

// A sum of less than 2^22 is the lowest part of 1.5 * 2^23 plus it.
__device__ inline float realOf(unsigned sum) {
#if HAS_SMALL_SUMS
  return floatOf(0x4b400000u + sum) - 12582912.0f;
#else
  return (float)(int)sum;
#endif
}

// The operands are as they lie in memory. Those that the layer does not have, by HAS_BIAS and HAS_RESIDUAL, are not looked at.
__device__ inline Finished finished(unsigned sum, float scale, float bias, const RESIDUAL& residual, const Finish& with) {
  float value = multiplied(realOf(sum), scale);
#if HAS_BIAS
  value = added(value, bias);
#endif
#if HAS_RESIDUAL
  value = added(value, with.residual(residual));
#endif
  value = ACTIVATION(value, with.alpha, with.beta);
#if MAKES_STEPS
  return HAS_OUTPUT_ZERO_POINT ? with.output(value) : with.output.fromZeroPoint(value);
#else
  return value;
#endif
}
