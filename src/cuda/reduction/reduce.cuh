// One result from the elements along some axes. STORED and OUT (stored), A (what is added up in), FIRST (of the fold), TERM
// (of an element x), FOLD, RESULT (of the folded value and `terms`) come from reduce.cpp. A variance takes two folds, the
// first of which gives the mean; so does the logarithm of a sum, whose first gives the greatest element.

#if LOG_SUM_EXP
typedef Maximum<double> FirstFold;
#else
typedef Sum<double> FirstFold;
#endif

// This lane's part of the first fold.
__device__ inline double firstOf(const STORED* from, const Walk<FOLDED>& folded, const Part& part) {
  double value = LOG_SUM_EXP ? -(double)INFINITY : 0.0;
  for (long long i = part.begin; i < part.end; i += LANES) {
    value = FirstFold()(value, (double)load(from + folded.at(i)));
  }
  return value;
}

__device__ inline A termsOf(const STORED* from, const Walk<FOLDED>& folded, const Part& part, double first, long long terms) {
  const double mean = first / (double)terms;
  const double shift = fabs(first) == (double)INFINITY ? 0.0 : first;
  (void)mean, (void)shift;
  A value = FIRST;
  for (long long i = part.begin; i < part.end; i += LANES) {
    const A x = (A)load(from + folded.at(i));
    value = FOLD<A>()(value, TERM);
  }
  return value;
}

__device__ inline A resultOf(A value, double first, long long terms, double correction) {
  const double shift = fabs(first) == (double)INFINITY ? 0.0 : first;
  (void)shift, (void)terms, (void)correction;
  return (A)(RESULT);
}

extern "C" __global__ void reduce(Rows rows, Walk<KEPT> kept, Walk<FOLDED> folded, const STORED* in, Walk<KEPT> to, OUT* out,
                                  double correction) {
  waitForInputs();
  __shared__ A shared[THREADS];
  forParts(rows, [&](const Part& part) {
    const STORED* const from = in + kept.at(part.row);
    double first = 0;
#if FOLDS_TWICE
    first = foldLanes<double>(firstOf(from, folded, part), shared, FirstFold());
#endif
    const A value = foldLanes<A>(termsOf(from, folded, part, first, rows.length), shared, FOLD<A>());
    if (part.writes) {
      store(out + to.at(part.row), resultOf(value, first, rows.length, correction));
    }
  });
}
