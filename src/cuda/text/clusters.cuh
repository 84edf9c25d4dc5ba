// Clusters: CLUSTER neighbours of the grid that run at the same time, and write to the shared memory of each other. GPUs of
// compute capability 9.0 and newer have them. On others CLUSTER is 1, and nothing here does anything.

#if CLUSTER == 1
#define OF_CLUSTER
__device__ inline int rankInCluster() { return 0; }
__device__ inline void arriveInCluster() {}
#else

#ifdef __CUDACC_RTC__

#define OF_CLUSTER __cluster_dims__(CLUSTER, 1, 1)
// A barrier of all threads of a cluster, in two halves: behind the second they see what was written before the first.
__device__ inline void arriveInCluster() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ inline void waitForCluster() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__device__ inline unsigned addressInBlock(int rank, const void* place) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(place)), "r"(rank));
  return there;
}
// Writes to the same place in the shared memory of another block.
__device__ inline void writeTo(int rank, float* to, float number) {
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(addressInBlock(rank, to)), "f"(number) : "memory");
}
__device__ inline void writeTo(int rank, double* to, double number) {
  asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(addressInBlock(rank, to)), "d"(number) : "memory");
}
__device__ inline void writeFourTo(int rank, float* to, const float* numbers) {
  asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(addressInBlock(rank, to)), "f"(numbers[0]),
               "f"(numbers[1]), "f"(numbers[2]), "f"(numbers[3])
               : "memory");
}
__device__ inline void writeFourTo(int rank, int* to, const int* numbers) {
  asm volatile("st.shared::cluster.v4.s32 [%0], {%1, %2, %3, %4};" ::"r"(addressInBlock(rank, to)), "r"(numbers[0]),
               "r"(numbers[1]), "r"(numbers[2]), "r"(numbers[3])
               : "memory");
}

#else

#define OF_CLUSTER
extern "C" {
int emulated_cluster = CLUSTER;
void (*emulated_cluster_barrier)();
}
__device__ inline void arriveInCluster() {}
__device__ inline void waitForCluster() { emulated_cluster_barrier(); }
template <class T>
void writeTo(int rank, T* to, T number) {
  *placeInBlock(rank, to) = number;
}
template <class T>
void writeFourTo(int rank, T* to, const T* numbers) {
  for (int i = 0; i < 4; ++i) {
    writeTo(rank, to + i, numbers[i]);
  }
}

#endif
__device__ inline int rankInCluster() { return (int)blockIdx.x % CLUSTER; }
#endif
