// Depthwise convolution behind a pointwise one, as networks for phones have them: the lines of the wide image between
// the two are computed as they are needed, and only those that the kernel reaches are kept, in the second-level cache.
#include <algorithm>
#include <atomic>
#include <utility>

#include "cpu/convolution/direct/depthwise.h"
#include "cpu/threads/parallel.h"
#include "device/device.h"

namespace torchtrt::kernels::convolution {
namespace {

// Bands of output lines, each of one image: at the beginning of one, lines are computed that the band before had, too.
constexpr int64_t kBandsOfThread = 4;  // so that no thread waits long for another
constexpr int64_t kLeastShare = 6;  // of the lines of a band those that it has to itself: times those that it has not
constexpr int64_t kPadding = 16;    // floats between lines: multiples of a page apart, they would share few sets

class DepthwiseBehind final : public Prepared {
 public:
  DepthwiseBehind(std::shared_ptr<const PackedDepthwise> packed, const ShapeSet& shapes,
                  std::unique_ptr<PixelSource> before, bool with_means)
      : packed_(std::move(packed)),
        before_(std::move(before)),
        first_of_before_(shapes.inputs.size()),
        input_(imageOf(shapes.inputs[0])),
        output_(imageOf(shapes.outputs[0])),
        means_(packed_->functions, output_),
        with_means_(with_means),
        threads_(shapes.threads) {
    const Geometry& g = packed_->geometry;
    reach_ = (g.kernel[1] - 1) * g.dilation[1] + 1;
    pitch_ = input_.size[2] * g.channels + kPadding;
    const int64_t shared = std::max<int64_t>(0, reach_ - g.stride[1]);
    const int64_t least = (kLeastShare * shared + g.stride[1] - 1) / g.stride[1];
    const int64_t even = output_.batch * output_.size[1] / (kBandsOfThread * threads_);
    band_ = std::clamp<int64_t>(std::max(even, least), 1, output_.size[1]);
    bands_of_image_ = (output_.size[1] + band_ - 1) / band_;
  }

  size_t scratchBytes() const override {
    return static_cast<size_t>(threads_ * floatsOfLines() + (with_means_ ? means_.floats() : 0)) * sizeof(float);
  }

  int64_t bands() const {
    return output_.batch * bands_of_image_;
  }

  void run(const RunArgs& args) const override {
    auto* scratch = static_cast<float*>(args.scratch);
    float* sums = with_means_ ? scratch + threads_ * floatsOfLines() : nullptr;
    const int64_t bands = this->bands();
    std::atomic<int64_t> next = 0;
    parallelFor(args.threads, 0, std::min<int64_t>(threads_, bands), 1, [&](int64_t begin, int64_t end) {
      for (int64_t own = begin; own < end; ++own) {
        for (int64_t band = next.fetch_add(1); band < bands; band = next.fetch_add(1)) {
          runBand(args, band, scratch + own * floatsOfLines(), sums);
        }
      }
    });
    if (with_means_) {
      means_.write(sums, static_cast<float*>(args.outputs[1]));
    }
  }

 private:
  int64_t floatsOfLines() const {
    return reach_ * pitch_;
  }

  // Line y of the image between lies at place y % reach of `kept`.
  float* placeOf(float* kept, int64_t y) const {
    return kept + y % reach_ * pitch_;
  }

  void runBand(const RunArgs& args, int64_t band, float* kept, float* sums) const {
    const Geometry& g = packed_->geometry;
    const int64_t image = band / bands_of_image_;
    const int64_t begin = band % bands_of_image_ * band_;
    const int64_t end = std::min(begin + band_, output_.size[1]);
    int64_t computed = 0;  // the next line of the image between that is not computed yet
    for (int64_t y = begin; y < end; ++y) {
      const int64_t first = y * g.stride[1] - g.pre_padding[1];
      computed = std::max(computed, first);
      for (; computed < std::min(first + reach_, input_.size[1]); ++computed) {
        before_->compute(args.inputs + first_of_before_, (image * input_.size[1] + computed) * input_.size[2],
                         input_.size[2], placeOf(kept, computed));
      }
      runLine(args, {image, 0, y, 0}, kept, sums);
    }
  }

  void runLine(const RunArgs& args, const Pixel& pixel, float* kept, float* sums) const {
    const Geometry& g = packed_->geometry;
    const float* lines[kMaxRowLines];
    for (int64_t tap = 0; tap < g.kernel[1]; ++tap) {
      const int64_t y = pixel[2] * g.stride[1] - g.pre_padding[1] + tap * g.dilation[1];
      lines[tap] = y >= 0 && y < input_.size[1] ? placeOf(kept, y) : nullptr;
    }
    Row row = rowTo(*packed_, input_, output_, args, pixel);
    row.lines = lines;
    row.pixel_stride = g.channels;
    for (const DepthwiseBlock& block : packed_->blocks) {
      packed_->functions.row(row, block);
      if (with_means_) {
        means_.addLine(sums, pixel, row, block);
      }
    }
  }

  std::shared_ptr<const PackedDepthwise> packed_;
  std::unique_ptr<PixelSource> before_;
  size_t first_of_before_;  // which input
  Image input_;             // the image between
  Image output_;
  MeansOfLines means_;
  bool with_means_;
  int64_t threads_;
  int64_t reach_ = 1;  // lines of the image between from the first to the last that an output line reads
  int64_t pitch_ = 0;  // floats from one of them to the next
  int64_t band_ = 1;   // output lines
  int64_t bands_of_image_ = 0;
};

// True if fusion gains something: there is little to gain if the image between stays in the second-level caches.
bool isWorthIt(const Geometry& g, const Image& between, int threads) {
  const auto cache = static_cast<int64_t>(device::cpu().properties().l2_bytes);  // 0: not known
  const int64_t line_bytes = (between.size[2] * g.channels + kPadding) * static_cast<int64_t>(sizeof(float));
  const int64_t kept_bytes = ((g.kernel[1] - 1) * g.dilation[1] + 1) * line_bytes;
  return kept_bytes <= cache / 2 && between.batch * between.size[1] * line_bytes > cache * threads;
}

}  // namespace

Fused prepareDepthwiseBehind(std::shared_ptr<const PackedDepthwise> packed, const ShapeSet& shapes,
                             const ComputesPixels& before, const ShapeSet& before_shapes, bool with_means) {
  const Geometry& g = packed->geometry;
  if (g.spatial_rank != 2) {
    return Refusal{"rank", "needs images of two spatial dims"};
  }
  if (!isWorthIt(g, imageOf(shapes.inputs[0]), shapes.threads)) {
    return Refusal{"slower", "the image between stays in the second-level caches"};
  }
  std::unique_ptr<PixelSource> pixels = before.preparePixels(before_shapes);
  if (pixels == nullptr) {
    return Refusal{"pixels", "the convolution before it cannot compute single pixels as its operands lie"};
  }
  auto behind = std::make_unique<DepthwiseBehind>(std::move(packed), shapes, std::move(pixels), with_means);
  if (behind->bands() < shapes.threads) {
    return Refusal{"slower", "some threads would get no band of lines"};
  }
  return behind;
}

}  // namespace torchtrt::kernels::convolution
