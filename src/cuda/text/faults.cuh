// Kernels report these of data that they cannot take: Fault of device/faults.h.

enum { kIndexOutOfRange = 1, kDivisionByZero = 2, kWindowsAddUpToNothing = 3 };

__device__ inline void report(int* fault, int what) { *(volatile int*)fault = what; }

// The place that an index names along an axis of `size` elements: negative ones count from the end, where they may be.
// One out of range is reported, and is -1.
__device__ inline long long checkedIndex(long long index, long long size, int negative, int* fault) {
  const long long place = negative && index < 0 ? index + size : index;
  if (place < 0 || place >= size) {
    report(fault, kIndexOutOfRange);
    return -1;
  }
  return place;
}
