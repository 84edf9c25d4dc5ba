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

struct Steps {  // elements from channel to channel
  long long scale, bias, mean, variance;
};

// Batch normalization with given mean and variance of each channel.
extern "C" __global__ void normalizeBatch(long long count, Walk<RANK> walk, const STORED* in, Walk<RANK> walk_to, STORED* out,
                                          Walk<RANK> channel, Steps steps, const STORED* scale, const STORED* bias, const STORED* mean,
                                          const STORED* variance, double eps, double alpha_, double beta_) {
  const C alpha = (C)alpha_, beta = (C)beta_;
  (void)alpha, (void)beta;
  for (long long i = firstElement(); i < count; i += allThreads()) {
    const long long c = channel.at(i);
    double x = ((double)load(in + walk.at(i)) - (double)load(mean + c * steps.mean)) /
               sqrt((double)load(variance + c * steps.variance) + eps);
    if (scale) {
      x *= (double)load(scale + c * steps.scale);
    }
    if (bias) {
      x += (double)load(bias + c * steps.bias);
    }
    store(out + walk_to.at(i), ACTIVATION((C)x, alpha, beta));
  }
}
