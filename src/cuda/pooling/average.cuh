// Averages over all places of images whose channels lie next to each other. A block takes COLUMNS chunks of CHUNK channels of
// an image, and LANES threads share the places of each: the same order in every run. A is what sums are carried in.

#define THREADS (LANES * COLUMNS)

extern "C" __global__ void average(long long images, long long places, long long chunks, long long image_step,
                                   long long place_step, const STORED* in, long long to_image, long long to_channel,
                                   STORED* out) {
  waitForInputs();
  __shared__ A shared[CHUNK * THREADS];
  const bool is_aligned = isAligned<STORED, CHUNK>(in);
  const int column = threadIdx.x % COLUMNS, lane = threadIdx.x / COLUMNS;
  const long long groups = (chunks + COLUMNS - 1) / COLUMNS;
  for (long long block = blockIdx.x; block < images * groups; block += gridDim.x) {
    const long long image = quotient(block, groups), chunk = (block - image * groups) * COLUMNS + column;
    A sums[CHUNK];
    for (int k = 0; k < CHUNK; ++k) {
      sums[k] = 0;
    }
    if (chunk < chunks) {
      const STORED* const from = in + image * image_step + chunk * CHUNK;
#pragma unroll 4
      for (long long place = lane; place < places; place += LANES) {
        const Chunk<STORED, CHUNK> values = chunkAt<STORED, CHUNK>(from + place * place_step, is_aligned);
#pragma unroll
        for (int k = 0; k < CHUNK; ++k) {
          sums[k] += (A)load(values.of + k);
        }
      }
    }
    __syncthreads();  // what an earlier image left has been read
    for (int k = 0; k < CHUNK; ++k) {
      shared[k * THREADS + threadIdx.x] = sums[k];
    }
    __syncthreads();
    // Neighbouring threads of a warp share the sum of a channel: each adds some lanes, in their order.
    constexpr int kShare = THREADS / (CHUNK * COLUMNS), kEach = kShare < 32 ? kShare : 32;
    const int channel = threadIdx.x / kEach, part = threadIdx.x % kEach;
    A sum = 0;
    for (int i = part; i < LANES && channel < CHUNK * COLUMNS; i += kEach) {
      sum += shared[channel / COLUMNS * THREADS + i * COLUMNS + channel % COLUMNS];
    }
    for (int apart = 1; apart < kEach; apart *= 2) {
      sum += __shfl_xor_sync(0xffffffffu, sum, apart);
    }
    const long long chunk_of_sum = (block - image * groups) * COLUMNS + channel % COLUMNS;
    if (part == 0 && channel < CHUNK * COLUMNS && chunk_of_sum < chunks) {
      store(out + image * to_image + (chunk_of_sum * CHUNK + channel / COLUMNS) * to_channel, sum / (A)places);
    }
  }
}
