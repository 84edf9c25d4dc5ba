// Counts the boundaries before each value, by PyTorch's binary search. STORED, OUT (stored), RIGHT and RANK come from
// search.cpp.

extern "C" __global__ void search(long long count, Walk<RANK> walk, const STORED* values, Strides<RANK> rows,
                                  long long bounds_count, long long bound_step, const STORED* bounds, Strides<RANK> to,
                                  OUT* out) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    const Coordinates<RANK> place = walk.coordinates(i);
    const auto value = load(values + walk.at(place));
    const STORED* const row = bounds + rows.at(place);
    long long begin = 0, end = bounds_count;
    while (begin < end) {
      const long long middle = begin + (end - begin) / 2;
      const auto bound = load(row + middle * bound_step);
      if (RIGHT ? !(bound > value) : !(bound >= value)) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    store(out + to.at(place), begin);
  }
}
