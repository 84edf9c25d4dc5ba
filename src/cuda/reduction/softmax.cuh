// Softmax or its logarithm along one axis. STORED, C (computed in) and KEPT (rank of the other axes) come from softmax.cpp.

__device__ inline C highestOf(const STORED* from, long long step, const Part& part) {
  C highest = -(C)INFINITY;
  for (long long i = part.begin; i < part.end; i += LANES) {
    highest = Maximum<C>()(highest, load(from + i * step));
  }
  return highest;
}

__device__ inline C sumOf(const STORED* from, long long step, const Part& part, C highest) {
  C sum = 0;
  for (long long i = part.begin; i < part.end; i += LANES) {
    sum += exp(load(from + i * step) - highest);
  }
  return sum;
}

__device__ inline void write(const STORED* from, long long from_step, STORED* to, long long to_step, const Part& part,
                             C highest, C sum) {
#if LOGARITHM
  const C shift = log(sum);
#endif
  for (long long i = part.begin; i < part.end; i += LANES) {
    const C x = load(from + i * from_step) - highest;
#if LOGARITHM
    store(to + i * to_step, x - shift);
#else
    store(to + i * to_step, exp(x) / sum);
#endif
  }
}

extern "C" __global__ void softmax(Rows rows, Walk<KEPT> kept, long long from_step, const STORED* in, Walk<KEPT> kept_to,
                                   long long to_step, STORED* out) {
  waitForInputs();
  __shared__ C shared[THREADS];
  forParts(rows, [&](const Part& part) {
    const STORED* const from = in + kept.at(part.row);
    const C highest = foldLanes<C>(highestOf(from, from_step, part), shared, Maximum<C>());
    const C sum = foldLanes<C>(sumOf(from, from_step, part, highest), shared, Sum<C>());
    write(from, from_step, out + kept_to.at(part.row), to_step, part, highest, sum);
  });
}
