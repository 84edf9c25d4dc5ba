// value, value + step, ...: OUT (stored), N (of the numbers) and RANK come from fill.cpp.

__device__ inline long long numberAt(long long i, long long value, long long step) {
  return (long long)((unsigned long long)value + (unsigned long long)i * (unsigned long long)step);
}
__device__ inline double numberAt(long long i, double value, double step) {
  return value + timesOf((double)i, step);
}

extern "C" __global__ void range(long long count, Walk<RANK> to, OUT* out, N value, N step) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    store(out + to.at(i), numberAt(i, value, step));
  }
}
