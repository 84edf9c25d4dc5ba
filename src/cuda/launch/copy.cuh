// Elements from one layout to another, bit by bit: E is an unsigned integer of the element's size. The two walks have
// dims of their own, with as many elements. CHUNK elements are moved at once where both lie next to each other and
// pointers allow it.

extern "C" __global__ void copy(long long count, Walk<FROM_RANK> from, const E* source, Walk<TO_RANK> to, E* target) {
  long long done = 0;
#if CHUNK > 1
  const bool is_aligned = isAligned<E, CHUNK>(source) && isAligned<E, CHUNK>(target);
  const long long chunks = is_aligned ? count / CHUNK : 0;
  for (long long i = firstElement(); i < chunks; i += allThreads()) {
    Chunk<E, CHUNK>(source + from.at(i * CHUNK)).write(target + to.at(i * CHUNK));
  }
  done = chunks * CHUNK;
#endif
  for (long long i = done + firstElement(); i < count; i += allThreads()) {
    target[to.at(i)] = source[from.at(i)];
  }
}

extern "C" __global__ void fill(long long count, Walk<TO_RANK> to, E* target, unsigned long long value) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    target[to.at(i)] = (E)value;
  }
}
