// The functions of topk.cuh, by blocks of THREADS threads.

// k is 1: a block for each row.
extern "C" __global__ void topk_row(TopK of, const STORED* in, STORED* values, INDEX* indices) {
  __shared__ Item shared[THREADS];
  for (long long row = blockIdx.x; row < of.rows; row += gridDim.x) {
    const STORED* const from = in + of.in.at(row);
    Item best = {~0ULL, 9223372036854775807LL};
    for (long long place = threadIdx.x; place < of.size; place += blockDim.x) {
      best = First()(best, itemOf(from, of, place));
    }
    best = foldBlock<Item>(best, shared, First());
    if (threadIdx.x == 0) {
      writeItem(in, of, row, 0, best, values, indices);
    }
  }
}

// Sorts tiles of 2 * THREADS items of a row and keeps the first `kept` of each: from the row itself, or from the items
// that the launch before kept.
extern "C" __global__ void topk_tiles(TopK of, long long tiles_of_row, long long kept, long long given, const STORED* in,
                                      const Item* from, Item* to) {
  __shared__ Item tile[2 * THREADS];
  for (long long number = blockIdx.x; number < of.rows * tiles_of_row; number += gridDim.x) {
    const long long row = number / tiles_of_row, start = number % tiles_of_row * (2 * THREADS);
    const STORED* const source = in + of.in.at(row);
    for (int i = (int)threadIdx.x; i < 2 * THREADS; i += THREADS) {
      const long long place = start + i;
      if (from == nullptr) {
        tile[i] = itemOf(source, of, place);
      } else {
        const Item padding = {~0ULL, 9223372036854775807LL};
        tile[i] = place < given ? from[row * given + place] : padding;
      }
    }
    __syncthreads();
    sortTile(tile, 0);
    for (long long i = threadIdx.x; i < kept; i += THREADS) {
      to[number * kept + i] = tile[i];
    }
    __syncthreads();
  }
}
