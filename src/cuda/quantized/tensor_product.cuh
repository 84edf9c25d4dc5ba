// Products of steps by matmul/tile_product.cuh. Elements of a and b are pairs of bytes, and sums are exact. `corrections` are
// what the zero point adds to the sum of each column. Rows of out lie dense. `Ends` is that of own_sums.cuh or met_results.cuh.

extern "C" OF_CLUSTER __launch_bounds__(32 * ROWS / WARP_ROWS * COLUMNS / WARP_COLUMNS * SPLIT, BLOCKS) __global__ void product(
    int rows, int columns, int depth, ARGUMENT_OF_A of_a, const STORED* a, long long b_step, const STORED* b,
    const int* corrections, const float* scales, const float* bias, const RESIDUAL* residual, OUT* out, Finish with) {
  Ends ends(scales, bias, residual, out, with);
  const Tile tile(rows, columns);
  Sums sums = {};
  const bool corrects = HAS_ZERO_POINT && tile.slice == 0 && tile.rank == 0;  // one of those whose sums meet
#pragma unroll
  for (int j = 0; j < WARP_COLUMNS / 8; ++j) {
    const int column = tile.first_column + tile.warp_column + 8 * j + tile.lane % 4 * 2;
    if (corrects && column < columns) {
      const Chunk<int, 2> correction(corrections + column);
#pragma unroll
      for (int i = 0; i < WARP_ROWS / 16; ++i) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          sums[i][j][k] = -correction.of[k % 2];
        }
      }
    }
  }
  addProducts(sums, tile, depth, of_a, a, b_step, b, ends);
  ends.finishAll(sums, tile);
}
