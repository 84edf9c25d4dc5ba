#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/align.h"
#include "cpu/convolution/gemm/tile_rows.h"
#include "cpu/gemm/tiles.h"

namespace torchtrt::kernels::convolution {
namespace {

using gemm::kTileBlock;

constexpr size_t kHeight = 1, kWidth = 2;  // of a Spatial

// Rows of a block are the pixels of some lines of one output image. Between two lines lie rows whose windows reach from
// one into the other: these have no output. Pixel (y, x) of a plane is pixel (y * stride + py, x * stride + px) of the
// padded image, and each remainder (py, px) has a plane. With TileDepth::kLines, a plane has whole lines.
class PlaneRows final : public TileRows {
 public:
  PlaneRows(const Geometry& geometry, const TensorDesc& input, const TensorDesc& output, std::byte padding,
            const TileCut& cut)
      : TileRows(geometry, input, output, padding, cut), row_pixels_(has_lines_ ? geometry.stride[kWidth] : 1) {
    const Geometry& g = geometry_;
    const auto farthest = [&](size_t i) { return (g.kernel[i] - 1) * g.dilation[i] / g.stride[i]; };
    width_ = output_.size[kWidth] + farthest(kWidth);
    more_lines_ = farthest(kHeight);
    const int64_t height = output_.size[kHeight];
    const int64_t line_bytes = width_ * pixel_bytes_ * g.stride[kHeight] * g.stride[kWidth];
    behind_ = kTileBlock * row_pixels_ * pixel_bytes_ + cut.row_bytes;
    const int64_t wanted = std::max<int64_t>(1, cut.block_bytes / std::max<int64_t>(1, line_bytes) - more_lines_);
    const int64_t images = std::max<int64_t>(1, output_.batch);
    const int64_t blocks = std::clamp<int64_t>(std::max(ceilDiv(height, wanted), ceilDiv(cut.least_blocks, images)), 1,
                                               std::max<int64_t>(1, height));
    lines_ = std::max<int64_t>(1, ceilDiv(height, blocks));
    blocks_of_image_ = ceilDiv(height, lines_);
    findTaps();
  }

  int64_t blocks() const override {
    return output_.batch * blocks_of_image_;
  }
  int64_t mostRows() const override {
    return rowsOf(lines_);
  }
  size_t bufferBytes() const override {
    return static_cast<size_t>(static_cast<int64_t>(planes_.size()) * planePixels() * pixel_bytes_ + behind_);
  }
  int64_t rows(int64_t block) const override {
    return rowsOf(linesOf(block));
  }

  void find(int64_t block, int64_t* pixels) const override {
    const int64_t image = block / blocks_of_image_;
    const int64_t first = (image * output_.size[kHeight] + block % blocks_of_image_ * lines_) * output_.size[kWidth];
    int64_t* const end = pixels + rows(block);
    for (int64_t pixel = first; pixels < end; pixel += output_.size[kWidth]) {
      std::iota(pixels, pixels + output_.size[kWidth], pixel);
      pixels += output_.size[kWidth];
      pixels = std::fill_n(pixels, std::min(width_ - output_.size[kWidth], end - pixels), -1);
    }
  }

  void prepare(const void* input, int64_t block, std::byte* buffer) const override {
    const std::byte* image = static_cast<const std::byte*>(input) + block / blocks_of_image_ * input_.batch_stride;
    const int64_t first = block % blocks_of_image_ * lines_;
    for (const auto& [y, x] : planes_) {
      for (int64_t line = 0; line < linesOf(block) + more_lines_; ++line) {
        copyLine(image, (first + line) * geometry_.stride[kHeight] + y - geometry_.pre_padding[kHeight],
                 x - geometry_.pre_padding[kWidth], buffer + line * linePixels() * pixel_bytes_);
      }
      // The last row reads up to a step behind its pixels, which meets zeros among the weights: no NaN may lie there.
      const int64_t copied = (linesOf(block) + more_lines_) * linePixels() * pixel_bytes_;
      std::fill_n(buffer + copied, gemm::kTileStep, std::byte{0});
      buffer += planePixels() * pixel_bytes_;
    }
  }

  Lying at(const void*, int64_t, const std::byte* buffer, int64_t first) const override {
    return {buffer + first * row_pixels_ * pixel_bytes_, row_pixels_ * pixel_bytes_};
  }

 private:
  struct Plane {
    int64_t y, x;
    bool operator==(const Plane&) const = default;
  };

