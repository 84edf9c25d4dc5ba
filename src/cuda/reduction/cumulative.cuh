// Folds of all elements up to each along an axis. STORED, C (computed in), SUM (what is carried along), FOLD (a struct
// below) and LINES (rank of the other axes) come from cumulative.cpp.

struct Plus {
  typedef SUM State;
  __device__ static State start() { return (State)0; }
  __device__ static State term(C value, long long) { return (State)value; }
  __device__ static State merge(State a, State b) { return a + b; }
  __device__ static C value(State state) { return (C)state; }
  __device__ static long long place(State) { return 0; }
};

struct Times : Plus {
  __device__ static State start() { return (State)1; }
  __device__ static State merge(State a, State b) { return a * b; }
};

struct LogSumExp : Plus {
  __device__ static State start() { return (State)-INFINITY; }
  __device__ static State merge(State a, State b) {
    if (a != a || b != b) {
      return a + b;
    }
    const double high = (double)(a > b ? a : b), low = (double)(a > b ? b : a);
    // Equal infinities stay what they are.
    return (State)(high == low && fabs(high) == (double)INFINITY ? high : high + log1p(exp(low - high)));
  }
};

// The last of equal extremes; the last NaN, from where it is.
template <bool kIsMax>
struct Extreme {
  struct State {
    C value;
    long long place;  // below 0: no element yet
  };
  __device__ static State start() {
    const State none = {(C)0, -1};
    return none;
  }
  __device__ static State term(C value, long long place) {
    const State one = {value, place};
    return one;
  }
  __device__ static State merge(State a, State b) {
    if (a.place < 0 || b.place < 0) {
      return b.place < 0 ? a : b;
    }
    const bool wins = kIsMax ? b.value >= a.value : b.value <= a.value;
    return b.value != b.value || (a.value == a.value && wins) ? b : a;
  }
  __device__ static C value(State state) { return state.value; }
  __device__ static long long place(State state) { return state.place; }
};
typedef Extreme<true> Greatest;
typedef Extreme<false> Least;

typedef FOLD::State State;

struct Lines {
  Walk<LINES> in, out, places;
  long long count, length, in_step, out_step, place_step;
};

__device__ inline void write(const Lines& lines, long long line, long long at, State state, STORED* out, long long* places) {
  store(out + lines.out.at(line) + at * lines.out_step, FOLD::value(state));
  if (places != nullptr) {
    places[lines.places.at(line) + at * lines.place_step] = FOLD::place(state);
  }
}
