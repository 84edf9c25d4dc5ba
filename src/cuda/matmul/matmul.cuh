// Matrix products of any strides: a block computes TILE x TILE results, by tiles of a and b in shared memory. A is what
// is added up in. Bias, residual and activation come last.

struct Matrix {  // elements from row to row, and from column to column
  long long row, column;
};

extern "C" __global__ void matmul(long long batches, long long rows, long long columns, long long depth,
                                  Walk<BATCH> walk_a, Matrix in_a, const STORED* a, Walk<BATCH> walk_b, Matrix in_b,
                                  const STORED* b, Walk<BATCH> walk_bias, Matrix in_bias, const STORED* bias,
                                  Walk<BATCH> walk_residual, Matrix in_residual, const STORED* residual, Walk<BATCH> walk_out,
                                  Matrix in_out, STORED* out, double alpha_, double beta_) {
  __shared__ A tile_a[TILE][TILE + 1];
  __shared__ A tile_b[TILE][TILE + 1];
  const A alpha = parameterOf<A>(alpha_), beta = parameterOf<A>(beta_);
  (void)alpha, (void)beta;
  const int x = threadIdx.x % TILE, y = threadIdx.x / TILE;
  const long long across = (columns + TILE - 1) / TILE, down = (rows + TILE - 1) / TILE;
  for (long long block = blockIdx.x; block < batches * across * down; block += gridDim.x) {
    const long long batch = block / (across * down);
    const long long row = block % (across * down) / across * TILE + y;
    const long long column = block % across * TILE + x;
    const STORED* const from_a = a + walk_a.at(batch);
    const STORED* const from_b = b + walk_b.at(batch);
    A sum = 0;
    for (long long k = 0; k < depth; k += TILE) {
      tile_a[y][x] = row < rows && k + x < depth ? (A)load(from_a + row * in_a.row + (k + x) * in_a.column) : (A)0;
      tile_b[y][x] = column < columns && k + y < depth ? (A)load(from_b + (k + y) * in_b.row + column * in_b.column) : (A)0;
      __syncthreads();
      const int last = depth - k < TILE ? (int)(depth - k) : TILE;
      for (int i = 0; i < last; ++i) {
        sum += tile_a[y][i] * tile_b[i][x];
      }
      __syncthreads();
    }
    if (row < rows && column < columns) {
      if (bias) {
        sum += (A)load(bias + walk_bias.at(batch) + row * in_bias.row + column * in_bias.column);
      }
      if (residual) {
        sum += (A)load(residual + walk_residual.at(batch) + row * in_residual.row + column * in_residual.column);
      }
      store(out + walk_out.at(batch) + row * in_out.row + column * in_out.column, ACTIVATION(sum, alpha, beta));
    }
  }
}
