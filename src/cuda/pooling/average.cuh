// Averages over all places of images whose channels lie next to each other. A block takes COLUMNS chunks of CHUNK channels of
// an image, and LANES threads share the places of each: the same order in every run. The blocks of a cluster share the
// places of a large image, and the first one adds their sums. A is what sums are carried in.

#define THREADS (LANES * COLUMNS)

extern "C" OF_CLUSTER __global__ void average(long long places, long long chunks, long long image_step, long long place_step,
                                              const STORED* in, long long to_image, long long to_channel, STORED* out) {
  constexpr int kChannels = CHUNK * COLUMNS;
  __shared__ A shared[CHUNK * THREADS];
  const int column = threadIdx.x % COLUMNS, lane = threadIdx.x / COLUMNS, rank = rankInCluster();
  const long long groups = (chunks + COLUMNS - 1) / COLUMNS, block = blockIdx.x / CLUSTER;
  const long long image = quotient(block, groups), first_chunk = (block - image * groups) * COLUMNS;
  const long long most = (places + CLUSTER - 1) / CLUSTER, first = rank * most;
  const long long end = first + most < places ? first + most : places;
  const bool is_aligned = isAligned<STORED, CHUNK>(in);
  A sums[CHUNK];
  for (int k = 0; k < CHUNK; ++k) {
    sums[k] = 0;
  }
  arriveInCluster();
  waitForInputs();
  if (first_chunk + column < chunks) {
    const STORED* const from = in + image * image_step + (first_chunk + column) * CHUNK;
#pragma unroll 4
    for (long long place = first + lane; place < end; place += LANES) {
      const Chunk<STORED, CHUNK> values = chunkAt<STORED, CHUNK>(from + place * place_step, is_aligned);
#pragma unroll
      for (int k = 0; k < CHUNK; ++k) {
        sums[k] += (A)load(values.of + k);
      }
    }
  }
  for (int k = 0; k < CHUNK; ++k) {
    shared[k * THREADS + threadIdx.x] = sums[k];
  }
  __syncthreads();
  // Neighbouring threads of a warp share the sum of a channel: each adds some lanes, in their order.
  constexpr int kShare = THREADS / kChannels, kEach = kShare < 32 ? kShare : 32;
  const int channel = threadIdx.x / kEach, part = threadIdx.x % kEach;
  A sum = 0;
  for (int i = part; i < LANES && channel < kChannels; i += kEach) {
    sum += shared[channel / COLUMNS * THREADS + i * COLUMNS + channel % COLUMNS];
  }
  for (int apart = 1; apart < kEach; apart *= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, apart);
  }
  const bool has_sum = part == 0 && channel < kChannels;
#if CLUSTER > 1
  A* const met = blockMemory<A>();
  waitForCluster();  // all blocks have begun
  if (has_sum) {
    writeTo(0, met + rank * kChannels + channel, sum);
  }
  arriveInCluster();
  waitForCluster();
  sum = 0;
  for (int i = 0; i < CLUSTER && has_sum && rank == 0; ++i) {
    sum += met[i * kChannels + channel];
  }
#endif
  const long long chunk = first_chunk + channel % COLUMNS;
  if (has_sum && rank == 0 && chunk < chunks) {
    store(out + image * to_image + (chunk * CHUNK + channel / COLUMNS) * to_channel, sum / (A)places);
  }
}
