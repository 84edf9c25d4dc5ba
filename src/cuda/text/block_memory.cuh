// The dynamic shared memory of a block: SHARED_BYTES, which begin at a multiple of SHARED_ALIGNMENT.

#ifndef SHARED_ALIGNMENT
#define SHARED_ALIGNMENT 128
#endif

#ifdef __CUDACC_RTC__

alignas(SHARED_ALIGNMENT) extern __shared__ unsigned char block_memory[];
// The elements from a byte of it on.
template <class T>
__device__ T* blockMemory(int byte = 0) {
  return (T*)(block_memory + byte);
}

#else

#ifndef CLUSTER
#define CLUSTER 1
#endif
alignas(SHARED_ALIGNMENT) static unsigned char
    memories[CLUSTER][(SHARED_BYTES + SHARED_ALIGNMENT - 1) / SHARED_ALIGNMENT * SHARED_ALIGNMENT];  // of the blocks of a cluster
template <class T>
T* blockMemory(int byte = 0) {
  return (T*)(memories[blockIdx.x % CLUSTER] + byte);
}
// The same place in another block.
template <class T>
T* placeInBlock(int rank, T* place) {
  return (T*)(memories[rank] + ((unsigned char*)place - memories[blockIdx.x % CLUSTER]));
}

#endif
