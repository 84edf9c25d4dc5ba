// Depthwise convolution of images by large windows: a block computes a tile of the output for some channels. It copies what
// its windows read into shared memory at once, so that it waits for memory once. A thread has a word of channels, 4 bytes,
// and PIXELS neighbours of a line, which share what they read. WORDS are the words of a place in shared memory. Weights lie
// [KERNEL_H, KERNEL_W, channels]. What is beside the image is zero.

constexpr int kThreads = 256, kWorkers = kThreads / WORDS;
constexpr int kOfWord = 4 / (int)sizeof(STORED);       // channels
constexpr int kOfChunk = 16 / (int)sizeof(STORED);     // channels that are copied at once
constexpr int kChannels = WORDS * kOfWord, kChunks = kChannels / kOfChunk, kTaps = KERNEL_H * KERNEL_W;
constexpr int kColumns = (PIXELS - 1) * STRIDE_W + (KERNEL_W - 1) * DILATION_W + 1;  // that the windows of a thread read

using Word = Chunk<STORED, kOfWord>;

struct Tiles {
  int channels, height, width, out_height, out_width;
  int padding_y, padding_x;
  int lines, places;                // of the output, in a block; places are a multiple of PIXELS
  int staged_lines, staged_places;  // of the image
  long long batch, y, x;            // strides of the image in elements
  long long out_batch, out_y, out_x;
};

extern "C" __launch_bounds__(kThreads) __global__ void depthwise(Tiles of, const STORED* in, const STORED* weights, long long scale_step,
                                                                 const float* scale, long long bias_step, const BIAS* bias, STORED* out, double alpha_, double beta_) {
  const A alpha = parameterOf<A>(alpha_), beta = parameterOf<A>(beta_);
  (void)alpha, (void)beta;
  int rest = blockIdx.x;
  const auto next = [&rest](int total, int size) {
    const int parts = (total + size - 1) / size, part = rest % parts;
    rest /= parts;
    return part * size;
  };
  const int first_channel = next(of.channels, kChannels), first_place = next(of.out_width, of.places);
  const int first_line = next(of.out_height, of.lines), image = rest;
  STORED* const staged_weights = blockMemory<STORED>();
  STORED* const staged = staged_weights + kTaps * kChannels;
  for (int i = threadIdx.x; i < kTaps * kChunks; i += kThreads) {
    const int tap = i / kChunks, channel = first_channel + i % kChunks * kOfChunk;
    const bool is_there = channel < of.channels;
    beginCopy(staged_weights + i * kOfChunk, is_there ? weights + (long long)tap * of.channels + channel : weights, is_there);
  }
  waitForInputs();
  const int top = first_line * STRIDE_H - of.padding_y, left = first_place * STRIDE_W - of.padding_x;
  const STORED* const from = in + image * of.batch;
  for (int i = threadIdx.x; i < of.staged_lines * of.staged_places * kChunks; i += kThreads) {
    const int place = i / kChunks, line = place / of.staged_places, channel = first_channel + i % kChunks * kOfChunk;
    const int y = top + line, x = left + place - line * of.staged_places;
    const bool is_there = (unsigned)y < (unsigned)of.height && (unsigned)x < (unsigned)of.width && channel < of.channels;
    beginCopy(staged + i * kOfChunk, is_there ? from + y * of.y + x * of.x + channel : in, is_there);
  }
  endGroup();
  waitForGroups<0>();
  __syncthreads();

  const int word = threadIdx.x % WORDS, channel = first_channel + word * kOfWord;
  A of_scale[kOfWord] = {}, of_bias[kOfWord] = {};
  for (int k = 0; k < kOfWord && HAS_SCALE && channel < of.channels; ++k) {
    of_scale[k] = (A)load(scale + (channel + k) * scale_step);
  }
  for (int k = 0; k < kOfWord && bias && channel < of.channels; ++k) {
    of_bias[k] = (A)load(bias + (channel + k) * bias_step);
  }
  for (int item = threadIdx.x / WORDS; item < of.lines * of.places / PIXELS; item += kWorkers) {
    const int line = item % of.lines, place = item / of.lines * PIXELS;
    A sums[PIXELS][kOfWord] = {};
    const STORED* const at = staged + ((line * STRIDE_H * of.staged_places + place * STRIDE_W) * WORDS + word) * kOfWord;
#pragma unroll
    for (int ky = 0; ky < KERNEL_H; ++ky) {
      A columns[kColumns][kOfWord];
#pragma unroll
      for (int x = 0; x < kColumns; ++x) {
        const Word values(at + (ky * DILATION_H * of.staged_places + x) * kChannels);
#pragma unroll
        for (int k = 0; k < kOfWord; ++k) {
          columns[x][k] = (A)load(values.of + k);
        }
      }
#pragma unroll
      for (int kx = 0; kx < KERNEL_W; ++kx) {
        const Word of_tap(staged_weights + (ky * KERNEL_W + kx) * kChannels + word * kOfWord);
#pragma unroll
        for (int k = 0; k < kOfWord; ++k) {
          const A weight = (A)load(of_tap.of + k);
#pragma unroll
          for (int p = 0; p < PIXELS; ++p) {
            sums[p][k] += columns[p * STRIDE_W + kx * DILATION_W][k] * weight;
          }
        }
      }
    }
    if (first_line + line >= of.out_height || channel >= of.channels) {
      continue;
    }
    STORED* const to = out + image * of.out_batch + (first_line + line) * of.out_y + (first_place + place) * of.out_x + channel;
#pragma unroll
    for (int p = 0; p < PIXELS; ++p) {
      if (first_place + place + p >= of.out_width) {
        break;
      }
      Word result;
#pragma unroll
      for (int k = 0; k < kOfWord; ++k) {
        const A scaled = HAS_SCALE ? sums[p][k] * of_scale[k] : sums[p][k];
        store(result.of + k, ACTIVATION(scaled + of_bias[k], alpha, beta));
      }
      result.write(to + p * of.out_x);
    }
  }
}
