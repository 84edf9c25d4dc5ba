// Attention reads matrices and masks by these.

struct Steps {  // elements from row to row, and from column to column
  long long row, column;
};

// A mask that is chosen from, or one that is added.
__device__ inline float masked(float score, const Bool* mask) { return mask->byte ? score : -floatOf(0x7f800000u); }
template <class T>
__device__ float masked(float score, const T* mask) { return score + load(mask); }
