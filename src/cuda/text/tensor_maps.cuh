// Copies of boxes between the device's memory and shared memory by tensor maps (launch/tensor_map.h), on GPUs of compute
// capability 9.0 and newer. One thread gives a copy of all. What is outside of the tensor is zero, and is not written.
// A line of a box is LINE bytes in shared memory. Its chunks of 16 bytes lie in an order that placeIn() tells.

// Where a byte lies that would be at this place if the chunks of lines of 64 or 128 bytes were in order.
template <class Place>
__device__ Place turned(int line_bytes, Place place) {
  return place ^ (line_bytes == 128 ? (place >> 3 & 0x70) : (place >> 3 & 0x30));
}
// The bytes behind the begin of lines, at a multiple of 1024, where a byte of a line lies.
__device__ inline int placeIn(int line_bytes, int line, int byte) { return turned(line_bytes, line * line_bytes + byte); }

#ifdef __CUDACC_RTC__

struct alignas(64) TensorMap {
  unsigned long long words[16];
};

// Copies a box that begins at these places of the innermost dims, and lets the barrier count its bytes.
__device__ inline void copyBox(void* to, const TensorMap& map, Barrier* barrier, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                   (unsigned)__cvta_generic_to_shared(to)),
               "l"(&map), "r"(x), "r"(y), "r"(addressOf(barrier))
               : "memory");
}
__device__ inline void copyBox(void* to, const TensorMap& map, Barrier* barrier, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(
                   (unsigned)__cvta_generic_to_shared(to)),
               "l"(&map), "r"(x), "r"(y), "r"(z), "r"(addressOf(barrier))
               : "memory");
}
__device__ inline void copyBox(void* to, const TensorMap& map, Barrier* barrier, int x, int y, int z, int image) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(
                   (unsigned)__cvta_generic_to_shared(to)),
               "l"(&map), "r"(x), "r"(y), "r"(z), "r"(image), "r"(addressOf(barrier))
               : "memory");
}
// Begins to bring a box to the L2 cache.
__device__ inline void fetchBox(const TensorMap& map, int x, int y, int z) {
  asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global [%0, {%1, %2, %3}];" ::"l"(&map), "r"(x), "r"(y), "r"(z) : "memory");
}
// Writes a box from shared memory. Threads that wrote there call showWrites(), and meet, before.
__device__ inline void writeBox(const TensorMap& map, const void* from, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x), "r"(y),
               "r"((unsigned)__cvta_generic_to_shared(from))
               : "memory");
}
__device__ inline void writeBox(const TensorMap& map, const void* from, int x, int y, int z, int image) {
  asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%1, %2, %3, %4}], [%5];" ::"l"(&map), "r"(x), "r"(y),
               "r"(z), "r"(image), "r"((unsigned)__cvta_generic_to_shared(from))
               : "memory");
}
__device__ inline void showWrites() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// Ends a group of boxes that this thread writes, and waits until they have been read from shared memory.
__device__ inline void endBoxes() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ inline void waitForBoxes() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

#else

// As the emulated driver encodes it. Dims from the innermost on. A box has every steps[i]-th place.
struct TensorMap {
  unsigned char* begin;
  long long strides[4];
  int dims[4], box[4];
  short steps[4];
};

// Calls with the place in shared memory and the place in the tensor, or null outside, of each byte of a box.
template <class Call>
int forBox(const TensorMap& map, unsigned char* shared, int x, int y, int z, int image, const Call& call) {
  int line = 0;
  for (int n = 0; n < map.box[3]; n += map.steps[3]) {
    for (int k = 0; k < map.box[2]; k += map.steps[2]) {
      for (int j = 0; j < map.box[1]; j += map.steps[1], ++line) {
        for (int i = 0; i < map.box[0]; ++i) {
          const int place[] = {x + i, y + j, z + k, image + n};
          unsigned char* at = map.begin;
          bool is_inside = true;
          for (int axis = 0; axis < 4; ++axis) {
            at += place[axis] * map.strides[axis];
            is_inside = is_inside && (unsigned)place[axis] < (unsigned)map.dims[axis];
          }
          call(shared + placeIn(map.box[0], line, i), is_inside ? at : nullptr);
        }
      }
    }
  }
  return line;
}
inline void copyBox(void* to, const TensorMap& map, Barrier* barrier, int x, int y, int z = 0, int image = 0) {
  const int lines = forBox(map, (unsigned char*)to, x, y, z, image, [](unsigned char* shared, const unsigned char* from) {
    *shared = from != nullptr ? *from : 0;
  });
  countCopied(barrier, lines * map.box[0]);
}
inline void fetchBox(const TensorMap&, int, int, int) {}
inline void writeBox(const TensorMap& map, const void* from, int x, int y, int z = 0, int image = 0) {
  forBox(map, (unsigned char*)from, x, y, z, image, [](const unsigned char* shared, unsigned char* to) {
    if (to != nullptr) {
      *to = *shared;
    }
  });
}
inline void showWrites() {}
inline void endBoxes() {}
inline void waitForBoxes() {}

#endif
