// One direction of a recurrent layer. A block has one sample of the batch and goes through its steps; a thread computes
// all gates of an element of the state, from the state before, which lies in scratch memory beside the state after.

struct Strides3 {
  long long at[3];
};
struct Strides2 {
  long long at[2];
};

template <class T>
__device__ T sigmoid(T x) { return T(1) / (T(1) + exp(-x)); }

// Four sums side by side, for accuracy and for speed.
__device__ inline A weighed(const A* state, const STORED* weights, long long step, long long size) {
  A sums[4] = {0, 0, 0, 0};
  for (long long i = 0; i < size; ++i) {
    sums[i & 3] += state[i] * load(weights + i * step);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

extern "C" __global__ void recurrent(long long steps, long long batch, long long size, long long reverse, Strides3 in_x,
                                     const STORED* x, Strides2 in_weights, const STORED* weights, long long bias_step,
                                     const STORED* bias, Strides2 in_state, const STORED* state, Strides2 in_cell,
                                     const STORED* cell, A* states, A* cells, Strides3 to, STORED* out,
                                     Strides2 to_state, STORED* last_state, Strides2 to_cell, STORED* last_cell) {
  for (long long n = blockIdx.x; n < batch; n += gridDim.x) {
    A* before = states + n * 2 * size;
    A* after = before + size;
    A* const memory = cells + n * size;
    for (long long j = threadIdx.x; j < size; j += blockDim.x) {
      before[j] = load(state + n * in_state.at[0] + j * in_state.at[1]);
#if LSTM
      memory[j] = load(cell + n * in_cell.at[0] + j * in_cell.at[1]);
#endif
    }
    __syncthreads();
    for (long long step = 0; step < steps; ++step) {
      const long long t = reverse ? steps - 1 - step : step;
      for (long long j = threadIdx.x; j < size; j += blockDim.x) {
        A from_x[GATES], from_state[GATES];
        for (int gate = 0; gate < GATES; ++gate) {
          const long long i = gate * size + j;
          from_x[gate] = load(x + t * in_x.at[0] + n * in_x.at[1] + i * in_x.at[2]);
          from_state[gate] = weighed(before, weights + i * in_weights.at[0], in_weights.at[1], size) +
                             (bias ? load(bias + i * bias_step) : A(0));
        }
#if LSTM
        const A kept = sigmoid(from_x[1] + from_state[1]) * memory[j];
        memory[j] = kept + sigmoid(from_x[0] + from_state[0]) * tanh(from_x[2] + from_state[2]);
        after[j] = sigmoid(from_x[3] + from_state[3]) * tanh(memory[j]);
#elif GRU
        const A reset = sigmoid(from_x[0] + from_state[0]);
        const A kept = sigmoid(from_x[1] + from_state[1]);
        const A fresh = tanh(from_x[2] + reset * from_state[2]);
        after[j] = (before[j] - fresh) * kept + fresh;
#else
        after[j] = ACTIVATION(from_x[0] + from_state[0], A(0), A(0));
#endif
        store(out + t * to.at[0] + n * to.at[1] + j * to.at[2], after[j]);
      }
      __syncthreads();
      A* const swapped = before;
      before = after;
      after = swapped;
    }
    for (long long j = threadIdx.x; j < size; j += blockDim.x) {
      store(last_state + n * to_state.at[0] + j * to_state.at[1], before[j]);
#if LSTM
      store(last_cell + n * to_cell.at[0] + j * to_cell.at[1], memory[j]);
#endif
    }
    __syncthreads();  // before another sample
  }
}
