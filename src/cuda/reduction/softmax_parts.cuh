// Few long rows of softmax.cuh: greatest elements of parts, then sums, then results.

extern "C" __global__ void softmax_highest(Rows rows, Walk<KEPT> kept, long long step, const STORED* in, C* highests) {
  waitForInputs();
  __shared__ C shared[THREADS];
  forParts(rows, [&](const Part& part) {
    const C highest = foldLanes<C>(highestOf(in + kept.at(part.row), step, part), shared, Maximum<C>());
    if (part.writes) {
      highests[part.number] = highest;
    }
  });
}

extern "C" __global__ void softmax_sum(Rows rows, Walk<KEPT> kept, long long step, const STORED* in, const C* highests,
                                       C* sums) {
  waitForInputs();
  __shared__ C shared[THREADS];
  forParts(rows, [&](const Part& part) {
    const C highest = foldParts<C>(highests, rows, part.row, Maximum<C>());
    const C sum = foldLanes<C>(sumOf(in + kept.at(part.row), step, part, highest), shared, Sum<C>());
    if (part.writes) {
      sums[part.number] = sum;
    }
  });
}

extern "C" __global__ void softmax_write(Rows rows, Walk<KEPT> kept, long long from_step, const STORED* in, const C* highests,
                                         const C* sums, Walk<KEPT> kept_to, long long to_step, STORED* out) {
  waitForInputs();
  forParts(rows, [&](const Part& part) {
    const C highest = foldParts<C>(highests, rows, part.row, Maximum<C>());
    const C sum = foldParts<C>(sums, rows, part.row, Sum<C>());
    write(in + kept.at(part.row), from_step, out + kept_to.at(part.row), to_step, part, highest, sum);
  });
}
