// softmax(q k^T * scale, masked) v of elements of 16 bits on tensor cores, for few queries: a block has 16 of one head, and
// its WARPS share the keys, 16 at a time. Scores and sums are in float32. What the warps have is put together at the
// end, in their order. Lines of q, k and v lie dense; SIZE and COLUMNS are the sizes of heads in 16s: what is beyond the
// real ones is 0. HAS_FIRST and HAS_SECOND say which masks there are. MOST_KEYS are staged at once.

constexpr int kRows = 16, kWarps = WARPS, kThreads = 32 * kWarps;
constexpr int kRound = 16 * kWarps;   // keys that all warps take together
constexpr int kRounds = MOST_KEYS / kRound;
constexpr int kPitch = COLUMNS + 4;   // of sums, so that rows begin in other banks

// Eight neighbours of a line. Chunks lie in another order in neighbouring lines, so that eight lanes that read a column
// use as many banks as there are.
template <int kWidth>
__device__ unsigned short* placeOf(unsigned short* lines, int line, int chunk) {
  constexpr int kMask = kWidth % 64 == 0 ? 7 : kWidth % 32 == 0 ? 3 : 1;
  const int turn = kWidth % 64 == 0 ? line : kWidth % 32 == 0 ? line / 2 : line / 4;
  return lines + line * kWidth + (chunk ^ (turn & kMask)) * 8;
}

template <int kLines, int kWidth>
__device__ void stageLines(unsigned short* to, const STORED* from, long long step, int lines, int width) {
  constexpr int kChunks = kWidth / 8;
  if (isAligned<STORED, 8>(from) && step % 8 == 0 && width % 8 == 0) {
#pragma unroll
    for (int i = threadIdx.x; i < kLines * kChunks; i += kThreads) {
      const int line = i / kChunks, chunk = i % kChunks;
      const bool is_there = line < lines && chunk * 8 < width;
      beginCopy(placeOf<kWidth>(to, line, chunk), is_there ? from + line * step + chunk * 8 : from, is_there);
    }
    return;
  }
  for (int i = threadIdx.x; i < kLines * kWidth; i += kThreads) {
    const int line = i / kWidth, column = i % kWidth;
    placeOf<kWidth>(to, line, column / 8)[column % 8] = line < lines && column < width ? from[line * step + column].bits : 0;
  }
}

// What a mask has for the scores of this thread, read ahead. Places beyond the rows and keys are not read.
template <class T>
class MaskValues {
 public:
  __device__ void read(const T* mask, const Steps& in, int first_row, int rows, int keys) {
    if (keys == 0) {
      return;
    }
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int n = 0; n < kRounds; ++n) {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int key = kRound * n + 16 * warp + i / 4 * 8 + lane % 4 * 2 + i % 2, row = first_row + lane / 4 + i % 4 / 2 * 8;
        values_[n][i] = mask[key < keys && row < rows ? row * in.row + key * in.column : 0];
      }
    }
  }
  __device__ float mask(float score, int n, int i) const { return masked(score, &values_[n][i]); }

 private:
  T values_[kRounds][8];
};

__device__ inline float power(float of_e) { return exp2(of_e * 1.44269504f); }

extern "C" __launch_bounds__(kThreads) __global__ void attention(
    long long heads, long long rows, long long keys, long long size, long long columns, float scale, long long safe,
    Walk<BATCH> walk_q, Steps in_q, const STORED* q, Walk<BATCH> walk_k, Steps in_k, const STORED* k, Walk<BATCH> walk_v,
    Steps in_v, const STORED* v, Walk<BATCH> walk_first, Steps in_first, const FIRST* first, Walk<BATCH> walk_second,
    Steps in_second, const SECOND* second, Walk<BATCH> walk_out, Steps in_out, STORED* out) {
  unsigned short* const staged_q = blockMemory<unsigned short>();
  unsigned short* const staged_k = staged_q + kRows * SIZE;
  unsigned short* const staged_v = staged_k + MOST_KEYS * SIZE;
  const float lowest = -floatOf(0x7f800000u);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / 4, pair = lane % 4;
  const int down = ((int)rows + kRows - 1) / kRows, head = blockIdx.x / down, first_row = blockIdx.x % down * kRows;
  const STORED* const q_of_block = q + walk_q.at(head) + first_row * in_q.row;
  const STORED* const k_of_head = k + walk_k.at(head);
  const STORED* const v_of_head = v + walk_v.at(head);
  STORED* const to = out + walk_out.at(head);
#if HAS_FIRST
  const FIRST* const first_of_head = first + walk_first.repeatedAt(head);
#endif
#if HAS_SECOND
  const SECOND* const second_of_head = second + walk_second.repeatedAt(head);
#endif
  waitForInputs();
  stageLines<kRows, SIZE>(staged_q, q_of_block, in_q.row, (int)rows - first_row, (int)size);
  stageLines<MOST_KEYS, SIZE>(staged_k, k_of_head, in_k.row, (int)keys, (int)size);
  endGroup();
  stageLines<MOST_KEYS, COLUMNS>(staged_v, v_of_head, in_v.row, (int)keys, (int)columns);
  endGroup();
#if HAS_FIRST
  MaskValues<FIRST> first_mask;
  first_mask.read(first_of_head, in_first, first_row, (int)rows, (int)keys);
#endif
#if HAS_SECOND
  MaskValues<SECOND> second_mask;
  second_mask.read(second_of_head, in_second, first_row, (int)rows, (int)keys);
#endif
  waitForGroups<1>();
  __syncthreads();

  // Round n has keys from kRound * n on, of which this warp takes 16 from 16 * warp on.
  float scores[kRounds][2][4];
  float highest[2] = {lowest, lowest};
  unsigned of_q[SIZE / 16][4];
#pragma unroll
  for (int d = 0; d < SIZE / 16; ++d) {
    loadMatrices(of_q[d], placeOf<SIZE>(staged_q, lane % 16, 2 * d + lane / 16));
  }
#pragma unroll
  for (int n = 0; n < kRounds; ++n) {
    const int first_key = kRound * n + 16 * warp;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      scores[n][0][i] = scores[n][1][i] = 0;
    }
#pragma unroll
    for (int d = 0; d < SIZE / 16; ++d) {
      unsigned of_k[4];
      loadMatrices(of_k, placeOf<SIZE>(staged_k, first_key + lane % 8 + lane / 16 * 8, 2 * d + lane / 8 % 2));
      multiplyAdd(scores[n][0], of_q[d], {of_k[0], of_k[1]}, (const STORED*)nullptr);
      multiplyAdd(scores[n][1], of_q[d], {of_k[2], of_k[3]}, (const STORED*)nullptr);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      float& score = scores[n][i / 4][i % 4];
      score *= scale;
#if HAS_FIRST
      score = first_mask.mask(score, n, i);
#endif
#if HAS_SECOND
      score = second_mask.mask(score, n, i);
#endif
      const int key = first_key + i / 4 * 8 + 2 * pair + i % 2;
      score = key < keys ? score : lowest;  // rows beyond the last are not written
      highest[i % 4 / 2] = Maximum<float>()(highest[i % 4 / 2], score);
    }
  }

  // The highest score of a row is that of all warps, so that their sums need no factor.
  __shared__ float highest_of[kWarps][kRows];
  __shared__ float total_of[kWarps][kRows];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int apart = 1; apart < 4; apart *= 2) {
      highest[half] = Maximum<float>()(highest[half], __shfl_xor_sync(0xffffffffu, highest[half], apart));
    }
    if (pair == 0) {
      highest_of[warp][group + 8 * half] = highest[half];
    }
  }
  waitForGroups<0>();
  __syncthreads();
  float total[2] = {0, 0};
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    for (int other = 0; other < kWarps; ++other) {
      highest[half] = Maximum<float>()(highest[half], highest_of[other][group + 8 * half]);
    }
  }
  float sums[COLUMNS / 8][4] = {};
