// Padding in one pass, a thread for each result: E is an unsigned integer of the element's size. MODE (0 constant, 1
// reflect, 2 replicate, 3 circular), INDEX and RANK come from padding.cpp.

struct PaddedAxis {
  long long in_size, in_stride, out_size, out_stride, before;
};
struct PaddedAxes {
  PaddedAxis axis[RANK == 0 ? 1 : RANK];
};

// The input index behind place `i` counted from the input's start; below 0 for the padding value.
__device__ inline long long sourceIndex(long long i, long long size) {
  if (i >= 0 && i < size) {
    return i;
  }
#if MODE == 0
  return -1;
#elif MODE == 1
  const long long period = size > 1 ? 2 * (size - 1) : 1;  // the edges are not repeated
  const long long distance = i < 0 ? -i : i, folded = distance - quotient(distance, period) * period;
  return folded < size ? folded : period - folded;
#elif MODE == 2
  return i < 0 ? 0 : size - 1;
#else
  // Counted on from the end, or back from the place in front of the start.
  const long long distance = i < 0 ? -1 - i : i, rest = distance - quotient(distance, size) * size;
  return i < 0 ? size - 1 - rest : rest;
#endif
}

extern "C" __global__ void pad(long long count, PaddedAxes axes, const E* in, E* out, unsigned long long value) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    long long from = 0, to = 0;
    INDEX rest = (INDEX)i;
    bool is_outside = false;
    for (int k = RANK - 1; k >= 0; --k) {
      const PaddedAxis& axis = axes.axis[k];
      const INDEX next = rest / (INDEX)axis.out_size;
      const long long at = rest - next * (INDEX)axis.out_size;
      rest = next;
      const long long source = sourceIndex(at - axis.before, axis.in_size);
      is_outside = is_outside || source < 0;
      from += source * axis.in_stride;
      to += at * axis.out_stride;
    }
    out[to] = is_outside ? (E)value : in[from];
  }
}
