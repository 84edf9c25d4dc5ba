// Converts each element, CHUNK neighbours at once.

template <class Convert>
__device__ void mapAll(long long chunks, const Walk<RANK>& from, const FROM* in, const Walk<RANK>& to, TO* out,
                       const Convert& convert) {
  waitForInputs();
  const bool is_aligned = isAligned<FROM, CHUNK>(in) && isAligned<TO, CHUNK>(out);
  for (long long i = firstElement(); i < chunks; i += allThreads()) {
    const Chunk<FROM, CHUNK> chunk = chunkAt<FROM, CHUNK>(in + from.at(i * CHUNK), is_aligned);
    Chunk<TO, CHUNK> results;
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) {
      store(results.of + k, convert(chunk.of[k]));
    }
    writeChunk(results, out + to.at(i * CHUNK), is_aligned);
  }
}
