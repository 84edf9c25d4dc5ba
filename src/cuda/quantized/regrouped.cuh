// An image of steps whose channels are no sixteens, with its padding, for windows that tensor cores read. A pixel of the result has
// GROUP_Y x GROUP_X neighbouring places of the image, each with its CHANNELS, and then bytes of any value up to PIXEL, a multiple of
// 16. Beside the image is the zero point.

struct Geometry {
  int height, width, padding_y, padding_x;  // of the image
  int pixels_y, pixels_x;
  long long image, channel, y, x;  // strides of the image in bytes
};

// A thread makes 16 bytes.
extern "C" __global__ void regroup(long long count, Geometry of, unsigned char padding, const unsigned char* in,
                                   unsigned char* out) {
  constexpr int kChunks = PIXEL / 16;
  waitForInputs();
  for (long long i = firstElement(); i < count; i += allThreads()) {
    const long long pixel = i / kChunks, line = pixel / of.pixels_x, image = line / of.pixels_y;
    const int first = kChunks == 1 ? 0 : (int)(i - pixel * kChunks) * 16;
    const int y = (int)(line - image * of.pixels_y) * GROUP_Y - of.padding_y;
    const int x = (int)(pixel - line * of.pixels_x) * GROUP_X - of.padding_x;
    const unsigned char* const from = in + image * of.image + y * of.y + x * of.x;
    Chunk<unsigned char, 16> chunk;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const int at = first + k, place = at / CHANNELS, channel = at % CHANNELS, dy = place / GROUP_X, dx = place % GROUP_X;
      const bool is_there = place < GROUP_Y * GROUP_X && (unsigned)(y + dy) < (unsigned)of.height &&
                            (unsigned)(x + dx) < (unsigned)of.width;
      chunk.of[k] = is_there ? from[dy * of.y + dx * of.x + channel * of.channel] : padding;
    }
    chunk.write(out + i * 16);
  }
}
