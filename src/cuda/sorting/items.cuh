// Items to sort: keys, and the places that they came from.

struct Item {
  unsigned long long key;
  long long place;
};

// Keys in the order of numbers. NaN is greater than every number and equal to itself; zeros of both signs are equal.
__device__ inline unsigned long long keyOf(long long value) {
  return (unsigned long long)value ^ (1ULL << 63);
}
__device__ inline unsigned long long keyOf(double value) {
  if (value != value) {
    return ~0ULL;
  }
  const unsigned long long bits = (unsigned long long)__double_as_longlong(value == 0 ? 0.0 : value);
  return bits >> 63 ? ~bits : bits | (1ULL << 63);
}
__device__ inline unsigned long long keyOf(float value) { return keyOf((double)value); }

__device__ inline bool isBefore(const Item& a, const Item& b) {
  return a.key < b.key || (a.key == b.key && a.place < b.place);
}