#pragma unroll
  for (int n = 0; n < kRounds; ++n) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int half = i % 4 / 2;
      float& score = scores[n][i / 4][i % 4];
      score = highest[half] == lowest ? 0.0f : power(score - highest[half]);
      total[half] += score;
    }
    const float(&left)[4] = scores[n][0];
    const float(&right)[4] = scores[n][1];
    const STORED* const type = nullptr;
    const unsigned weights[4] = {packed(left[0], left[1], type), packed(left[2], left[3], type),
                                 packed(right[0], right[1], type), packed(right[2], right[3], type)};
#pragma unroll
    for (int column = 0; column < COLUMNS / 16; ++column) {
      unsigned of_v[4];
      loadTransposed(of_v, placeOf<COLUMNS>(staged_v, kRound * n + 16 * warp + lane % 16, 2 * column + lane / 16));
      multiplyAdd(sums[2 * column], weights, {of_v[0], of_v[1]}, type);
      multiplyAdd(sums[2 * column + 1], weights, {of_v[2], of_v[3]}, type);
    }
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int apart = 1; apart < 4; apart *= 2) {
      total[half] += __shfl_xor_sync(0xffffffffu, total[half], apart);
    }
    if (pair == 0) {
      total_of[warp][group + 8 * half] = total[half];
    }
  }
  __syncthreads();  // what is staged has been read
  float* const all_sums = blockMemory<float>();
#pragma unroll
  for (int n = 0; n < COLUMNS / 8; ++n) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      Chunk<float, 2> both;
      both.of[0] = sums[n][2 * half];
      both.of[1] = sums[n][2 * half + 1];
      both.write(all_sums + (warp * kRows + group + 8 * half) * kPitch + 8 * n + 2 * pair);
    }
  }
  __syncthreads();
  const bool is_aligned = isAligned<STORED, 8>(out) && in_out.row % 8 == 0 && in_out.column == 1;
  for (int i = threadIdx.x; i < kRows * COLUMNS / 8; i += kThreads) {
    const int row = i / (COLUMNS / 8), column = i % (COLUMNS / 8) * 8;
    if (first_row + row >= rows || column >= columns) {
      continue;
    }
    float all = 0, most = lowest, values[8] = {};
    for (int part = 0; part < kWarps; ++part) {
      all += total_of[part][row];
      most = Maximum<float>()(most, highest_of[part][row]);
      for (int n = 0; n < 8; ++n) {
        values[n] += all_sums[(part * kRows + row) * kPitch + column + n];
      }
    }
    // The total is 0, and the result NaN, where no score is above minus infinity.
    const float share = most == lowest && (safe || keys == 0) ? 1.0f : 1.0f / all;
    Chunk<STORED, 8> result;
    for (int n = 0; n < 8; ++n) {
      store(result.of + n, values[n] * share);
    }
    STORED* const place = to + (first_row + row) * in_out.row + column * in_out.column;
    if (is_aligned && column + 8 <= columns) {
      writeChunk(result, place, isAligned<STORED, 8>(place));
      continue;
    }
    for (int n = 0; n < 8 && column + n < columns; ++n) {
      place[n * in_out.column] = result.of[n];
    }
  }
}
