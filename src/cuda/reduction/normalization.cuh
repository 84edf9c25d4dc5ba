// Layer, RMS, group and instance normalization: a block for each group of values. `kept` finds a group, `folded` a value
// in it; scale and bias are found by the group (kept_scale) and the value (folded_scale).

extern "C" __global__ void normalize(long long groups, long long length, Walk<KEPT> kept, Walk<FOLDED> folded,
                                     const STORED* in, Walk<KEPT> kept_to, Walk<FOLDED> folded_to, STORED* out,
                                     Walk<KEPT> kept_scale, Walk<FOLDED> folded_scale, const STORED* scale,
                                     Walk<KEPT> kept_bias, Walk<FOLDED> folded_bias, const STORED* bias, double eps, double alpha_, double beta_) {
  __shared__ double shared[THREADS];
  const C alpha = (C)alpha_, beta = (C)beta_;
  (void)alpha, (void)beta;
  for (long long group = blockIdx.x; group < groups; group += gridDim.x) {
    const STORED* const from = in + kept.at(group);
    STORED* const to = out + kept_to.at(group);
    double mean = 0;
#if CENTERED
    double sum = 0;
    for (long long i = threadIdx.x; i < length; i += blockDim.x) {
      sum += (double)load(from + folded.at(i));
    }
    mean = foldBlock<double>(sum, shared, Sum<double>()) / (double)length;
    // Equal values are normalized to 0: their mean is one of them.
    double rest = 0;
    for (long long i = threadIdx.x; i < length; i += blockDim.x) {
      rest += (double)load(from + folded.at(i)) - mean;
    }
    mean += foldBlock<double>(rest, shared, Sum<double>()) / (double)length;
#endif
    double squares = 0;
    for (long long i = threadIdx.x; i < length; i += blockDim.x) {
      const double x = (double)load(from + folded.at(i)) - mean;
      squares += x * x;
    }
    squares = foldBlock<double>(squares, shared, Sum<double>()) / (double)length;
    if (squares == (double)INFINITY) {
      mean = 0;
    }
    const double factor = 1 / sqrt(squares + eps);
    for (long long i = threadIdx.x; i < length; i += blockDim.x) {
      double x = ((double)load(from + folded.at(i)) - mean) * factor;
      if (scale) {
        x *= (double)load(scale + kept_scale.at(group) + folded_scale.at(i));
      }
      if (bias) {
        x += (double)load(bias + kept_bias.at(group) + folded_bias.at(i));
      }
      store(to + folded_to.at(i), ACTIVATION((C)x, alpha, beta));
    }
  }
}

// The same for rows of at most 32 * PER_LANE values at even distances: a warp for each, which keeps it in registers. S is
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

struct Steps {  // elements from channel to channel
  long long scale, bias, mean, variance;
};
struct Line {
  S factor, shift;
};

// Batch normalization with given mean and variance of each channel is a line through the values of the channel.
extern "C" __global__ void linesOfChannels(long long channels, Steps steps, const STORED* scale, const STORED* bias,
                                           const STORED* mean, const STORED* variance, double eps, Line* lines) {
  for (long long c = firstElement(); c < channels; c += allThreads()) {
    double factor = 1 / sqrt((double)load(variance + c * steps.variance) + eps);
    if (scale) {
      factor *= (double)load(scale + c * steps.scale);
    }
    lines[c].factor = (S)factor;
    lines[c].shift = (S)((bias ? (double)load(bias + c * steps.bias) : 0.0) - (double)load(mean + c * steps.mean) * factor);
  }
}

extern "C" __global__ void normalizeBatch(long long count, Walk<RANK> walk, const STORED* in, Walk<RANK> channel, const Line* lines,
                                          Walk<RANK> walk_to, STORED* out, double alpha_, double beta_) {
  const C alpha = (C)alpha_, beta = (C)beta_;
  (void)alpha, (void)beta;
  for (long long i = firstElement(); i < count; i += allThreads()) {
    const Line line = lines[channel.at(i)];
    const S x = (S)load(in + walk.at(i)) * line.factor + line.shift;
    store(out + walk_to.at(i), ACTIVATION((C)x, alpha, beta));
  }
}
