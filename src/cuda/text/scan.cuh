// Folds of the values of a block's threads up to each, in a fixed order.

// `shared` has THREADS values; its last is the fold of all until the next call.
template <class T, class Fold>
__device__ T scanBlock(T value, T* shared, Fold fold) {
  const int thread = (int)threadIdx.x;
  __syncthreads();  // earlier results have been read
  shared[thread] = value;
  __syncthreads();
  for (int step = 1; step < THREADS; step *= 2) {
    T folded = shared[thread];
    if (thread >= step) {
      folded = fold(shared[thread - step], folded);
    }
    __syncthreads();
    shared[thread] = folded;
    __syncthreads();
  }
  return shared[thread];
}
