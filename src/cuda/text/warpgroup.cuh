// Products by a warpgroup, 64 rows times COLUMNS columns, 32 bytes along the depth, summed in 32 bits (SUM), on tensor cores of
// compute capability 9.0 alone. Both factors lie in shared memory as tensor maps copy them, in lines of CHUNK bytes; a line of
// a is a row, and a line of b is a column.
// With lane = 4 * group + pair, thread 32 * warp + lane has in sums[4 * j + 2 * half + k] the sum of
//   row 16 * warp + 8 * half + group, column 8 * j + 2 * pair + k.

using Sums = SUM[COLUMNS / 2];

#ifdef __CUDACC_RTC__

// The machine code runs on this architecture alone (compile/program.h).
#define ARCHITECTURE_ALONE 1

// Orders the products that follow behind what this warpgroup did with their registers.
__device__ inline void beginProducts() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// Makes a group of the products that this warpgroup began since the group before.
__device__ inline void endProducts() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits for all groups except the newest ones.
template <int kNewest>
__device__ void waitForProducts() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kNewest) : "memory");
}
// How an operand lies: the order of chunks, and 8 lines from one to the next.
__device__ inline unsigned long long described(const void* operand) {
  constexpr unsigned long long kOrder = CHUNK == 128 ? 1 : 2, kEightLines = CHUNK * 8 / 16;
  return kOrder << 62 | kEightLines << 32 | 1ull << 16 | (unsigned)__cvta_generic_to_shared(operand) >> 4;
}
// Begins sums = a b, or sums += a b if `adds`.
__device__ inline void addProduct(Sums& sums, const void* a, const void* b, bool adds) {
  asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, " OPERAND_ADDS ", 0;\n" INSTRUCTION
               " {" OPERANDS_OF_SUMS "}, " OPERANDS_OF_FACTORS ", adds" IMMEDIATES ";\n}"
               : REGISTERS_OF_SUMS
               : "l"(described(a)), "l"(described(b)), "r"((int)adds));
}

#else

inline void beginProducts() {}
inline void endProducts() {}
template <int kNewest>
void waitForProducts() {}
// What lies in shared memory at a byte of a line, where `lines` has the steps along the depth.
template <class T>
const T* byteOf(const void* lines, int line, int byte) {
  return (const T*)turned(CHUNK, (unsigned long long)lines + line * CHUNK + byte);
}
inline void addProduct(Sums& sums, const void* a, const void* b, bool adds) {
  const int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
  for (int i = 0; i < COLUMNS / 2; ++i) {
    const int row = 16 * warp + i % 4 / 2 * 8 + lane / 4, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    SUM sum = adds ? sums[i] : 0;
    for (int byte = 0; byte < 32; byte += (int)sizeof(FACTOR_A)) {
      sum += (SUM)load(byteOf<FACTOR_A>(a, row, byte)) * (SUM)load(byteOf<FACTOR_B>(b, column, byte));
    }
    sums[i] = sum;
  }
}

#endif
