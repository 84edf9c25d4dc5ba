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

// Eight elements that lie next to each other, in chunks of at most 16 bytes.
template <class T>
struct EightOf {
  static constexpr int kPart = sizeof(T) == 1 ? 8 : 16 / sizeof(T);
  T of[8];

  __device__ void read(const T* from) {
#pragma unroll
    for (int part = 0; part < 8; part += kPart) {
      const Chunk<T, kPart> chunk(from + part);
#pragma unroll
      for (int k = 0; k < kPart; ++k) {
        of[part + k] = chunk.of[k];
      }
    }
  }
  __device__ void write(T* to) const {
#pragma unroll
    for (int part = 0; part < 8; part += kPart) {
      Chunk<T, kPart> chunk;
#pragma unroll
      for (int k = 0; k < kPart; ++k) {
        chunk.of[k] = of[part + k];
      }
      chunk.write(to + part);
    }
  }
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
