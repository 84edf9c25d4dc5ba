// Multiplications and additions on registers, sixteen chains a thread. Nothing is written that could be read.
extern "C" __global__ void multiply_add(long long rounds, float factor, float* out) {
  float sums[16];
  for (int i = 0; i < 16; ++i) {
    sums[i] = (float)(threadIdx.x + i);
  }
  for (long long round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      sums[i] = sums[i] * factor + 1.0f;
    }
  }
  float all = 0;
  for (int i = 0; i < 16; ++i) {
    all += sums[i];
  }
  if (all == -1.0f) {  // never, which the compiler does not know
    *out = all;
  }
}
