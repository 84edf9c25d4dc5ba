// Elements from one layout to another, bit by bit: E is an unsigned integer of the element's size. The two walks have
// dims of their own, with as many elements.

extern "C" __global__ void copy(long long count, Walk<FROM_RANK> from, const E* source, Walk<TO_RANK> to, E* target) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    target[to.at(i)] = source[from.at(i)];
  }
}

extern "C" __global__ void fill(long long count, Walk<TO_RANK> to, E* target, unsigned long long value) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    target[to.at(i)] = (E)value;
  }
}
