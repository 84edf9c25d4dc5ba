// Products a b of bytes or of 16 bits on tensor cores by whole warpgroups (text/warpgroup.cuh). A block makes tiles of kRows x COLUMNS, one
// after the other. Its last warp copies: chunks of CHUNK bytes along the depth, of the tile's lines of a and of COLUMNS lines of
// b, go to the next of STAGES stages in shared memory. Each of GROUPS warpgroups computes 64 rows. Results take a stage or more, too: the
// residual is copied there, results take its place, and leave from there. So copies for the next tile run beside the end of this
// one.
//
// With HAS_WINDOWS, the lines of a are places of an image under one tap of a window: a tile is a box of places of the output. It
// may have fewer lines than kRows. The depth is then all taps, one after the other.

constexpr int kRows = 64 * GROUPS, kComputing = 128 * GROUPS;
constexpr int kStage = (kRows + COLUMNS) * CHUNK;
constexpr int kResults = COLUMNS * (int)sizeof(OUT);  // bytes of a row of a tile
constexpr int kLine = kResults % 128 == 0 ? 128 : 64;  // of results
constexpr int kBox = kRows * kLine, kBoxes = kResults / kLine;
constexpr int kBarriersBegin = STAGES * kStage, kValuesBegin = kBarriersBegin + 2 * STAGES * (int)sizeof(Barrier);
constexpr int kBoxesOfStage = kStage / kBox, kResultStages = (kBoxes + kBoxesOfStage - 1) / kBoxesOfStage;
static_assert(kResultStages < STAGES, "copies for the next tile have a stage");
static_assert(kResults % kLine == 0, "boxes of results fill a tile");

struct WarpgroupProduct {
  int columns, tiles, taps, chunks;  // chunks of a tap
  int lines;                         // of a tile: rows that it has
  int kernel_w, stride_y, stride_x, padding_y, padding_x, dilation_y, dilation_x;  // of windows
  int tiles_x, tiles_y, tile_width, tile_height, tile_images;                      // of windows
};

// The stages, one after the other, and the phase of their barriers.
struct Ring {
  int stage = 0, phase = 0;

  __device__ void next() {
    if (++stage == STAGES) {
      stage = 0;
      phase ^= 1;
    }
  }
  __device__ unsigned char* memory() const { return blockMemory<unsigned char>(stage * kStage); }
  __device__ Barrier* full() const { return blockMemory<Barrier>(kBarriersBegin) + stage; }
  __device__ Barrier* empty() const { return full() + STAGES; }
};

// The place of a tile: its first column, and its first row or the first place of its box.
struct Tile {
  int column, row, x, y, image;

  __device__ Tile(const WarpgroupProduct& of, int index) {
    const int across = (of.columns + COLUMNS - 1) / COLUMNS, above = index / across;
    column = (index - above * across) * COLUMNS;
    row = above * kRows;
#if HAS_WINDOWS
    const int line = above / of.tiles_x;
    x = (above - line * of.tiles_x) * of.tile_width;
    y = line % of.tiles_y * of.tile_height;
    image = line / of.tiles_y * of.tile_images;
#endif
  }
  __device__ int byte() const { return column * (int)sizeof(OUT); }  // of a row of results
};

// One tap after the other.
struct Depth {
  int tap = 0, chunk = 0, tap_x = 0, tap_y = 0;

  __device__ void next(const WarpgroupProduct& of) {
    if (++chunk == of.chunks) {
      chunk = 0;
      ++tap;
      if (++tap_x == of.kernel_w) {
        tap_x = 0;
        ++tap_y;
      }
    }
  }
};

