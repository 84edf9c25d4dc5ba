// Rows of values, each of which LANES neighbouring threads of a block of THREADS fold. One lane takes a row where
// neighbouring rows lie closer than a row's values. Few long rows are cut into parts, which the next launch puts together
// in their order: the same bits in every run.

struct Rows {
  long long count, length, parts, part_length;
};

#if LANES > 1
__device__ inline void syncLanes() {
#if defined(__CUDACC_RTC__) && LANES <= 32
  __syncwarp();
#else
  __syncthreads();
#endif
}
#endif

// Every lane gets the result. `shared` has THREADS values.
template <class T, class Fold>
__device__ T foldLanes(T value, T* shared, Fold fold) {
#if LANES > 1
  const unsigned lane = threadIdx.x % LANES;
  syncLanes();  // an earlier result has been read
  shared[threadIdx.x] = value;
  syncLanes();
  for (unsigned half = LANES / 2; half > 0; half /= 2) {
    if (lane < half) {
      shared[threadIdx.x] = fold(shared[threadIdx.x], shared[threadIdx.x + half]);
    }
    syncLanes();
  }
  return shared[threadIdx.x - lane];
#else
  (void)shared;
  (void)fold;
  return value;
#endif
}

struct Part {
  long long row, number;  // `number`: where its result lies among those of all rows
  long long begin, end;   // this lane takes every LANES-th from begin on
  bool writes;            // this lane writes what is one value for the part
};

// body(part) for each part that this thread has a lane of, as often for all threads of a block.
template <class Body>
__device__ void forParts(const Rows& rows, Body body) {
  const long long all = rows.count * rows.parts;
  const unsigned lane = threadIdx.x % LANES;
  for (long long first = (long long)blockIdx.x * (THREADS / LANES); first < all;
       first += (long long)gridDim.x * (THREADS / LANES)) {
    const long long number = first + threadIdx.x / LANES;
    const bool exists = number < all;
    Part part = {0, 0, 0, 0, false};
    if (exists) {
      const long long begin = number / rows.count * rows.part_length;
      const long long end = begin + rows.part_length;
      part.row = number % rows.count;
      part.number = number;
      part.begin = begin + lane;
      part.end = end < rows.length ? end : rows.length;
      part.writes = lane == 0;
    }
    body(part);
  }
}

// Folds what an earlier launch left of the parts of a row.
template <class T, class Fold>
__device__ T foldParts(const T* parts, const Rows& rows, long long row, Fold fold) {
  T value = parts[row];
  for (long long part = 1; part < rows.parts; ++part) {
    value = fold(value, parts[part * rows.count + row]);
  }
  return value;
}
