// Depthwise convolution of images: a thread takes CHUNK channels of PIXELS neighbours of a line, and reads what their windows
// share once. Weights lie [KERNEL_H, KERNEL_W, channels]. What is beside the image is zero. With AT_ONCE, a thread takes one
// place, reads its weights while the kernel in front still runs, and then the whole window at once.

using Values = Chunk<STORED, CHUNK>;

struct Size {  // height and width
  int y, x;
};
struct Image {  // strides in elements
  long long batch, channel, y, x;
};

__device__ inline Values valuesAt(const STORED* line, int x, int width, long long step, bool is_aligned) {
  if (x >= 0 && x < width) {
    return chunkAt<STORED, CHUNK>(line + x * step, is_aligned);
  }
  Values zeros;
  for (int k = 0; k < CHUNK; ++k) {
    store(zeros.of + k, (A)0);
  }
  return zeros;
}

__device__ inline void multiply(A* sums, const Values& values, const Values& weights) {
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) {
    sums[k] += (A)load(values.of + k) * (A)load(weights.of + k);
  }
}

// `count` threads; `chunks` of a place, and `parts` of a line.
extern "C" __global__ void depthwise(long long count, long long chunks, long long parts, Size size, Size out_size,
                                     Size padding, Image from, const STORED* in, const STORED* weights, long long scale_step,
                                     const float* scale, long long bias_step, const BIAS* bias, Image to, STORED* out, double alpha_, double beta_) {
  const A alpha = parameterOf<A>(alpha_), beta = parameterOf<A>(beta_);
  (void)alpha, (void)beta;
  const bool is_aligned = isAligned<STORED, CHUNK>(in) && isAligned<STORED, CHUNK>(out);
#if AT_ONCE
  Values of_taps[KERNEL_H * KERNEL_W];
  const long long first_chunk = firstElement() - quotient(firstElement(), chunks) * chunks;
#pragma unroll
  for (int tap = 0; tap < KERNEL_H * KERNEL_W; ++tap) {
    of_taps[tap] = Values(weights + (tap * chunks + first_chunk) * CHUNK);
  }
#endif
  waitForInputs();
  for (long long i = firstElement(); i < count; i += allThreads()) {
    const long long place = quotient(i, chunks), line_number = quotient(place, parts);
    const long long n = quotient(line_number, out_size.y), c = (i - place * chunks) * CHUNK;
    const int x = (int)(place - line_number * parts) * PIXELS, y = (int)(line_number - n * out_size.y);
    const STORED* const image = in + n * from.batch + c * from.channel;
    A sums[PIXELS][CHUNK];
#pragma unroll
    for (int p = 0; p < PIXELS; ++p) {
      for (int k = 0; k < CHUNK; ++k) {
        sums[p][k] = 0;
      }
    }
    const int left = x * STRIDE_W - padding.x;
#if AT_ONCE
    Values window[KERNEL_H * KERNEL_W];
#pragma unroll
    for (int tap = 0; tap < KERNEL_H * KERNEL_W; ++tap) {
      const int from_y = y * STRIDE_H - padding.y + tap / KERNEL_W * DILATION_H;
      const int from_x = left + tap % KERNEL_W * DILATION_W;
      const bool is_inside = from_y >= 0 && from_y < size.y;
      window[tap] = valuesAt(image + from_y * from.y, is_inside ? from_x : -1, size.x, from.x, is_aligned);
    }
#pragma unroll
    for (int tap = 0; tap < KERNEL_H * KERNEL_W; ++tap) {
      multiply(sums[0], window[tap], of_taps[tap]);
    }
#else
    for (int ky = 0; ky < KERNEL_H; ++ky) {
      const int from_y = y * STRIDE_H - padding.y + ky * DILATION_H;
      if (from_y < 0 || from_y >= size.y) {
        continue;
      }
      const STORED* const line = image + from_y * from.y;
      const STORED* const taps = weights + (long long)ky * KERNEL_W * chunks * CHUNK + c;
#if PIXELS > 1
      Values columns[(PIXELS - 1) * STRIDE_W + (KERNEL_W - 1) * DILATION_W + 1];
#pragma unroll
      for (int k = 0; k < (PIXELS - 1) * STRIDE_W + (KERNEL_W - 1) * DILATION_W + 1; ++k) {
        columns[k] = valuesAt(line, left + k, size.x, from.x, is_aligned);
      }
#pragma unroll
      for (int kx = 0; kx < KERNEL_W; ++kx) {
        const Values of_tap(taps + kx * chunks * CHUNK);
#pragma unroll
        for (int p = 0; p < PIXELS; ++p) {
          multiply(sums[p], columns[p * STRIDE_W + kx * DILATION_W], of_tap);
        }
      }
#else
      for (int kx = 0; kx < KERNEL_W; ++kx) {
        multiply(sums[0], valuesAt(line, left + kx * DILATION_W, size.x, from.x, is_aligned), Values(taps + kx * chunks * CHUNK));
      }
#endif
    }
#endif
    STORED* const results = out + n * to.batch + c * to.channel + y * to.y;
#pragma unroll
    for (int p = 0; p < PIXELS; ++p) {
      if (x + p >= out_size.x) {
        break;
      }
      Values result;
#pragma unroll
      for (int k = 0; k < CHUNK; ++k) {
        const A scaled = HAS_SCALE ? sums[p][k] * (A)load(scale + (c + k) * scale_step) : sums[p][k];
        const A sum = bias ? scaled + (A)load(bias + (c + k) * bias_step) : scaled;
        store(result.of + k, ACTIVATION(sum, alpha, beta));
      }
      writeChunk(result, results + (x + p) * to.x, is_aligned);
    }
  }
}
