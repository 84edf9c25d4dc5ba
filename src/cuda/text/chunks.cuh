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
