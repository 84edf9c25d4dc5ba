// The places of what counts, in order: chunks are counted, then each is told where its own begin. isCounted(i, ...) comes
// from the text in front; SIZE is how many elements a chunk has, THREADS the threads of a block.

extern "C" __global__ void places_count(long long count, long long chunks, Counted counted, const void* data,
                                        const Item* items, long long* starts) {
  __shared__ long long shared[THREADS];
  for (long long chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    const long long end = (chunk + 1) * SIZE < count ? (chunk + 1) * SIZE : count;
    long long found = 0;
    for (long long i = chunk * SIZE + threadIdx.x; i < end; i += THREADS) {
      found += isCounted(counted, data, items, i);
    }
    found = foldBlock<long long>(found, shared, Sum<long long>());
    if (threadIdx.x == 0) {
      starts[chunk] = found;
    }
  }
}

// One block.
extern "C" __global__ void places_starts(long long chunks, long long* starts, long long* total) {
  __shared__ long long shared[THREADS];
  long long before = 0;
  for (long long tile = 0; tile < chunks; tile += THREADS) {
    const long long chunk = tile + threadIdx.x;
    const long long found = chunk < chunks ? starts[chunk] : 0;
    const long long up_to = scanBlock<long long>(found, shared, Sum<long long>());
    if (chunk < chunks) {
      starts[chunk] = before + up_to - found;
    }
    before += shared[THREADS - 1];
  }
  if (threadIdx.x == 0) {
    *total = before;
  }
}

extern "C" __global__ void places_write(long long count, long long chunks, Counted counted, const void* data,
                                        const Item* items, const long long* starts, long long* places) {
  __shared__ long long shared[THREADS];
  for (long long chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    const long long end = (chunk + 1) * SIZE < count ? (chunk + 1) * SIZE : count;
    long long before = starts[chunk];
    for (long long tile = chunk * SIZE; tile < end; tile += THREADS) {
      const long long i = tile + threadIdx.x;
      const long long found = i < end ? isCounted(counted, data, items, i) : 0;
      const long long up_to = scanBlock<long long>(found, shared, Sum<long long>());
      if (found) {
        places[before + up_to - 1] = i;
      }
      before += shared[THREADS - 1];
    }
  }
}
