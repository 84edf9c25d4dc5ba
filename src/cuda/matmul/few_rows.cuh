// A product of few rows with weights whose columns lie dense: a warp for each column of each group of ROWS rows. The time is
// that of reading the weights.
// If they ARE_CONSTANT, a warp reads the first of them while the kernel in front still runs.

constexpr int kAhead = 4;  // chunks of a lane

extern "C" __global__ void fewRows(int rows, int columns, int chunks, long long row_step, const STORED* x, long long column_step,
                                   const STORED* weights, long long bias_step, const STORED* bias, long long to_row,
                                   long long to_column, STORED* out, double alpha_, double beta_) {
  const A alpha = parameterOf<A>(alpha_), beta = parameterOf<A>(beta_);
  (void)alpha, (void)beta;
  const int lane = threadIdx.x % 32, warps = blockDim.x / 32, groups = (rows + ROWS - 1) / ROWS;
  const int first_row = (int)blockIdx.x % groups * ROWS, left = rows - first_row, step = (int)gridDim.x / groups * warps;
  const bool is_aligned = isAligned<STORED, CHUNK>(x) && isAligned<STORED, CHUNK>(weights);
  Chunk<STORED, CHUNK> ahead[kAhead] = {};
  const auto columnFrom = [&](int first) {
    const int column = first + (int)threadIdx.x / 32;
    return column < columns ? column : columns - 1;
  };
  const auto readAhead = [&](int first) {
    const STORED* const of_column = weights + columnFrom(first) * column_step;
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (lane + 32 * i < chunks) {
        ahead[i] = chunkAt<STORED, CHUNK>(of_column + (long long)(lane + 32 * i) * CHUNK, is_aligned);
      }
    }
  };
  int first = (int)blockIdx.x / groups * warps;
#if ARE_CONSTANT
  readAhead(first);
  waitForInputs();
#else
  waitForInputs();
  readAhead(first);
#endif
  while (first < columns) {
    const bool is_column = first + (int)threadIdx.x / 32 < columns;
    const int column = columnFrom(first);
    const STORED* const of_column = weights + column * column_step;
    A sums[ROWS];
    for (int row = 0; row < ROWS; ++row) {
      sums[row] = 0;
    }
    const auto add = [&](const Chunk<STORED, CHUNK>& factors, int chunk) {
#pragma unroll
      for (int row = 0; row < ROWS; ++row) {
        const Chunk<STORED, CHUNK> values = chunkAt<STORED, CHUNK>(x + (first_row + (row < left ? row : 0)) * row_step + (long long)chunk * CHUNK, is_aligned);
#pragma unroll
        for (int k = 0; k < CHUNK; ++k) {
          sums[row] += (A)load(values.of + k) * (A)load(factors.of + k);
        }
      }
    };
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (lane + 32 * i < chunks) {
        add(ahead[i], lane + 32 * i);
      }
    }
#pragma unroll 4
    for (int chunk = lane + 32 * kAhead; chunk < chunks; chunk += 32) {
      add(chunkAt<STORED, CHUNK>(of_column + (long long)chunk * CHUNK, is_aligned), chunk);
    }
    first += step;
    if (first < columns) {
      readAhead(first);
    }
#pragma unroll
    for (int row = 0; row < ROWS; ++row) {
      A sum = foldWarp<A>(sums[row], Sum<A>());
      if (lane == 0 && is_column && row < left) {
        sum = bias ? sum + (A)load(bias + column * bias_step) : sum;
#if ROUNDS_FIRST
        STORED rounded;
        store(&rounded, sum);
        sum = (A)load(&rounded);
#endif
        store(out + (first_row + row) * to_row + column * to_column, ACTIVATION(sum, alpha, beta));
      }
    }
  }
}
