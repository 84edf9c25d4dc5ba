// Images are resized by as many taps as the filter has for each element. Sixteen lines at a time are transposed, so
// that sums along lines are vectors, too.
#include <algorithm>
#include <string>

#include "base/align.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/movement/copy_loop.h"
#include "cpu/plugin/built_in.h"
#include "cpu/resize/filtered_lines.h"
#include "cpu/resize/plugins.h"
#include "cpu/threads/thread_memory.h"

namespace torchtrt::kernels::resize {
namespace {

using plugin::InputView;
using plugin::OutputView;

constexpr int64_t kMost = int64_t{1} << 24;  // of a side of an image
constexpr double kMostScale = 1 << 20;

[[noreturn]] void fail(const std::string& problem) {
  throw EngineError(ErrorCode::kPlugin, "AntialiasedResize: " + problem);
}

template <typename Visit>
void visitStored(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::kFloat64:
      return visit(double());
    case DType::kUInt8:
      return visit(uint8_t());
    default:
      return visit(float());
  }
}

// [lines][length] becomes [length][kLinesAbreast], of which `lines` are used, or the other way round.
CopyLoop linesAbreast(DType dtype, int64_t lines, int64_t length) {
  return CopyLoop(dtype, {lines, length}, {1, kLinesAbreast}, {length, 1});
}
CopyLoop linesApart(DType dtype, int64_t lines, int64_t length) {
  return CopyLoop(dtype, {lines, length}, {length, 1}, {1, kLinesAbreast});
}

struct Sizes {
  int64_t planes, in_height, in_width, out_height, out_width;

  // Elements of a thread's memory: kLinesAbreast lines one after the other, abreast, and resized.
  size_t workCount() const {
    return static_cast<size_t>((in_width * 2 + out_width) * kLinesAbreast);
  }
};

template <typename T>
class Resizing {
 public:
  using Table = Filter<WeightOf<T>>;

  Resizing(DType dtype, const Sizes& sizes, Table rows, Table columns)
      : dtype_(dtype),
        sizes_(sizes),
        rows_(std::move(rows)),
        columns_(std::move(columns)),
        abreast_(linesAbreast(dtype, kLinesAbreast, sizes.in_width)),
        apart_(linesApart(dtype, kLinesAbreast, sizes.out_width)) {}

  // Height first, which is less to do along lines where an image is made smaller. `work` is a thread's own.
  void resizeLines(const T* in, int64_t first, int64_t count, T* work, T* out) const {
    for (int64_t line = 0; line < count; ++line) {
      resizeAcross(in, sizes_.in_width, first + line, work + line * sizes_.in_width);
    }
    narrow(work, count, work + kLinesAbreast * sizes_.in_width, out + first * sizes_.out_width);
  }

  // One line of the output, from lines of `length`.
  void resizeAcross(const T* in, int64_t length, int64_t line, T* out) const {
    const T* plane = in + line / sizes_.out_height * sizes_.in_height * length;
    functions_.across(rows_, line % sizes_.out_height, plane, length, out);
  }

  // Brings at most kLinesAbreast lines to the output's width.
  void narrow(const T* lines, int64_t count, T* work, T* out) const {
    T* resized = work + kLinesAbreast * sizes_.in_width;
    if (count == kLinesAbreast) {
      abreast_.run(1, lines, work);
    } else {
      std::fill_n(work, kLinesAbreast * sizes_.in_width, T(0));
      linesAbreast(dtype_, count, sizes_.in_width).run(1, lines, work);
    }
    functions_.along(columns_, work, resized);
    if (count == kLinesAbreast) {
      apart_.run(1, resized, out);
    } else {
      linesApart(dtype_, count, sizes_.out_width).run(1, resized, out);
    }
  }

 private:
  DType dtype_;
  Sizes sizes_;
  Table rows_, columns_;
  CopyLoop abreast_, apart_;
  FilteredLines<T> functions_ = filteredLines<T>();
};

// body(first line, lines, a thread's memory) for blocks of lines.
template <typename T, typename Body>
void forBlocks(int threads, const Sizes& sizes, int64_t lines, Body&& body) {
  const int64_t blocks = (lines + kLinesAbreast - 1) / kLinesAbreast;
  const int64_t grain = grainFor(kLinesAbreast * (sizes.in_width + sizes.out_width));
  parallelFor(threads, 0, blocks, grain, [&](int64_t begin, int64_t end) {
    const ThreadMemory<T> work = takeThreadMemory<T>(sizes.workCount());
    for (int64_t first = begin * kLinesAbreast; first < std::min(end * kLinesAbreast, lines); first += kLinesAbreast) {
      body(first, std::min(kLinesAbreast, lines - first), work.get());
    }
  });
}

class AntialiasedResize final : public plugin::Plugin {
 public:
  static constexpr const char* kType = "AntialiasedResize";
  static constexpr const char* kFields[] = {"mode", "size", "align_corners", "scales"};

