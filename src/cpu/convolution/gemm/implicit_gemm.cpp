#include "cpu/convolution/gemm/implicit_gemm.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "cpu/threads/parallel.h"

namespace torchtrt::kernels::convolution {
namespace {

using gemm::kTileRows;

// The begin of the window of one output pixel.
template <typename T>
struct Window {
  const T* base;  // may lie outside the tensor where there is padding; only used inside
  Spatial start;
  bool inside;  // no tap touches padding
};

template <typename T>
class ImplicitGemm final : public Prepared {
 public:
  ImplicitGemm(std::shared_ptr<const PackedConvolutionOf<T>> packed, const ShapeSet& shapes)
      : packed_(std::move(packed)),
        geometry_(packed_->geometry),
        input_(imageOf(shapes.inputs[0])),
        output_(imageOf(shapes.outputs[0])) {
    makeWide();
    taps_ = tapsOf(geometry_, packed_->reading, input_);
    const Geometry& g = geometry_;
    for (const Tap& tap : taps_) {
      tap_offsets_.push_back(tap.offset);
    }
    rows_ = output_.batch * output_.pixels();
    for (size_t i = 0; i < 3; ++i) {
      inner_[i] = innerRange(i);
    }
    const bool is_product = g.isPointwise() && packed_->reading == Reading::kChannels;
    flat_ = packed_->groups.size() == 1 && isFlat(output_, output_.stride[2]) && (is_product || pixelsAreCheap());
    if (flat_ && (!is_product || g.stride != Spatial{1, 1, 1} || !isFlat(input_, input_.stride[2]))) {
      findPixels();
    }
    by_lines_ = !flat_ && linesAreCheap();
    blocking_ = gemm::chooseBlocking(packed_->groups[0], rows_, shapes.threads);
    if (by_lines_) {
      const int64_t width = std::max<int64_t>(output_.size[2], 1);
      parts_ = std::max<int64_t>(1, (inner_[2].end - inner_[2].begin) / kPart);
      blocking_.tiles = rows_ / width * parts_;
      blocking_.grain = std::max<int64_t>(1, blocking_.grain * kTileRows * parts_ / width);
    }
    if (packed_->groups.size() == 1) {
      blocking_.shareRows(input_.batch * input_.pixels() * g.channels * static_cast<int64_t>(sizeof(T)),
                          static_cast<int64_t>(packed_->groups[0].bytes()), shapes.threads);
    }
  }

  size_t heldBytes() const override {
    return pixels_.size() * sizeof(int64_t);
  }

  void run(const RunArgs& args) const override {
    if (flat_) {
      runFlat(args);
      return;
    }
    const int64_t units = blocking_.units() * static_cast<int64_t>(packed_->groups.size());
    parallelFor(args.threads, 0, units, blocking_.grain, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end;) {
        const int64_t group = unit / blocking_.units();
        const int64_t first = group * blocking_.units();
        const auto [block, tile, count] = blocking_.runAt(unit - first, std::min(end - first, blocking_.units()));
        const Work work = workOf(args, group, block);
        by_lines_ ? runLines(work, tile, tile + count) : runTiles(work, tile, tile + count);
        unit += count;
      }
    });
  }

 private:
  struct Range {
    int64_t begin = 0;
    int64_t end = 0;
    bool contains(int64_t i) const {
      return i >= begin && i < end;
    }
  };

  // A group's share of the operands, for some panels of its columns.
  struct Work {
    std::span<const gemm::PanelOf<T>> panels;
    const T* input;
    T* out;
    const T* residual;  // or null
    const T* bias;      // or null
  };

  static constexpr int64_t kPart = 256;  // pixels of a line that are worth a unit of their own: whole tiles

  // Lines one pixel wide, as of a sequence that is computed as an image, become one line.
  void makeWide() {
    const auto turn = [](Spatial& values) { std::rotate(values.begin(), values.end() - 1, values.end()); };
    Geometry& g = geometry_;
    for (int i = 0; i < 2 && packed_->reading == Reading::kChannels && input_.size[2] == 1 && output_.size[2] == 1 &&
                    g.kernel[2] == 1 && g.pre_padding[2] == 0;
         ++i) {
      for (Spatial* values : {&g.kernel, &g.stride, &g.dilation, &g.pre_padding, &g.post_padding, &input_.size,
                              &input_.stride, &output_.size, &output_.stride}) {
        turn(*values);
      }
    }
  }

