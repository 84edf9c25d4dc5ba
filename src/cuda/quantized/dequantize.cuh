extern "C" __global__ void dequantize(long long chunks, Dequantizer dequantizer, Walk<RANK> from, const FROM* in,
                                      Walk<RANK> to, TO* out) {
  mapAll(chunks, from, in, to, out, [&](const FROM& step) { return dequantizer(step); });
}
