// Products a b on tensor cores, a tile of ROWS x COLUMNS by each block, or by each cluster of blocks. Elements have 16 bits, or
// are pairs of bytes; depth, columns and all steps are multiples of 8 elements, and pointers of 16 bytes. A tile comes from STAGES
// stages in shared memory. Each of SPLIT slices of a block's warps takes SLICE of the depth of a stage; the sums of the slices
// meet in shared memory, and are added in the order of the slices.
//
// LINES_OF_A copies rows of a, which ARGUMENT_OF_A describes. If B_IS_CONSTANT, the first stages of b and what belongs to columns
// are read while the kernel in front still runs.
//
// The blocks of a cluster have the same tile, and each has a part of the depth. They send their sums to the block that
// finishes the row, which adds them in the order of the blocks.

// The place of this block's tile in the results, and the place of this thread's sums in the tile.
struct Tile {
  int rows, columns;  // of all results
  int first_row, first_column, rank;
  int lane, slice, warp_row, warp_column;

  __device__ Tile(int all_rows, int all_columns)
      : rows(all_rows), columns(all_columns), rank(rankInCluster()), lane(threadIdx.x % 32) {
    const int warp = threadIdx.x / 32, tiles_across = (columns + COLUMNS - 1) / COLUMNS, tile = blockIdx.x / CLUSTER;
    slice = warp / kWarps;
    warp_row = warp % kWarps / kAcross * WARP_ROWS;
    warp_column = warp % kAcross * WARP_COLUMNS;
    first_row = tile / tiles_across * ROWS;
    first_column = tile % tiles_across * COLUMNS;
  }
  // The first of the eight columns that this thread finishes, and the i-th of its rows within those of the block.
  __device__ int column() const { return first_column + threadIdx.x % kEnds * 8; }
  __device__ int finishedRow(int i) const { return (i * kThreads + (int)threadIdx.x) / kEnds; }
};

using Sums = SUM[WARP_ROWS / 16][WARP_COLUMNS / 8][4];

// Adds the products of this block's part of the depth. `ends` makes results of sums: beginColumns(tile) may read what belongs to
// columns, and beginRows(tile) what belongs to rows.
template <class Ends>
__device__ void addProducts(Sums& sums, const Tile& tile, int depth, const ARGUMENT_OF_A& of_a, const STORED* a, long long b_step,
                            const STORED* b, Ends& ends) {
  const int lane = tile.lane;
  const int all_stages = (depth + kDepth - 1) / kDepth, most_stages = (all_stages + CLUSTER - 1) / CLUSTER;
  const int first_stage = tile.rank * most_stages;
  const int stages = all_stages - first_stage < most_stages ? all_stages - first_stage : most_stages;
  LINES_OF_A<ROWS> lines_of_a(a, of_a, tile.first_row, tile.rows, first_stage * kDepth);
  DenseLines<COLUMNS> lines_of_b(b, b_step, tile.first_column, tile.columns, first_stage * kDepth);
  const auto placeOfStage = [](int index) { return blockMemory<unsigned short>() + index % STAGES * kStage; };
  arriveInCluster();

#if !B_IS_CONSTANT
  waitForInputs();
#endif
  for (int index = 0; index < STAGES - 1 && index < stages; ++index) {
    lines_of_b.stage(placeOfStage(index) + ROWS * kDepth, index, depth);
  }
  ends.beginColumns(tile);
#if B_IS_CONSTANT
  waitForInputs();
#endif
#pragma unroll
  for (int index = 0; index < STAGES - 1; ++index) {
    if (index < stages) {
      lines_of_a.stage(placeOfStage(index), index, depth);
    }
    endGroup();
  }
  ends.beginRows(tile);

  for (int index = 0; index < stages; ++index) {
    waitForGroups<STAGES - 2>();
    __syncthreads();
    if (index + STAGES - 1 < stages) {
      const int next = index + STAGES - 1;
      lines_of_a.stage(placeOfStage(next), next, depth);
      lines_of_b.stage(placeOfStage(next) + ROWS * kDepth, next, depth);
    }
    endGroup();
    unsigned short* const staged_a = placeOfStage(index);
    unsigned short* const staged_b = staged_a + ROWS * kDepth;
#pragma unroll
    for (int k = 0; k < SLICE / 16; ++k) {
      const int chunk = tile.slice * (SLICE / 8) + 2 * k;
      unsigned of_a[WARP_ROWS / 16][4];
#pragma unroll
      for (int i = 0; i < WARP_ROWS / 16; ++i) {
        loadMatrices(of_a[i], placeOf(staged_a, tile.warp_row + 16 * i + lane % 16, chunk + lane / 16));
      }
#pragma unroll
      for (int j = 0; j < WARP_COLUMNS / 16; ++j) {
        unsigned of_b[4];
        loadMatrices(of_b, placeOf(staged_b, tile.warp_column + 16 * j + lane % 8 + lane / 16 * 8, chunk + lane / 8 % 2));
#pragma unroll
        for (int i = 0; i < WARP_ROWS / 16; ++i) {
          multiplyAdd(sums[i][2 * j], of_a[i], {of_b[0], of_b[1]}, (const STORED*)nullptr);
          multiplyAdd(sums[i][2 * j + 1], of_a[i], {of_b[2], of_b[3]}, (const STORED*)nullptr);
        }
      }
    }
  }
  waitForGroups<0>();
  __syncthreads();
}

// Adds up what slices and blocks summed. Behind that come ends.endColumns(tile) and for each row of this thread, which is the
// i-th, ends.finish(i, row, column, sums), which writes the results of eight columns.
template <class Ends>
__device__ void finishTogether(const Sums& sums, const Tile& tile, Ends& ends) {
  SUM* const all_sums = blockMemory<SUM>();
#pragma unroll
  for (int i = 0; i < WARP_ROWS / 16; ++i) {
#pragma unroll
    for (int j = 0; j < WARP_COLUMNS / 8; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = tile.slice * ROWS + tile.warp_row + 16 * i + 8 * half + tile.lane / 4;
        Chunk<SUM, 2> pair;
        pair.of[0] = sums[i][j][2 * half];
        pair.of[1] = sums[i][j][2 * half + 1];
        pair.write(all_sums + row * kPitch + tile.warp_column + 8 * j + tile.lane % 4 * 2);
      }
    }
  }
  __syncthreads();
  meetInCluster(all_sums, tile.rank);
  ends.endColumns(tile);
#pragma unroll
  for (int i = 0; i < kFinishes; ++i) {
    const int row = tile.finishedRow(i), out_row = tile.first_row + tile.rank * kFinished + row;
    if ((kFinished * kEnds % kThreads != 0 && row >= kFinished) || out_row >= tile.rows || tile.column() >= tile.columns) {
      continue;
    }
    SUM sum[8] = {};
    addMet(sum, all_sums, row, tile.column() - tile.first_column);
    ends.finish(i, out_row, tile.column(), sum);
  }
}

// Calls read(i, row) for each row of this thread that is there.
template <class Read>
__device__ void forFinishedRows(const Tile& tile, const Read& read) {
#pragma unroll
  for (int i = 0; i < kFinishes; ++i) {
    const int row = tile.first_row + tile.rank * kFinished + tile.finishedRow(i);
    if (row < tile.rows && tile.column() < tile.columns) {
      read(i, row);
    }
  }
}
