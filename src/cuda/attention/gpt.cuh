// tensorrt_llm::GPTAttention (docs/gpt_attention.md) in float32: where sequences lie, rows with bias and turned pairs, the
// cache, then softmax(q k^T * scale) v. STORED, LENGTH and PAST_LENGTH (stored), INTERLEAVED, CAUSAL and THREADS come from
// gpt.cpp.

struct Sequence {
  long long row;     // of its first token, among all rows of qkv
  long long length;  // tokens of this call
  long long past;    // tokens in the cache
  long long tile;    // its first tile of 16 queries, among all tiles
};
struct Sum2 {
  long long rows, tiles;
};
struct Sums2 {
  __device__ Sum2 operator()(Sum2 a, Sum2 b) const { return {a.rows + b.rows, a.tiles + b.tiles}; }
};

struct Heads {
  long long batch, tokens;           // of qkv; of a packed one 1, and all tokens
  long long heads, kv_heads, size;   // channels of a head
  long long rotary_dim, capacity;    // of the cache; -1 without one

  __device__ long long width() const { return (heads + 2 * kv_heads) * size; }
  __device__ long long rows() const { return batch * tokens; }
};
struct Cache {
  long long sequence, which, head, position, channel;

  __device__ long long at(long long b, long long w, long long h, long long p, long long d) const {
    return b * sequence + w * which + h * head + p * position + d * channel;
  }
};

__device__ inline long long within(long long value, long long most, int* fault) {
  if (value < 0 || value > most) {
    report(fault, kIndexOutOfRange);
    return value < 0 || most < 0 ? 0 : most;
  }
  return value;
}

// One block. Sequences one behind the other where qkv is packed, and one that ends them, with the number of all tiles.
extern "C" __global__ void gpt_sequences(long long count, Heads heads, long long length_step, const LENGTH* lengths,
                                         long long past_step, const PAST_LENGTH* pasts, Sequence* sequences, int* fault) {
  __shared__ Sum2 shared[THREADS];
  const bool is_packed = heads.batch == 1;
  Sum2 before = {0, 0};
  for (long long first = 0; first < count; first += THREADS) {
    const long long b = first + (long long)threadIdx.x;
    const long long given = b >= count ? 0 : lengths == nullptr ? heads.tokens : load(lengths + b * length_step);
    const long long length = within(given, heads.tokens, fault);
    const Sum2 own = {length, (length + 15) / 16};
    const Sum2 until = scanBlock(own, shared, Sums2());
    if (b < count) {
      Sequence sequence = {before.rows + until.rows - own.rows, length, 0, before.tiles + until.tiles - own.tiles};
      if (!is_packed) {
        sequence.row = b * heads.tokens;
      } else if (sequence.row + length > heads.tokens) {  // more than there are
        report(fault, kIndexOutOfRange);
        sequence.row = sequence.row < heads.tokens ? sequence.row : heads.tokens;
        sequence.length = heads.tokens - sequence.row;
      }
      const long long room = heads.capacity < 0 ? 0 : heads.capacity - length;
      sequence.past = within(pasts == nullptr ? 0 : load(pasts + b * past_step), room, fault);
      sequences[b] = sequence;
    }
    const Sum2 all = shared[THREADS - 1];
    before = {before.rows + all.rows, before.tiles + all.tiles};
  }
  if (threadIdx.x == 0) {
    sequences[count] = {before.rows, 0, 0, before.tiles};
  }
}

// The last sequence that begins at `value` or before it, which is the one that has it.
template <class Begin>
__device__ long long sequenceAt(long long value, long long count, Begin begin) {
  long long low = 0, high = count;
  while (high - low > 1) {
    const long long middle = (low + high) / 2;
    if (begin(middle) <= value) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// The position of each row's token, -1 for rows of no sequence, and cosine and sine of its pairs.
extern "C" __global__ void gpt_positions(long long count, Heads heads, double rotary_base, const Sequence* sequences,
                                         long long* positions, float* turns) {
  const long long pairs = heads.rotary_dim / 2, per_row = pairs > 0 ? pairs : 1, rows = heads.rows();
  for (long long i = firstElement(); i < rows * per_row; i += allThreads()) {
    const long long row = quotient(i, per_row), pair = i - row * per_row;
    const long long b = heads.batch > 1 ? quotient(row, heads.tokens)
                                        : sequenceAt(row, count, [&](long long s) { return sequences[s].row; });
    const long long token = count == 0 ? 0 : row - sequences[b].row;
    const long long position = count > 0 && token < sequences[b].length ? sequences[b].past + token : -1;
    if (pair == 0) {
      positions[row] = position;
    }
    if (pairs > 0 && position >= 0) {
      const double angle = (double)position * pow(rotary_base, -2.0 * (double)pair / (double)heads.rotary_dim);
      turns[2 * i] = (float)cos(angle);
      turns[2 * i + 1] = (float)sin(angle);
    }
  }
}

// qkv with its bias, queries and keys turned, as [rows, channels]; and zeros in rows of the context without a sequence.
extern "C" __global__ void gpt_tokens(Heads heads, long long batch_step, long long row_step, long long channel_step,
                                      const STORED* qkv, long long bias_step, const STORED* bias,
                                      const long long* positions, const float* turns, float* tokens, Cache to_context,
                                      STORED* context) {
  const long long width = heads.width(), pairs = heads.rotary_dim / 2;
  for (long long i = firstElement(); i < heads.rows() * width; i += allThreads()) {
    const long long row = quotient(i, width), channel = i - row * width;
    const long long b = quotient(row, heads.tokens), token = row - b * heads.tokens;
    if (positions[row] < 0) {
      if (channel < heads.heads * heads.size) {
        store(context + to_context.at(b, 0, 0, token, channel), 0.0f);
      }
      continue;
    }
    const STORED* const from = qkv + b * batch_step + token * row_step;
    const auto valueAt = [&](long long at) {
      return load(from + at * channel_step) + (bias == nullptr ? 0.0f : load(bias + at * bias_step));
    };
    const long long head = quotient(channel, heads.size), d = channel - head * heads.size;
    float value = valueAt(channel);
    if (head < heads.heads + heads.kv_heads && d < heads.rotary_dim) {
#if INTERLEAVED
      const long long pair = d / 2, other = d ^ 1;
#else
      const long long pair = d < pairs ? d : d - pairs, other = d < pairs ? d + pairs : d - pairs;
#endif
      const float* const turn = turns + 2 * (row * pairs + pair);
      const float partner = valueAt(head * heads.size + other);
      value = value * turn[0] + (other > d ? -partner : partner) * turn[1];
    }
    tokens[i] = value;
  }
}

// The cache after the call: what it was, and the keys and values of this call.
extern "C" __global__ void gpt_cache(long long count, Heads heads, const Sequence* sequences, const float* tokens,
                                     Cache of_past, const STORED* past, Cache to, STORED* present) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    long long rest = quotient(i, heads.size);
    const long long d = i - rest * heads.size;
    const long long line = quotient(rest, heads.capacity), position = rest - line * heads.capacity;
    rest = quotient(line, heads.kv_heads);
    const long long head = line - rest * heads.kv_heads, b = rest / 2, which = rest % 2;
    const Sequence sequence = sequences[b];
    const long long token = position - sequence.past;
    STORED* const target = present + to.at(b, which, head, position, d);
    if (token >= 0 && token < sequence.length) {
      const long long channel = (heads.heads + which * heads.kv_heads + head) * heads.size + d;
      store(target, tokens[(sequence.row + token) * heads.width() + channel]);
    } else if (past != nullptr) {
      *target = past[of_past.at(b, which, head, position, d)];
    } else {
      store(target, 0.0f);
    }
  }
}

