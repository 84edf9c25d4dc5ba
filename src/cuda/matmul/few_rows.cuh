// A product of ROWS rows with weights whose columns lie dense: a warp for each column. The time is that of reading the weights.

extern "C" __global__ void fewRows(int columns, int chunks, long long row_step, const STORED* x, long long column_step,
                                   const STORED* weights, long long bias_step, const STORED* bias, long long to_row,
                                   long long to_column, STORED* out, double alpha_, double beta_) {
  const A alpha = parameterOf<A>(alpha_), beta = parameterOf<A>(beta_);
  (void)alpha, (void)beta;
  const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const bool is_aligned = isAligned<STORED, CHUNK>(x) && isAligned<STORED, CHUNK>(weights);
  for (int first = blockIdx.x * warps; first < columns; first += gridDim.x * warps) {
    const bool is_column = first + (int)threadIdx.x / 32 < columns;
    const int column = is_column ? first + (int)threadIdx.x / 32 : columns - 1;
    const STORED* const of_column = weights + column * column_step;
    A sums[ROWS];
    for (int row = 0; row < ROWS; ++row) {
      sums[row] = 0;
    }
#pragma unroll 4
    for (int chunk = lane; chunk < chunks; chunk += 32) {
      const Chunk<STORED, CHUNK> factors = chunkAt<STORED, CHUNK>(of_column + (long long)chunk * CHUNK, is_aligned);
#pragma unroll
      for (int row = 0; row < ROWS; ++row) {
        const Chunk<STORED, CHUNK> values = chunkAt<STORED, CHUNK>(x + row * row_step + (long long)chunk * CHUNK, is_aligned);
#pragma unroll
        for (int k = 0; k < CHUNK; ++k) {
          sums[row] += (A)load(values.of + k) * (A)load(factors.of + k);
        }
      }
    }
#pragma unroll
    for (int row = 0; row < ROWS; ++row) {
      A sum = foldWarp<A>(sums[row], Sum<A>());
      if (lane == 0 && is_column) {
        sum = bias ? sum + (A)load(bias + column * bias_step) : sum;
#if ROUNDS_FIRST
        STORED rounded;
        store(&rounded, sum);
        sum = (A)load(&rounded);
#endif
        store(out + row * to_row + column * to_column, ACTIVATION(sum, alpha, beta));
      }
    }
  }
}
