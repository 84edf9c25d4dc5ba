// Layer, RMS, group and instance normalization. `kept` finds a group of values, `folded` a value in it; scale and bias are
// found by the group (kept_scale) and the value (folded_scale).

struct Group {
  Walk<KEPT> kept;
  Walk<FOLDED> folded;
  Walk<KEPT> kept_to;
  Walk<FOLDED> folded_to;
  Walk<KEPT> kept_scale;
  Walk<FOLDED> folded_scale;
  Walk<KEPT> kept_bias;
  Walk<FOLDED> folded_bias;
  double eps, alpha, beta;
};

// This lane's sum of the values less `shift`, or of their squares.
__device__ inline double sumOf(const STORED* from, const Group& group, const Part& part, double shift) {
  double sum = 0;
  for (long long i = part.begin; i < part.end; i += LANES) {
    sum += (double)load(from + group.folded.at(i)) - shift;
  }
  return sum;
}
__device__ inline double squaresOf(const STORED* from, const Group& group, const Part& part, double mean) {
  double sum = 0;
  for (long long i = part.begin; i < part.end; i += LANES) {
    const double x = (double)load(from + group.folded.at(i)) - mean;
    sum += x * x;
  }
  return sum;
}

__device__ inline void write(const STORED* from, const Group& group, const Part& part, double mean, double variance,
                             const STORED* scale, const STORED* bias, STORED* out) {
  const C alpha = (C)group.alpha, beta = (C)group.beta;
  (void)alpha, (void)beta;
  if (variance == (double)INFINITY) {
    mean = 0;
  }
  const double factor = 1 / sqrt(variance + group.eps);
  STORED* const to = out + group.kept_to.at(part.row);
  const long long scale_at = group.kept_scale.at(part.row), bias_at = group.kept_bias.at(part.row);
  for (long long i = part.begin; i < part.end; i += LANES) {
    double x = ((double)load(from + group.folded.at(i)) - mean) * factor;
    if (scale) {
      x *= (double)load(scale + scale_at + group.folded_scale.at(i));
    }
    if (bias) {
      x += (double)load(bias + bias_at + group.folded_bias.at(i));
    }
    store(to + group.folded_to.at(i), ACTIVATION((C)x, alpha, beta));
  }
}

extern "C" __global__ void normalize(Rows rows, Group group, const STORED* in, const STORED* scale, const STORED* bias,
                                     STORED* out) {
  __shared__ double shared[THREADS];
  forParts(rows, [&](const Part& part) {
    const STORED* const from = in + group.kept.at(part.row);
    double mean = 0;
#if CENTERED
    mean = foldLanes<double>(sumOf(from, group, part, 0), shared, Sum<double>()) / (double)rows.length;
    // Equal values are normalized to 0: their mean is one of them.
    mean += foldLanes<double>(sumOf(from, group, part, mean), shared, Sum<double>()) / (double)rows.length;
#endif
    const double squares = foldLanes<double>(squaresOf(from, group, part, mean), shared, Sum<double>());
    write(from, group, part, mean, squares / (double)rows.length, scale, bias, out);
  });
}
