#include <algorithm>
#include <numeric>

#include "cpu/counted/counted_plugin.h"
#include "cpu/counted/plugins.h"
#include "cpu/regions/suppress.h"

namespace torchtrt::kernels::counted {
namespace {

using plugin::InputView;
using plugin::OutputView;

// Best first; NaN is better than every number, and among equals the first one comes first.
template <typename T>
std::vector<int64_t> orderOf(const T* scores, int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [scores](int64_t a, int64_t b) {
    return scores[a] > scores[b] || (scores[a] != scores[a] && scores[b] == scores[b]);
  });
  return order;
}

class Suppression final : public CountedPlugin {
 public:
  static constexpr const char* kType = "Suppression";

  explicit Suppression(const Attributes& fields)
      : CountedPlugin(kType, fields, 2, {0}), iou_threshold_(fields.getDouble("iou_threshold")) {}

  bool supports(std::span<const DType> inputs) const override {
    return inputs.size() == 2 && regions::areOfOneFloatingType(inputs);
  }

  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    requireOperands(inputs, 2);
    const Dims& boxes = inputs[0].dims;
    const Dims& scores = inputs[1].dims;
    const bool fits = boxes.rank() == 2 && boxes[1] == Dim(4) && scores.rank() == 1 &&
                      (!boxes[0].isConstant() || !scores[0].isConstant() || boxes[0] == scores[0]);
    if (!fits) {
      fail("expected boxes [n, 4] and scores [n], got " + boxes.toString() + " and " + scores.toString());
    }
    return {{DType::kInt64, scores}, {DType::kInt64, Dims()}};
  }

  size_t scratchBytes(std::span<const InputView> inputs) const override {
    return regions::DenseOperands(inputs).scratchBytes();
  }

  void enqueue(std::span<const InputView> inputs, std::span<const OutputView> outputs, void* scratch,
               int threads) const override {
    if (inputs[0].dtype == DType::kFloat64) {
      run<double>(inputs, outputs, scratch, threads);
    } else {
      run<float>(inputs, outputs, scratch, threads);
    }
  }

 private:
  template <typename T>
  void run(std::span<const InputView> inputs, std::span<const OutputView> outputs, void* scratch, int threads) const {
    const std::vector<const T*> data = regions::DenseOperands(inputs).read<T>(threads, scratch);
    const int64_t count = inputs[1].dims[0];
    const std::vector<int64_t> kept =
        regions::keptBoxes(data[0], orderOf(data[1], count).data(), count, iou_threshold_);
    std::copy(kept.begin(), kept.end(), static_cast<int64_t*>(outputs[0].data));
    writeCount(outputs, static_cast<int64_t>(kept.size()));
  }

  double iou_threshold_;
};

}  // namespace

std::shared_ptr<const plugin::PluginCreator> createSuppressionCreator() {
  return std::make_shared<BuiltInCreator<Suppression>>();
}

}  // namespace torchtrt::kernels::counted
