// out = activation(a b + bias + residual) of elements of 16 bits on tensor cores, with sums in float32. Columns of b and rows
// of out lie dense; depth, columns and all steps are multiples of 8, and pointers of 16 bytes. A block computes a tile of ROWS x COLUMNS from STAGES
// stages in shared memory. Each of SPLIT slices of its warps takes SLICE of the depth of a stage; the sums of the slices
// meet in shared memory, and are added in the order of the slices.
//
// LINES_OF_A copies rows of a, which ARGUMENT_OF_A describes. If B_IS_CONSTANT, the first stages of b and the bias are read
// while the kernel in front still runs.
//
// The blocks of a cluster have the same tile, and each has a part of the depth. They send their sums to the block that
// finishes the row, which adds them in the order of the blocks.

extern "C" OF_CLUSTER __launch_bounds__(32 * ROWS / WARP_ROWS * COLUMNS / WARP_COLUMNS * SPLIT) __global__ void product(
    int rows, int columns, int depth, ARGUMENT_OF_A of_a, const STORED* a, long long b_step, const STORED* b,
    const STORED* bias, long long residual_step, const STORED* residual, long long out_step, STORED* out, double alpha_,
    double beta_) {
  const A alpha = parameterOf<A>(alpha_), beta = parameterOf<A>(beta_);
  (void)alpha, (void)beta;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, slice = warp / kWarps;
  const int warp_row = warp % kWarps / kAcross * WARP_ROWS, warp_column = warp % kAcross * WARP_COLUMNS;
  const int tiles_across = (columns + COLUMNS - 1) / COLUMNS;
  const int tile = blockIdx.x / CLUSTER, rank = rankInCluster();
  const int first_row = tile / tiles_across * ROWS, first_column = tile % tiles_across * COLUMNS;
  const int all_stages = (depth + kDepth - 1) / kDepth, most_stages = (all_stages + CLUSTER - 1) / CLUSTER;
  const int first_stage = rank * most_stages;
  const int stages = all_stages - first_stage < most_stages ? all_stages - first_stage : most_stages;
  const int column = first_column + threadIdx.x % kEnds * 8;
  LINES_OF_A<ROWS> lines_of_a(a, of_a, first_row, rows, first_stage * kDepth);
  DenseLines<COLUMNS> lines_of_b(b, b_step, first_column, columns, first_stage * kDepth);
  const auto placeOfStage = [](int index) { return blockMemory<unsigned short>() + index % STAGES * kStage; };
  arriveInCluster();

  Eight of_bias = {};
#if !B_IS_CONSTANT
  waitForInputs();
#endif
  for (int index = 0; index < STAGES - 1 && index < stages; ++index) {
    lines_of_b.stage(placeOfStage(index) + ROWS * kDepth, index, depth);
  }
  if (bias && column < columns) {
    of_bias = Eight(bias + column);
  }
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
  Eight of_residual[kFinishes] = {};
#pragma unroll
  for (int i = 0; i < kFinishes; ++i) {
    const int row = first_row + rank * kFinished + (i * kThreads + (int)threadIdx.x) / kEnds;
    if (residual && row < rows && column < columns) {
      of_residual[i] = Eight(residual + row * residual_step + column);
    }
  }

  A sums[WARP_ROWS / 16][WARP_COLUMNS / 8][4] = {};
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
      const int chunk = slice * (SLICE / 8) + 2 * k;
      unsigned of_a[WARP_ROWS / 16][4];
#pragma unroll
      for (int i = 0; i < WARP_ROWS / 16; ++i) {
        loadMatrices(of_a[i], placeOf(staged_a, warp_row + 16 * i + lane % 16, chunk + lane / 16));
      }
#pragma unroll
      for (int j = 0; j < WARP_COLUMNS / 16; ++j) {
        unsigned of_b[4];
        loadMatrices(of_b, placeOf(staged_b, warp_column + 16 * j + lane % 8 + lane / 16 * 8, chunk + lane / 8 % 2));
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
  A* const all_sums = blockMemory<A>();
#pragma unroll
  for (int i = 0; i < WARP_ROWS / 16; ++i) {
#pragma unroll
    for (int j = 0; j < WARP_COLUMNS / 8; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = slice * ROWS + warp_row + 16 * i + 8 * half + lane / 4;
        Chunk<A, 2> pair;
        pair.of[0] = sums[i][j][2 * half];
        pair.of[1] = sums[i][j][2 * half + 1];
        pair.write(all_sums + row * kPitch + warp_column + 8 * j + lane % 4 * 2);
      }
    }
  }
  __syncthreads();
  meetInCluster(all_sums, rank);
#pragma unroll
  for (int i = 0; i < kFinishes; ++i) {
    const int row = (i * kThreads + (int)threadIdx.x) / kEnds, out_row = first_row + rank * kFinished + row;
    if ((kFinished * kEnds % kThreads != 0 && row >= kFinished) || out_row >= rows || column >= columns) {
      continue;
    }
    A sum[8] = {};
    addMet(sum, all_sums, row, column - first_column);
    Eight result;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const A value = sum[k] + (A)load(of_bias.of + k) + (A)load(of_residual[i].of + k);
      store(result.of + k, ACTIVATION(value, alpha, beta));
    }
    result.write(out + out_row * out_step + column);
  }
}
