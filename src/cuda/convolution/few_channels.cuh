// Convolution of an image of fewer than eight channels on tensor cores. A block computes some lines of the output, or a
// segment of them, for COLUMNS of the outputs. It packs what these read of the image into shared memory, PLACE elements a
// place, with zeros around the image and behind the channels. So the taps of a line of a window lie next to each other, in
// CHUNKS chunks of 8 elements, and windows are read where they lie, although they overlap. KERNEL_H and KERNEL_W are the
// sizes of a window; a place begins at a multiple of 16 bytes in every window.

constexpr int kWarps = 8, kThreads = 32 * kWarps;
constexpr int kRows = 32;                              // places of the output that a warp computes together
constexpr int kTaps = KERNEL_H * CHUNKS;               // chunks of a window
constexpr int kSteps = (kTaps + 1) / 2;                // of 16 elements
constexpr int kWeights = 16 * kSteps + 8;              // from one output to the next, so that rows begin in other banks
constexpr int kTail = KERNEL_W * PLACE - (CHUNKS - 1) * 8;  // elements of a line's last chunk that are taps
constexpr int kSums = COLUMNS + 4;                     // from one row to the next

using Eight = Chunk<STORED, 8>;

struct Image {
  int channels, height, width;
  int out_height, out_width, outputs;
  int stride_y, stride_x, padding_y, padding_x, dilation_y;
  int lines, places;                    // of the output, in a block
  int packed_lines, packed_places;      // that these read
  long long image, channel, y, x;       // strides in elements
};

// A block's part of the output.
struct Part {
  int image, first_line, first_place, first_column;

  __device__ explicit Part(const Image& of) {
    int rest = blockIdx.x;
    const auto next = [&rest](int total, int size) {
      const int parts = (total + size - 1) / size, part = rest % parts;
      rest /= parts;
      return part * size;
    };
    first_column = next(of.outputs, COLUMNS);
    first_place = next(of.out_width, of.places);
    first_line = next(of.out_height, of.lines);
    image = rest;
  }
};

__device__ inline void pack(const Image& of, const Part& part, const unsigned short* in, unsigned short* to) {
  const int top = part.first_line * of.stride_y - of.padding_y, left = part.first_place * of.stride_x - of.padding_x;
  const unsigned short* const from = in + part.image * of.image;
  for (int i = threadIdx.x; i < of.packed_lines * of.packed_places; i += kThreads) {
    const int line = i / of.packed_places, y = top + line, x = left + i - line * of.packed_places;
    const bool is_inside = (unsigned)y < (unsigned)of.height && (unsigned)x < (unsigned)of.width;
    const unsigned short* const at = from + y * of.y + x * of.x;
    Chunk<unsigned short, PLACE> place;
#pragma unroll
    for (int c = 0; c < PLACE; ++c) {
      place.of[c] = is_inside && c < of.channels ? at[c * of.channel] : (unsigned short)0;
    }
    place.write(to + i * PLACE);
  }
}

// What lies behind the last tap of a line, and behind the last line: zero, lest its weight of zero makes NaN of infinity.
__device__ inline unsigned maskOf(int chunk) {
  if (chunk >= kTaps) {
    return 0;
  }
  return chunk % CHUNKS == CHUNKS - 1 && threadIdx.x % 4 * 2 >= kTail ? 0 : 0xffffffffu;
}

