// Quantizes or dequantizes each element.

extern "C" __global__ void quantize(long long count, Quantizer quantizer, Walk<RANK> from, const FROM* in, Walk<RANK> to,
                                    TO* out) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    store(out + to.at(i), (long long)quantizer((float)load(in + from.at(i))));
  }
}

extern "C" __global__ void dequantize(long long count, Dequantizer dequantizer, Walk<RANK> from, const FROM* in,
                                      Walk<RANK> to, TO* out) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    store(out + to.at(i), dequantizer(load(in + from.at(i))));
  }
}
