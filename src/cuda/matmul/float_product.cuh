// out = activation(a b + bias + residual) in float32 without tensor cores: every product and every sum is in float32. A tile of
// ROWS x COLUMNS by each block, from STAGES stages in shared memory as in matmul/tile_product.cuh. An element of a stage is half of
// a float, so that sizes and steps along the depth count halves. Rows of residual and out lie dense.
//
// A thread has every fourth row and every eighth column of its warp's WARP_ROWS x WARP_COLUMNS results. Each is summed along the
// depth in one order, whatever the tile.

constexpr int kRowsOfThread = WARP_ROWS / 4, kColumnsOfThread = WARP_COLUMNS / 8;

struct Place {
  int row, column;  // the first one of this thread, within the tile

  __device__ Place() {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    row = warp / kAcross * WARP_ROWS + lane / 8;
    column = warp % kAcross * WARP_COLUMNS + lane % 8;
  }
};

__device__ inline Chunk<float, 4> fourOf(unsigned short* lines, int line, int chunk) {
  return Chunk<float, 4>((const float*)placeOf(lines, line, chunk));
}

__device__ inline void addStage(float (&sums)[kRowsOfThread][kColumnsOfThread], const Place& place, unsigned short* lines_of_a,
                                unsigned short* lines_of_b) {
#pragma unroll 1  // two at once would need more registers than two blocks have
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    Chunk<float, 4> of_a[kRowsOfThread];
#pragma unroll
    for (int i = 0; i < kRowsOfThread; ++i) {
      of_a[i] = fourOf(lines_of_a, place.row + 4 * i, chunk);
    }
#pragma unroll
    for (int j = 0; j < kColumnsOfThread; ++j) {
      const Chunk<float, 4> of_b = fourOf(lines_of_b, place.column + 8 * j, chunk);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
#pragma unroll
        for (int i = 0; i < kRowsOfThread; ++i) {
          sums[i][j] += of_a[i].of[k] * of_b.of[k];
        }
      }
    }
  }
}

extern "C" __launch_bounds__(kThreads, BLOCKS) __global__ void product(int rows, int columns, int depth, ARGUMENT_OF_A of_a, const STORED* a,
                                                                       long long b_step, const STORED* b, const float* bias,
                                                                       const float* residual, float* out, double alpha_, double beta_) {
  const float alpha = (float)alpha_, beta = (float)beta_;
  (void)alpha, (void)beta;
  const int tiles_across = (columns + COLUMNS - 1) / COLUMNS;
  const int first_row = (int)blockIdx.x / tiles_across * ROWS, first_column = (int)blockIdx.x % tiles_across * COLUMNS;
  const int stages = (depth + kDepth - 1) / kDepth;
  LINES_OF_A<ROWS> lines_of_a(a, of_a, first_row, rows, 0);
  DenseLines<COLUMNS> lines_of_b(b, b_step, first_column, columns, 0);
  const auto placeOfStage = [](int index) { return blockMemory<unsigned short>() + index % STAGES * kStage; };
  for (int index = 0; index < STAGES - 1 && index < stages; ++index) {
    lines_of_b.stage(placeOfStage(index) + ROWS * kDepth, index, depth);  // constant, so that nothing is waited for
  }
  waitForInputs();
#pragma unroll
  for (int index = 0; index < STAGES - 1; ++index) {
    if (index < stages) {
      lines_of_a.stage(placeOfStage(index), index, depth);
    }
    endGroup();
  }
  const Place place;
  float sums[kRowsOfThread][kColumnsOfThread] = {};
  for (int index = 0; index < stages; ++index) {
    waitForGroups<STAGES - 2>();
    __syncthreads();
    if (const int next = index + STAGES - 1; next < stages) {
      lines_of_a.stage(placeOfStage(next), next, depth);
      lines_of_b.stage(placeOfStage(next) + ROWS * kDepth, next, depth);
    }
    endGroup();
    addStage(sums, place, placeOfStage(index), placeOfStage(index) + ROWS * kDepth);
  }
  waitForGroups<0>();

#pragma unroll
  for (int j = 0; j < kColumnsOfThread; ++j) {
    const int column = first_column + place.column + 8 * j;
    if (column >= columns) {
      continue;
    }
    const float of_column = bias ? bias[column] : 0;
#pragma unroll
    for (int i = 0; i < kRowsOfThread; ++i) {
      const int row = first_row + place.row + 4 * i;
      if (row < rows) {
        const long long at = (long long)row * columns + column;
        const float value = sums[i][j] + of_column + (residual ? residual[at] : 0);
        out[at] = ACTIVATION(value, alpha, beta);
      }
    }
  }
}
