// A stage of lines that do not fit into a block's memory, from one piece of the device's to another: a thread for each
// number.

enum { kFirst = 1, kLast = 2, kConvolves = 4 };

// Lines `first` to `first + lines`. The first stage reads the lines, the last one writes them; the last stage in front of a
// chirp's spectrum convolves.
extern "C" __global__ void fourier_stage(long long first, long long lines, int kind, int radix, int before, Transform t,
                                         Tables tables, Walk<LINES> walk, Strides<LINES> to_in_im,
                                         Strides<LINES> to_out_re, Strides<LINES> to_out_im, const N* in_re,
                                         const N* in_im, const N* window, N* out_re, N* out_im, const Complex* read,
                                         Complex* written) {
  const int numbers = (int)t.numbers;
  for (long long i = firstElement(); i < lines * numbers; i += allThreads()) {
    const long long row = quotient(i, numbers);
    const int index = (int)(i - row * numbers);
    const Coordinates<LINES> place = walk.coordinates(first + row);
    Complex value;
    if (kind & kFirst) {
      const Source line = {in_re + walk.at(place), in_im == nullptr ? nullptr : in_im + to_in_im.at(place), window};
      value = stageNumber(numbers, radix, before, tables.roots, index,
                          [&](int m) { return readNumber(t, tables, line, m); });
    } else {
      const Complex* const line = read + row * numbers;
      value = stageNumber(numbers, radix, before, tables.roots, index, [&](int m) { return line[m]; });
    }
#if CHIRP
    if (kind & kConvolves) {
      value = convolved(tables, index, value);
    }
#endif
    if (!(kind & kLast)) {
      written[i] = value;
    } else if (index < t.out_count) {
      const Target line = {out_re + to_out_re.at(place), out_im == nullptr ? nullptr : out_im + to_out_im.at(place),
                           window};
      writeNumber(t, tables, line, index, value);
    }
  }
}
