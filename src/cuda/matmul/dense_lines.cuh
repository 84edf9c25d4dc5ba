// Lines of a matrix that lie dense along the depth, for text of matmul/tile_product.cuh. A thread copies one chunk of every
// kStep-th line.

template <int kLines>
class DenseLines {
 public:
  // Lines from `first` on, of `lines` in all, and along the depth from `begin` on; `step` elements from one line to the next.
  __device__ DenseLines(const STORED* matrix, long long step, int first, int lines, int begin)
      : from_(matrix + (first + firstLine()) * step + begin + chunkOfThread() * 8),
        step_(kStep * step),
        left_(lines - first - firstLine()),
        begin_(begin),
        valid_(matrix) {}

  // Begins to copy stage `index` of those up to `depth`. Lines that are not there, and what lies beyond the depth, are zero.
  __device__ void stage(unsigned short* to, int index, int depth) {
    const bool is_inside = begin_ + index * kDepth + chunkOfThread() * 8 < depth;
#pragma unroll
    for (int i = 0; i < kLines / kStep; ++i) {
      const bool is_there = is_inside && i * kStep < left_;
      beginCopy(placeOf(to, firstLine() + i * kStep, chunkOfThread()), is_there ? from_ + i * step_ + index * kDepth : valid_,
                is_there);
    }
  }

 private:
  const STORED* from_;
  long long step_;
  int left_, begin_;
  const STORED* valid_;
};
