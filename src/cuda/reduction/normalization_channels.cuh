// Batch normalization of elements of 16 bits with the channels next to each other, a multiple of eight of them, eight at a time.
extern "C" __global__ void normalizeChannels(long long eights, long long channels, const STORED* in, const Line* lines, STORED* out,
                                             double alpha_, double beta_) {
  const C alpha = (C)alpha_, beta = (C)beta_;
  (void)alpha, (void)beta;
  const bool is_aligned = ((unsigned long long)in | (unsigned long long)out) % 16 == 0;
  for (long long i = firstElement(); i < eights; i += allThreads()) {
    union {
      Eight all;
      STORED each[8];
    };
    if (is_aligned) {
      all = ((const Eight*)in)[i];
    } else {
      for (int k = 0; k < 8; ++k) {
        each[k] = in[8 * i + k];
      }
    }
    const Line* const line = lines + (8 * i - quotient(8 * i, channels) * channels);
    for (int k = 0; k < 8; ++k) {
      store(&each[k], ACTIVATION((C)((S)load(&each[k]) * line[k].factor + line[k].shift), alpha, beta));
    }
    if (is_aligned) {
      ((Eight*)out)[i] = all;
    } else {
      for (int k = 0; k < 8; ++k) {
        out[8 * i + k] = each[k];
      }
    }
  }
}
