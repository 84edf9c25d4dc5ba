// Sums and extremes over the threads of a block, in a fixed order: the same bits in every run.

// Every thread of the block gets the result. `Fold` is associative; `threads` is a power of two.
template <class T, class Fold>
__device__ T foldBlock(T value, T* shared, Fold fold) {
  __syncthreads();  // an earlier result has been read
  shared[threadIdx.x] = value;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      shared[threadIdx.x] = fold(shared[threadIdx.x], shared[threadIdx.x + half]);
    }
    __syncthreads();
  }
  return shared[0];
}

// Every thread of the warp gets the result. `Fold` is associative and commutative. All warps of the block take part.
template <class T, class Fold>
__device__ T foldWarp(T value, Fold fold) {
  for (int apart = 16; apart > 0; apart /= 2) {
    value = fold(value, __shfl_xor_sync(0xffffffffu, value, apart));
  }
  return value;
}

template <class T>
struct Sum {
  __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct Product {
  __device__ T operator()(T a, T b) const { return a * b; }
};
template <class T>
struct Maximum {  // a NaN stays
  __device__ T operator()(T a, T b) const { return a != a || b < a ? a : b; }
};
template <class T>
struct Minimum {
  __device__ T operator()(T a, T b) const { return a != a || a < b ? a : b; }
};
