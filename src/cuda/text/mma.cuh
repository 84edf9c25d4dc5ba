// Products of small matrices by a warp, on tensor cores: 16 x 16 times 16 x 8 elements of 16 bits, summed in float32.
// With lane = 4 * group + pair, a thread has
//   a: rows group (0, 2) and group + 8 (1, 3), columns 2 * pair and the next (0, 1), and the same + 8 (2, 3);
//   b: column group, rows 2 * pair and the next (0), and the same + 8 (1);
//   c: row group (0, 1) and group + 8 (2, 3), columns 2 * pair and the next.
// A register holds two elements, the first in its lower half. All warps of a block call these together.

#ifdef __CUDACC_RTC__

__device__ inline void multiplyAdd(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2], const Half*) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void multiplyAdd(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2], const BFloat*) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Two numbers, rounded to elements of a register.
__device__ inline unsigned packed(float first, float second, const Half*) {
  unsigned both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  return both;
}
__device__ inline unsigned packed(float first, float second, const BFloat*) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  return both;
}

#else

template <class T>
__device__ float halfOf(unsigned both, int index) {
  T element;
  element.bits = (unsigned short)(both >> (16 * index));
  return load(&element);
}
// Calls add(result, register of a, register of b) along the depth for each result of this thread, which becomes the answer.
template <class Sum, class Add>
void addFragments(Sum (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2], const Add& add) {
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
    for (int high = 0; high < 2; ++high) {
      for (int at = 0; at < 4; ++at) {
        c[i] = add(c[i], all_a[warp + 4 * group + at][lower + 2 * high], all_b[warp + 4 * column + at][high]);
      }
    }
  }
  __syncthreads();
}
template <class T>
void multiplyAdd(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2], const T*) {
  addFragments(c, a, b, [](float sum, unsigned of_a, unsigned of_b) {
    for (int k = 0; k < 2; ++k) {
      sum += halfOf<T>(of_a, k) * halfOf<T>(of_b, k);
    }
    return sum;
  });
}

template <class T>
__device__ unsigned packed(float first, float second, const T*) {
  T elements[2];
  store(&elements[0], first);
  store(&elements[1], second);
  return elements[0].bits | (unsigned)elements[1].bits << 16;
}

#endif
