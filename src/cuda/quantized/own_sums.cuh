// The end of products of steps (quantized/tensor_product.cuh) whose results are bytes, if a warp has all of its sums: each thread
// finishes what it has. The results of the block meet in shared memory as bytes, where the residual was.

constexpr int kBytePitch = COLUMNS + 16, kByteChunks = COLUMNS / 16;  // rows of bytes begin in other banks
constexpr int kBytesBegin = STAGES * kStage * 2, kScalesBegin = kBytesBegin + ROWS * kBytePitch;

class Ends {
 public:
  __device__ Ends(const float* scales, const float* bias, const RESIDUAL* residual, OUT* out, const Finish& with)
      : scales_(scales), bias_(bias), residual_(residual), out_(out), with_(with) {}

  __device__ void beginColumns(const Tile& tile) {
    for (int i = threadIdx.x; i < COLUMNS / 4; i += kThreads) {
      const int column = tile.first_column + 4 * i;
      const bool is_there = column < tile.columns;
      beginCopy(blockMemory<float>(kScalesBegin) + 4 * i, is_there ? scales_ + column : scales_, is_there);
      if (HAS_BIAS) {
        beginCopy(blockMemory<float>(kScalesBegin) + COLUMNS + 4 * i, is_there ? bias_ + column : bias_, is_there);
      }
    }
  }
  // The copies belong to the group of the first stage that comes next, or are waited for at the end.
  __device__ void beginRows(const Tile& tile) {
    if (HAS_RESIDUAL) {
      forChunks(tile, [&](unsigned char* staged, long long place, bool is_there) {
        beginCopy(staged, is_there ? residual_ + place : residual_, is_there);
      });
    }
  }
  __device__ void finishAll(const Sums& sums, const Tile& tile) const {
    constexpr int kRows = WARP_ROWS / 8;
#pragma unroll
    for (int j = 0; j < WARP_COLUMNS / 8; ++j) {
      const int column = tile.warp_column + 8 * j + tile.lane % 4 * 2;
      const float* const scales = blockMemory<float>(kScalesBegin) + column;
      const Chunk<float, 2> scale(scales), bias(scales + (HAS_BIAS ? COLUMNS : 0));
      OUT* const places = blockMemory<OUT>(kBytesBegin) + (tile.warp_row + tile.lane / 4) * kBytePitch + column;
      Chunk<RESIDUAL, 2> beside[kRows];  // all are read before the first result takes the place of one
#pragma unroll
      for (int i = 0; i < kRows && HAS_RESIDUAL; ++i) {
        beside[i] = Chunk<RESIDUAL, 2>((const RESIDUAL*)(places + 8 * i * kBytePitch));
      }
      Chunk<OUT, 2> results[kRows];
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          store(results[i].of + k, finished(sums[i / 2][j][i % 2 * 2 + k], scale.of[k], bias.of[k], beside[i].of[k], with_));
        }
      }
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        results[i].write(places + 8 * i * kBytePitch);
      }
    }
    __syncthreads();
    forChunks(tile, [&](unsigned char* staged, long long place, bool is_there) {
      if (is_there) {
        Chunk<unsigned char, 16>(staged).write((unsigned char*)out_ + place);
      }
    });
  }

 private:
  // Calls with each chunk of results of this thread: where it is in shared memory, and behind the first result of all.
  template <class Call>
  __device__ static void forChunks(const Tile& tile, const Call& call) {
#pragma unroll
    for (int i = 0; i < ROWS * kByteChunks / kThreads; ++i) {
      const int chunk = i * kThreads + threadIdx.x, row = chunk / kByteChunks, column = chunk % kByteChunks * 16;
      call(blockMemory<unsigned char>(kBytesBegin) + row * kBytePitch + column,
           (long long)(tile.first_row + row) * tile.columns + tile.first_column + column,
           tile.first_row + row < tile.rows && tile.first_column + column < tile.columns);
    }
  }

  const float *scales_, *bias_;
  const RESIDUAL* residual_;
  OUT* out_;
  Finish with_;
};
