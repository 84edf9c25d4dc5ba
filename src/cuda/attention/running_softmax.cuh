// The softmax of scores that come 16 keys at a time, and the values that it weighs. A block of 16 x 16 threads has 16
// queries; a thread has one of them, and every 16th of 64 columns of its values.

struct RunningSoftmax {
  float highest, total;
  float sums[4];

  __device__ RunningSoftmax() : highest(-floatOf(0x7f800000u)), total(0), sums{0, 0, 0, 0} {}

  // Makes weights of the block's scores, one of which is this thread's: its query is y, its key x. Rescales the sums when
  // a greater score comes. All threads of the block call it; they see each other's writes of before.
  __device__ void weigh(float score, int x, int y, float (&weights)[16][17]) {
    const float lowest = -floatOf(0x7f800000u);
    weights[y][x] = score;
    __syncthreads();
    float next = highest;
    for (int i = 0; i < 16; ++i) {
      next = Maximum<float>()(next, weights[y][i]);
    }
    __syncthreads();  // all have seen the scores, which become weights
    weights[y][x] = next == lowest ? 0.0f : exp(score - next);
    __syncthreads();
    const float factor = next == lowest ? 1.0f : exp(highest - next);
    highest = next;
    total *= factor;
    for (int j = 0; j < 4; ++j) {
      sums[j] *= factor;
    }
  }
  // `values` is this thread's first column of the key that has the weight.
  __device__ void add(float weight, const float* values) {
    total += weight;
    for (int j = 0; j < 4; ++j) {
      sums[j] += weight * values[16 * j];
    }
  }
};
