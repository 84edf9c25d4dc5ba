// Normalization of rows that lie dense, of at most 32 * PER_LANE chunks of CHUNK values: a warp for each, which keeps it in
// registers. Scale and bias are those of every row; SCALES and BIASES tell if they are there. S is what sums are carried in. With
// AHEAD, they are constants that are read while the kernel in front still runs.

using Values = Chunk<STORED, CHUNK>;

// A text of its own for aligned rows, and no condition around loads: values that come together behind a condition lie in
// other registers, so that each load would be waited for before the next one begins.
template <bool kIsAligned>
__device__ inline void normalizeRows(int rows, int chunks, const Walk<KEPT>& kept, const STORED* in,
                                     const Walk<KEPT>& kept_to, STORED* out, const STORED* scale, const STORED* bias,
                                     double eps, C alpha, C beta) {
  (void)alpha, (void)beta;
  const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const S length = (S)(chunks * CHUNK);
  bool is_inside[PER_LANE];  // others read the last chunk, and leave it
  int places[PER_LANE];
#pragma unroll
  for (int k = 0; k < PER_LANE; ++k) {
    is_inside[k] = lane + 32 * k < chunks;
    places[k] = (is_inside[k] ? lane + 32 * k : chunks - 1) * CHUNK;
  }
  Values scales[PER_LANE], biases[PER_LANE];
  const auto readBeside = [&] {
#pragma unroll
    for (int k = 0; k < PER_LANE && kIsAligned; ++k) {
      if (SCALES) {
        scales[k] = Values(scale + places[k]);
      }
      if (BIASES) {
        biases[k] = Values(bias + places[k]);
      }
    }
  };
#if AHEAD
  readBeside();
#endif
  waitForInputs();
  for (int first = blockIdx.x * warps; first < rows; first += gridDim.x * warps) {
    const bool is_row = first + (int)threadIdx.x / 32 < rows;
    const int row = is_row ? first + (int)threadIdx.x / 32 : rows - 1;
    const STORED* const from = in + kept.at(row);
    Values values[PER_LANE];
#pragma unroll
    for (int k = 0; k < PER_LANE; ++k) {
      values[k] = chunkAt<STORED, CHUNK>(from + places[k], kIsAligned);
    }
#if !AHEAD
    readBeside();  // on their way while the row is folded
#endif
    S mean = 0;
#if CENTERED
    S sum = 0;
#pragma unroll
    for (int k = 0; k < PER_LANE; ++k) {
      for (int i = 0; i < CHUNK; ++i) {
        sum += is_inside[k] ? (S)load(values[k].of + i) : 0;
      }
    }
    mean = foldWarp<S>(sum, Sum<S>()) / length;
    S rest = 0;  // equal values are normalized to 0: their mean is one of them
#pragma unroll
    for (int k = 0; k < PER_LANE; ++k) {
      for (int i = 0; i < CHUNK; ++i) {
        rest += is_inside[k] ? (S)load(values[k].of + i) - mean : 0;
      }
    }
    mean += foldWarp<S>(rest, Sum<S>()) / length;
#endif
    S squares = 0;
#pragma unroll
    for (int k = 0; k < PER_LANE; ++k) {
      for (int i = 0; i < CHUNK; ++i) {
        const S x = is_inside[k] ? (S)load(values[k].of + i) - mean : 0;
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
      if (!is_row || !is_inside[k]) {
        continue;
      }
      Values result;
      for (int i = 0; i < CHUNK; ++i) {
        S x = ((S)load(values[k].of + i) - mean) * factor;
        if (SCALES) {
          x *= (S)load(kIsAligned ? scales[k].of + i : scale + places[k] + i);
        }
        if (BIASES) {
          x += (S)load(kIsAligned ? biases[k].of + i : bias + places[k] + i);
        }
        store(result.of + i, ACTIVATION((C)x, alpha, beta));
      }
      writeChunk(result, to + places[k], kIsAligned);
    }
  }
}

extern "C" __global__ void normalizeChunks(int rows, int chunks, Walk<KEPT> kept, const STORED* in, Walk<KEPT> kept_to,
                                           STORED* out, const STORED* scale, const STORED* bias, double eps, double alpha,
                                           double beta) {
  if (isAligned<STORED, CHUNK>(in) && isAligned<STORED, CHUNK>(out) && isAligned<STORED, CHUNK>(scale) &&
      isAligned<STORED, CHUNK>(bias)) {
    normalizeRows<true>(rows, chunks, kept, in, kept_to, out, scale, bias, eps, (C)alpha, (C)beta);
  } else {
    normalizeRows<false>(rows, chunks, kept, in, kept_to, out, scale, bias, eps, (C)alpha, (C)beta);
  }
}
