// One function of elements at the same place: OPERANDS, RANK, T0..T2 (stored types), OUT (stored), C (computed in) and
// RESULT (an expression of x0, x1, x2, alpha, beta, fault) come from pointwise/map.cpp. CHUNK elements are read at once
// where they lie next to each other (STEP0..STEP2 are 1, or 0 for one element) and pointers allow it.

__device__ inline void one(const T0* p0,
#if OPERANDS > 1
                           const T1* p1,
#endif
#if OPERANDS > 2
                           const T2* p2,
#endif
                           OUT* out, C alpha, C beta, int* fault) {
  (void)alpha, (void)beta, (void)fault;
  const auto x0 = load(p0);
#if OPERANDS > 1
  const auto x1 = load(p1);
#endif
#if OPERANDS > 2
  const auto x2 = load(p2);
#endif
  store(out, RESULT);
}

extern "C" __global__ void map(long long count, Walk<RANK> to, OUT* out, Strides<RANK> s0, const T0* p0,
#if OPERANDS > 1
                               Strides<RANK> s1, const T1* p1,
#endif
#if OPERANDS > 2
                               Strides<RANK> s2, const T2* p2,
#endif
                               double alpha_, double beta_, int* fault) {
  waitForInputs();
  const C alpha = parameterOf<C>(alpha_), beta = parameterOf<C>(beta_);
  long long done = 0;
#if CHUNK > 1
  bool is_aligned = isAligned<OUT, CHUNK>(out) && (STEP0 == 0 || isAligned<T0, CHUNK>(p0));
#if OPERANDS > 1
  is_aligned = is_aligned && (STEP1 == 0 || isAligned<T1, CHUNK>(p1));
#endif
#if OPERANDS > 2
  is_aligned = is_aligned && (STEP2 == 0 || isAligned<T2, CHUNK>(p2));
#endif
  const long long chunks = is_aligned ? count / CHUNK : 0;
  for (long long i = firstElement(); i < chunks; i += allThreads()) {
    const Coordinates<RANK> at = to.coordinates(i * CHUNK);
    const Chunk<T0, STEP0 == 0 ? 1 : CHUNK> c0(p0 + s0.at(at));
#if OPERANDS > 1
    const Chunk<T1, STEP1 == 0 ? 1 : CHUNK> c1(p1 + s1.at(at));
#endif
#if OPERANDS > 2
    const Chunk<T2, STEP2 == 0 ? 1 : CHUNK> c2(p2 + s2.at(at));
#endif
    Chunk<OUT, CHUNK> result;
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) {
      one(c0.of + k * STEP0,
#if OPERANDS > 1
          c1.of + k * STEP1,
#endif
#if OPERANDS > 2
          c2.of + k * STEP2,
#endif
          result.of + k, alpha, beta, fault);
    }
    result.write(out + to.at(at));
  }
  done = chunks * CHUNK;
#endif
  for (long long i = done + firstElement(); i < count; i += allThreads()) {
    const Coordinates<RANK> at = to.coordinates(i);
    one(p0 + s0.at(at),
#if OPERANDS > 1
        p1 + s1.at(at),
#endif
#if OPERANDS > 2
        p2 + s2.at(at),
#endif
        out + to.at(at), alpha, beta, fault);
  }
}
