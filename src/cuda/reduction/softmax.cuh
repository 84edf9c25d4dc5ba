// Softmax or its logarithm along one axis: a block for each line.

extern "C" __global__ void softmax(long long lines, long long length, Walk<KEPT> from, long long from_step, const STORED* in,
                                   Walk<KEPT> to, long long to_step, STORED* out) {
  __shared__ C shared[THREADS];
  for (long long line = blockIdx.x; line < lines; line += gridDim.x) {
    const STORED* const source = in + from.at(line);
    STORED* const target = out + to.at(line);
    C highest = -(C)INFINITY;
    for (long long i = threadIdx.x; i < length; i += blockDim.x) {
      highest = Maximum<C>()(highest, load(source + i * from_step));
    }
    highest = foldBlock<C>(highest, shared, Maximum<C>());
    C sum = 0;
    for (long long i = threadIdx.x; i < length; i += blockDim.x) {
      sum += exp(load(source + i * from_step) - highest);
    }
    sum = foldBlock<C>(sum, shared, Sum<C>());
#if LOGARITHM
    const C shift = log(sum);
#endif
    for (long long i = threadIdx.x; i < length; i += blockDim.x) {
      const C x = load(source + i * from_step) - highest;
#if LOGARITHM
      store(target + i * to_step, x - shift);
#else
      store(target + i * to_step, exp(x) / sum);
#endif
    }
  }
}
