// The channels of images, made CHANNELS of them by zeros and put next to each other. A thread takes a place.

extern "C" __global__ void widen(long long count, Walk<RANK> places, long long channels, long long step, const STORED* in,
                                 STORED* out) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    const STORED* const from = in + places.at(i);
    Chunk<STORED, CHANNELS> result;
#pragma unroll
    for (int channel = 0; channel < CHANNELS; ++channel) {
      result.of[channel] = channel < channels ? from[channel * step] : (STORED)0;
    }
    result.write(out + i * CHANNELS);
  }
}
