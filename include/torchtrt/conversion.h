// Writing converters: the context of one conversion, the arguments a converter gets, weights, and the registry that
// maps a function schema to a converter. A converter appends layers to a network and says which value each output is;
// it never runs anything.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <torch/custom_class.h>
#include <torch/script.h>

#include "torchtrt/error.h"
#include "torchtrt/export.h"
#include "torchtrt/network.h"

namespace torchtrt::conversion {

// A network tensor inside an IValue, as lists of tensors hold them: ivalue.toCustomClass<TensorContainer>()->tensor().
class TORCHTRT_API TensorContainer : public torch::CustomClassHolder {
 public:
  explicit TensorContainer(network::Tensor* tensor) : tensor_(tensor) {}
  network::Tensor* tensor() const {
    return tensor_;
  }

 private:
  network::Tensor* tensor_;
};

// A whole number that is known only at run time, as aten::size gives for a dynamic dimension. It stands for an int or,
// after prim::NumToTensor, for a 0-d int64 tensor.
class TORCHTRT_API SizeContainer : public torch::CustomClassHolder {
 public:
  explicit SizeContainer(Dim dim) : dim_(std::move(dim)) {}
  const Dim& dim() const {
    return dim_;
  }

 private:
  Dim dim_;
};

// A CompileError(kConversionFailed) with the refusal that caused it, for whoever can leave the node to PyTorch.
class TORCHTRT_API ConversionRefused : public CompileError {
 public:
  ConversionRefused(Refusal refusal, Location location = {}, std::string advice = {});
  const Refusal& refusal() const {
    return refusal_;
  }

 private:
  Refusal refusal_;
};

// The state of one conversion. Both maps are keyed by values of the block being converted; a value is in one of them.
class TORCHTRT_API ConversionCtx {
 public:
  explicit ConversionCtx(network::Network& network) : net(&network) {}
  ConversionCtx(const ConversionCtx&) = delete;
  ConversionCtx& operator=(const ConversionCtx&) = delete;

  // Records what a node's output is and gives it back.
  network::Tensor* AssociateValueAndTensor(const torch::jit::Value* value, network::Tensor* tensor);
  torch::jit::IValue* AssociateValueAndIValue(const torch::jit::Value* value, torch::jit::IValue ivalue);

  // The network tensor of a value; a constant tensor becomes a CONSTANT layer on first use. Null where it is neither.
  network::Tensor* tensorOf(const torch::jit::Value* value);
  // A CONSTANT layer of this tensor's data, which it shares where it is contiguous and on the CPU.
  network::Tensor* constant(const at::Tensor& tensor);
  // Throws ConversionRefused for the node being converted.
  [[noreturn]] void refuse(const std::string& code, const std::string& reason) const;

  network::Network* net;
  std::unordered_map<const torch::jit::Value*, network::Tensor*> value_tensor_map;
  std::unordered_map<const torch::jit::Value*, torch::jit::IValue> evaluated_value_map;
  const torch::jit::Node* node = nullptr;  // being converted
  // The module's node, where `node` is one of the TorchScript definition that stands for it.
  const torch::jit::Node* composite = nullptr;
  // The one of them that the module's author knows.
  const torch::jit::Node& visibleNode() const {
    return composite ? *composite : *node;
  }
  // Nothing may stay in PyTorch: what the module says at every call is said while compiling.
  bool is_whole = false;
  // If set: returns a constant of the graph as the network takes it, which knows the CPU alone.
  std::function<torch::jit::IValue(const torch::jit::IValue&)> host_constant;
  // If set: says why a layer is better left to PyTorch.
  std::function<std::optional<Refusal>(const network::Layer&)> refusal_of_layer;
  std::unordered_set<int64_t> asked_layers;  // by it so far, by their ids

 private:
  struct Constant {
    at::Tensor keep;
    network::Tensor* tensor = nullptr;
  };
  std::unordered_map<const c10::TensorImpl*, Constant> constants_;
};

// One argument of a node: a network tensor or an IValue. The unwrap methods check the type and name node and argument
// when it is another; those with a fallback return it where the argument is None.
class TORCHTRT_API Var {
 public:
  enum class Type { kITensor, kIValue, kNone };

  Var(ConversionCtx* ctx, const torch::jit::Value* value, size_t index);

  Type type() const;
  bool isITensor() const {
    return tensor_ != nullptr;
  }
  bool isIValue() const {
    return ivalue_ != nullptr;
  }
  bool isNone() const {
    return ivalue_ != nullptr && ivalue_->isNone();
  }
  std::string type_name() const;
  std::string name() const;  // of the argument in the schema

  // The network tensor; a constant tensor is made a layer of the network first.
  network::Tensor* ITensor() const;
  network::Tensor* ITensorOrFreeze(ConversionCtx* ctx) const;
  // Null for a network tensor.
  const torch::jit::IValue* IValue() const {
    return ivalue_;
  }

