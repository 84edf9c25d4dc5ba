// Few long groups of normalization.cuh: sums of parts, what those left out, squares, then results.

__device__ inline double meanOf(const double* sums, const double* rests, const Rows& rows, long long row) {
  double mean = 0;
  if (sums) {
    mean = foldParts<double>(sums, rows, row, Sum<double>()) / (double)rows.length;
  }
  return rests ? mean + foldParts<double>(rests, rows, row, Sum<double>()) / (double)rows.length : mean;
}

// Sums of the values less the mean of `before`, which is null at first.
extern "C" __global__ void normalize_sums(Rows rows, Group group, const STORED* in, const double* before, double* sums) {
  __shared__ double shared[THREADS];
  forParts(rows, [&](const Part& part) {
    const double mean = meanOf(before, nullptr, rows, part.row);
    const double sum =
        foldLanes<double>(sumOf(in + group.kept.at(part.row), group, part, mean), shared, Sum<double>());
    if (part.writes) {
      sums[part.number] = sum;
    }
  });
}

extern "C" __global__ void normalize_squares(Rows rows, Group group, const STORED* in, const double* sums,
                                             const double* rests, double* squares) {
  __shared__ double shared[THREADS];
  forParts(rows, [&](const Part& part) {
    const double mean = meanOf(sums, rests, rows, part.row);
    const double sum =
        foldLanes<double>(squaresOf(in + group.kept.at(part.row), group, part, mean), shared, Sum<double>());
    if (part.writes) {
      squares[part.number] = sum;
    }
  });
}

extern "C" __global__ void normalize_write(Rows rows, Group group, const STORED* in, const double* sums, const double* rests,
                                           const double* squares, const STORED* scale, const STORED* bias, STORED* out) {
  forParts(rows, [&](const Part& part) {
    const double variance = foldParts<double>(squares, rows, part.row, Sum<double>()) / (double)rows.length;
    write(in + group.kept.at(part.row), group, part, meanOf(sums, rests, rows, part.row), variance, scale, bias, out);
  });
}
