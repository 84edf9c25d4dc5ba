// Windowed and adaptive pooling of any strides, a thread for CHUNK results. Spatial dims are brought to three; BATCH is the
// rank of the dims in front of the channels. With CHANNELS_LAST neighbouring threads have neighbouring channels, as memory
// has, and takes CHUNK of them at once. STORED, A (folded in), STORED_FROM, AVERAGE, ADAPTIVE, LOWEST, INDICES, TAPS_Y and
// TAPS_X come from pooling.cpp.

struct Spatial {
  long long size[3];
};
struct Image {
  long long channel, places[3];

  __device__ long long at(long long c, const long long* place) const {
    return c * channel + place[0] * places[0] + place[1] * places[1] + place[2] * places[2];
  }
};

// `count` chunks of results, `channels` chunks of a place.
extern "C" __global__ void pool(long long count, long long channels, Spatial size, Spatial out_size, Spatial window,
                                Spatial stride, Spatial before, Spatial after, Spatial dilation, long long divisor,
                                int count_padding, Walk<BATCH> walk_in, Image from, const STORED* in,
                                Walk<BATCH> walk_out, Image to, STORED* out, Walk<BATCH> walk_indices, Image to_indices,
                                long long* indices) {
  waitForInputs();
  const bool is_aligned = isAligned<STORED, CHUNK>(in) && isAligned<STORED, CHUNK>(out);
  for (long long i = firstElement(); i < count; i += allThreads()) {
    long long rest = i, at[3], begin[3], end[3], inside_all = 1, padded_all = 1;
#if CHANNELS_LAST
    const long long c = (rest - quotient(rest, channels) * channels) * CHUNK;
    rest = quotient(rest, channels);
#endif
    for (int axis = 2; axis >= 0; --axis) {
      const long long next = quotient(rest, out_size.size[axis]);
      at[axis] = rest - next * out_size.size[axis];
      rest = next;
    }
#if CHANNELS_LAST
    const long long n = rest;
#else
    const long long n = quotient(rest, channels), c = rest - n * channels;
#endif
    for (int axis = 0; axis < 3; ++axis) {
#if ADAPTIVE
      begin[axis] = quotient(at[axis] * size.size[axis], out_size.size[axis]);
      end[axis] = quotient((at[axis] + 1) * size.size[axis] + out_size.size[axis] - 1, out_size.size[axis]);
#else
      const long long step = dilation.size[axis];
      begin[axis] = at[axis] * stride.size[axis] - before.size[axis];
      end[axis] = begin[axis] + (window.size[axis] - 1) * step + 1;
      const long long most = size.size[axis] + after.size[axis];
      padded_all *= (end[axis] < most ? end[axis] : most) - begin[axis];
      if (begin[axis] < 0) {  // the first place in the image
        begin[axis] += quotient(step - 1 - begin[axis], step) * step;
      }
      end[axis] = end[axis] < size.size[axis] ? end[axis] : size.size[axis];
#endif
      inside_all *= end[axis] > begin[axis] ? end[axis] - begin[axis] : 0;
    }
    const STORED* const image = in + walk_in.at(n) + c * from.channel;
    A values[CHUNK];
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) {
#if AVERAGE
      values[k] = 0;
#else
      values[k] = LOWEST;
#endif
    }
#if INDICES
    long long index = (begin[0] * size.size[1] + begin[1]) * size.size[2] + begin[2];
#endif
#if TAPS_Y  // a small window of maxima: all reads begin before the first is needed
#pragma unroll
    for (int tap = 0; tap < TAPS_Y * TAPS_X; ++tap) {
      const long long y = begin[1] + tap / TAPS_X * dilation.size[1], x = begin[2] + tap % TAPS_X * dilation.size[2];
      if (y < end[1] && x < end[2]) {
        const Chunk<STORED, CHUNK> chunk = chunkAt<STORED, CHUNK>(image + y * from.places[1] + x * from.places[2], is_aligned);
#pragma unroll
        for (int k = 0; k < CHUNK; ++k) {
          values[k] = Maximum<A>()(values[k], (A)load(chunk.of + k));
        }
      }
    }
#else
    for (long long z = begin[0]; z < end[0]; z += dilation.size[0]) {
      for (long long y = begin[1]; y < end[1]; y += dilation.size[1]) {
        const STORED* const line = image + z * from.places[0] + y * from.places[1];
        for (long long x = begin[2]; x < end[2]; x += dilation.size[2]) {
          const Chunk<STORED, CHUNK> chunk = chunkAt<STORED, CHUNK>(line + x * from.places[2], is_aligned);
#pragma unroll
          for (int k = 0; k < CHUNK; ++k) {
            const A each = (A)load(chunk.of + k);
            A& value = values[k];
#if AVERAGE
            value += each;
#elif INDICES  // of the first maximum, or of the last NaN
            if (each > value || each != each) {
              value = each;
              index = (z * size.size[1] + y) * size.size[2] + x;
            }
#else
            value = Maximum<A>()(value, each);
#endif
          }
        }
      }
    }
#endif
#if AVERAGE
    const long long terms = divisor != 0 ? divisor : count_padding ? padded_all : inside_all;
#endif
    Chunk<STORED, CHUNK> result;
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) {
#if AVERAGE
      values[k] = inside_all == 0 ? (A)0 : values[k] / (A)terms;
#endif
      store(result.of + k, (STORED_FROM)values[k]);
    }
    writeChunk(result, out + walk_out.at(n) + to.at(c, at), is_aligned);
#if INDICES
    indices[walk_indices.at(n) + to_indices.at(c, at)] = index;
#endif
  }
}
