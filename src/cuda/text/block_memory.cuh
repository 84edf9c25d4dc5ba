// The dynamic shared memory of a block: SHARED_BYTES, which begin at a multiple of 128.

#ifdef __CUDACC_RTC__

alignas(128) extern __shared__ unsigned char block_memory[];
// The elements from a byte of it on.
template <class T>
__device__ T* blockMemory(int byte = 0) {
  return (T*)(block_memory + byte);
}

#else

#ifndef CLUSTER
#define CLUSTER 1
#endif
alignas(128) static unsigned char memories[CLUSTER][(SHARED_BYTES + 127) / 128 * 128];  // of the blocks of a cluster
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
