// Few long rows of reduce.cuh: each launch folds parts, of which the next makes one value.

extern "C" __global__ void reduce_first(Rows rows, Walk<KEPT> kept, Walk<FOLDED> folded, const STORED* in, double* firsts) {
  waitForInputs();
  __shared__ double shared[THREADS];
  forParts(rows, [&](const Part& part) {
    const double first = foldLanes<double>(firstOf(in + kept.at(part.row), folded, part), shared, FirstFold());
    if (part.writes) {
      firsts[part.number] = first;
    }
  });
}

extern "C" __global__ void reduce_parts(Rows rows, Walk<KEPT> kept, Walk<FOLDED> folded, const STORED* in,
                                        const double* firsts, A* values) {
  waitForInputs();
  __shared__ A shared[THREADS];
  forParts(rows, [&](const Part& part) {
    const double first = FOLDS_TWICE ? foldParts<double>(firsts, rows, part.row, FirstFold()) : 0;
    const A value =
        foldLanes<A>(termsOf(in + kept.at(part.row), folded, part, first, rows.length), shared, FOLD<A>());
    if (part.writes) {
      values[part.number] = value;
    }
  });
}

// A thread for each row.
extern "C" __global__ void reduce_finish(Rows rows, const double* firsts, const A* values, Walk<KEPT> to, OUT* out,
                                         double correction) {
  waitForInputs();
  for (long long row = firstElement(); row < rows.count; row += allThreads()) {
    const double first = FOLDS_TWICE ? foldParts<double>(firsts, rows, row, FirstFold()) : 0;
    store(out + to.at(row), resultOf(foldParts<A>(values, rows, row, FOLD<A>()), first, rows.length, correction));
  }
}
