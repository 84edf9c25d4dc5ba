// Pairs of bytes as elements of 16 bits, and their products by a warp on tensor cores: 16 x 32 times 32 x 8 bytes, summed in
// 32 bits. The text follows text/mma.cuh; registers hold the same, with two bytes for each element. The second factor is signed.

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
  addFragments(c, a, b, [kind](int sum, unsigned of_a, unsigned of_b) {
    for (int k = 0; k < 4; ++k) {
      sum += byteOf(of_a, k, kind) * byteOf(of_b, k, (const SignedPair*)nullptr);
    }
    return sum;
  });
}

#endif