  at::Tensor unwrapToTensor() const;
  at::Tensor unwrapToTensor(at::Tensor fallback) const;
  int64_t unwrapToInt() const;
  int64_t unwrapToInt(int64_t fallback) const;
  double unwrapToDouble() const;
  double unwrapToDouble(double fallback) const;
  bool unwrapToBool() const;
  bool unwrapToBool(bool fallback) const;
  at::Scalar unwrapToScalar() const;
  at::Scalar unwrapToScalar(at::Scalar fallback) const;
  std::string unwrapToString() const;
  std::string unwrapToString(std::string fallback) const;
  c10::List<int64_t> unwrapToIntList() const;
  c10::List<int64_t> unwrapToIntList(c10::List<int64_t> fallback) const;
  c10::List<double> unwrapToDoubleList() const;
  c10::List<double> unwrapToDoubleList(c10::List<double> fallback) const;
  c10::List<bool> unwrapToBoolList() const;
  c10::List<bool> unwrapToBoolList(c10::List<bool> fallback) const;
  // These also take symbolic sizes in a number or list of numbers.
  Dim unwrapToDim() const;
  std::vector<Dim> unwrapToDimList() const;
  // The tensors of a list, whose elements may be constants.
  std::vector<network::Tensor*> unwrapToITensorList() const;

 private:
  const torch::jit::IValue& known(const char* wanted) const;
  [[noreturn]] void mismatch(const char* wanted) const;

  ConversionCtx* ctx_;
  const torch::jit::Value* value_;
  size_t index_;
  network::Tensor* tensor_ = nullptr;
  const torch::jit::IValue* ivalue_ = nullptr;
};
using Arg = Var;
using args = std::vector<Var>;

// Weights for a layer, from a tensor or a single number, with the shape metadata that layers ask for. They share the
// tensor's storage and keep it alive, so they are valid for as long as any network holds them.
struct TORCHTRT_API Weights {
  network::Weights data;
  std::vector<int64_t> shape;
  std::vector<int64_t> kernel_shape;  // dims 2 and on
  int64_t num_input_maps = 1;         // dim 1
  int64_t num_output_maps = 1;        // dim 0

  Weights() = default;
  Weights(ConversionCtx* ctx, const at::Tensor& tensor);
  Weights(ConversionCtx* ctx, float value);
  Weights(ConversionCtx* ctx, double value);
  Weights(ConversionCtx* ctx, int32_t value);
  Weights(ConversionCtx* ctx, int64_t value);
  operator const network::Weights&() const {  // NOLINT(google-explicit-constructor): given to addConstant and the like
    return data;
  }
};

TORCHTRT_API std::ostream& operator<<(std::ostream& out, const Weights& weights);  // dtype, shape and maps

// Appends layers for a node and associates its outputs; false when it cannot.
using OpConverter = std::function<bool(ConversionCtx*, const torch::jit::Node*, args&)>;

struct ConversionPattern {
  std::string signature;  // a function schema, as torch.jit prints it
  OpConverter converter;
};

// Schema -> converter. Filled with the built-in converters when first asked for; a later registration for the same
// operator and overload replaces the earlier one with a warning.
class TORCHTRT_API NodeConverterRegistry {
 public:
  static NodeConverterRegistry& instance();
  // Throws CompileError(kInvalidOption) for text that is no schema.
  void add(const std::string& signature, OpConverter converter);
  // Returns the converter by name and overload of the node's schema; null unless the schemas' arguments agree.
  const OpConverter* find(const torch::jit::Node& node) const;
  bool has(const torch::jit::Node& node) const {
    return find(node) != nullptr;
  }
  std::vector<std::string> schemas() const;  // registered ones, sorted

 private:
  NodeConverterRegistry();
  struct Entry {
    c10::FunctionSchema schema;
    OpConverter converter;
  };
  std::unordered_map<c10::OperatorName, Entry> entries_;
  bool building_ = true;
};

// Registration for users: RegisterNodeConversionPatterns().pattern({schema, converter}).pattern(...).
class TORCHTRT_API RegisterNodeConversionPatterns {
 public:
  RegisterNodeConversionPatterns() = default;
  RegisterNodeConversionPatterns&& pattern(ConversionPattern pattern) &&;
};

namespace util {

// Numbers of a shape; refuses symbolic dimensions.
TORCHTRT_API std::vector<int64_t> toVec(const Dims& dims);
TORCHTRT_API Dims toDims(c10::IntArrayRef values);
TORCHTRT_API Dims toDims(const c10::List<int64_t>& values);
// The node as the IR prints it, on one line, with its source line.
TORCHTRT_API std::string node_info(const torch::jit::Node* node);
TORCHTRT_API DType toDType(at::ScalarType type);  // refuses complex and quantized types
TORCHTRT_API std::optional<DType> tryToDType(at::ScalarType type);
TORCHTRT_API at::ScalarType toScalarType(DType type);
// Returns the node's place in the source: its own line, and the module path it was called in.
TORCHTRT_API Location locationOf(const torch::jit::Node& node);

}  // namespace util
}  // namespace torchtrt::conversion
