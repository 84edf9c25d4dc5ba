// Decides which of overlapping boxes stay, as torchvision's nms does. STORED, C (computed in) and THREADS come from
// suppression.cpp.

extern "C" __global__ void suppression_items(long long count, long long padded, long long step, const STORED* scores,
                                             Item* items) {
  for (long long i = firstElement(); i < padded; i += allThreads()) {
    const Item item = {i < count ? ~keyOf(load(scores + i * step)) : ~0ULL, i};
    items[i] = item;
  }
}

struct Box {
  C side[4];

  __device__ Box(const STORED* box, long long step) {
    for (int i = 0; i < 4; ++i) {
      side[i] = (C)load(box + i * step);
    }
  }
  __device__ C area() const { return timesOf(side[2] - side[0], side[3] - side[1]); }
};

// The maximum of 0 and what is no number is 0; of two coordinates the first stays beside such a one.
__device__ inline C atLeast(C least, C x) { return least < x ? x : least; }
__device__ inline C atMost(C most, C x) { return x < most ? x : most; }

__device__ inline C overlap(const Box& a, const Box& b) {
  const C width = atMost(a.side[2], b.side[2]) - atLeast(a.side[0], b.side[0]);
  const C height = atMost(a.side[3], b.side[3]) - atLeast(a.side[1], b.side[1]);
  const C both = timesOf(atLeast(C(0), width), atLeast(C(0), height));
  return both / (a.area() + b.area() - both);
}

// One block: a box that is kept removes those behind it that it overlaps.
extern "C" __global__ void suppression(long long count, long long box_step, long long side_step, const STORED* boxes,
                                       const Item* items, double threshold, unsigned char* removed, long long kept_step,
                                       long long* kept, long long* total) {
  for (long long i = threadIdx.x; i < count; i += THREADS) {
    removed[i] = 0;
  }
  __syncthreads();
  long long found = 0;
  for (long long i = 0; i < count; ++i) {
    if (removed[i]) {
      continue;
    }
    const long long best = items[i].place;
    const Box box(boxes + best * box_step, side_step);
    if (threadIdx.x == 0) {
      kept[found * kept_step] = best;
    }
    ++found;
    for (long long other = i + 1 + threadIdx.x; other < count; other += THREADS) {
      if (!removed[other] &&
          (double)overlap(box, Box(boxes + items[other].place * box_step, side_step)) > threshold) {
        removed[other] = 1;
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    *total = found;
  }
}