  // Finds the first input pixel of each output pixel; no window touches padding.
  void findPixels() {
    Pixel pixel = {};
    for (int64_t row = 0; row < rows_; ++row, output_.advance(pixel)) {
      pixels_.push_back(offsetOfWindow(geometry_, input_, pixel));
    }
  }

  Range innerRange(size_t axis) const {
    const Geometry& g = geometry_;
    const int64_t reach = (g.kernel[axis] - 1) * g.dilation[axis];
    const int64_t size = output_.size[axis];
    const int64_t before = std::max<int64_t>(g.pre_padding[axis], 0);  // a phase of a deconvolution may cut some off
    const int64_t begin = std::min(size, (before + g.stride[axis] - 1) / g.stride[axis]);
    const int64_t room = input_.size[axis] - 1 - reach + g.pre_padding[axis];  // the last start without padding behind
    const int64_t end = room < 0 ? 0 : std::min(size, room / g.stride[axis] + 1);
    return {begin, std::max(begin, end)};
  }

  // Rows that are computed for `pixels` consecutive ones: the last tile of a line repeats its last row.
  static int64_t rowsComputed(int64_t pixels) {
    const int64_t rest = pixels % kTileRows;
    return pixels - rest + (rest > 4 ? kTileRows : rest > 2 ? 4 : rest);
  }

  // Tiles that run across the ends of lines waste no row, but have to look for each pixel.
  bool linesAreCheap() const {
    const int64_t width = output_.size[2];
    const Range& inner = inner_[2];
    const int64_t computed =
        rowsComputed(inner.begin) + rowsComputed(inner.end - inner.begin) + rowsComputed(width - inner.end);
    return inner.end > inner.begin && 4 * computed <= 5 * width;
  }

  // True if tiles shall run across the ends of lines, for the price of a table. That needs windows that touch no
  // padding, and pays off where lines alone would compute rows twice.
  bool pixelsAreCheap() const {
    constexpr int64_t kMostPixels = 4096;
    const auto is_whole = [&](size_t axis) {
      return inner_[axis].begin == 0 && inner_[axis].end == output_.size[axis];
    };
    return rows_ <= kMostPixels && rowsComputed(output_.size[2]) > output_.size[2] && is_whole(0) && is_whole(1) &&
           is_whole(2);
  }

  Window<T> windowOf(const Pixel& pixel, const T* group_input) const {
    const Geometry& g = geometry_;
    Window<T> window;
    window.inside = true;
    window.base = group_input + pixel[0] * input_.batch_stride;
    for (size_t i = 0; i < 3; ++i) {
      const int64_t start = pixel[i + 1] * g.stride[i] - g.pre_padding[i];
      window.start[i] = start;
      window.inside = window.inside && start >= 0 && start + (g.kernel[i] - 1) * g.dilation[i] < input_.size[i];
      window.base += start * input_.stride[i];
    }
    return window;
  }

  // Pointers for a window that touches padding. Runs that lie across the border are put together in `patch`.
  void borderRow(const Window<T>& window, int r, const T** pointers, T* patch) const {
    const Geometry& g = geometry_;
    const int64_t unit =
        packed_->reading == Reading::kChannelRows ? g.channels : 1;  // floats per step of the kernel's width
    for (size_t t = 0; t < taps_.size(); ++t) {
      const Tap& tap = taps_[t];
      const T*& pointer = pointers[t * kTileRows + static_cast<size_t>(r)];
      const int64_t z = window.start[0] + tap.at[0];
      const int64_t y = window.start[1] + tap.at[1];
      const int64_t x = window.start[2] + tap.at[2];
      pointer = packed_->zeros.data();
      if (z < 0 || z >= input_.size[0] || y < 0 || y >= input_.size[1]) {
        continue;
      }
      if (packed_->reading == Reading::kChannels) {
        if (x >= 0 && x < input_.size[2]) {
          pointer = window.base + tap.offset;
        }
        continue;
      }
      const int64_t first = std::clamp<int64_t>(-x, 0, g.kernel[2]);
      const int64_t last = std::clamp<int64_t>(input_.size[2] - x, first, g.kernel[2]);
      T* to = patch + (t * kTileRows + static_cast<size_t>(r)) * static_cast<size_t>(packed_->run);
      std::fill_n(to, packed_->run, T(0));
      if (first < last) {
        // The first pixel inside is found by the stride, which says nothing of the next where a line is one pixel.
        const T* from = window.base + tap.offset + first * input_.stride[2];
        std::copy_n(from, (last - first) * unit, to + first * unit);
      }
      pointer = to;
    }
  }

