// Elements from one layout to another, bit by bit: E is an unsigned integer of the element's size. The two walks (WALK is
// Walk or ShortWalk) have dims of their own, with as many elements. CHUNK elements are moved at once where the target's
// lie next to each other, the source's STEP apart, and pointers allow it.

extern "C" __global__ void copy(long long count, WALK<FROM_RANK> from, const E* source, WALK<TO_RANK> to, E* target) {
  waitForInputs();
  long long done = 0;
#if CHUNK > 1
  const bool is_aligned = (STEP > 1 || isAligned<E, CHUNK>(source)) && isAligned<E, CHUNK>(target);
  const long long chunks = is_aligned ? count / CHUNK : 0;
  for (long long i = firstElement(); i < chunks; i += allThreads()) {
    const E* const first = source + from.at(i * CHUNK);
#if STEP > 1
    Chunk<E, CHUNK> all;
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) {
      all.of[k] = first[k * STEP];
    }
    all.write(target + to.at(i * CHUNK));
#else
    Chunk<E, CHUNK>(first).write(target + to.at(i * CHUNK));
#endif
  }
  done = chunks * CHUNK;
#endif
  for (long long i = done + firstElement(); i < count; i += allThreads()) {
    target[to.at(i)] = source[from.at(i)];
  }
}

extern "C" __global__ void fill(long long count, WALK<TO_RANK> to, E* target, unsigned long long value) {
  waitForInputs();
  for (long long i = firstElement(); i < count; i += allThreads()) {
    target[to.at(i)] = (E)value;
  }
}
