// Antialiased resizing: the filter of each axis, then a weighted sum along each axis in turn. STORED, C (summed in), P (of
// the rule), W (weights), CUBIC, IS_BYTE, RANK and AXIS come from antialias.cpp. Weights are those of
// kernels/resize/filter.cpp, rounded alike.

struct FilterAxis {
  long long in, out, most;
  double step, support, inverse;
  int copies, shift;  // whole weights are in units of 2^-shift
};

// The elements that an output is made of: `count` from `first` on.
struct FilterSpan {
  long long first, count;
};

__device__ inline P filterAt(P x) {
  x = fabs(x);
#if CUBIC
  const Rounded<P> d(x), a(P(-0.5)), one(P(1)), two(P(2)), three(P(3)), four(P(4)), five(P(5)), eight(P(8));
  if (x < P(1)) {
    return (((a + two) * d - (a + three)) * d * d + one).value;
  }
  return x < P(2) ? ((((d - five) * d + eight) * d - four) * a).value : P(0);
#else
  return x < P(1) ? P(1) - x : P(0);
#endif
}

__device__ inline long long elementAt(P place, long long in) {
  const P nearest = place + P(0.5);
  return nearest < P(0) ? 0 : nearest < (P)in ? (long long)nearest : in;
}

__device__ inline void storeWeight(float* to, P weight, int) { *to = weight; }
__device__ inline void storeWeight(double* to, P weight, int) { *to = weight; }
__device__ inline void storeWeight(int* to, P weight, int shift) {
  const double scaled = (double)weight * (double)(1 << shift);
  *to = (int)(scaled < 0 ? -floor(0.5 - scaled) : floor(scaled + 0.5));
}

// A thread for each output of the axis; `parts` holds the weights [out, most] before they are divided by their sum.
extern "C" __global__ void antialias_filter(FilterAxis axis, FilterSpan* spans, P* parts, W* weights) {
  const P step = (P)axis.step, support = (P)axis.support, inverse = (P)axis.inverse;
  for (long long i = firstElement(); i < axis.out; i += allThreads()) {
    W* const row = weights + i * axis.most;
    if (axis.copies) {
      spans[i] = {i, 1};
      storeWeight(row, P(1), axis.shift);
      continue;
    }
    P* const part = parts + i * axis.most;
    const P center = timesOf(step, (P)i + P(0.5));
    const long long first = elementAt(center - support, axis.in);
    long long count = elementAt(center + support, axis.in) - first;
    count = count < axis.most ? count : axis.most;
    P total = 0;
    for (long long t = 0; t < count; ++t) {
      part[t] = filterAt(timesOf((P)(first + t) - center + P(0.5), inverse));
      total += part[t];
    }
    for (long long t = 0; t < count; ++t) {
      storeWeight(row + t, total != P(0) ? part[t] / total : part[t], axis.shift);
    }
    spans[i] = {first, count};
  }
}

// Sums along the dim AXIS, a thread for each. The input's walk stands still along it; its elements are `step` apart.
extern "C" __global__ void antialias_sums(long long count, long long most, int shift, const FilterSpan* spans,
                                          const W* weights, Walk<RANK> from, long long step, const STORED* in,
                                          Strides<RANK> to, STORED* out) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    const Coordinates<RANK> place = from.coordinates(i);
    const FilterSpan span = spans[place.at[AXIS]];
    const W* const row = weights + place.at[AXIS] * most;
    const STORED* const elements = in + from.at(place) + span.first * step;
#if IS_BYTE
    long long sum = shift == 0 ? 0 : 1LL << (shift - 1);
    for (long long t = 0; t < span.count; ++t) {
      sum += (long long)row[t] * load(elements + t * step);
    }
    sum >>= shift;
    store(out + to.at(place), sum < 0 ? 0 : sum > 255 ? 255 : sum);
#else
    C sum = 0;
    for (long long t = 0; t < span.count; ++t) {
      sum += row[t] * load(elements + t * step);
    }
    store(out + to.at(place), sum);
#endif
  }
}
