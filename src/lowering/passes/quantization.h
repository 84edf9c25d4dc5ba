// lower_quantized writes a quantized value as the float32 tensor of its *centered integers* q - zero_point. Sums and
// products of those are exact, and padding is zero.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <torch/script.h>

namespace torchtrt::lowering {

struct Quantization {
  double scale = 1;
  int64_t zero_point = 0;
  c10::ScalarType dtype = c10::kQUInt8;
  bool channels_last = false;  // surely, in eager mode: PyTorch averages other layouts otherwise

  // The bounds of centered integers.
  int64_t low() const {
    return (dtype == c10::kQInt8 ? -128 : 0) - zero_point;
  }
  int64_t high() const {
    return low() + 255;
  }
  float step() const {
    return static_cast<float>(scale);
  }
  float inverse() const {
    return 1.0F / step();
  }
};

// Nothing unless all are constants, the dtype is quint8 or qint8 and the scale a positive float32 with an inverse.
std::optional<Quantization> quantizationOf(const torch::jit::Value* scale, const torch::jit::Value* zero_point,
                                           c10::ScalarType dtype);
// Returns the quantization of a tensor that PyTorch made.
std::optional<Quantization> quantizationOf(const at::Tensor& quantized);

// All 256 values of a quantization, as PyTorch holds them, and centered ones out of what PyTorch holds.
at::Tensor allValues(const Quantization& quantization);
at::Tensor centered(const at::Tensor& quantized, const Quantization& quantization);

// Nodes of plain float operators in front of a node.
class FloatBuilder {
 public:
  explicit FloatBuilder(torch::jit::Graph& graph) : graph_(graph) {}

  torch::jit::Graph& graph() {
    return graph_;
  }
  torch::jit::Value* call(const char* kind, at::ArrayRef<torch::jit::NamedValue> arguments,
                          at::ArrayRef<torch::jit::NamedValue> by_name = {});
  torch::jit::Value* constant(const at::Tensor& tensor);  // without its shape in the type
  torch::jit::Value* cast(torch::jit::Value* x, c10::ScalarType dtype);

  // round(x) within the bounds: what ends every operator that computes.
  torch::jit::Value* roundAndClamp(torch::jit::Value* x, int64_t low, int64_t high);
  torch::jit::Value* roundAndClamp(torch::jit::Value* x, const Quantization& to);

 private:
  torch::jit::Graph& graph_;
};

// The floating form of a node.
struct QuantizedRule {
  std::vector<torch::jit::Value*> inputs;  // the quantized ones, lists of tensors by their elements
  std::optional<Quantization> result;      // of every output; none where they are not quantized
  // The outputs' replacements out of those of `inputs`.
  std::function<std::vector<torch::jit::Value*>(FloatBuilder&, const std::vector<torch::jit::Value*>&)> build;
};

using QuantizedValues = std::unordered_map<const torch::jit::Value*, Quantization>;

// Nothing where the node cannot be written exactly.
std::optional<QuantizedRule> quantizedRuleOf(torch::jit::Node* node, const QuantizedValues& known);
// Parts of it, by family.
std::optional<QuantizedRule> weightedRuleOf(torch::jit::Node* node, const QuantizedValues& known);
std::optional<QuantizedRule> pointwiseRuleOf(torch::jit::Node* node, const QuantizedValues& known);
std::optional<QuantizedRule> movingRuleOf(torch::jit::Node* node, const QuantizedValues& known);

}  // namespace torchtrt::lowering
