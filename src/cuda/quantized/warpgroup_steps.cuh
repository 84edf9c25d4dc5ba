// Products of steps by matmul/warpgroup_product.cuh, whose results are bytes. `corrections` are what the zero point adds to the
// sum of each column. Rows of all lie dense.

class Ends {
 public:
  static constexpr int kValueBytes = 3 * COLUMNS * 4;

  // What belongs to the columns of a tile, in shared memory: scales, bias and corrections.
  struct Values {
    float* scales;
    float* bias;
    int* corrections;

    __device__ Values(unsigned char* memory)
        : scales((float*)memory), bias(scales + COLUMNS), corrections((int*)(bias + COLUMNS)) {}
  };
  // The operands of two neighbours beside their sums.
  struct Pair {
    Chunk<float, 2> scale, bias;
    Chunk<int, 2> correction;
    Chunk<RESIDUAL, 2> residual;

    // The residual is where the results will be.
    __device__ void read(const Values& values, int column, const unsigned char* place) {
      scale = Chunk<float, 2>(values.scales + column);
      if (HAS_BIAS) {
        bias = Chunk<float, 2>(values.bias + column);
      }
      if (HAS_ZERO_POINT) {
        correction = Chunk<int, 2>(values.corrections + column);
      }
      if (HAS_RESIDUAL) {
        residual = Chunk<RESIDUAL, 2>((const RESIDUAL*)place);
      }
    }
  };

  __device__ Ends(int columns, const float* scales, const float* bias, const int* corrections, const Finish& with)
      : columns_(columns), scales_(scales), bias_(bias), corrections_(corrections), with_(with) {}

  __device__ void read(const Values& to, int first) const {
    for (int i = threadIdx.x; i < COLUMNS; i += kComputing) {
      const bool is_there = first + i < columns_;
      to.scales[i] = is_there ? scales_[first + i] : 0;
      if (HAS_BIAS) {
        to.bias[i] = is_there ? bias_[first + i] : 0;
      }
      if (HAS_ZERO_POINT) {
        to.corrections[i] = is_there ? corrections_[first + i] : 0;
      }
    }
  }
  __device__ void finish(int first, int second, const Pair& with, unsigned char* place) const {
    const int sums[] = {first, second};
    Chunk<OUT, 2> results;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const int sum = HAS_ZERO_POINT ? sums[k] - with.correction.of[k] : sums[k];
      results.of[k] = (OUT)finished(sum, with.scale.of[k], with.bias.of[k], with.residual.of[k], with_);
    }
    results.write((OUT*)place);
  }

 private:
  int columns_;
  const float *scales_, *bias_;
  const int* corrections_;
  const Finish& with_;
};

extern "C" __launch_bounds__(128 * GROUPS + 32, BLOCKS) __global__ void product(
    WarpgroupProduct of, const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
    const __grid_constant__ TensorMap residual, const __grid_constant__ TensorMap out, const float* scales, const float* bias,
    const int* corrections, Finish with) {
  multiply(of, a, b, residual, out, Ends(of.columns, scales, bias, corrections, with));
}
