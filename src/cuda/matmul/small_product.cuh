// out = activation(a b * scale + bias + residual) of elements of 16 bits, with sums in float32. Rows of out lie dense.

class Ends {
 public:
  __device__ Ends(const float* scale, const BIAS* bias, long long residual_step, const STORED* residual, long long out_step,
                  STORED* out, A alpha, A beta)
      : scale_(scale), bias_(bias), residual_step_(residual_step), residual_(residual), out_step_(out_step), out_(out), alpha_(alpha), beta_(beta) {
    (void)alpha_, (void)beta_;
  }

  __device__ void beginColumns(const Tile& tile) {
    if (HAS_SCALE && tile.column() < tile.columns) {
      of_scale_.read(scale_ + tile.column());
    }
    if (bias_ && tile.column() < tile.columns) {
      of_bias_.read(bias_ + tile.column());
    }
  }
  __device__ void beginRows(const Tile& tile) {
    if (residual_) {
      forFinishedRows(tile, [&](int i, int row) { of_residual_[i] = Eight(residual_ + row * residual_step_ + tile.column()); });
    }
  }
  __device__ void endColumns(const Tile&) {}
  __device__ void finish(int i, int row, int column, const A (&sum)[8]) const {
    Eight result;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const A scaled = HAS_SCALE ? sum[k] * (A)load(of_scale_.of + k) : sum[k];
      const A value = scaled + (A)load(of_bias_.of + k) + (A)load(of_residual_[i].of + k);
      store(result.of + k, ACTIVATION(value, alpha_, beta_));
    }
    result.write(out_ + row * out_step_ + column);
  }

 private:
  const float* scale_;
  const BIAS* bias_;
  long long residual_step_;
  const STORED* residual_;
  long long out_step_;
  STORED* out_;
  A alpha_, beta_;
  EightOf<float> of_scale_ = {};
  EightOf<BIAS> of_bias_ = {};
  Eight of_residual_[kFinishes] = {};
};

extern "C" OF_CLUSTER __launch_bounds__(32 * ROWS / WARP_ROWS * COLUMNS / WARP_COLUMNS * SPLIT) __global__ void product(
    int rows, int columns, int depth, ARGUMENT_OF_A of_a, const STORED* a, long long b_step, const STORED* b,
    const float* scale, const BIAS* bias, long long residual_step, const STORED* residual, long long out_step, STORED* out, double alpha,
    double beta) {
  Ends ends(scale, bias, residual_step, residual, out_step, out, parameterOf<A>(alpha), parameterOf<A>(beta));
  const Tile tile(rows, columns);
  Sums sums = {};
  addProducts(sums, tile, depth, of_a, a, b_step, b, ends);
  finishTogether(sums, tile, ends);
}
