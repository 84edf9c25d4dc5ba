// The columns make deform_conv2d differ from a convolution: they are samples at places of their own. A thread computes
// each, in the order of torchvision's arithmetic. STORED, C (computed in), INDEX and HAS_MASK come from deform.cpp.

struct Deformed {
  long long channels, channels_of_group, height, width;
  long long columns, taps, tap_columns;  // of the output, and of the kernel
  long long stride[2], padding[2], dilation[2];
};
struct Image {
  long long batch, channel, row, column;

  __device__ long long at(long long n, long long c, long long y, long long x) const {
    return n * batch + c * channel + y * row + x * column;
  }
};

// A bilinear sample of a channel, to which zeros lie all around.
__device__ inline C sampleInZeros(const STORED* channel, const Image& image, long long height, long long width, C y, C x) {
  if (!(y > -1.0f && y < (float)height && x > -1.0f && x < (float)width)) {
    return y != y || x != x ? y + x : C(0);
  }
  const long long top = (long long)floor((double)y), left = (long long)floor((double)x);
  const C down = y - (C)top, right = x - (C)left;
  const C up = C(1) - down, keep = C(1) - right;
  const bool has_top = top >= 0, has_bottom = top + 1 < height, has_left = left >= 0, has_right = left + 1 < width;
  const STORED* const at = channel + top * image.row + left * image.column;
  const C top_left = has_top && has_left ? (C)load(at) : C(0);
  const C top_right = has_top && has_right ? (C)load(at + image.column) : C(0);
  const C bottom_left = has_bottom && has_left ? (C)load(at + image.row) : C(0);
  const C bottom_right = has_bottom && has_right ? (C)load(at + image.row + image.column) : C(0);
  return up * keep * top_left + up * right * top_right + down * keep * bottom_left + down * right * bottom_right;
}

// Results are [batch, channels * taps, places]; their steps are those of `to`, along `batch`, `channel` and `column`.
extern "C" __global__ void deformed_columns(long long count, long long places, Deformed deformed, Image from,
                                            const STORED* in, Image of_offset, const STORED* offsets, Image of_mask,
                                            const STORED* masks, Image to, STORED* out) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    const INDEX line = (INDEX)i / (INDEX)places, plane = line / (INDEX)deformed.taps;
    const INDEX place = (INDEX)i - line * (INDEX)places, tap = line - plane * (INDEX)deformed.taps;
    const INDEX n = plane / (INDEX)deformed.channels, channel = plane - n * (INDEX)deformed.channels;
    const INDEX row = place / (INDEX)deformed.columns, column = place - row * (INDEX)deformed.columns;
    const INDEX tap_row = tap / (INDEX)deformed.tap_columns, tap_column = tap - tap_row * (INDEX)deformed.tap_columns;
    // The plane of this tap among those of its group.
    const long long of_tap = (long long)(channel / (INDEX)deformed.channels_of_group) * deformed.taps + tap;
    const STORED* const offset = offsets + of_offset.at(n, 2 * of_tap, row, column);
    const long long base_y = row * deformed.stride[0] + tap_row * deformed.dilation[0] - deformed.padding[0];
    const long long base_x = column * deformed.stride[1] + tap_column * deformed.dilation[1] - deformed.padding[1];
    const C y = (C)base_y + (C)load(offset), x = (C)base_x + (C)load(offset + of_offset.channel);
    C value = sampleInZeros(in + from.at(n, channel, 0, 0), from, deformed.height, deformed.width, y, x);
#if HAS_MASK
    value = (C)load(masks + of_mask.at(n, of_tap, row, column)) * value;
#endif
    store(out + to.at(n, (long long)channel * deformed.taps + tap, 0, place), value);
  }
}
