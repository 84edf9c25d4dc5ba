// Multiplies with the scale, adds bias and residual, and applies the activation, behind a call of a library. A thread takes CHUNK neighbours in a
// row at once where all operands lie so and pointers allow it, and counts no rows where all of them are dense (FLAT).
// Else a block takes one row after the other.

__device__ inline void finishOne(A sum, const float* scale, const BIAS* bias, const STORED* residual, STORED* out, A alpha, A beta) {
  (void)alpha, (void)beta;
  if (HAS_SCALE) {
    sum *= (A)load(scale);
  }
  if (bias) {
    sum += (A)load(bias);
  }
  if (residual) {
    sum += (A)load(residual);
  }
  store(out, ACTIVATION(sum, alpha, beta));
}

extern "C" __global__ void finish(long long rows, long long columns, Walk<RANK> walk_sum, long long sum_step,
                                  const SUM* sums, Walk<RANK> walk_scale, long long scale_step, const float* scale,
                                  Walk<RANK> walk_bias, long long bias_step, const BIAS* bias,
                                  Walk<RANK> walk_residual, long long residual_step, const STORED* residual,
                                  Walk<RANK> walk_out, long long out_step, STORED* out, double alpha_, double beta_) {
  waitForInputs();
  const A alpha = (A)alpha_, beta = (A)beta_;
  bias = ADDS_BIAS ? bias : nullptr;  // known to the compiler, so that a kernel without has more threads at once
  residual = ADDS_RESIDUAL ? residual : nullptr;
#if CHUNK > 1
  if (isAligned<SUM, CHUNK>(sums) && isAligned<float, CHUNK>(scale) && isAligned<BIAS, CHUNK>(bias) && isAligned<STORED, CHUNK>(residual) &&
      isAligned<STORED, CHUNK>(out)) {
    const long long chunks_of_row = columns / CHUNK;
    for (long long i = firstElement(); i < rows * chunks_of_row; i += allThreads()) {
      const long long row = FLAT ? 0 : quotient(i, chunks_of_row), column = (i - row * chunks_of_row) * CHUNK;
      const Chunk<SUM, CHUNK> sum(sums + walk_sum.at(row) + column);
      Chunk<float, CHUNK> from_scale;
      Chunk<BIAS, CHUNK> from_bias;
      Chunk<STORED, CHUNK> from_residual, result;
      if (HAS_SCALE) {
        from_scale = Chunk<float, CHUNK>(scale + walk_scale.at(row) + column);
      }
      if (bias) {
        from_bias = Chunk<BIAS, CHUNK>(bias + walk_bias.at(row) + column);
      }
      if (residual) {
        from_residual = Chunk<STORED, CHUNK>(residual + walk_residual.at(row) + column);
      }
#pragma unroll
      for (int k = 0; k < CHUNK; ++k) {
        finishOne((A)load(sum.of + k), from_scale.of + k, bias ? from_bias.of + k : bias, residual ? from_residual.of + k : residual,
                  result.of + k, alpha, beta);
      }
      result.write(out + walk_out.at(row) + column);
    }
    return;
  }
#endif
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const SUM* const from = sums + walk_sum.at(row);
    const float* const row_of_scale = HAS_SCALE ? scale + walk_scale.at(row) : scale;
    const BIAS* const row_of_bias = bias ? bias + walk_bias.at(row) : bias;
    const STORED* const row_of_residual = residual ? residual + walk_residual.at(row) : residual;
    STORED* const to = out + walk_out.at(row);
    for (long long first = threadIdx.x; first < columns; first += 4 * (long long)blockDim.x) {
      A values[4];  // all are on their way before the first is needed
      for (int k = 0; k < 4; ++k) {
        const long long column = first + k * (long long)blockDim.x;
        values[k] = column < columns ? (A)load(from + column * sum_step) : (A)0;
      }
      for (int k = 0; k < 4; ++k) {
        const long long column = first + k * (long long)blockDim.x;
        if (column < columns) {
          finishOne(values[k], HAS_SCALE ? row_of_scale + column * scale_step : scale, bias ? row_of_bias + column * bias_step : bias,
                    residual ? row_of_residual + column * residual_step : residual, to + column * out_step, alpha, beta);
        }
      }
    }
  }
}
