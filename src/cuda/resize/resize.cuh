// Resizing of the last one to three axes, a thread for each result. STORED, C (computed in), P (positions), MODE (0
// nearest, 1 nearest_exact, 2 linear, 3 cubic), LEAD (rank of the other axes), INDEX and IS_BYTE come from resize.cpp. Positions
// are those of kernels/resize/taps.cpp, rounded alike.

struct ResizeAxis {
  long long in, out, in_stride, out_stride;
  double step;             // input cells per output cell
  float nearest_step;      // the same, which nearest takes for every dtype
  int taps;                // 1 where the problem has no such axis
  int align_corners, copies_equal;
  int shift;               // of the weights of integers
};

struct Taps {
  long long index[4];
  P weight[4];
};

// The place in front of a position, which is none (NaN) or anywhere where a scale is near to 0.
template <class T>
__device__ long long indexOf(T position, long long in) {
  if (!(position < (T)(in - 1))) {
    return in - 1;
  }
  const long long index = wholeOf((double)floor(position));
  return index < in - 1 ? index : in - 1;
}

__device__ inline Taps tapsOf(const ResizeAxis& axis, long long i) {
  Taps taps = {{i, i, i, i}, {1, 0, 0, 0}};
  if (axis.copies_equal && axis.in == axis.out) {
    return taps;
  }
#if MODE == 0
  taps.index[0] = axis.copies_equal && axis.out == 2 * axis.in ? i / 2
                                                               : indexOf(timesOf((float)i, axis.nearest_step), axis.in);
#elif MODE == 1
  taps.index[0] = indexOf(timesOf((P)i + P(0.5), (P)axis.step), axis.in);
#else
  P position = axis.align_corners ? timesOf((P)axis.step, (P)i) : timesOf((P)axis.step, (P)i + P(0.5)) - P(0.5);
#if MODE == 2
  position = position < P(0) ? P(0) : position;
#endif
  const long long index = indexOf(position, axis.in);
  P fraction = position - (P)index;
  fraction = fraction < P(0) ? P(0) : fraction > P(1) ? P(1) : fraction;
#if MODE == 2
  taps.index[0] = index;
  taps.index[1] = index + 1 < axis.in ? index + 1 : axis.in - 1;
  taps.weight[0] = P(1) - fraction;
  taps.weight[1] = fraction;
#else
  const CubicWeights<P> weights(fraction);
  for (int t = 0; t < 4; ++t) {
    const long long place = index - 1 + t;
    taps.index[t] = place < 0 ? 0 : place < axis.in ? place : axis.in - 1;
    taps.weight[t] = weights.weight[t];
  }
#endif
#endif
  return taps;
}

#if IS_INTEGER && MODE > 1
// The weighted sum along one axis in whole weights, rounded to the dtype.
struct WholeTaps {
  long long index[4], weight[4];
  int taps, shift;

  __device__ WholeTaps(const ResizeAxis& axis, long long i) : taps(axis.taps), shift(axis.shift) {
    Taps exact = tapsOf(axis, i);
    for (int t = 1; t < 4; ++t) {  // positions that were brought to one edge share one weight
      for (int earlier = 0; earlier < t; ++earlier) {
        if (exact.index[earlier] == exact.index[t] && exact.weight[t] != 0) {
          exact.weight[earlier] += exact.weight[t];
          exact.weight[t] = 0;
        }
      }
    }
    for (int t = 0; t < 4; ++t) {
      index[t] = exact.index[t];
      const double scaled = (double)exact.weight[t] * (double)(1 << shift);
      weight[t] = (long long)(scaled < 0 ? -floor(0.5 - scaled) : floor(scaled + 0.5));
    }
    if (taps == 1) {
      weight[0] = 1;
    }
  }
  template <class Source>
  __device__ long long sum(Source source) const {
    long long total = shift == 0 ? 0 : 1LL << (shift - 1);
    for (int t = 0; t < taps; ++t) {
      total += weight[t] == 0 ? 0 : weight[t] * source(index[t]);
    }
    const long long rounded = total >> shift;
    return IS_BYTE ? (rounded < 0 ? 0 : rounded > 255 ? 255 : rounded) : rounded;
  }
};
#endif

extern "C" __global__ void resize(long long count, ResizeAxis depth, ResizeAxis height, ResizeAxis width, Walk<LEAD> from,
                                  const STORED* in, Walk<LEAD> to, STORED* out) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    const INDEX line = (INDEX)i / (INDEX)width.out, slice = line / (INDEX)height.out;
    const INDEX plane = slice / (INDEX)depth.out;
    const long long x = (INDEX)i - line * (INDEX)width.out, y = line - slice * (INDEX)height.out;
    const long long z = slice - plane * (INDEX)depth.out;
    const STORED* const source = in + from.at(plane);
    STORED* const target =
        out + to.at(plane) + z * depth.out_stride + y * height.out_stride + x * width.out_stride;
#if MODE < 2
    *target = source[tapsOf(depth, z).index[0] * depth.in_stride + tapsOf(height, y).index[0] * height.in_stride +
                     tapsOf(width, x).index[0] * width.in_stride];
#elif IS_INTEGER
    const WholeTaps d(depth, z), h(height, y), w(width, x);
    store(target, d.sum([&](long long at_z) {
      return h.sum([&](long long at_y) {
        return w.sum([&](long long at_x) {
          return load(source + at_z * depth.in_stride + at_y * height.in_stride + at_x * width.in_stride);
        });
      });
    }));
#else
    const Taps d = tapsOf(depth, z), h = tapsOf(height, y), w = tapsOf(width, x);
    C sum = 0;
    for (int a = 0; a < depth.taps; ++a) {
      for (int b = 0; b < height.taps; ++b) {
        const STORED* const line = source + d.index[a] * depth.in_stride + h.index[b] * height.in_stride;
        C part = 0;
        for (int c = 0; c < width.taps; ++c) {
          part += w.weight[c] * load(line + w.index[c] * width.in_stride);
        }
        sum += d.weight[a] * h.weight[b] * part;
      }
    }
    store(target, sum);
#endif
  }
}
