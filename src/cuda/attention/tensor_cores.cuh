// softmax(q k^T * scale, masked) v of elements of 16 bits on tensor cores, with scores and sums in float32. A block has 64
// queries of one head, a warp 16 of them; it goes over the keys once, 64 at a time, and rescales what it has when a
// greater score comes. SIZE and COLUMNS are the sizes of heads in 16s: what is beyond the real ones is 0. HAS_FIRST and
// HAS_SECOND say which masks there are.

constexpr int kKeys = 64;
constexpr int kPad = 8;  // elements behind each row of a tile, so that rows begin in other banks

// Rows [0, kKeys) x [0, kWidth) of a matrix into a tile; what the matrix does not have is 0.
template <int kWidth>
__device__ void loadTile(unsigned short (*tile)[kWidth + kPad], const STORED* from, Steps steps, long long rows, long long columns) {
  using Eight = Chunk<unsigned short, 8>;
  const bool is_aligned = steps.column == 1 && steps.row % 8 == 0 && columns == kWidth && isAligned<STORED, 8>(from);
  if (is_aligned) {
    for (int i = threadIdx.x; i < kKeys * kWidth / 8; i += blockDim.x) {
      const int row = i / (kWidth / 8), column = i % (kWidth / 8) * 8;
      Eight eight = {};
      if (row < rows) {
        eight = Eight(&from[row * steps.row + column].bits);
      }
      eight.write(&tile[row][column]);
    }
    return;
  }
  for (int i = threadIdx.x; i < kKeys * kWidth; i += blockDim.x) {
    const int row = i / kWidth, column = i % kWidth;
    tile[row][column] = row < rows && column < columns ? from[row * steps.row + column * steps.column].bits : 0;
  }
}

__device__ inline float power(float of_e) { return exp2(of_e * 1.44269504f); }

extern "C" __global__ void attention(long long heads, long long rows, long long keys, long long size, long long columns,
                                     float scale, long long safe, Walk<BATCH> walk_q, Steps in_q, const STORED* q,
                                     Walk<BATCH> walk_k, Steps in_k, const STORED* k, Walk<BATCH> walk_v, Steps in_v,
                                     const STORED* v, Walk<BATCH> walk_first, Steps in_first, const FIRST* first,
                                     Walk<BATCH> walk_second, Steps in_second, const SECOND* second,
                                     Walk<BATCH> walk_out, Steps in_out, STORED* out) {
  waitForInputs();
  alignas(16) __shared__ unsigned short tile_k[kKeys][SIZE + kPad];
  alignas(16) __shared__ unsigned short tile_v[kKeys][COLUMNS + kPad];
  const float lowest = -floatOf(0x7f800000u);
  const int group = threadIdx.x % 32 / 4, pair = threadIdx.x % 4;
  const long long down = (rows + 63) / 64;
  for (long long block = blockIdx.x; block < heads * down; block += gridDim.x) {
    const long long head = block / down;
    const long long row_of[2] = {block % down * 64 + threadIdx.x / 32 * 16 + group,
                                 block % down * 64 + threadIdx.x / 32 * 16 + group + 8};
    const STORED* const from_q = q + walk_q.at(head);
    const STORED* const from_k = k + walk_k.at(head);
    const STORED* const from_v = v + walk_v.at(head);
    STORED* const to = out + walk_out.at(head);
#if HAS_FIRST
    const FIRST* const first_of_head = first + walk_first.repeatedAt(head);
#endif
#if HAS_SECOND
    const SECOND* const second_of_head = second + walk_second.repeatedAt(head);
#endif
    const bool is_row[2] = {row_of[0] < rows, row_of[1] < rows};
    unsigned queries[SIZE / 16][4];
#pragma unroll
    for (int d = 0; d < SIZE / 16; ++d) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const long long row = row_of[i % 2], depth = 16 * d + 2 * pair + i / 2 * 8;
        const STORED* const at = from_q + row * in_q.row + depth * in_q.column;
        const unsigned low = is_row[i % 2] && depth < size ? at[0].bits : 0;
        const unsigned high = is_row[i % 2] && depth + 1 < size ? at[in_q.column].bits : 0;
        queries[d][i] = low | high << 16;
      }
    }
    float highest[2] = {lowest, lowest}, total[2] = {0, 0};
    float sums[COLUMNS / 8][4];
