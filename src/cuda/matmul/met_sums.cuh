// The sums of matmul/tile_product.cuh meet in shared memory, where they are added in the order of their parts.

// Adds eight neighbours of a row over kParts, which lie kApart rows from each other.
template <int kParts, int kApart>
__device__ void addParts(SUM (&sum)[8], const SUM* parts, int row, int column) {
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    const SUM* const from = parts + (part * kApart + row) * kPitch + column;
    const Chunk<SUM, 4> chunks[] = {Chunk<SUM, 4>(from), Chunk<SUM, 4>(from + 4)};
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      sum[k] += chunks[k / 4].of[k % 4];
    }
  }
}

#if CLUSTER == 1

// Adds what the slices of this block summed. `row` counts those that the block finishes.
__device__ inline void addMet(SUM (&sum)[8], const SUM* of_slices, int row, int column) {
  addParts<SPLIT, ROWS>(sum, of_slices, row, column);
}
__device__ inline void meetInCluster(const SUM*, int) {}

#else

constexpr int kMet = SHARED_BYTES - ROWS * kPitch * 4;  // where sums of all blocks meet

__device__ inline void addMet(SUM (&sum)[8], const SUM*, int row, int column) {
  addParts<CLUSTER, kFinished>(sum, blockMemory<SUM>(kMet), row, column);
}
// Sends the sums of this block to those that finish the rows, and waits until all have done so.
__device__ inline void meetInCluster(const SUM* of_slices, int rank) {
  waitForCluster();  // all blocks have begun
#pragma unroll
  for (int i = 0; i < (ROWS * kEnds + kThreads - 1) / kThreads; ++i) {
    const int row = (i * kThreads + (int)threadIdx.x) / kEnds, column = threadIdx.x % kEnds * 8;
    if (ROWS * kEnds % kThreads != 0 && row >= ROWS) {
      continue;
    }
    SUM sum[8] = {};
    addParts<SPLIT, ROWS>(sum, of_slices, row, column);
    SUM* const to = blockMemory<SUM>(kMet) + (rank * kFinished + row % kFinished) * kPitch + column;
    writeFourTo(row / kFinished, to, sum);
    writeFourTo(row / kFinished, to + 4, sum + 4);
  }
  arriveInCluster();
  waitForCluster();
}

#endif
