// Windowed and adaptive pooling of any strides, a thread for each result. Spatial dims are brought to three. With
// CHANNELS_LAST neighbouring threads have neighbouring channels, as memory has.

struct Spatial {
  long long size[3];
};
struct Image {
  long long batch, channel;
  long long at[3];
};

extern "C" __global__ void pool(long long count, long long channels, Spatial size, Spatial out_size, Spatial window,
                                Spatial stride, Spatial before, Spatial after, Spatial dilation, long long divisor,
                                int count_padding, Image from, const STORED* in, Image to, STORED* out) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    long long rest = i, at[3], begin[3], end[3], inside_all = 1, padded_all = 1;
#if CHANNELS_LAST
    const long long c = rest - quotient(rest, channels) * channels;
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
      begin[axis] = at[axis] * stride.size[axis] - before.size[axis];
      end[axis] = begin[axis] + (window.size[axis] - 1) * dilation.size[axis] + 1;
      const long long most = size.size[axis] + after.size[axis];
      padded_all *= (end[axis] < most ? end[axis] : most) - begin[axis];
#endif
      const long long low = begin[axis] > 0 ? begin[axis] : 0;
      const long long high = end[axis] < size.size[axis] ? end[axis] : size.size[axis];
      inside_all *= high > low ? high - low : 0;
    }
    const STORED* const image = in + n * from.batch + c * from.channel;
#if AVERAGE
    A value = 0;
#else
    A value = LOWEST;
#endif
    for (long long z = begin[0]; z < end[0]; z += dilation.size[0]) {
      for (long long y = begin[1]; y < end[1]; y += dilation.size[1]) {
        for (long long x = begin[2]; x < end[2]; x += dilation.size[2]) {
          if (z < 0 || y < 0 || x < 0 || z >= size.size[0] || y >= size.size[1] || x >= size.size[2]) {
            continue;
          }
          const A each = (A)load(image + z * from.at[0] + y * from.at[1] + x * from.at[2]);
#if AVERAGE
          value += each;
#else
          value = Maximum<A>()(value, each);
#endif
        }
      }
    }
#if AVERAGE
    value = value / (A)(divisor != 0 ? divisor : count_padding ? padded_all : inside_all);
#endif
    store(out + n * to.batch + c * to.channel + at[0] * to.at[0] + at[1] * to.at[1] + at[2] * to.at[2], value);
  }
}