  void findRows(const Pixel& first, int count, const T* group_input, const T** pointers, T* patch) const {
    const Geometry& g = geometry_;
    if (first[3] + count <= output_.size[2]) {  // one line of the image, most often without padding
      const Window<T> window = windowOf(first, group_input);
      const int64_t last = window.start[2] + (count - 1) * g.stride[2] + (g.kernel[2] - 1) * g.dilation[2];
      if (window.inside && last < input_.size[2]) {
        const int64_t step = g.stride[2] * input_.stride[2];
        const T** to = pointers;
        for (const Tap& tap : taps_) {
          const T* from = window.base + tap.offset;
          for (int r = 0; r < count; ++r) {
            to[r] = from + r * step;
          }
          to += kTileRows;
        }
        return;
      }
    }
    Pixel pixel = first;
    for (int r = 0; r < count; ++r, output_.advance(pixel)) {
      const Window<T> window = windowOf(pixel, group_input);
      if (!window.inside) {
        borderRow(window, r, pointers, patch);
        continue;
      }
      const T** to = pointers + r;
      for (const Tap& tap : taps_) {
        *to = window.base + tap.offset;
        to += kTileRows;
      }
    }
  }

  void findOutputs(const Pixel& first, int count, int64_t* offsets) const {
    Pixel pixel = first;
    for (int r = 0; r < count; ++r, output_.advance(pixel)) {
      offsets[r] = output_.offsetOf(pixel);
    }
  }

  void runFlat(const RunArgs& args) const {
    const Geometry& g = geometry_;
    gemm::SlabOf<T> slab{};
    slab.rows = rows_;
    slab.taps = packed_->taps;
    slab.tap_offsets = tap_offsets_.data();
    slab.run = packed_->run;
    slab.a = static_cast<const T*>(args.inputs[0]);
    slab.a_stride = input_.stride[2];
    slab.a_offsets = pixels_.empty() ? nullptr : pixels_.data();
    slab.out = static_cast<T*>(args.outputs[0]);
    slab.out_stride = output_.stride[2];
    slab.residual = g.has_residual ? static_cast<const T*>(args.inputs[3]) : nullptr;
    slab.bias = g.has_bias ? static_cast<const T*>(args.inputs[2]) : nullptr;
    slab.epilogue = &packed_->epilogue;
    parallelFor(args.threads, 0, blocking_.units(), blocking_.grain, [&](int64_t begin, int64_t end) {
      gemm::runUnits(packed_->groups[0], blocking_, packed_->functions, slab, begin, end);
    });
  }

  Work workOf(const RunArgs& args, int64_t group, int64_t block) const {
    const Geometry& g = geometry_;
    const int64_t column = group * (g.outputs / g.groups);
    Work work{};
    work.panels = gemm::panelsOf(packed_->groups[static_cast<size_t>(group)], blocking_, block);
    work.input = static_cast<const T*>(args.inputs[0]) + group * (g.channels / g.groups) * input_.channel_stride;
    work.out = static_cast<T*>(args.outputs[0]) + column;
    work.residual = g.has_residual ? static_cast<const T*>(args.inputs[3]) + column : nullptr;
    work.bias = g.has_bias ? static_cast<const T*>(args.inputs[2]) + column : nullptr;
    return work;
  }

  // Up to kTileRows pixels from `first` on, wherever they lie.
  void runTile(const Work& work, const Pixel& first, int count) const {
    const T* pointers[kMaxTaps * kTileRows];
    T patch[kMaxPatch];
    T* out[kTileRows];
    const T* residual[kTileRows];
    int64_t offsets[kTileRows];
    findRows(first, count, work.input, pointers, patch);
    findOutputs(first, count, offsets);
    for (int r = 0; r < count; ++r) {
      out[r] = work.out + offsets[r];
      residual[r] = work.residual == nullptr ? nullptr : work.residual + offsets[r];
    }
    gemm::TileOf<T> tile;
    tile.panels = work.panels;
    tile.row_count = count;
    tile.rows = pointers;
    tile.taps = packed_->taps;
    tile.run = packed_->run;
    tile.out = out;
    tile.residual = work.residual == nullptr ? nullptr : residual;
    tile.bias = work.bias;
    tile.epilogue = &packed_->epilogue;
    packed_->functions.tile(tile);
  }

