// Rows in groups, each times the matrix of its group; rows behind the last group give zeros. A thread for each result.

extern "C" __global__ void grouped(long long rows, long long depth, long long columns, long long groups, long long a_row,
                                   long long a_step, const STORED* a, long long b_group, long long b_row,
                                   long long b_column, const STORED* b, long long ends_step, const INDEX* ends,
                                   long long out_row, long long out_column, STORED* out, int* fault) {
  if (firstElement() == 0) {
    long long before = 0;
    for (long long group = 0; group < groups; ++group) {
      const long long end = ends[group * ends_step];
      if (end < before || end > rows) {
        *fault = 1;
      }
      before = end;
    }
  }
  for (long long i = firstElement(); i < rows * columns; i += allThreads()) {
    const long long row = i / columns, column = i % columns;
    long long group = 0, beyond = groups;  // the first that ends behind the row
    while (group < beyond) {
      const long long middle = (group + beyond) / 2;
      if (ends[middle * ends_step] > row) {
        beyond = middle;
      } else {
        group = middle + 1;
      }
    }
    A sums[4] = {0, 0, 0, 0};
    if (group < groups) {
      const STORED* const left = a + row * a_row;
      const STORED* const right = b + group * b_group + column * b_column;
      for (long long k = 0; k < depth; ++k) {
        sums[k & 3] += load(left + k * a_step) * load(right + k * b_row);
      }
    }
    store(out + row * out_row + column * out_column, (sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
}
