#include <algorithm>

#include "cpu/plugin/built_in.h"
#include "cpu/regions/deform.h"
#include "cpu/regions/plugin_operands.h"
#include "cpu/regions/plugins.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels::regions {
namespace {

using plugin::InputView;
using plugin::OutputView;

constexpr const char* kPairs[] = {"kernel", "stride", "padding", "dilation"};

[[noreturn]] void fail(const std::string& problem) {
  throw EngineError(ErrorCode::kPlugin, "DeformedColumns: " + problem);
}

class DeformedColumns final : public plugin::Plugin {
 public:
  static constexpr const char* kType = "DeformedColumns";
  static constexpr const char* kFields[] = {"kernel", "stride", "padding", "dilation", "offset_groups"};

  explicit DeformedColumns(const Attributes& fields) {
    int64_t* const pairs[] = {geometry_.kernel, geometry_.stride, geometry_.padding, geometry_.dilation};
    for (size_t i = 0; i < std::size(kPairs); ++i) {
      const std::vector<int64_t>& pair = fields.getInts(kPairs[i]);
      const int64_t least = pairs[i] == geometry_.padding ? 0 : 1;
      if (pair.size() != 2 || std::min(pair[0], pair[1]) < least || std::max(pair[0], pair[1]) > kMost) {
        fail("expected two numbers from " + std::to_string(least) + " to " + std::to_string(kMost) + " for " +
             kPairs[i]);
      }
      std::copy(pair.begin(), pair.end(), pairs[i]);
    }
    geometry_.offset_groups = fields.getInt("offset_groups");
    if (geometry_.offset_groups < 1 || geometry_.offset_groups > kMost) {
      fail("expected at least one offset group");
    }
  }

  bool supports(std::span<const DType> inputs) const override {
    return (inputs.size() == 2 || inputs.size() == 3) && areOfOneFloatingType(inputs);
  }

  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    if (inputs.size() < 2 || inputs.size() > 3) {
      fail("expected two or three operands");
    }
    for (const TensorType& input : inputs) {
      if (input.dims.rank() != 4) {
        fail("expected operands of four dimensions, got " + input.dims.toString());
      }
    }
    const Dims& input = inputs[0].dims;
    const Dims& offset = inputs[1].dims;
    if (!input[1].isConstant() || input[1].constant() % geometry_.offset_groups != 0) {
      fail("expected a number of channels that " + std::to_string(geometry_.offset_groups) + " groups share, got " +
           input[1].toString());
    }
    checkPlanes(input, offset, 2, "offset");
    if (inputs.size() == 3) {
      checkPlanes(input, inputs[2].dims, 1, "mask");
    }
    return {{inputs[0].dtype, Dims({input[0], input[1] * geometry_.taps(), offset[2] * offset[3]})}};
  }

  size_t scratchBytes(std::span<const InputView> inputs) const override {
    return DenseOperands(inputs).scratchBytes();
  }

  void enqueue(std::span<const InputView> inputs, std::span<const OutputView> outputs, void* scratch,
               int threads) const override {
    visitArithmetic(inputs[0].dtype, [&](auto type) { run<decltype(type)>(inputs, outputs, scratch, threads); });
  }

 private:
  static constexpr int64_t kMost = 1 << 15;

  // Expects dims [n, groups * per_tap * taps, oh, ow]; symbols are checked again when their values are known.
  void checkPlanes(const Dims& input, const Dims& planes, int64_t per_tap, const char* name) const {
    DeformGeometry geometry = geometry_;
    Dims expected = planes;
    expected[1] = geometry.offset_groups * per_tap * geometry.taps();
    for (int axis = 0; axis < 2; ++axis) {
      if (const auto size = input[2 + axis].asConstant()) {
        geometry.input[axis] = *size;
        expected[2 + axis] = geometry.outputSize(axis);
      }
    }
    for (int axis = 0; axis < 4; ++axis) {
      const Dim& wanted = axis == 0 ? input[0] : expected[axis];
      const bool are_known = planes[axis].isConstant() && wanted.isConstant();
      if (are_known && !(planes[axis] == wanted)) {
        fail("expected " + std::string(name) + " of " + expected.toString() + " for an input of " + input.toString() +
             ", got " + planes.toString());
      }
    }
  }

  template <typename T>
  void run(std::span<const InputView> inputs, std::span<const OutputView> outputs, void* scratch, int threads) const {
    const std::vector<const T*> data = DenseOperands(inputs).read<T>(threads, scratch);
    DeformGeometry geometry = geometry_;
    geometry.channels = inputs[0].dims[1];
    for (size_t axis = 0; axis < 2; ++axis) {
      geometry.input[axis] = inputs[0].dims[2 + axis];
      geometry.output[axis] = inputs[1].dims[2 + axis];
    }
    const int64_t values = geometry.taps() * geometry.places();
    parallelFor(threads, 0, inputs[0].dims[0] * geometry.channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        OutputPart<T> part(outputs[0].data, i * values, values);
        fillChannel(data[0], data[1], data.size() == 3 ? data[2] : nullptr, geometry, i / geometry.channels,
                    i % geometry.channels, part.data());
        part.store();
      }
    });
  }

  DeformGeometry geometry_ = {};
};

}  // namespace

std::shared_ptr<const plugin::PluginCreator> createDeformedColumnsCreator() {
  return std::make_shared<BuiltInCreator<DeformedColumns>>();
}

}  // namespace torchtrt::kernels::regions
