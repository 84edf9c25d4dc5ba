// Reading images at places of a grid: a thread for each place, with all channels. STORED, GRID (stored), C (computed
// in), MODE (0 nearest, 1 linear, 2 cubic), EDGE (0 zeros, 1 border, 2 reflection), ALIGN and PLACES (rank) come from
// grid_sample.cpp. Places are computed as by the CPU's reference, rounded alike.

constexpr int kNeighbours = MODE == 2 ? 4 : MODE + 1;

// Depth is of size 1 where an image has two axes.
struct Images {
  long long size[3], in_strides[3];
  long long channels, in_channel, out_channel, grid_step;
  int axes;
};

__device__ inline C unnormalized(C place, long long size) {
#if ALIGN
  return timesOf((place + C(1)) / C(2), (C)(size - 1));
#else
  return (timesOf(place + C(1), (C)size) - C(1)) / C(2);
#endif
}

// A place that is no number is the last element.
__device__ inline C clippedTo(C position, long long size) {
  const C last = (C)(size - 1);
  const C above = position < C(0) ? C(0) : position;
  return above < last ? above : last;
}

// Back and forth between the middles of the outer elements, or, without aligned corners, their ends.
__device__ inline C reflected(C position, long long size) {
  const C low = ALIGN ? C(0) : C(-0.5);
  const C span = (C)(ALIGN ? size - 1 : size);
  if (span == C(0)) {
    return C(0);
  }
  const C distance = fabs(position - low);
  const C rest = fmod(distance, span);
  return wholeOf((double)floor(distance / span)) % 2 == 0 ? rest + low : span - rest + low;
}

__device__ inline C padded(C position, long long size) {
#if EDGE == 0
  // Far outside is outside, also where an integer could not say so.
  return fabs(position) < C(1 << 30) ? position : C(-100);
#elif EDGE == 1
  return clippedTo(position, size);
#else
  return clippedTo(reflected(position, size), size);
#endif
}

// Those outside have weight 0 and index 0.
struct Neighbours {
  long long index[kNeighbours];
  C weight[kNeighbours];

  __device__ void set(int t, long long at, C value, long long size) {
    const bool is_inside = at >= 0 && at < size;
    index[t] = is_inside ? at : 0;
    weight[t] = is_inside ? value : C(0);
  }
};

__device__ inline Neighbours neighboursOf(C place, long long size) {
  Neighbours result;
  const C position = unnormalized(place, size);
#if MODE == 2
  const C base = floor(position);
  const CubicWeights<C> weights(position - base);
  for (int t = 0; t < 4; ++t) {
    result.set(t, wholeOf((double)padded(base - C(1) + (C)t, size)), weights.weight[t], size);
  }
#elif MODE == 1
  const C inside = padded(position, size);
  const C base = floor(inside);
  result.set(0, wholeOf((double)base), base + C(1) - inside, size);
  result.set(1, wholeOf((double)base) + 1, inside - base, size);
#else
  result.set(0, wholeOf((double)rint(padded(position, size))), C(1), size);
#endif
  return result;
}

__device__ inline C weighted(const STORED* plane, const Images& images, const Neighbours& d, const Neighbours& h,
                             const Neighbours& w) {
  C sum = 0;
  for (int z = 0; z < (images.axes == 3 ? kNeighbours : 1); ++z) {
    for (int y = 0; y < kNeighbours && d.weight[z] != C(0); ++y) {
      const long long line = d.index[z] * images.in_strides[0] + h.index[y] * images.in_strides[1];
      for (int x = 0; x < kNeighbours && h.weight[y] != C(0); ++x) {
        if (w.weight[x] != C(0)) {  // 0 times what lies outside could be NaN
          const C value = load(plane + line + w.index[x] * images.in_strides[2]);
          sum += value * d.weight[z] * h.weight[y] * w.weight[x];
        }
      }
    }
  }
  return sum;
}

// Walks over the batch and the places of the output.
extern "C" __global__ void grid_sample(long long count, Images images, Walk<PLACES> batch, const STORED* in,
                                       Walk<PLACES> in_grid, const GRID* grid, Walk<PLACES> to, STORED* out) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    const GRID* const place = grid + in_grid.at(i);
    const Neighbours w = neighboursOf((C)load(place), images.size[2]);
    const Neighbours h = neighboursOf((C)load(place + images.grid_step), images.size[1]);
    Neighbours d = {};
    d.weight[0] = C(1);
    if (images.axes == 3) {
      d = neighboursOf((C)load(place + 2 * images.grid_step), images.size[0]);
    }
    const STORED* const image = in + batch.at(i);
    STORED* const target = out + to.at(i);
    for (long long channel = 0; channel < images.channels; ++channel) {
      store(target + channel * images.out_channel, weighted(image + channel * images.in_channel, images, d, h, w));
    }
  }
}
