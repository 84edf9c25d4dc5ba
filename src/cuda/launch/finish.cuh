// Behind a call of a library: bias, residual and activation. A block takes one row after the other.

extern "C" __global__ void finish(long long rows, long long columns, Walk<RANK> walk_sum, long long sum_step,
                                  const SUM* sums, Walk<RANK> walk_bias, long long bias_step, const STORED* bias,
                                  Walk<RANK> walk_residual, long long residual_step, const STORED* residual,
                                  Walk<RANK> walk_out, long long out_step, STORED* out, double alpha_, double beta_) {
  const A alpha = (A)alpha_, beta = (A)beta_;
  (void)alpha, (void)beta;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const SUM* const from = sums + walk_sum.at(row);
    const STORED* const row_of_bias = bias ? bias + walk_bias.at(row) : bias;
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
          A sum = values[k];
          if (bias) {
            sum += (A)load(row_of_bias + column * bias_step);
          }
          if (residual) {
            sum += (A)load(row_of_residual + column * residual_step);
          }
          store(to + column * out_step, ACTIVATION(sum, alpha, beta));
        }
      }
    }
  }
}
