// The windows of a convolution as lines of a matrix, for text of matmul/tile_product.cuh: a line for each place of the
// output, and along the depth the channels of one tap after the other. Channels lie dense, and are a multiple of 8, so that
// a chunk belongs to one tap. What is beside the image is zero, or Windows::padding if HAS_PADDING.

struct Windows {
  int channels, kernel_w;
  int height, width;          // of the image
  int out_height, out_width;
  int stride_y, stride_x, padding_y, padding_x, dilation_y, dilation_x;
  long long image, y, x;      // strides of the image in elements
  const STORED* padding;
};

template <int kLines>
class WindowLines {
 public:
  __device__ WindowLines(const STORED* in, const Windows& of, int first, int lines, int begin)
      : of_(of), in_(in), begin_(begin), channel_(begin + chunkOfThread() * 8) {
#pragma unroll
    for (int i = 0; i < kLines / kStep; ++i) {
      const int line = first + firstLine() + i * kStep, row = line / of.out_width, image = row / of.out_height;
      const int y = (row - image * of.out_height) * of.stride_y - of.padding_y;
      const int x = (line - row * of.out_width) * of.stride_x - of.padding_x;
      offsets_[i] = image * of.image + y * of.y + x * of.x;
      ys_[i] = line < lines ? y : -(1 << 30);  // in no image, whatever the tap
      xs_[i] = x;
    }
    findTap();
  }

  // Begins to copy the next stage: to be called for one after the other.
  __device__ void stage(unsigned short* to, int index, int depth) {
    const bool is_inside = begin_ + index * kDepth + chunkOfThread() * 8 < depth;
    const int dy = tap_y_ * of_.dilation_y, dx = tap_x_ * of_.dilation_x;
    const long long of_tap = dy * of_.y + dx * of_.x + channel_;
#pragma unroll
    for (int i = 0; i < kLines / kStep; ++i) {
      const bool is_there = is_inside && (unsigned)(ys_[i] + dy) < (unsigned)of_.height && (unsigned)(xs_[i] + dx) < (unsigned)of_.width;
      const STORED* const beside = HAS_PADDING ? of_.padding : in_;
      beginCopy(placeOf(to, firstLine() + i * kStep, chunkOfThread()), is_there ? in_ + offsets_[i] + of_tap : beside,
                is_there || HAS_PADDING);
    }
    channel_ += kDepth;
    findTap();
  }

 private:
  // Goes on to the tap of a channel that lies behind those of the one before.
  __device__ void findTap() {
    while (channel_ >= of_.channels) {
      channel_ -= of_.channels;
      if (++tap_x_ == of_.kernel_w) {
        tap_x_ = 0;
        ++tap_y_;
      }
    }
  }

  const Windows& of_;
  const STORED* in_;
  int begin_, channel_, tap_y_ = 0, tap_x_ = 0;
  long long offsets_[kLines / kStep];
  int ys_[kLines / kStep], xs_[kLines / kStep];
};
