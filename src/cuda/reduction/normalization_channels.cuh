// Batch normalization of elements of 16 bits with the channels next to each other, a multiple of eight of them, eight at a time.
extern "C" __global__ void normalizeChannels(long long eights, long long channels, const STORED* in, const Line* lines, STORED* out,
                                             double alpha_, double beta_) {
  waitForInputs();
  const C alpha = (C)alpha_, beta = (C)beta_;
  (void)alpha, (void)beta;
  using Eight = Chunk<STORED, 8>;
  const bool is_aligned = isAligned<STORED, 8>(in) && isAligned<STORED, 8>(out);
  for (long long i = firstElement(); i < eights; i += allThreads()) {
    Eight eight;
    if (is_aligned) {
      eight = Eight(in + 8 * i);
    } else {
      for (int k = 0; k < 8; ++k) {
        eight.of[k] = in[8 * i + k];
      }
    }
    const Line* const line = lines + (8 * i - quotient(8 * i, channels) * channels);
    for (int k = 0; k < 8; ++k) {
      store(&eight.of[k], ACTIVATION((C)((S)load(&eight.of[k]) * line[k].factor + line[k].shift), alpha, beta));
    }
    if (is_aligned) {
      eight.write(out + 8 * i);
    } else {
      for (int k = 0; k < 8; ++k) {
        out[8 * i + k] = eight.of[k];
      }
    }
  }
}