// Gives all copies to shared memory: a thread's work.
__device__ inline void copyAll(const WarpgroupProduct& of, const TensorMap& a, const TensorMap& b, const TensorMap& residual) {
  const int chunks = of.taps * of.chunks, early = chunks < STAGES ? chunks : STAGES;
  const auto copyOfB = [&](const Ring& ring, const Depth& at, int column) {
    arriveExpecting(ring.full(), (of.lines + COLUMNS) * CHUNK);
    copyBox(ring.memory() + kRows * CHUNK, b, ring.full(), at.chunk * CHUNK, at.tap, column);
  };
  // While the kernel in front runs, the blocks share the work of bringing b, which is constant, to the L2 cache.
  const int across = (of.columns + COLUMNS - 1) / COLUMNS;
  for (int box = blockIdx.x; box < across * chunks; box += gridDim.x) {
    const int chunk = box / across;
    fetchBox(b, chunk % of.chunks * CHUNK, chunk / of.chunks, box % across * COLUMNS);
  }
  Ring ahead;
  Depth at_ahead;
  for (int i = 0; i < early; ++i, ahead.next(), at_ahead.next(of)) {
    copyOfB(ahead, at_ahead, Tile(of, blockIdx.x).column);
  }
  waitForInputs();

  Ring ring;
  for (int index = blockIdx.x, done = 0; index < of.tiles; index += gridDim.x) {
    const Tile tile(of, index);
    Depth at;
    for (int i = 0; i < chunks; ++i, ++done, ring.next(), at.next(of)) {
      if (done >= early) {
        waitForPhase(ring.empty(), ring.phase ^ 1);
        copyOfB(ring, at, tile.column);
      }
#if HAS_WINDOWS
      copyBox(ring.memory(), a, ring.full(), at.chunk * CHUNK,
              tile.x * of.stride_x - of.padding_x + at.tap_x * of.dilation_x,
              tile.y * of.stride_y - of.padding_y + at.tap_y * of.dilation_y, tile.image);
#else
      copyBox(ring.memory(), a, ring.full(), at.chunk * CHUNK, tile.row);
#endif
    }
    for (int first = 0; first < kBoxes; first += kBoxesOfStage, ring.next()) {
      waitForPhase(ring.empty(), ring.phase ^ 1);
#if HAS_RESIDUAL
      const int boxes = kBoxes - first < kBoxesOfStage ? kBoxes - first : kBoxesOfStage;
      arriveExpecting(ring.full(), boxes * of.lines * kLine);
      for (int box = 0; box < boxes; ++box) {
        const int byte = tile.byte() + (first + box) * kLine;
#if HAS_WINDOWS
        copyBox(ring.memory() + box * kBox, residual, ring.full(), byte, tile.x, tile.y, tile.image);
#else
        copyBox(ring.memory() + box * kBox, residual, ring.full(), byte, tile.row);
#endif
      }
#else
      arrive(ring.full());
#endif
    }
  }
}

