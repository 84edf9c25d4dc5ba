// Copies an image to [images, height, width, PLACE], with zeros around it and behind the channels: a thread copies one place.

struct Packed {
  int channels, height, width;              // of the image
  int packed_height, packed_width, top, left;
  long long image, channel, y, x;           // strides of the image in elements
};

extern "C" __global__ void pack(long long count, Packed of, const unsigned short* in, unsigned short* out) {
  waitForInputs();
  for (long long i = firstElement(); i < count; i += allThreads()) {
    const long long line = quotient(i, of.packed_width), image = quotient(line, of.packed_height);
    const int x = (int)(i - line * of.packed_width) - of.left, y = (int)(line - image * of.packed_height) - of.top;
    const bool is_inside = x >= 0 && x < of.width && y >= 0 && y < of.height;
    const unsigned short* const from = in + image * of.image + y * of.y + x * of.x;
    Chunk<unsigned short, PLACE> place;
#pragma unroll
    for (int c = 0; c < PLACE; ++c) {
      place.of[c] = is_inside && c < of.channels ? from[c * of.channel] : (unsigned short)0;
    }
    place.write(out + i * PLACE);
  }
}
