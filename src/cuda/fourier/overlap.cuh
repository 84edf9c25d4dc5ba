// The end of an inverse short-time transform: frames, which are multiplied by the window already, are added up and divided
// by the sum of its squares. A thread for each sample, in the order of the frames.

extern "C" __global__ void fourier_overlap(long long count, long long samples, long long there, long long frames,
                                           long long length, long long hop, long long trim, const STORED* pieces,
                                           long long window_step, const STORED* window, long long row_step,
                                           long long sample_step, STORED* out, int* fault) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    const long long row = quotient(i, samples), at = i - row * samples, place = at + trim;
    STORED sum = 0, squares = 0;
    if (at < there) {
      const long long last = quotient(place, hop) < frames ? quotient(place, hop) : frames - 1;
      for (long long frame = place < length ? 0 : quotient(place - length, hop) + 1; frame <= last; ++frame) {
        const long long offset = place - frame * hop;
        const STORED by = window[offset * window_step];
        sum += pieces[(row * frames + frame) * length + offset];
        squares += by * by;
      }
      if (squares < STORED(1e-11)) {
        report(fault, kWindowsAddUpToNothing);
      }
      sum /= squares;
    }
    out[row * row_step + at * sample_step] = sum;
  }
}