constexpr int kDepth = 128;  // channels of queries and keys that are read at a time: all that most heads have

// A block of 256 threads has 16 queries of one head and 64 of its channels, as in attention.cuh.
extern "C" __global__ void gpt_attention(long long blocks, long long count, Heads heads, float scale,
                                         const Sequence* sequences, const float* tokens, Cache of_past,
                                         const STORED* past, Cache to, STORED* context) {
  __shared__ float tile_q[16][kDepth + 1];
  __shared__ float tile_k[16][kDepth + 1];
  __shared__ float weights[16][17];
  __shared__ float tile_v[16][64];
  const float lowest = -floatOf(0x7f800000u);
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const long long across = (heads.size + 63) / 64, width = heads.width();
  for (long long block = blockIdx.x; block < blocks; block += gridDim.x) {
    const long long tile = block / (across * heads.heads);
    if (tile >= sequences[count].tile) {
      break;
    }
    const long long head = block / across % heads.heads, kv_head = head / (heads.heads / heads.kv_heads);
    const long long column = block % across * 64 + x;
    const long long b = sequenceAt(tile, count, [&](long long s) { return sequences[s].tile; });
    const Sequence sequence = sequences[b];
    const long long first = (tile - sequence.tile) * 16, query = first + y;
    const long long all = sequence.past + sequence.length, behind = first + 16;
    const bool is_query = query < sequence.length;
    const long long most = CAUSAL && behind < sequence.length ? sequence.past + behind : all;
    const long long limit = CAUSAL ? sequence.past + query + 1 : all;
    const float* const of_sequence = tokens + sequence.row * width;
    // A channel of a key (0) or a value (1).
    const auto cached = [&](long long which, long long position, long long d) {
      return position >= sequence.past
                 ? of_sequence[(position - sequence.past) * width +
                               (heads.heads + which * heads.kv_heads + kv_head) * heads.size + d]
             : past == nullptr ? 0.0f
                               : load(past + of_past.at(b, which, kv_head, position, d));
    };
    RunningSoftmax softmax;
    for (long long at = 0; at < most; at += 16) {
      float score = 0;
      for (long long depth = 0; depth < heads.size; depth += kDepth) {
        const int here = heads.size - depth < kDepth ? (int)(heads.size - depth) : kDepth;
        for (int i = x; i < here; i += 16) {
          if (at == 0 || heads.size > kDepth) {  // else the queries are there
            tile_q[y][i] = is_query ? of_sequence[query * width + head * heads.size + depth + i] : 0.0f;
          }
          tile_k[y][i] = at + y < most ? cached(0, at + y, depth + i) : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < here; ++i) {
          score += tile_q[y][i] * tile_k[x][i];
        }
        __syncthreads();
      }
      score = is_query && at + x < most && at + x < limit ? score * scale : lowest;
      for (int i = 0; i < 4; ++i) {
        const long long d = column + 16 * i;
        tile_v[y][x + 16 * i] = at + y < most && d < heads.size ? cached(1, at + y, d) : 0.0f;
      }
      softmax.weigh(score, x, y, weights);
      for (int i = 0; i < 16; ++i) {
        // Keys behind the query's limit have no part in it: 0 times an infinity is NaN.
        if (at + i < limit) {
          softmax.add(weights[y][i], &tile_v[i][x]);
        }
      }
      __syncthreads();
    }
    const long long row = sequence.row + query, of_batch = quotient(row, heads.tokens);
    for (int j = 0; j < 4 && is_query; ++j) {
      if (column + 16 * j < heads.size) {
        store(context + to.at(of_batch, 0, 0, row - of_batch * heads.tokens, head * heads.size + column + 16 * j),
              softmax.sums[j] / softmax.total);
      }
    }
  }
}
