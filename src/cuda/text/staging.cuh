// From the device's memory to shared memory without registers in between, 16 bytes a copy, and from there to the
// fragments of text/mma.cuh. All warps of a block call loadMatrices() together.

#ifdef __CUDACC_RTC__

__device__ inline unsigned sharedAddress(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// Begins a copy of 16 bytes, which are zero if they are not there. Both addresses are multiples of 16.
__device__ inline void beginCopy(void* to, const void* from, bool is_there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(sharedAddress(to)), "l"(from), "r"(is_there ? 16 : 0)
               : "memory");
}
// Makes a group of the copies that this thread began since the group before.
__device__ inline void endGroup() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits for all groups of this thread except the newest ones.
template <int kNewest>
__device__ void waitForGroups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kNewest) : "memory");
}

// Four matrices of 8 x 8 elements of 16 bits. Lane 8 * m + i gives the address of row i of matrix m. A lane gets of each
// matrix the two elements in row lane / 4 at column lane % 4 * 2.
__device__ inline void loadMatrices(unsigned (&to)[4], const unsigned short* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(sharedAddress(row)));
}
// The same of transposed matrices: the two elements at column lane / 4 in row lane % 4 * 2 and the next.
__device__ inline void loadTransposed(unsigned (&to)[4], const unsigned short* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(sharedAddress(row)));
}

#else

__device__ inline void beginCopy(void* to, const void* from, bool is_there) {
  for (int i = 0; i < 4; ++i) {
    ((unsigned*)to)[i] = is_there ? ((const unsigned*)from)[i] : 0;
  }
}
__device__ inline void endGroup() {}
template <int kNewest>
__device__ void waitForGroups() {}

// Where the lanes of this warp have their rows.
__device__ inline const unsigned short** rowsOfWarp(const unsigned short* row) {
  __shared__ const unsigned short* all_rows[1024];
  all_rows[threadIdx.x] = row;
  __syncthreads();
  return all_rows + threadIdx.x / 32 * 32;
}
__device__ inline void loadMatrices(unsigned (&to)[4], const unsigned short* row) {
  const unsigned short** const rows = rowsOfWarp(row);
  const int line = threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (int matrix = 0; matrix < 4; ++matrix) {
    const unsigned short* const at = rows[8 * matrix + line] + column;
    to[matrix] = at[0] | (unsigned)at[1] << 16;
  }
  __syncthreads();
}
__device__ inline void loadTransposed(unsigned (&to)[4], const unsigned short* row) {
  const unsigned short** const rows = rowsOfWarp(row);
  const int line = threadIdx.x % 4 * 2, column = threadIdx.x % 32 / 4;
  for (int matrix = 0; matrix < 4; ++matrix) {
    to[matrix] = rows[8 * matrix + line][column] | (unsigned)rows[8 * matrix + line + 1][column] << 16;
  }
  __syncthreads();
}

#endif
