extern "C" __global__ void quantize(long long chunks, Quantizer quantizer, Walk<RANK> from, const FROM* in, Walk<RANK> to,
                                    TO* out) {
  mapAll(chunks, from, in, to, out, [&](const FROM& real) { return (long long)quantizer((float)load(&real)); });
}
