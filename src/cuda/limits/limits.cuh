// Factors of float16 that differ: zeros would take less power, and so less time.
extern "C" __global__ void fill(long long count, unsigned short* factors) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const unsigned mixed = (unsigned)i * 2654435761u;
    factors[i] = (unsigned short)(0x3800u | mixed >> 16 & 0x83ffu);  // 0.5 to 1, of either sign
  }
}

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