#pragma unroll
    for (int n = 0; n < COLUMNS / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        sums[n][i] = 0;
      }
    }
    for (long long at = 0; at < keys; at += kKeys) {
      __syncthreads();  // the tiles before have been read
      loadTile<SIZE>(tile_k, from_k + at * in_k.row, in_k, keys - at, size);
      loadTile<COLUMNS>(tile_v, from_v + at * in_v.row, in_v, keys - at, columns);
      __syncthreads();
      const int keys_here = keys - at < kKeys ? (int)(keys - at) : kKeys;
      float scores[kKeys / 8][4];
      float next[2] = {highest[0], highest[1]};
#pragma unroll
      for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          scores[n][i] = 0;
        }
#pragma unroll
        for (int d = 0; d < SIZE / 16; ++d) {
          const unsigned short* const key = &tile_k[8 * n + group][16 * d + 2 * pair];
          const unsigned b[2] = {*(const unsigned*)key, *(const unsigned*)(key + 8)};
          multiplyAdd(scores[n], queries[d], b, (const STORED*)0);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int key = 8 * n + 2 * pair + i % 2;
          float score = key < keys_here ? scores[n][i] * scale : lowest;
#if HAS_FIRST
          if (key < keys_here && is_row[i / 2]) {
            score = masked(score, first_of_head + row_of[i / 2] * in_first.row + (at + key) * in_first.column);
          }
#endif
#if HAS_SECOND
          if (key < keys_here && is_row[i / 2]) {
            score = masked(score, second_of_head + row_of[i / 2] * in_second.row + (at + key) * in_second.column);
          }
#endif
          scores[n][i] = score;
          next[i / 2] = Maximum<float>()(next[i / 2], score);
        }
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int apart = 1; apart < 4; apart *= 2) {
          next[half] = Maximum<float>()(next[half], __shfl_xor_sync(0xffffffffu, next[half], apart));
        }
        const float factor = next[half] == lowest ? 1.0f : power(highest[half] - next[half]);
        highest[half] = next[half];
        total[half] *= factor;
#pragma unroll
        for (int n = 0; n < COLUMNS / 8; ++n) {
          sums[n][2 * half] *= factor;
          sums[n][2 * half + 1] *= factor;
        }
      }
#pragma unroll
      for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float weight = highest[i / 2] == lowest ? 0.0f : power(scores[n][i] - highest[i / 2]);
          scores[n][i] = weight;
          total[i / 2] += weight;
        }
      }
#pragma unroll
      for (int part = 0; part < kKeys / 16; ++part) {
        const float(&left)[4] = scores[2 * part];
        const float(&right)[4] = scores[2 * part + 1];
        const STORED* const type = 0;
        const unsigned a[4] = {packed(left[0], left[1], type), packed(left[2], left[3], type),
                               packed(right[0], right[1], type), packed(right[2], right[3], type)};
#pragma unroll
        for (int n = 0; n < COLUMNS / 8; ++n) {
          const int key = 16 * part + 2 * pair, column = 8 * n + group;
          const unsigned b[2] = {tile_v[key][column] | (unsigned)tile_v[key + 1][column] << 16,
                                 tile_v[key + 8][column] | (unsigned)tile_v[key + 9][column] << 16};
          multiplyAdd(sums[n], a, b, type);
        }
      }
    }
    float share[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int apart = 1; apart < 4; apart *= 2) {
        total[half] += __shfl_xor_sync(0xffffffffu, total[half], apart);
      }
      // The total is 0, and the result NaN, where no score is above minus infinity.
      share[half] = highest[half] == lowest && (safe || keys == 0) ? 1.0f : 1.0f / total[half];
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (is_row[half]) {
        STORED* const row = to + row_of[half] * in_out.row + 2 * pair * in_out.column;
#pragma unroll
        for (int n = 0; n < COLUMNS / 8; ++n) {
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            if (8 * n + 2 * pair + i < columns) {
              store(row + (8 * n + i) * in_out.column, sums[n][2 * half + i] * share[half]);
            }
          }
        }
      }
    }
  }
}
