// Rows of a tensor at places: E is an unsigned integer of the element's size; ROW (rank of a row) comes from counted.cpp.

extern "C" __global__ void masked_rows(long long elements, const long long* total, const long long* places, Walk<ROW> row,
                                       long long from_step, const E* in, Strides<ROW> to, long long to_step, E* out) {
  const long long count = *total * elements;
  for (long long i = firstElement(); i < count; i += allThreads()) {
    const long long k = i / elements;
    const Coordinates<ROW> at = row.coordinates(i - k * elements);
    out[k * to_step + to.at(at)] = in[places[k] * from_step + row.at(at)];
  }
}
