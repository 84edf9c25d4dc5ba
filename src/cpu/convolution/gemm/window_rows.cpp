#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "cpu/convolution/gemm/tile_rows.h"
#include "cpu/gemm/tiles.h"

namespace torchtrt::kernels::convolution {
namespace {

using gemm::kTileBlock;
using gemm::kTileStep;

class WindowRows final : public TileRows {
 public:
  WindowRows(const Geometry& geometry, const TensorDesc& input, const TensorDesc& output, std::byte padding,
             const TileCut& cut)
      : TileRows(geometry, input, output, padding, cut),
        row_bytes_(cut.row_bytes),
        // Lines of rows at an even distance would share sets of the first-level cache.
        stride_(row_bytes_ / kTileStep % 2 == 0 ? row_bytes_ + kTileStep : row_bytes_),
        copies_(copies()) {
    findRuns();
    are_pixels_ = geometry_.isPointwise() && geometry_.stride == Spatial{1, 1, 1} && isFlat(input_, pixel_bytes_);
    lie_ready_ = are_pixels_ && pixel_bytes_ == row_bytes_;
    const int64_t all = output_.batch * output_.pixels();
    const int64_t wanted = std::max(cut.least_blocks, ceilDiv(all * stride_, cut.block_bytes));
    block_rows_ = roundUp(std::max<int64_t>(1, ceilDiv(all, wanted)), kTileBlock);
    all_ = all;
    tap_offsets_ = {0};
  }

  int64_t blocks() const override {
    return ceilDiv(all_, block_rows_);
  }
  int64_t mostRows() const override {
    return block_rows_;
  }
  size_t bufferBytes() const override {
    return static_cast<size_t>((lie_ready_ ? kTileBlock : block_rows_) * stride_) + kBehindCopiedRuns;
  }
  int64_t rows(int64_t block) const override {
    return std::min(block_rows_, all_ - block * block_rows_);
  }
  void find(int64_t block, int64_t* pixels) const override {
    for (int64_t r = 0; r < rows(block); ++r) {
      pixels[r] = block * block_rows_ + r;
    }
  }
  void prepare(const void* input, int64_t block, std::byte* buffer) const override {
    const int64_t count = rows(block);
    const int64_t ready = lie_ready_ ? count / kTileBlock * kTileBlock : 0;  // behind the last may be no memory
    gather(input, block * block_rows_ + ready, count - ready, buffer);
  }
  Lying at(const void* input, int64_t block, const std::byte* buffer, int64_t first) const override {
    if (!lie_ready_) {
      return {buffer + first * stride_, stride_};
    }
    if (first + kTileBlock > rows(block)) {
      return {buffer, stride_};
    }
    return {static_cast<const std::byte*>(input) + (block * block_rows_ + first) * row_bytes_, row_bytes_};
  }

 private:
  void findRuns() {
    const Geometry& g = geometry_;
    // A line of taps is one run of memory where pixels lie side by side.
    if (g.dilation[2] == 1 && input_.stride[2] == pixel_bytes_ && !has_lines_) {
      taps_of_run_ = g.kernel[2];
    }
    for (int64_t z = 0; z < g.kernel[0]; ++z) {
      for (int64_t y = 0; y < g.kernel[1]; ++y) {
        for (int64_t x = 0; x < g.kernel[2]; x += taps_of_run_) {
          const Spatial at = {z * g.dilation[0], y * g.dilation[1], x * g.dilation[2]};
          runs_.push_back(at);
          offsets_.push_back(at[0] * input_.stride[0] + at[1] * input_.stride[1] + at[2] * input_.stride[2]);
        }
      }
    }
  }

  bool isInside(const Spatial& start) const {
    for (size_t i = 0; i < 3; ++i) {
      if (start[i] < 0 || start[i] + (geometry_.kernel[i] - 1) * geometry_.dilation[i] >= input_.size[i]) {
        return false;
      }
    }
    return true;
  }

