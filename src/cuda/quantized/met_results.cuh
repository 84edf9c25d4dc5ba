// The end of products of steps (quantized/tensor_product.cuh) whose sums meet: a thread finishes eight neighbours of a row.

// Operands of the results are read early if registers for them are left beside the sums.
constexpr bool kReadsEarly = kFinishes <= 4, kReadsResidualEarly = HAS_RESIDUAL && kReadsEarly && sizeof(RESIDUAL) == 1;

class Ends {
 public:
  __device__ Ends(const float* scales, const float* bias, const RESIDUAL* residual, OUT* out, const Finish& with)
      : scales_(scales), bias_(bias), residual_(residual), out_(out), with_(with) {}

  __device__ void beginColumns(const Tile& tile) {
    if (kReadsEarly) {
      readColumns(tile);
    }
  }
  __device__ void beginRows(const Tile& tile) {
    if (kReadsResidualEarly) {
      forFinishedRows(tile, [&](int i, int row) { of_residual_[i].read(residual_ + (long long)row * tile.columns + tile.column()); });
    }
    columns_ = tile.columns;
  }
  __device__ void endColumns(const Tile& tile) {
    if (!kReadsEarly) {
      readColumns(tile);
    }
  }
  __device__ void finishAll(const Sums& sums, const Tile& tile) { finishTogether(sums, tile, *this); }
  __device__ void finish(int i, int row, int column, const int (&sum)[8]) const {
    const long long place = (long long)row * columns_ + column;
    EightOf<RESIDUAL> beside = of_residual_[kReadsResidualEarly ? i : 0];
    if (HAS_RESIDUAL && !kReadsResidualEarly) {
      beside.read(residual_ + place);
    }
    EightOf<OUT> result;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      store(result.of + k, finished(sum[k], of_scales_.of[k], of_bias_.of[k], beside.of[k], with_));
    }
    result.write(out_ + place);
  }

 private:
  __device__ void readColumns(const Tile& tile) {
    if (tile.column() < tile.columns) {
      of_scales_.read(scales_ + tile.column());
      if (HAS_BIAS) {
        of_bias_.read(bias_ + tile.column());
      }
    }
  }

  const float *scales_, *bias_;
  const RESIDUAL* residual_;
  OUT* out_;
  Finish with_;
  int columns_ = 0;
  EightOf<float> of_scales_ = {}, of_bias_ = {};
  EightOf<RESIDUAL> of_residual_[kReadsResidualEarly ? kFinishes : 1] = {};
};
