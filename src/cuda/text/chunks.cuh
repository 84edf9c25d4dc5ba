// Several elements that lie next to each other, read and written at once.

template <class T, int kCount>
struct alignas(sizeof(T) * kCount) Chunk {
  T of[kCount];

  Chunk() = default;
  __device__ explicit Chunk(const T* from) { *this = *(const Chunk*)from; }
  __device__ void write(T* to) const { *(Chunk*)to = *this; }
};

template <class T, int kCount>
__device__ bool isAligned(const T* p) {
  return (unsigned long long)p % (sizeof(T) * kCount) == 0;
}

// Eight elements that begin at a multiple of 16 bytes.
template <class T>
struct EightOf {
  static constexpr int kOfChunk = 16 / (int)sizeof(T);
  Chunk<T, kOfChunk> chunks[8 / kOfChunk];

  EightOf() = default;
  __device__ explicit EightOf(const T* from) {
#pragma unroll
    for (int i = 0; i < 8 / kOfChunk; ++i) {
      chunks[i] = Chunk<T, kOfChunk>(from + i * kOfChunk);
    }
  }
  __device__ const T* at(int i) const { return chunks[i / kOfChunk].of + i % kOfChunk; }
};

// Where pointers may begin anywhere: at once if they are aligned, else one after the other.
template <class T, int kCount>
__device__ Chunk<T, kCount> chunkAt(const T* from, bool is_aligned) {
  if (is_aligned) {
    return Chunk<T, kCount>(from);
  }
  Chunk<T, kCount> chunk;
  for (int i = 0; i < kCount; ++i) {
    chunk.of[i] = from[i];
  }
  return chunk;
}
template <class T, int kCount>
__device__ void writeChunk(const Chunk<T, kCount>& chunk, T* to, bool is_aligned) {
  if (is_aligned) {
    chunk.write(to);
    return;
  }
  for (int i = 0; i < kCount; ++i) {
    to[i] = chunk.of[i];
  }
}
