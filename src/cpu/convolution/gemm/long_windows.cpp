#include "cpu/convolution/gemm/long_windows.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/check.h"
#include "cpu/convolution/gemm/padded_product.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels::convolution {
namespace {

using gemm::kTileRows;

constexpr int64_t kLongestPart =
    512;  // of a run: three vectors of columns of it fill a tenth of the second-level cache

// Serves convolutions without padding.
template <typename T>
class LongWindows final : public Prepared {
 public:
  LongWindows(std::shared_ptr<const PackedConvolutionOf<T>> packed, const ShapeSet& shapes)
      : packed_(std::move(packed)),
        input_(imageOf(shapes.inputs[0])),
        output_(imageOf(shapes.outputs[0])),
        lines_(output_.batch * output_.size[0] * output_.size[1]) {
    const Geometry& g = packed_->geometry;
    const int64_t parts = (packed_->run + kLongestPart - 1) / kLongestPart;
    const int64_t length = (packed_->run + parts - 1) / parts;
    int64_t row = 0;
    for (const Tap& tap : tapsOf(g, packed_->reading, input_)) {
      for (int64_t begin = 0; begin < packed_->run; begin += length) {
        parts_.push_back({tap.offset + begin, row + begin, std::min(length, packed_->run - begin)});
      }
      row += packed_->run;
    }
    // A thread gets many rows of a line, if it can: they share what it reads of the weights.
    const int64_t width = output_.size[2];
    const int64_t wanted = shapes.threads == 1 ? 1 : (2 * shapes.threads + lines_ - 1) / std::max<int64_t>(lines_, 1);
    const int64_t tiles = std::max<int64_t>(1, (width + kTileRows - 1) / kTileRows);
    segment_rows_ = (tiles + std::min(wanted, tiles) - 1) / std::min(wanted, tiles) * kTileRows;
    segments_ = (width + segment_rows_ - 1) / segment_rows_;
    const int64_t flops = 2 * packed_->groups[0].depth() * std::min(segment_rows_, std::max<int64_t>(width, 1)) *
                          gemm::panelShape<T>().lanes * gemm::panelShape<T>().max_vectors;
    grain_ = std::max<int64_t>(1, gemm::kMinChunkFlops / flops);
  }

  size_t heldBytes() const override {
    return parts_.size() * sizeof(Part);
  }

  void run(const RunArgs& args) const override {
    const auto panels = static_cast<int64_t>(packed_->groups[0].panels().size());
    parallelFor(args.threads, 0, lines_ * segments_ * panels, grain_, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        multiply(args, unit / panels / segments_, unit / panels % segments_, unit % panels);
      }
    });
  }

 private:
  // Some columns of a window, in every row of the product.
  struct Part {
    int64_t offset;  // from the begin of a window, in elements
    int64_t row;     // of the weights
    int64_t length;
  };

  // Every part adds to what the parts before left in the output.
  void multiply(const RunArgs& args, int64_t line, int64_t segment, int64_t panel) const {
    const Geometry& g = packed_->geometry;
    const gemm::PanelOf<T>& whole = packed_->groups[0].panels()[static_cast<size_t>(panel)];
    const int64_t panel_width = static_cast<int64_t>(whole.vectors) * gemm::panelShape<T>().lanes;
    const int64_t first = segment * segment_rows_;
    Pixel pixel = output_.pixelAt(line * output_.size[2]);
    pixel[3] = first;
    const int64_t out = output_.offsetOf(pixel);
    const T* input = static_cast<const T*>(args.inputs[0]) + offsetOfWindow(g, input_, pixel);
    const gemm::EpilogueOf<T> none;
    gemm::PanelOf<T> part_panel = whole;
    gemm::SlabOf<T> slab{};
    slab.panels = std::span(&part_panel, 1);
    slab.rows = std::min(segment_rows_, output_.size[2] - first);
    slab.a_stride = g.stride[2] * input_.stride[2];
    slab.out = static_cast<T*>(args.outputs[0]) + out;
    slab.out_stride = output_.stride[2];
    slab.residual = g.has_residual ? static_cast<const T*>(args.inputs[3]) + out : nullptr;
    slab.bias = g.has_bias ? static_cast<const T*>(args.inputs[2]) : nullptr;
    for (size_t i = 0; i < parts_.size(); ++i) {
      part_panel.data = whole.data + parts_[i].row * panel_width;
      slab.a = input + parts_[i].offset;
      slab.run = parts_[i].length;
      slab.epilogue = i + 1 == parts_.size() ? &packed_->epilogue : &none;
      packed_->functions.slab(slab);
      slab.residual = slab.out;
      slab.bias = nullptr;
    }
  }

  std::shared_ptr<const PackedConvolutionOf<T>> packed_;
  Image input_, output_;
  std::vector<Part> parts_;
  int64_t lines_;             // of the output, in the whole batch
  int64_t segment_rows_ = 1;  // of a line, computed together
  int64_t segments_ = 1;      // of a line
  int64_t grain_ = 1;         // segments worth a thread of their own
};

template <typename T>
std::unique_ptr<Prepared> prepareUnpadded(std::shared_ptr<const PackedConvolutionOf<T>> packed,
                                          const ShapeSet& shapes) {
  return std::make_unique<LongWindows<T>>(std::move(packed), shapes);
}

}  // namespace

template <typename T>
std::unique_ptr<Prepared> prepareLongWindows(const std::shared_ptr<const PackedConvolutionOf<T>>& packed,
                                             const ShapeSet& shapes) {
  std::unique_ptr<Prepared> padded = preparePadded<T>(*packed, shapes, prepareUnpadded<T>, PaddedSize::kAny);
  if (padded != nullptr) {
    return padded;
  }
  const Geometry& g = packed->geometry;
  TORCHTRT_CHECK((g.pre_padding == Spatial{0, 0, 0} && g.post_padding == Spatial{0, 0, 0}),
                 "long windows with padding are computed over a padded copy");
  return prepareUnpadded<T>(packed, shapes);
}

template std::unique_ptr<Prepared> prepareLongWindows(const std::shared_ptr<const PackedConvolutionOf<float>>&,
                                                      const ShapeSet&);
template std::unique_ptr<Prepared> prepareLongWindows(const std::shared_ptr<const PackedConvolutionOf<double>>&,
                                                      const ShapeSet&);

}  // namespace torchtrt::kernels::convolution