  explicit AntialiasedResize(const Attributes& fields)
      : size_(fields.getInts("size")),
        scales_(fields.getDoubles("scales")),
        align_corners_(fields.getBool("align_corners")) {
    const std::string& mode = fields.getString("mode");
    if (mode != "linear" && mode != "cubic") {
      fail("expected mode linear or cubic, got " + mode);
    }
    mode_ = mode == "cubic" ? ResizeMode::kCubic : ResizeMode::kLinear;
    if (size_.size() != 2 || std::min(size_[0], size_[1]) < 1 || std::max(size_[0], size_[1]) > kMost) {
      fail("expected two sizes from 1 to " + std::to_string(kMost));
    }
    if (scales_.size() != 2 || !std::all_of(scales_.begin(), scales_.end(), [](double scale) {
          return scale == 0 || (scale >= 1 / kMostScale && scale <= kMostScale);
        })) {
      fail("expected two scale factors that are 0 or between 2^-20 and 2^20");
    }
  }

  bool supports(std::span<const DType> inputs) const override {
    return inputs.size() == 1 &&
           (inputs[0] == DType::kFloat32 || inputs[0] == DType::kFloat64 || inputs[0] == DType::kUInt8);
  }

  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    if (inputs.size() != 1 || inputs[0].dims.rank() != 4) {
      fail("expected one operand of four dimensions");
    }
    const Dims& dims = inputs[0].dims;
    for (int axis = 2; axis < 4; ++axis) {
      const auto side = dims[axis].asConstant();
      if (side && (*side < 1 || *side > kMost)) {
        fail("expected images with sides from 1 to " + std::to_string(kMost) + ", got " + dims.toString());
      }
    }
    return {{inputs[0].dtype, Dims({dims[0], dims[1], size_[0], size_[1]})}};
  }

  size_t scratchBytes(std::span<const InputView> inputs) const override {
    return static_cast<size_t>(copyBytes(inputs[0]) + betweenBytes(inputs[0]));
  }

  void enqueue(std::span<const InputView> inputs, std::span<const OutputView> outputs, void* scratch,
               int threads) const override {
    auto* free = static_cast<std::byte*>(scratch);
    const InputView& view = inputs[0];
    const void* in = view.data;
    if (copyBytes(view) != 0) {
      const std::vector<int64_t> dims(view.dims.begin(), view.dims.end());
      CopyLoop(view.dtype, dims, denseStrides(dims), {view.strides.begin(), view.strides.end()}).run(threads, in, free);
      in = free;
      free += copyBytes(view);
    }
    visitStored(view.dtype, [&](auto type) {
      using T = decltype(type);
      run(sizesOf(view), view.dtype, static_cast<const T*>(in), static_cast<T*>(outputs[0].data),
          reinterpret_cast<T*>(free), threads);
    });
  }

 private:
  Sizes sizesOf(const InputView& view) const {
    return {view.dims[0] * view.dims[1], view.dims[2], view.dims[3], size_[0], size_[1]};
  }

  // Returns the bytes of a row-major copy; 0 if the strides are row-major.
  static int64_t copyBytes(const InputView& view) {
    const std::vector<int64_t> dims(view.dims.begin(), view.dims.end());
    const bool in_place = std::equal(view.strides.begin(), view.strides.end(), denseStrides(dims).begin());
    return in_place ? 0 : alignUp(countOf(dims) * static_cast<int64_t>(sizeOf(view.dtype)));
  }

  // Returns the bytes of the image between, which is as wide as the output and as high as the input; 0 unless its dtype
  // is uint8.
  int64_t betweenBytes(const InputView& view) const {
    const Sizes sizes = sizesOf(view);
    return view.dtype == DType::kUInt8 ? alignUp(sizes.planes * sizes.in_height * sizes.out_width) : 0;
  }

  ResizeAxis axisOf(const Sizes& sizes, size_t axis) const {
    return {mode_, align_corners_, scales_[axis], true, axis == 0 ? sizes.in_height : sizes.in_width, size_[axis]};
  }

  template <typename T>
  void run(const Sizes& sizes, DType dtype, const T* in, T* out, T* between, int threads) const {
    if constexpr (std::is_same_v<T, uint8_t>) {
      const Resizing<T> resizing(dtype, sizes, wholeFilter(antialiasFilter<double>(axisOf(sizes, 0))),
                                 wholeFilter(antialiasFilter<double>(axisOf(sizes, 1))));
      forBlocks<T>(threads, sizes, sizes.planes * sizes.in_height, [&](int64_t first, int64_t count, T* work) {
        resizing.narrow(in + first * sizes.in_width, count, work, between + first * sizes.out_width);
      });
      const int64_t grain = grainFor(sizes.out_width);
      parallelFor(threads, 0, sizes.planes * sizes.out_height, grain, [&](int64_t begin, int64_t end) {
        for (int64_t line = begin; line < end; ++line) {
          resizing.resizeAcross(between, sizes.out_width, line, out + line * sizes.out_width);
        }
      });
    } else {
      const Resizing<T> resizing(dtype, sizes, antialiasFilter<T>(axisOf(sizes, 0)),
                                 antialiasFilter<T>(axisOf(sizes, 1)));
      forBlocks<T>(threads, sizes, sizes.planes * sizes.out_height,
                   [&](int64_t first, int64_t count, T* work) { resizing.resizeLines(in, first, count, work, out); });
    }
  }

  std::vector<int64_t> size_;
  std::vector<double> scales_;
  bool align_corners_;
  ResizeMode mode_ = ResizeMode::kLinear;
};

}  // namespace

std::shared_ptr<const plugin::PluginCreator> createAntialiasedResizeCreator() {
  return std::make_shared<BuiltInCreator<AntialiasedResize>>();
}

}  // namespace torchtrt::kernels::resize
