#include <algorithm>
#include <array>

#include "cpu/plugin/built_in.h"
#include "cpu/regions/align.h"
#include "cpu/regions/plugin_operands.h"
#include "cpu/regions/plugins.h"
#include "cpu/regions/pool.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels::regions {
namespace {

using plugin::InputView;
using plugin::OutputView;

[[noreturn]] void fail(const std::string& problem) {
  throw EngineError(ErrorCode::kPlugin, "PoolRegions: " + problem);
}

enum class Op : uint8_t { kAlign, kAlignByPosition, kMax, kMeanByPosition };
constexpr std::array<const char*, 4> kOps = {"align", "align_by_position", "max", "mean_by_position"};

class PoolRegions final : public plugin::Plugin {
 public:
  static constexpr const char* kType = "PoolRegions";
  static constexpr const char* kFields[] = {"op", "rows", "columns", "spatial_scale"};

  explicit PoolRegions(const Attributes& fields) {
    const auto* op = std::find(kOps.begin(), kOps.end(), fields.getString("op"));
    if (op == kOps.end()) {
      fail("there is no op \"" + fields.getString("op") + "\"");
    }
    op_ = static_cast<Op>(op - kOps.begin());
    options_ = {fields.getDouble("spatial_scale"), fields.getInt("rows"), fields.getInt("columns"),
                fields.getInt("sampling_ratio", -1), fields.getBool("aligned", false)};
    if (options_.rows < 1 || options_.columns < 1 || options_.rows > kMostCells || options_.columns > kMostCells) {
      fail("expected 1 to " + std::to_string(kMostCells) + " rows and columns");
    }
    const int64_t ratio = std::max<int64_t>(options_.sampling_ratio, 1);  // below 1 it follows from the region
    if (ratio > kMostRatio || options_.rows * options_.columns * ratio * ratio > kMostSamples) {
      fail("expected a sampling ratio up to " + std::to_string(kMostRatio) + " and " + std::to_string(kMostSamples) +
           " samples of a region, got " + std::to_string(options_.sampling_ratio));
    }
  }

  int outputCount() const override {
    return op_ == Op::kMax ? 2 : 1;
  }
  bool supports(std::span<const DType> inputs) const override {
    return inputs.size() == 2 && areOfOneFloatingType(inputs);
  }

  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    if (inputs.size() != 2 || inputs[0].dims.rank() != 4 || inputs[1].dims.rank() != 2) {
      fail("expected images of four dimensions and regions of two");
    }
    if (const auto numbers = inputs[1].dims[1].asConstant(); numbers != 5) {
      fail("expected regions of five numbers, got " + inputs[1].dims.toString());
    }
    Dim channels = inputs[0].dims[1];
    if (isByPosition()) {
      const int64_t cells = options_.rows * options_.columns;
      if (!channels.isConstant() || channels.constant() % cells != 0) {
        fail("expected a multiple of " + std::to_string(cells) + " channels, got " + channels.toString());
      }
      channels = channels.constant() / cells;
    }
    const Dims dims = {inputs[1].dims[0], channels, options_.rows, options_.columns};
    std::vector<TensorType> types = {{inputs[0].dtype, dims}};
    if (op_ == Op::kMax) {
      types.push_back({DType::kInt32, dims});
    }
    return types;
  }

  size_t scratchBytes(std::span<const InputView> inputs) const override {
    return DenseOperands(inputs).scratchBytes();
  }

  void enqueue(std::span<const InputView> inputs, std::span<const OutputView> outputs, void* scratch,
               int threads) const override {
    visitArithmetic(inputs[0].dtype, [&](auto type) { run<decltype(type)>(inputs, outputs, scratch, threads); });
  }

 private:
  static constexpr int64_t kMostCells = 1 << 15;
  static constexpr int64_t kMostRatio = 1 << 10;
  static constexpr int64_t kMostSamples = 1 << 26;  // a second's work, more or less

  bool isByPosition() const {
    return op_ == Op::kAlignByPosition || op_ == Op::kMeanByPosition;
  }

  template <typename T>
  void run(std::span<const InputView> inputs, std::span<const OutputView> outputs, void* scratch, int threads) const {
    const std::vector<const T*> data = DenseOperands(inputs).read<T>(threads, scratch);
    const std::span<const int64_t> dims = inputs[0].dims;
    const Images<T> images{data[0], dims[1], dims[2], dims[3]};
    const int64_t count = inputs[1].dims[0];
    if (count > 0 && images.plane() == 0) {
      fail("expected images with pixels");
    }
    const int64_t per_region = outputs[0].dims[1] * options_.rows * options_.columns;
    int32_t* places = op_ == Op::kMax ? static_cast<int32_t*>(outputs[1].data) : nullptr;
    parallelFor(threads, 0, count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        const T* roi = data[1] + k * 5;
        checkIndex(static_cast<double>(roi[0]), k, dims[0]);
        OutputPart<T> part(outputs[0].data, k * per_region, per_region);
        pool(images, roi, part.data(), places == nullptr ? nullptr : places + k * per_region);
        part.store();
      }
    });
  }

  static void checkIndex(double index, int64_t region, int64_t count) {
    if (!(index >= 0 && index < static_cast<double>(count))) {
      throw EngineError(ErrorCode::kIndexOutOfRange,
                        "region " + std::to_string(region) + " names an image that is not there: the batch has " +
                            std::to_string(count),
                        {}, "the first of a region's five numbers counts the images from 0");
    }
  }

  template <typename T>
  void pool(const Images<T>& images, const T* roi, T* out, int32_t* places) const {
    const PoolOptions whole_pixels{options_.spatial_scale, options_.rows, options_.columns};
    switch (op_) {
      case Op::kAlign:
        return alignRegion(images, roi, options_, out);
      case Op::kAlignByPosition:
        return alignRegionByPosition(images, roi, options_, out);
      case Op::kMax:
        return poolRegion(images, roi, whole_pixels, out, places);
      case Op::kMeanByPosition:
        return poolRegionByPosition(images, roi, whole_pixels, out);
    }
  }

  Op op_ = Op::kAlign;
  AlignOptions options_ = {};
};

}  // namespace

std::shared_ptr<const plugin::PluginCreator> createPoolRegionsCreator() {
  return std::make_shared<BuiltInCreator<PoolRegions>>();
}

}  // namespace torchtrt::kernels::regions