  void runTiles(const Work& work, int64_t begin, int64_t end) const {
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t first = tile * kTileRows;
      runTile(work, output_.pixelAt(first), static_cast<int>(std::min<int64_t>(kTileRows, rows_ - first)));
    }
  }

  // Pixels [begin, end) of a line of the image, by tiles.
  void runPart(const Work& work, int64_t line, int64_t begin, int64_t end) const {
    for (int64_t x = begin; x < end; x += kTileRows) {
      runTile(work, output_.pixelAt(line * output_.size[2] + x),
              static_cast<int>(std::min<int64_t>(kTileRows, end - x)));
    }
  }

  // Parts of lines of the image: where no window touches padding, pixels lie at even distances and need no pointers.
  void runLines(const Work& work, int64_t begin, int64_t end) const {
    const Geometry& g = geometry_;
    const Range& inner = inner_[2];
    gemm::SlabOf<T> slab{};
    slab.panels = work.panels;
    slab.a_stride = g.stride[2] * input_.stride[2];
    slab.taps = packed_->taps;
    slab.tap_offsets = tap_offsets_.data();
    slab.run = packed_->run;
    slab.out_stride = output_.stride[2];
    slab.bias = work.bias;
    slab.epilogue = &packed_->epilogue;
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t line = unit / parts_;
      const int64_t part = unit % parts_;
      const bool is_last = part + 1 == parts_;
      const int64_t first = inner.begin + part * kPart;
      const int64_t last = is_last ? inner.end : first + kPart;
      const int64_t y = line % output_.size[1];
      const int64_t z = line / output_.size[1] % output_.size[0];
      const int64_t image = line / (output_.size[1] * output_.size[0]);
      const int64_t before = part == 0 ? 0 : first;
      const int64_t behind = is_last ? output_.size[2] : last;
      if (!inner_[0].contains(z) || !inner_[1].contains(y)) {
        runPart(work, line, before, behind);
        continue;
      }
      const int64_t out =
          image * output_.batch_stride + z * output_.stride[0] + y * output_.stride[1] + first * output_.stride[2];
      slab.rows = last - first;
      slab.a = work.input + image * input_.batch_stride + (z * g.stride[0] - g.pre_padding[0]) * input_.stride[0] +
               (y * g.stride[1] - g.pre_padding[1]) * input_.stride[1] +
               (first * g.stride[2] - g.pre_padding[2]) * input_.stride[2];
      slab.out = work.out + out;
      slab.residual = work.residual == nullptr ? nullptr : work.residual + out;
      runPart(work, line, before, first);
      packed_->functions.slab(slab);
      runPart(work, line, last, behind);
    }
  }

  std::shared_ptr<const PackedConvolutionOf<T>> packed_;
  Geometry geometry_;
  Image input_;
  Image output_;
  std::vector<Tap> taps_;
  std::vector<int64_t> tap_offsets_;  // those of taps_
  std::array<Range, 3> inner_;        // output positions whose windows touch no padding
  std::vector<int64_t> pixels_;       // of the input, one for each row, unless they lie at even distances
  int64_t rows_ = 0;                  // output pixels of the whole batch
  gemm::Blocking blocking_;           // of one group; its tiles are parts of lines if by_lines_
  bool flat_ = false;                 // one product over all rows, which need no pointers
  bool by_lines_ = false;
  int64_t parts_ = 1;  // of a line
};

}  // namespace

template <typename T>
std::unique_ptr<Prepared> prepareImplicitGemm(std::shared_ptr<const PackedConvolutionOf<T>> packed,
                                              const ShapeSet& shapes) {
  return std::make_unique<ImplicitGemm<T>>(std::move(packed), shapes);
}

template std::unique_ptr<Prepared> prepareImplicitGemm(std::shared_ptr<const PackedConvolutionOf<float>>,
                                                       const ShapeSet&);
template std::unique_ptr<Prepared> prepareImplicitGemm(std::shared_ptr<const PackedConvolutionOf<double>>,
                                                       const ShapeSet&);

}  // namespace torchtrt::kernels::convolution