  void gather(const void* input, int64_t first, int64_t count, std::byte* to) const {
    const Geometry& g = geometry_;
    const auto* images = static_cast<const std::byte*>(input);
    if (are_pixels_) {
      copies_.rows({images + first * pixel_bytes_, pixel_bytes_, count, pixel_bytes_, to, stride_});
      return;
    }
    Pixel pixel = output_.pixelAt(first);
    for (int64_t r = 0; r < count; ++r, output_.advance(pixel), to += stride_) {
      const Spatial start = {pixel[1] * g.stride[0] - g.pre_padding[0], pixel[2] * g.stride[1] - g.pre_padding[1],
                             pixel[3] * g.stride[2] - g.pre_padding[2]};
      const std::byte* image = images + pixel[0] * input_.batch_stride;
      std::memset(to + row_bytes_ - kTileStep, 0, kTileStep);
      if (has_lines_) {
        gatherLines(image, start, to);
      } else if (isInside(start)) {
        const std::byte* from =
            image + start[0] * input_.stride[0] + start[1] * input_.stride[1] + start[2] * input_.stride[2];
        copies_.runs({from, offsets_.data(), static_cast<int64_t>(runs_.size()), taps_of_run_ * pixel_bytes_, to});
      } else {
        gatherAtEdge(image, start, to);
      }
    }
  }

  // Copies tap by tap. Only images with an infinity or NaN need it.
  void gatherLines(const std::byte* image, const Spatial& start, std::byte* to) const {
    const Geometry& g = geometry_;
    std::memset(to, 0, static_cast<size_t>(row_bytes_));
    const int64_t line_bytes = row_bytes_ / (g.kernel[0] * g.kernel[1]);
    for (size_t tap = 0; tap < runs_.size(); ++tap) {
      const int64_t y = start[1] + runs_[tap][1];
      const int64_t x = start[2] + runs_[tap][2];
      const auto index = static_cast<int64_t>(tap);
      std::byte* const place = to + index / g.kernel[2] * line_bytes + index % g.kernel[2] * pixel_bytes_;
      if (y >= 0 && y < input_.size[1] && x >= 0 && x < input_.size[2]) {
        std::memcpy(place, image + y * input_.stride[1] + x * input_.stride[2], static_cast<size_t>(pixel_bytes_));
      } else {
        std::fill_n(place, pixel_bytes_, padding_);
      }
    }
  }

  void gatherAtEdge(const std::byte* image, const Spatial& start, std::byte* to) const {
    const int64_t length = taps_of_run_ * pixel_bytes_;
    for (const Spatial& tap : runs_) {
      const int64_t z = start[0] + tap[0];
      const int64_t y = start[1] + tap[1];
      const int64_t x = start[2] + tap[2];
      // The taps of the run inside of the image.
      int64_t begin = 0;
      int64_t end = 0;
      if (z >= 0 && z < input_.size[0] && y >= 0 && y < input_.size[1]) {
        begin = std::clamp<int64_t>(-x, 0, taps_of_run_);
        end = std::clamp<int64_t>(input_.size[2] - x, begin, taps_of_run_);
      }
      std::fill(to, to + begin * pixel_bytes_, padding_);
      if (begin < end) {
        const int64_t offset = z * input_.stride[0] + y * input_.stride[1] + (x + begin) * input_.stride[2];
        std::memcpy(to + begin * pixel_bytes_, image + offset, static_cast<size_t>((end - begin) * pixel_bytes_));
      }
      std::fill(to + end * pixel_bytes_, to + length, padding_);
      to += length;
    }
  }

  int64_t row_bytes_;
  int64_t stride_;                // of rows that were put together, in bytes
  int64_t taps_of_run_ = 1;       // 1, or a line of the filter
  std::vector<Spatial> runs_;     // offsets of their first taps from the window's start
  std::vector<int64_t> offsets_;  // the same in bytes
  bool are_pixels_ = false;       // side by side
  bool lie_ready_ = false;
  int64_t all_ = 0;
  int64_t block_rows_ = 0;
  Copies copies_;
};

}  // namespace

std::unique_ptr<TileRows> makeWindowRows(const Geometry& geometry, const TensorDesc& input, const TensorDesc& output,
                                         std::byte padding, const TileCut& cut) {
  return std::make_unique<WindowRows>(geometry, input, output, padding, cut);
}

}  // namespace torchtrt::kernels::convolution
