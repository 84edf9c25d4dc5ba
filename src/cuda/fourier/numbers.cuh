// Discrete Fourier transforms of lines of numbers: how a line is read and written, and a number of a stage's result.
// STORED (float or double), FORM (0 half, 1 full, 2 complex, 3 real), CHIRP, LINES (rank of the dims beside the line)
// and CAPACITY come from fourier.cpp; cpu/fourier/plugins.h says what the forms are.

typedef STORED N;

struct Complex {
  N re, im;
};

__device__ inline Complex times(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
// The inverse transform is the transform with the parts exchanged.
__device__ inline Complex exchanged(Complex value) { return {value.im, value.re}; }

struct Transform {
  long long length;   // of a line
  long long numbers;  // of the transforms that it consists of: more than `length` with a chirp
  long long in_count, in_re_step, in_im_step;
  long long out_count, out_re_step, out_im_step;
  long long window_step;
  double scale;
  int inverse;
};
// In the device's memory: the roots of one of `numbers`, and of a chirp itself and its spectrum.
struct Tables {
  const Complex* roots;
  const Complex* chirp;
  const Complex* spectrum;
};

// Pointers to the first number of a line; a null pointer stands for zeros, and for a window of ones.
struct Source {
  const N* re;
  const N* im;
  const N* window;
};
struct Target {
  N* re;
  N* im;
  const N* window;
};

// Number `m` of what is transformed.
__device__ inline Complex readNumber(const Transform& t, const Tables& tables, const Source& line, long long m) {
  Complex value = {0, 0};
  if (m >= t.length) {
    return value;
  }
#if FORM == 3  // numbers behind the middle are conjugates; the first and, of an even length, the last are real
  const long long at = 2 * m > t.length ? t.length - m : m;
  if (at < t.in_count) {
    value.re = line.re[at * t.in_re_step];
    if (line.im != nullptr && m != 0 && 2 * m != t.length) {
      const N im = line.im[at * t.in_im_step];
      value.im = at == m ? im : -im;
    }
  }
#else
  if (m < t.in_count) {
    value.re = line.re[m * t.in_re_step];
#if FORM == 2
    value.im = line.im == nullptr ? N(0) : line.im[m * t.in_im_step];
#else
    value.re *= line.window == nullptr ? N(1) : line.window[m * t.window_step];
#endif
  }
#endif
  if (t.inverse) {
    value = exchanged(value);
  }
#if CHIRP
  value = times(value, tables.chirp[m]);
#endif
  return value;
}

// Number `k` of the transform, k < out_count.
__device__ inline void writeNumber(const Transform& t, const Tables& tables, const Target& line, long long k,
                                   Complex value) {
#if CHIRP
  value = times(exchanged(value), tables.chirp[k]);
#endif
  if (t.inverse) {
    value = exchanged(value);
  }
  const N scale = (N)t.scale;
#if FORM == 3
  line.re[k * t.out_re_step] = value.re * (line.window == nullptr ? scale : line.window[k * t.window_step] * scale);
#else
  const bool is_real = FORM < 2 && (k == 0 || 2 * k == t.length);
  line.re[k * t.out_re_step] = value.re * scale;
  line.im[k * t.out_im_step] = is_real ? N(0) : value.im * scale;
#endif
}

#if CHIRP
// Multiplies by the spectrum between the two transforms of a chirp. It exchanges the parts because the second one is an
// inverse transform.
__device__ inline Complex convolved(const Tables& tables, long long k, Complex value) {
  return exchanged(times(value, tables.spectrum[k]));
}
#endif

// Number `index` behind a stage, which makes transforms of radix * before numbers from those of `before` (Stockham's
// order, in time). at(m) is number m in front of it.
template <class At>
__device__ Complex stageNumber(int numbers, int radix, int before, const Complex* roots, int index, At at) {
  const int size = radix * before, group = index / size, place = index - group * size;
  const int apart = numbers / radix, turn = place * (numbers / size);
  int from = group * before + place % before, root = 0;
  Complex sum = at(from);
  for (int j = 1; j < radix; ++j) {
    from += apart;
    root += turn;
    root -= root < numbers ? 0 : numbers;
    const Complex value = at(from), by = roots[root];
    sum.re += value.re * by.re - value.im * by.im;
    sum.im += value.re * by.im + value.im * by.re;
  }
  return sum;
}
