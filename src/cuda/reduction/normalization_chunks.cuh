// Normalization of rows that lie dense, of at most 32 * PER_LANE chunks of CHUNK values: a warp for each, which keeps it in
// registers. Scale and bias are those of every row. S is what sums are carried in.

using Values = Chunk<STORED, CHUNK>;

extern "C" __global__ void normalizeChunks(int rows, int chunks, Walk<KEPT> kept, const STORED* in, Walk<KEPT> kept_to,
                                           STORED* out, const STORED* scale, const STORED* bias, double eps, double alpha_,
                                           double beta_) {
  const C alpha = (C)alpha_, beta = (C)beta_;
  (void)alpha, (void)beta;
  const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const S length = (S)(chunks * CHUNK);
  const bool is_aligned = isAligned<STORED, CHUNK>(in) && isAligned<STORED, CHUNK>(out) && isAligned<STORED, CHUNK>(scale) &&
                          isAligned<STORED, CHUNK>(bias);
  Values scales[PER_LANE], biases[PER_LANE];  // on their way while the first row is folded
#pragma unroll
  for (int k = 0; k < PER_LANE; ++k) {
    const int at = (lane + 32 * k) * CHUNK;
    if (scale && lane + 32 * k < chunks) {
      scales[k] = chunkAt<STORED, CHUNK>(scale + at, is_aligned);
    }
    if (bias && lane + 32 * k < chunks) {
      biases[k] = chunkAt<STORED, CHUNK>(bias + at, is_aligned);
    }
  }
  for (int first = blockIdx.x * warps; first < rows; first += gridDim.x * warps) {
    const bool is_row = first + (int)threadIdx.x / 32 < rows;
    const int row = is_row ? first + (int)threadIdx.x / 32 : rows - 1;
    const STORED* const from = in + kept.at(row);
    Values values[PER_LANE];
#pragma unroll
    for (int k = 0; k < PER_LANE; ++k) {
      if (lane + 32 * k < chunks) {
        values[k] = chunkAt<STORED, CHUNK>(from + (lane + 32 * k) * CHUNK, is_aligned);
      }
    }
    S mean = 0;
#if CENTERED
    S sum = 0;
#pragma unroll
    for (int k = 0; k < PER_LANE; ++k) {
      for (int i = 0; i < CHUNK && lane + 32 * k < chunks; ++i) {
        sum += (S)load(values[k].of + i);
      }
    }
    mean = foldWarp<S>(sum, Sum<S>()) / length;
    S rest = 0;  // equal values are normalized to 0: their mean is one of them
#pragma unroll
    for (int k = 0; k < PER_LANE; ++k) {
      for (int i = 0; i < CHUNK && lane + 32 * k < chunks; ++i) {
        rest += (S)load(values[k].of + i) - mean;
      }
    }
    mean += foldWarp<S>(rest, Sum<S>()) / length;
#endif
    S squares = 0;
#pragma unroll
    for (int k = 0; k < PER_LANE; ++k) {
      for (int i = 0; i < CHUNK && lane + 32 * k < chunks; ++i) {
        const S x = (S)load(values[k].of + i) - mean;
        squares += x * x;
      }
    }
    squares = foldWarp<S>(squares, Sum<S>()) / length;
    if (squares == (S)INFINITY) {
      mean = 0;
    }
    const S factor = 1 / sqrt(squares + (S)eps);
    STORED* const to = out + kept_to.at(row);
#pragma unroll
    for (int k = 0; k < PER_LANE; ++k) {
      if (!is_row || lane + 32 * k >= chunks) {
        continue;
      }
      Values result;
      for (int i = 0; i < CHUNK; ++i) {
        S x = ((S)load(values[k].of + i) - mean) * factor;
        if (scale) {
          x *= (S)load(scales[k].of + i);
        }
        if (bias) {
          x += (S)load(biases[k].of + i);
        }
        store(result.of + i, ACTIVATION((C)x, alpha, beta));
      }
      writeChunk(result, to + (lane + 32 * k) * CHUNK, is_aligned);
    }
  }
}