extern "C" __launch_bounds__(kThreads, 2) __global__ void few_channels(Image of, const unsigned short* in, const STORED* weights,
                                                                       const float* scale, const BIAS* bias, const STORED* residual, STORED* out, double alpha_, double beta_) {
  const A alpha = parameterOf<A>(alpha_), beta = parameterOf<A>(beta_);
  (void)alpha, (void)beta;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Part part(of);
  unsigned short* const staged_weights = blockMemory<unsigned short>();
  A* const sums_of_warp = (A*)(staged_weights + COLUMNS * kWeights) + warp * 16 * kSums;
  unsigned short* const packed = staged_weights + COLUMNS * kWeights + kWarps * 16 * kSums * (int)(sizeof(A) / 2);
  for (int i = threadIdx.x; i < COLUMNS * 2 * kSteps; i += kThreads) {
    const int column = i / (2 * kSteps), chunk = i % (2 * kSteps);
    const bool is_there = part.first_column + column < of.outputs;
    const STORED* const from = weights + ((part.first_column + column) * 2 * kSteps + chunk) * 8;
    beginCopy(staged_weights + column * kWeights + chunk * 8, is_there ? from : weights, is_there);
  }
  endGroup();
  waitForInputs();
  pack(of, part, in, packed);
  waitForGroups<0>();
  __syncthreads();

  const bool is_aligned = isAligned<STORED, 8>(out), is_residual_aligned = isAligned<STORED, 8>(residual);
  const bool is_bias_aligned = isAligned<BIAS, 8>(bias), is_scale_aligned = isAligned<float, 8>(scale);
  const int results = of.lines * of.places;
  for (int first = 0; first < results; first += kRows * kWarps) {  // all warps go on to the end of the last round
    const unsigned short* rows[kRows / 16];
#pragma unroll
    for (int i = 0; i < kRows / 16; ++i) {
      const int wanted = first + warp * kRows + 16 * i + lane % 16, result = wanted < results ? wanted : 0;
      const int line = result / of.places, place = result - line * of.places;
      rows[i] = packed + (line * of.stride_y * of.packed_places + place * of.stride_x) * PLACE;
    }
    A sums[kRows / 16][COLUMNS / 8][4] = {};
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const int chunk = 2 * step + lane / 16, line = chunk / CHUNKS;
      const int offset = chunk < kTaps ? line * of.dilation_y * of.packed_places * PLACE + (chunk - line * CHUNKS) * 8 : 0;
      unsigned of_a[kRows / 16][4];
#pragma unroll
      for (int i = 0; i < kRows / 16; ++i) {
        loadMatrices(of_a[i], rows[i] + offset);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          of_a[i][k] &= maskOf(2 * step + k / 2);
        }
      }
#pragma unroll
      for (int j = 0; j < COLUMNS / 16; ++j) {
        unsigned of_b[4];
        loadMatrices(of_b, staged_weights + (16 * j + lane % 8 + lane / 16 * 8) * kWeights + (2 * step + lane / 8 % 2) * 8);
#pragma unroll
        for (int i = 0; i < kRows / 16; ++i) {
          multiplyAdd(sums[i][2 * j], of_a[i], {of_b[0], of_b[1]}, (const STORED*)nullptr);
          multiplyAdd(sums[i][2 * j + 1], of_a[i], {of_b[2], of_b[3]}, (const STORED*)nullptr);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kRows / 16; ++i) {
      __syncwarp();
#pragma unroll
      for (int j = 0; j < COLUMNS / 8; ++j) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          Chunk<A, 2> pair;
          pair.of[0] = sums[i][j][2 * half];
          pair.of[1] = sums[i][j][2 * half + 1];
          pair.write(sums_of_warp + (8 * half + lane / 4) * kSums + 8 * j + lane % 4 * 2);
        }
      }
      __syncwarp();
      for (int end = lane; end < 16 * COLUMNS / 8; end += 32) {
        const int row = end / (COLUMNS / 8), column = end % (COLUMNS / 8) * 8, result = first + warp * kRows + 16 * i + row;
        const int line = part.first_line + result / of.places, place = part.first_place + result % of.places;
        if (result >= results || line >= of.out_height || place >= of.out_width || part.first_column + column >= of.outputs) {
          continue;
        }
        const long long at = (((long long)part.image * of.out_height + line) * of.out_width + place) * of.outputs + part.first_column + column;
        Chunk<float, 8> of_scale = {};
        Chunk<BIAS, 8> of_bias = {};
        Eight of_residual = {}, eight;
        if (HAS_SCALE) {
          of_scale = chunkAt<float, 8>(scale + part.first_column + column, is_scale_aligned);
        }
        if (bias) {
          of_bias = chunkAt<BIAS, 8>(bias + part.first_column + column, is_bias_aligned);
        }
        if (residual) {
          of_residual = chunkAt<STORED, 8>(residual + at, is_residual_aligned);
        }
        const A* const from = sums_of_warp + row * kSums + column;
        const Chunk<A, 4> chunks[] = {Chunk<A, 4>(from), Chunk<A, 4>(from + 4)};
#pragma unroll
        for (int k = 0; k < 8; ++k) {
          const A sum = chunks[k / 4].of[k % 4], scaled = HAS_SCALE ? sum * (A)load(of_scale.of + k) : sum;
          const A value = scaled + (A)load(of_bias.of + k) + (A)load(of_residual.of + k);
          store(eight.of + k, ACTIVATION(value, alpha, beta));
        }
        writeChunk(eight, out + at, is_aligned);
      }
    }
  }
}
