// Pairs of bytes as elements of 16 bits, and their products by a warp on tensor cores: 16 x 32 times 32 x 8 bytes, summed in
// 32 bits. Registers hold what those of text/mma.cuh hold, with two bytes for each element. The second factor is signed.

struct SignedPair {
  unsigned short bits;
};
struct UnsignedPair {
  unsigned short bits;
};

#ifdef __CUDACC_RTC__

__device__ inline void multiplyAdd(int (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2], const SignedPair*) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void multiplyAdd(int (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2], const UnsignedPair*) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#else

inline int byteOf(unsigned bytes, int index, const SignedPair*) { return (signed char)(bytes >> (8 * index)); }
inline int byteOf(unsigned bytes, int index, const UnsignedPair*) { return (unsigned char)(bytes >> (8 * index)); }
template <class T>
void multiplyAdd(int (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2], const T* kind) {
  __shared__ unsigned all_a[1024][4];
  __shared__ unsigned all_b[1024][2];
  for (int i = 0; i < 4; ++i) {
    all_a[threadIdx.x][i] = a[i];
  }
  for (int i = 0; i < 2; ++i) {
    all_b[threadIdx.x][i] = b[i];
  }
  __syncthreads();
  const int warp = threadIdx.x / 32 * 32, group = threadIdx.x % 32 / 4, pair = threadIdx.x % 4;
  for (int i = 0; i < 4; ++i) {
    const int lower = i / 2, column = 2 * pair + i % 2;
    for (int k = 0; k < 32; ++k) {
      const int at = k % 16 / 4, high = k / 16;
      c[i] += byteOf(all_a[warp + 4 * group + at][lower + 2 * high], k % 4, kind) *
              byteOf(all_b[warp + 4 * column + at][high], k % 4, (const SignedPair*)nullptr);
    }
  }
  __syncthreads();
}

#endif
