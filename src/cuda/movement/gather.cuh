// out[i] = data[.. index[i] ..]: an index out of range is brought into it, and reported.

extern "C" __global__ void gather(long long count, Walk<RANK> in_data, const E* data, long long size, long long stride,
                                  Walk<RANK> in_indices, const INDEX* indices, Walk<RANK> to, E* out, int negative,
                                  int* fault) {
  waitForInputs();
  for (long long i = firstElement(); i < count; i += allThreads()) {
    const long long place = checkedIndex(indices[in_indices.at(i)], size, negative, fault);
    const long long index = place < 0 ? 0 : place;
    out[to.at(i)] = data[in_data.at(i) + index * stride];
  }
}
