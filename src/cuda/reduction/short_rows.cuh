// Normalization of rows of at most 32 * PER_LANE values at even distances: a warp for each, which keeps it in registers. S is
// what sums are carried in.

extern "C" __global__ void normalizeShort(long long groups, long long length, Walk<KEPT> kept, long long step, const STORED* in,
                                          Walk<KEPT> kept_to, long long step_to, STORED* out, Walk<KEPT> kept_scale,
                                          long long step_scale, const STORED* scale, Walk<KEPT> kept_bias, long long step_bias,
                                          const STORED* bias, double eps, double alpha_, double beta_) {
  const C alpha = (C)alpha_, beta = (C)beta_;
  (void)alpha, (void)beta;
  const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
  for (long long first = (long long)blockIdx.x * warps; first < groups; first += (long long)gridDim.x * warps) {
    const bool is_group = first + threadIdx.x / 32 < groups;
    const long long group = is_group ? first + threadIdx.x / 32 : groups - 1;
    const STORED* const from = in + kept.at(group);
    S values[PER_LANE];
    S sum = 0;
    for (int k = 0; k < PER_LANE; ++k) {
      const long long i = lane + 32 * k;
      values[k] = i < length ? (S)load(from + i * step) : (S)0;
      sum += values[k];
    }
    S mean = 0;
#if CENTERED
    mean = foldWarp<S>(sum, Sum<S>()) / (S)length;
    S rest = 0;
    for (int k = 0; k < PER_LANE; ++k) {
      rest += lane + 32 * k < length ? values[k] - mean : (S)0;
    }
    mean += foldWarp<S>(rest, Sum<S>()) / (S)length;
#endif
    S squares = 0;
    for (int k = 0; k < PER_LANE; ++k) {
      const S x = lane + 32 * k < length ? values[k] - mean : (S)0;
      squares += x * x;
    }
    squares = foldWarp<S>(squares, Sum<S>()) / (S)length;
    if (squares == (S)INFINITY) {
      mean = 0;
    }
    const S factor = 1 / sqrt(squares + (S)eps);
    STORED* const to = out + kept_to.at(group);
    const STORED* const scales = scale ? scale + kept_scale.at(group) : scale;
    const STORED* const biases = bias ? bias + kept_bias.at(group) : bias;
    for (int k = 0; k < PER_LANE; ++k) {
      const long long i = lane + 32 * k;
      if (is_group && i < length) {
        S x = (values[k] - mean) * factor;
        if (scale) {
          x *= (S)load(scales + i * step_scale);
        }
        if (bias) {
          x += (S)load(biases + i * step_bias);
        }
        store(to + i * step_to, ACTIVATION((C)x, alpha, beta));
      }
    }
  }
}
