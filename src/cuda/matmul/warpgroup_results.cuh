// out = activation(a b + bias + residual) of elements of 16 bits by matmul/warpgroup_product.cuh. Results are rounded once. Rows
// of all lie dense.

class Ends {
 public:
  // What belongs to the columns of a tile, in shared memory.
  struct Values {
    float* bias;

    __device__ Values(unsigned char* memory) : bias((float*)memory) {}
  };
  // The operands of two neighbours beside their sums.
  struct Pair {
    Chunk<float, 2> bias;
    Chunk<OUT, 2> residual;

    // The residual is where the results will be.
    __device__ void read(const Values& values, int column, const unsigned char* place) {
      if (HAS_BIAS) {
        bias = Chunk<float, 2>(values.bias + column);
      }
      if (HAS_RESIDUAL) {
        residual = Chunk<OUT, 2>((const OUT*)place);
      }
    }
  };

  __device__ Ends(int columns, const OUT* bias, float alpha, float beta) : columns_(columns), bias_(bias), alpha_(alpha), beta_(beta) {
    (void)alpha_, (void)beta_;
  }

  __device__ void read(const Values& to, int first) const {
    for (int i = threadIdx.x; HAS_BIAS && i < COLUMNS; i += kComputing) {
      to.bias[i] = first + i < columns_ ? load(bias_ + first + i) : 0;
    }
  }
  __device__ void finish(float first, float second, const Pair& with, unsigned char* place) const {
    const float sums[] = {first, second};
    Chunk<OUT, 2> results;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      float value = HAS_BIAS ? sums[k] + with.bias.of[k] : sums[k];
      value = HAS_RESIDUAL ? value + load(with.residual.of + k) : value;
      store(results.of + k, ACTIVATION(value, alpha_, beta_));
    }
    results.write((OUT*)place);
  }

 private:
  int columns_;
  const OUT* bias_;
  float alpha_, beta_;
};

extern "C" __launch_bounds__(128 * GROUPS + 32, BLOCKS) __global__ void product(
    WarpgroupProduct of, const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
    const __grid_constant__ TensorMap residual, const __grid_constant__ TensorMap out, const OUT* bias, double alpha, double beta) {
  multiply(of, a, b, residual, out, Ends(of.columns, bias, (float)alpha, (float)beta));
}
