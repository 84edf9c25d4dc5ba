// Batch normalization with given mean and variance of each channel is a line through the values of the channel. S is what lines
// are of.

struct Steps {  // elements from channel to channel
  long long scale, bias, mean, variance;
};
struct Line {
  S factor, shift;
};

extern "C" __global__ void linesOfChannels(long long channels, Steps steps, const STORED* scale, const STORED* bias,
                                           const STORED* mean, const STORED* variance, double eps, Line* lines) {
  waitForInputs();
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
  waitForInputs();
  const C alpha = (C)alpha_, beta = (C)beta_;
  (void)alpha, (void)beta;
  for (long long i = firstElement(); i < count; i += allThreads()) {
    const Line line = lines[channel.at(i)];
    const S x = (S)load(in + walk.at(i)) * line.factor + line.shift;
    store(out + walk_to.at(i), ACTIVATION((C)x, alpha, beta));
  }
}
