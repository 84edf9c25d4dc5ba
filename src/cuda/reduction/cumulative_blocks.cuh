// Blocks of THREADS threads, each of which takes a part of a line.

struct Parts {
  long long count, length;  // of each line, and elements of each
};

struct Merge {
  __device__ State operator()(State a, State b) const { return FOLD::merge(a, b); }
};

// totals[line][part]; the last one of a line stays as it is, because no part follows.
extern "C" __global__ void cumulative_totals(Lines lines, Parts parts, const STORED* in, State* totals) {
  __shared__ State shared[THREADS];
  for (long long block = blockIdx.x; block < lines.count * parts.count; block += gridDim.x) {
    if (block % parts.count == parts.count - 1) {
      continue;
    }
    const long long begin = block % parts.count * parts.length;
    const long long end = begin + parts.length < lines.length ? begin + parts.length : lines.length;
    const STORED* const from = in + lines.in.at(block / parts.count);
    State total = FOLD::start();
    for (long long tile = begin; tile < end; tile += THREADS) {
      const long long at = tile + threadIdx.x;
      scanBlock<State>(at < end ? FOLD::term(load(from + at * lines.in_step), at) : FOLD::start(), shared, Merge());
      total = FOLD::merge(total, shared[THREADS - 1]);
    }
    if (threadIdx.x == 0) {
      totals[block] = total;
    }
  }
}

extern "C" __global__ void cumulative(Lines lines, Parts parts, const State* totals, const STORED* in, STORED* out,
                                      long long* places) {
  __shared__ State shared[THREADS];
  for (long long block = blockIdx.x; block < lines.count * parts.count; block += gridDim.x) {
    const long long line = block / parts.count, part = block % parts.count;
    const long long begin = part * parts.length;
    const long long end = begin + parts.length < lines.length ? begin + parts.length : lines.length;
    const STORED* const from = in + lines.in.at(line);
    State carried = FOLD::start();
    for (long long before = 0; before < part; ++before) {
      carried = FOLD::merge(carried, totals[line * parts.count + before]);
    }
    for (long long tile = begin; tile < end; tile += THREADS) {
      const long long at = tile + threadIdx.x;
      const State here =
          scanBlock<State>(at < end ? FOLD::term(load(from + at * lines.in_step), at) : FOLD::start(), shared, Merge());
      if (at < end) {
        write(lines, line, at, FOLD::merge(carried, here), out, places);
      }
      carried = FOLD::merge(carried, shared[THREADS - 1]);
    }
  }
}
