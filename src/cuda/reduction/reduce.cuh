// One result from the elements along some axes: a block for each. FLOATING, STORED and OUT (stored), A (what is added up in),
// FIRST (of the fold), TERM (of an element x), FOLD, RESULT (of the folded value and `terms`) come from reduce.cpp.

extern "C" __global__ void reduce(long long results, long long terms, Walk<KEPT> kept, Walk<FOLDED> folded, const STORED* in,
                                  Walk<KEPT> to, OUT* out, double correction) {
  __shared__ A shared[THREADS];
  for (long long row = blockIdx.x; row < results; row += gridDim.x) {
    const STORED* const from = in + kept.at(row);
#if TWO_PASSES
    double sum = 0;
    for (long long i = threadIdx.x; i < terms; i += blockDim.x) {
      sum += (double)load(from + folded.at(i));
    }
    const double mean = foldBlock<double>(sum, shared, Sum<double>()) / (double)terms;
    (void)mean;
#endif
#if LOG_SUM_EXP
    double highest = -INFINITY;
    for (long long i = threadIdx.x; i < terms; i += blockDim.x) {
      highest = Maximum<double>()(highest, (double)load(from + folded.at(i)));
    }
    highest = foldBlock<double>(highest, shared, Maximum<double>());
    const double shift = fabs(highest) == (double)INFINITY ? 0.0 : highest;
#endif
    A value = FIRST;
    for (long long i = threadIdx.x; i < terms; i += blockDim.x) {
      const A x = (A)load(from + folded.at(i));
      value = FOLD<A>()(value, TERM);
    }
    value = foldBlock<A>(value, shared, FOLD<A>());
    if (threadIdx.x == 0) {
      (void)correction;
      store(out + to.at(row), RESULT);
    }
  }
}
