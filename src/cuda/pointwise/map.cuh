// One function of elements at the same place: OPERANDS, RANK, T0..T2 (stored types), OUT (stored), C (computed in) and
// RESULT (an expression of x0, x1, x2, alpha, beta, fault) come from pointwise/map.cpp.

extern "C" __global__ void map(long long count, Walk<RANK> w0, const T0* p0,
#if OPERANDS > 1
                               Walk<RANK> w1, const T1* p1,
#endif
#if OPERANDS > 2
                               Walk<RANK> w2, const T2* p2,
#endif
                               Walk<RANK> to, OUT* out, double alpha_, double beta_, int* fault) {
  const C alpha = (C)alpha_, beta = (C)beta_;
  (void)alpha, (void)beta, (void)fault;
  for (long long i = firstElement(); i < count; i += allThreads()) {
    const auto x0 = load(p0 + w0.at(i));
#if OPERANDS > 1
    const auto x1 = load(p1 + w1.at(i));
#endif
#if OPERANDS > 2
    const auto x2 = load(p2 + w2.at(i));
#endif
    store(out + to.at(i), RESULT);
  }
}