  void findTaps() {
    const Geometry& g = geometry_;
    for (int64_t y = 0; y < g.kernel[kHeight]; ++y) {
      for (int64_t x = 0; x < (has_lines_ ? 1 : g.kernel[kWidth]); ++x) {
        const int64_t down = y * g.dilation[kHeight];
        const int64_t right = x * g.dilation[kWidth];
        const Plane plane = {down % g.stride[kHeight], right % g.stride[kWidth]};
        const auto found = std::find(planes_.begin(), planes_.end(), plane);
        const int64_t index = found - planes_.begin();
        if (found == planes_.end()) {
          planes_.push_back(plane);
        }
        const int64_t pixel =
            index * planePixels() + down / g.stride[kHeight] * linePixels() + right / g.stride[kWidth];
        tap_offsets_.push_back(pixel * pixel_bytes_);
      }
    }
  }

  int64_t linePixels() const {
    return width_ * row_pixels_;
  }
  int64_t planePixels() const {
    return (lines_ + more_lines_) * linePixels();
  }
  int64_t linesOf(int64_t block) const {
    return std::min(lines_, output_.size[kHeight] - block % blocks_of_image_ * lines_);
  }
  int64_t rowsOf(int64_t lines) const {
    return (lines - 1) * width_ + output_.size[kWidth];
  }

  // Copies pixels x, x + step and so on of line y.
  void copyLine(const std::byte* image, int64_t y, int64_t x, std::byte* to) const {
    const int64_t pixels = linePixels();
    std::byte* const end = to + pixels * pixel_bytes_;
    if (y < 0 || y >= input_.size[kHeight]) {
      std::fill(to, end, padding_);
      return;
    }
    const int64_t step = has_lines_ ? 1 : geometry_.stride[kWidth];
    const int64_t before = x < 0 ? std::min(pixels, (step - 1 - x) / step) : 0;
    const int64_t inside = std::clamp<int64_t>((input_.size[kWidth] - x + step - 1) / step, before, pixels) - before;
    to = std::fill_n(to, before * pixel_bytes_, padding_);
    const std::byte* from = image + y * input_.stride[kHeight] + (x + before * step) * input_.stride[kWidth];
    const auto bytes = static_cast<size_t>(pixel_bytes_);
    if (step == 1 && input_.stride[kWidth] == pixel_bytes_) {
      std::memcpy(to, from, static_cast<size_t>(inside) * bytes);
      to += inside * pixel_bytes_;
    } else {
      for (int64_t i = 0; i < inside; ++i, to += pixel_bytes_, from += step * input_.stride[kWidth]) {
        std::memcpy(to, from, bytes);
      }
    }
    std::fill(to, end, padding_);
  }

  int64_t row_pixels_;      // from row to row
  int64_t behind_ = 0;      // bytes that are read behind the last plane
  int64_t width_ = 0;       // rows of a line
  int64_t lines_ = 0;       // of the output, in a block
  int64_t more_lines_ = 0;  // of a plane
  int64_t blocks_of_image_ = 1;
  std::vector<Plane> planes_;
};

}  // namespace

bool havePlanes(const Geometry& g, size_t element_bytes) {
  return g.kernel[0] == 1 && g.stride[0] == 1 && g.pre_padding[0] == 0 && g.post_padding[0] == 0 &&
         g.spatial_rank == 2 && g.channels * static_cast<int64_t>(element_bytes) % gemm::kTileStep == 0;
}

TileDepth depthOf(const Geometry& g, size_t element_bytes) {
  const bool is_flat =
      g.kernel[0] == 1 && g.stride[0] == 1 && g.pre_padding[0] == 0 && g.post_padding[0] == 0 && g.spatial_rank == 2;
  return is_flat && g.kernel[kWidth] > 1 && g.dilation[kWidth] == 1 && !havePlanes(g, element_bytes)
             ? TileDepth::kLines
             : TileDepth::kTight;
}

int64_t pieceBytes(const Geometry& g, size_t element_bytes, TileDepth depth) {
  const int64_t taps = depth == TileDepth::kLines ? g.kernel[kWidth] : g.taps();
  return roundUp(taps * g.channels * static_cast<int64_t>(element_bytes), gemm::kTileStep);
}

std::unique_ptr<TileRows> makePlaneRows(const Geometry& geometry, const TensorDesc& input, const TensorDesc& output,
                                        std::byte padding, const TileCut& cut) {
  return std::make_unique<PlaneRows>(geometry, input, output, padding, cut);
}

}  // namespace torchtrt::kernels::convolution
