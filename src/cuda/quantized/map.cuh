// Quantizes or dequantizes each element, CHUNK neighbours at once.

extern "C" __global__ void quantize(long long chunks, Quantizer quantizer, Walk<RANK> from, const FROM* in, Walk<RANK> to,
                                    TO* out) {
  waitForInputs();
  const bool is_aligned = isAligned<FROM, CHUNK>(in) && isAligned<TO, CHUNK>(out);
  for (long long i = firstElement(); i < chunks; i += allThreads()) {
    const Chunk<FROM, CHUNK> chunk = chunkAt<FROM, CHUNK>(in + from.at(i * CHUNK), is_aligned);
    Chunk<TO, CHUNK> steps;
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) {
      store(steps.of + k, (long long)quantizer((float)load(chunk.of + k)));
    }
    writeChunk(steps, out + to.at(i * CHUNK), is_aligned);
  }
}

extern "C" __global__ void dequantize(long long chunks, Dequantizer dequantizer, Walk<RANK> from, const FROM* in,
                                      Walk<RANK> to, TO* out) {
  waitForInputs();
  const bool is_aligned = isAligned<FROM, CHUNK>(in) && isAligned<TO, CHUNK>(out);
  for (long long i = firstElement(); i < chunks; i += allThreads()) {
    const Chunk<FROM, CHUNK> chunk = chunkAt<FROM, CHUNK>(in + from.at(i * CHUNK), is_aligned);
    Chunk<TO, CHUNK> reals;
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) {
      store(reals.of + k, dequantizer(chunk.of[k]));
    }
    writeChunk(reals, out + to.at(i * CHUNK), is_aligned);
  }
}
