// A thread for each line, for short ones, for those whose neighbours lie next to each other, and where the order counts.

extern "C" __global__ void cumulative_lines(Lines lines, const STORED* in, STORED* out, long long* places) {
  for (long long line = firstElement(); line < lines.count; line += allThreads()) {
    const STORED* const from = in + lines.in.at(line);
    State state = FOLD::start();
    for (long long at = 0; at < lines.length; ++at) {
      state = FOLD::merge(state, FOLD::term(load(from + at * lines.in_step), at));
      write(lines, line, at, state, out, places);
    }
  }
}
