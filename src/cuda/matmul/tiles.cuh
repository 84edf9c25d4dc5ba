// The tiles of matmul/tile_product.cuh: which thread copies what, and where it lies in shared memory.

constexpr int kDepth = SPLIT * SLICE;  // of a stage
constexpr int kChunks = kDepth / 8;    // of 16 bytes, in a line of a stage
constexpr int kAcross = COLUMNS / WARP_COLUMNS, kWarps = ROWS / WARP_ROWS * kAcross;
constexpr int kThreads = 32 * kWarps * SPLIT;
constexpr int kStage = (ROWS + COLUMNS) * kDepth;  // elements
constexpr int kPitch = COLUMNS + 4;                // of sums, so that rows begin in other banks
constexpr int kEnds = COLUMNS / 8;                 // threads that finish a row
constexpr int kFinished = ROWS / CLUSTER;          // rows that a block of a cluster finishes
constexpr int kFinishes = (kFinished * kEnds + kThreads - 1) / kThreads;
static_assert(ROWS % CLUSTER == 0, "the blocks of a cluster finish as many rows each");
static_assert(kThreads % kEnds == 0, "a thread finishes the same columns of all its rows");
constexpr int kStep = kThreads / kChunks;  // lines that are copied at once
static_assert(kChunks % 8 == 0 && kThreads % kChunks == 0 && ROWS % kStep == 0 && COLUMNS % kStep == 0,
              "a thread copies the same chunk of all its lines");
__device__ inline int firstLine() { return (int)threadIdx.x / kChunks; }
__device__ inline int chunkOfThread() { return (int)threadIdx.x % kChunks; }

using Eight = Chunk<STORED, 8>;

// Chunks of lines lie in another order in each of 8 lines, so that eight lanes that read a column use all banks.
__device__ inline unsigned short* placeOf(unsigned short* lines, int line, int chunk) {
  return lines + (line * kChunks + chunk / 8 * 8 + ((chunk ^ line) & 7)) * 8;
}