// Computes the rows of a warpgroup of all tiles. `Ends` makes results of sums, and has kValueBytes of shared memory.
template <class Ends>
__device__ void computeAll(const WarpgroupProduct& of, const TensorMap& out, const Ends& ends) {
  const int group = threadIdx.x / 128, thread = threadIdx.x % 128, lane = thread % 32;
  const int chunks = of.taps * of.chunks;
  const auto release = [&](int stage) {
    if (thread == 0) {
      arrive(blockMemory<Barrier>(kBarriersBegin) + STAGES + stage);
    }
  };
  const typename Ends::Values values = blockMemory<unsigned char>(kValuesBegin);
  Ring ring;
  int written = -1;  // the first stage from which results of the tile before leave
  const auto releaseWritten = [&] {
    if (threadIdx.x == 0) {
      waitForBoxes();
    }
#pragma unroll
    for (int k = 0; k < kResultStages; ++k) {
      release(written + k < STAGES ? written + k : written + k - STAGES);
    }
    written = -1;
  };
  for (int index = blockIdx.x; index < of.tiles; index += gridDim.x) {
    const Tile tile(of, index);
    ends.read(values, tile.column);
    Sums sums;
    int before = 0;
    for (int i = 0; i < chunks; ++i, ring.next()) {
      waitForPhase(ring.full(), ring.phase);
      const unsigned char* const staged_a = ring.memory() + group * 64 * CHUNK;
      const unsigned char* const staged_b = ring.memory() + kRows * CHUNK;
      beginProducts();
#pragma unroll
      for (int k = 0; k < CHUNK / 32; ++k) {
        addProduct(sums, staged_a + 32 * k, staged_b + 32 * k, i > 0 || k > 0);
      }
      endProducts();
      waitForProducts<1>();
      if (i > 0) {
        release(before);
      }
      constexpr int kLate = STAGES > 2 && kResultStages == 1 ? 1 : 0;  // but before the stage is needed
      if (written >= 0 && (i == kLate || i == chunks - 1)) {
        releaseWritten();
      }
      before = ring.stage;
    }
    waitForProducts<0>();
    release(before);
    waitForThreads<kComputing>();  // for what belongs to columns
    written = ring.stage;
    int stages[kResultStages];
#pragma unroll
    for (int k = 0; k < kResultStages; ++k, ring.next()) {
      waitForPhase(ring.full(), ring.phase);
      stages[k] = ring.stage * kStage;
    }
    const int first_row = 64 * group + thread / 32 * 16 + lane / 4;
    constexpr int kPair = 2 * (int)sizeof(OUT), kEight = 8 * (int)sizeof(OUT);
    const int first_place = placeIn(kLine, first_row, lane % 4 * kPair);
    // Of the i-th pair of results of this thread. Rows 8 apart have their chunks in the same order, which is that of the first
    // row with bits turned over.
    const auto placeOf = [&](int i) {
      const int byte = i / 2 * kEight % kLine, box = i / 2 * kEight / kLine;
      return blockMemory<unsigned char>(stages[box / kBoxesOfStage] + (first_place ^ byte / 16 * 16) + byte % 16 + i % 2 * 8 * kLine +
                                        box % kBoxesOfStage * kBox);
    };
    constexpr int kAtOnce = COLUMNS > 128 ? 2 : 4;  // pairs that are read before the first result is written, so that reads overlap
#pragma unroll
    for (int first = 0; first < COLUMNS / 4; first += kAtOnce) {
      typename Ends::Pair pairs[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        pairs[i].read(values, (first + i) / 2 * 8 + lane % 4 * 2, placeOf(first + i));
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        ends.finish(sums[2 * (first + i)], sums[2 * (first + i) + 1], pairs[i], placeOf(first + i));
      }
    }
    showWrites();
    waitForThreads<kComputing>();
    if (threadIdx.x == 0) {
#pragma unroll
      for (int box = 0; box < kBoxes; ++box) {
        const unsigned char* const from = blockMemory<unsigned char>(stages[box / kBoxesOfStage] + box % kBoxesOfStage * kBox);
#if HAS_WINDOWS
        writeBox(out, from, tile.byte() + box * kLine, tile.x, tile.y, tile.image);
#else
        writeBox(out, from, tile.byte() + box * kLine, tile.row);
#endif
      }
      endBoxes();
    }
  }
  if (threadIdx.x == 0) {
    waitForBoxes();
  }
}

template <class Ends>
__device__ void multiply(const WarpgroupProduct& of, const TensorMap& a, const TensorMap& b, const TensorMap& residual,
                         const TensorMap& out, const Ends& ends) {
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < STAGES; ++stage) {
      makeBarrier(blockMemory<Barrier>(kBarriersBegin) + stage, 1);
      makeBarrier(blockMemory<Barrier>(kBarriersBegin) + STAGES + stage, GROUPS);
    }
    showBarriers();
  }
  __syncthreads();
  if (threadIdx.x == kComputing) {
    copyAll(of, a, b, residual);
    return;
  }
  waitForInputs();
  if (threadIdx.x < kComputing) {
    computeAll(of, out, ends);
  }
}
