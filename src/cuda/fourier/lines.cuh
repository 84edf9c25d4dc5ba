// Whole transforms in a block's memory, for lines that fit into it; a block has some at a time.

struct Stages {
  int count, radix[14];
};

// A thread for each number, then the next; `read` and `written` change places, so that `read` has the result.
__device__ inline void runStages(const Stages& stages, int all, int numbers, const Complex* roots, Complex*& read,
                                 Complex*& written) {
  int before = 1;
  for (int s = 0; s < stages.count; ++s) {
    __syncthreads();
    for (int i = threadIdx.x; i < all; i += blockDim.x) {
      const int line = i / numbers;
      const Complex* const of_line = read + line * numbers;
      written[i] = stageNumber(numbers, stages.radix[s], before, roots, i - line * numbers,
                               [&](int m) { return of_line[m]; });
    }
    before *= stages.radix[s];
    Complex* const other = read;
    read = written;
    written = other;
  }
  __syncthreads();
}

// Neighbouring threads take neighbouring numbers of a line, or numbers of neighbouring lines where those lie closer.
struct Turn {
  int line, number;

  __device__ Turn(int i, int lines, int numbers, int by_line) {
    const int size = by_line ? lines : numbers, first = i / size, second = i - first * size;
    line = by_line ? second : first;
    number = by_line ? first : second;
  }
};

extern "C" __global__ void fourier_lines(long long lines, int per_block, int in_by_line, int out_by_line, Stages stages,
                                         Transform t, Tables tables, Walk<LINES> walk, Strides<LINES> to_in_im,
                                         Strides<LINES> to_out_re, Strides<LINES> to_out_im, const N* in_re,
                                         const N* in_im, const N* window, N* out_re, N* out_im) {
  __shared__ Complex first_half[CAPACITY];
  __shared__ Complex second_half[CAPACITY];
  const int numbers = (int)t.numbers;
  for (long long first = (long long)blockIdx.x * per_block; first < lines; first += (long long)gridDim.x * per_block) {
    const int here = lines - first < per_block ? (int)(lines - first) : per_block, all = here * numbers;
    Complex *read = first_half, *written = second_half;
    __syncthreads();  // the lines before have been written
    for (int i = threadIdx.x; i < all; i += blockDim.x) {
      const Turn turn(i, here, numbers, in_by_line);
      const Coordinates<LINES> place = walk.coordinates(first + turn.line);
      const Source line = {in_re + walk.at(place), in_im == nullptr ? nullptr : in_im + to_in_im.at(place), window};
      read[turn.line * numbers + turn.number] = readNumber(t, tables, line, turn.number);
    }
    runStages(stages, all, numbers, tables.roots, read, written);
#if CHIRP
    for (int i = threadIdx.x; i < all; i += blockDim.x) {
      read[i] = convolved(tables, i % numbers, read[i]);
    }
    runStages(stages, all, numbers, tables.roots, read, written);
#endif
    const int wanted = (int)t.out_count;
    for (int i = threadIdx.x; i < here * wanted; i += blockDim.x) {
      const Turn turn(i, here, wanted, out_by_line);
      const Coordinates<LINES> place = walk.coordinates(first + turn.line);
      const Target line = {out_re + to_out_re.at(place), out_im == nullptr ? nullptr : out_im + to_out_im.at(place),
                           window};
      writeNumber(t, tables, line, turn.number, read[turn.line * numbers + turn.number]);
    }
  }
}
