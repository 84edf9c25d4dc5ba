// A bitonic sort of items: upwards by key, those of equal keys by place. TILE items are sorted in shared memory by half as
// many threads; longer rows, of a power of two items, take a launch for each step over more.

// Two items, of which the first is number `at` of its row, in the order of runs of `width`.
__device__ inline void exchange(Item& a, Item& b, long long at, long long width) {
  if (isBefore(b, a) == ((at & width) == 0)) {
    const Item kept = a;
    a = b;
    b = kept;
  }
}

// Exchanges over distances from `distance` down to 1 in a tile that begins at number `start` of its row.
__device__ inline void mergeTile(Item* tile, long long start, long long width, int distance) {
  for (; distance > 0; distance /= 2) {
    const int thread = (int)threadIdx.x;
    const int at = 2 * thread - (thread & (distance - 1));
    exchange(tile[at], tile[at + distance], start + at, width);
    __syncthreads();
  }
}

__device__ inline void sortTile(Item* tile, long long start) {
  for (int width = 2; width <= TILE; width *= 2) {
    mergeTile(tile, start, width, width / 2);
  }
}

// `merged`: 0 sorts each tile from nothing, else runs of that width are merged, whose far exchanges were done.
extern "C" __global__ void sort_tiles(long long tiles, long long tiles_of_row, long long merged, Item* items) {
  __shared__ Item tile[TILE];
  for (long long number = blockIdx.x; number < tiles; number += gridDim.x) {
    Item* const from = items + number * TILE;
    const long long start = number % tiles_of_row * TILE;
    for (int i = (int)threadIdx.x; i < TILE; i += (int)blockDim.x) {
      tile[i] = from[i];
    }
    __syncthreads();
    if (merged == 0) {
      sortTile(tile, start);
    } else {
      mergeTile(tile, start, merged, TILE / 2);
    }
    for (int i = (int)threadIdx.x; i < TILE; i += (int)blockDim.x) {
      from[i] = tile[i];
    }
    __syncthreads();
  }
}

extern "C" __global__ void sort_step(long long pairs, long long row, long long width, long long distance, Item* items) {
  for (long long pair = firstElement(); pair < pairs; pair += allThreads()) {
    const long long at = 2 * pair - (pair & (distance - 1));
    exchange(items[at], items[at + distance], at & (row - 1), width);
  }
}
