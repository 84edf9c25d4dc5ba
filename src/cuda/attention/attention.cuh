// softmax(q k^T * scale, masked) v in float32. A block has 16 queries of one head and 64 columns of its values; it goes
// over the keys once, 16 at a time, and rescales what it has when a greater score comes.

extern "C" __global__ void attention(long long heads, long long rows, long long keys, long long size, long long columns,
                                     float scale, long long safe, Walk<BATCH> walk_q, Steps in_q, const STORED* q,
                                     Walk<BATCH> walk_k, Steps in_k, const STORED* k, Walk<BATCH> walk_v, Steps in_v,
                                     const STORED* v, Walk<BATCH> walk_first, Steps in_first, const FIRST* first,
                                     Walk<BATCH> walk_second, Steps in_second, const SECOND* second,
                                     Walk<BATCH> walk_out, Steps in_out, STORED* out) {
  __shared__ float tile_q[16][17];
  __shared__ float tile_k[16][17];
  __shared__ float weights[16][17];
  __shared__ float tile_v[16][64];
  const float lowest = -floatOf(0x7f800000u);
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const long long across = (columns + 63) / 64, down = (rows + 15) / 16;
  for (long long block = blockIdx.x; block < heads * across * down; block += gridDim.x) {
    const long long head = block / (across * down);
    const long long row = block / across % down * 16 + y;
    const long long column = block % across * 64 + x;
    const STORED* const from_q = q + walk_q.at(head);
    const STORED* const from_k = k + walk_k.at(head);
    const STORED* const from_v = v + walk_v.at(head);
    RunningSoftmax softmax;
    for (long long at = 0; at < keys; at += 16) {
      float score = 0;
      for (long long depth = 0; depth < size; depth += 16) {
        const bool is_inside = depth + x < size;
        tile_q[y][x] = is_inside && row < rows ? load(from_q + row * in_q.row + (depth + x) * in_q.column) : 0.0f;
        tile_k[y][x] = is_inside && at + y < keys ? load(from_k + (at + y) * in_k.row + (depth + x) * in_k.column) : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; ++i) {
          score += tile_q[y][i] * tile_k[x][i];
        }
        __syncthreads();
      }
      const long long key = at + x;
      const bool is_key = key < keys && row < rows;
      score = is_key ? score * scale : lowest;
      if (is_key && first) {
        score = masked(score, first + walk_first.repeatedAt(head) + row * in_first.row + key * in_first.column);
      }
      if (is_key && second) {
        score = masked(score, second + walk_second.repeatedAt(head) + row * in_second.row + key * in_second.column);
      }
      for (int i = 0; i < 4; ++i) {
        tile_v[y][x + 16 * i] = at + y < keys && column + 16 * i < columns
                                    ? load(from_v + (at + y) * in_v.row + (column + 16 * i) * in_v.column)
                                    : 0.0f;
      }
      softmax.weigh(score, x, y, weights);
      for (int i = 0; i < 16; ++i) {
        softmax.add(weights[y][i], &tile_v[i][x]);
      }
      __syncthreads();
    }
    // The total is 0, and the result NaN, where no score is above minus infinity.
    const bool is_zero = softmax.highest == lowest && (safe || keys == 0);
    for (int j = 0; j < 4; ++j) {
      if (row < rows && column + 16 * j < columns) {
        store(out + walk_out.at(head) + row * in_out.row + (column + 16 * j) * in_out.column,
              is_zero ? softmax.sums[j] : softmax.sums[j] / softmax.total);
      }
    }
  }
}
