// Converters of this folder use this: the arguments of one call with short names, and the layers that most of them
// need. Users write against the public context and arguments.
#pragma once

#include <string>
#include <vector>

#include "torchtrt/conversion.h"

namespace torchtrt::conversion::converters {

using network::Layer;
using network::LayerType;
using network::Network;
using network::Tensor;

// An operand of arithmetic: a tensor, or a Python number, which takes part in promotion only by its category.
struct Operand {
  Tensor* tensor = nullptr;
  bool is_wrapped_number = false;  // a 0-d constant that stands for a Python number
  at::Scalar number;               // where there is no tensor
};

class Call {
 public:
  Call(ConversionCtx* ctx, const torch::jit::Node* node, args& arguments)
      : ctx(*ctx), net(*ctx->net), node(*node), arguments_(arguments) {}

  size_t count() const {
    return arguments_.size();
  }
  const Var& arg(size_t i) const {
    return arguments_[i];
  }
  bool isNone(size_t i) const {
    return arguments_[i].isNone();
  }
  Tensor& tensor(size_t i) const {
    return *arguments_[i].ITensor();
  }
  Tensor* tensorOrNull(size_t i) const {
    return isNone(i) ? nullptr : arguments_[i].ITensor();
  }
  std::vector<Tensor*> tensors(size_t i) const {
    return arguments_[i].unwrapToITensorList();
  }
  int64_t integer(size_t i) const {
    return arguments_[i].unwrapToInt();
  }
  double real(size_t i) const {
    return arguments_[i].unwrapToDouble();
  }
  bool flag(size_t i) const {
    return arguments_[i].unwrapToBool();
  }
  at::Scalar number(size_t i) const {
    return arguments_[i].unwrapToScalar();
  }
  std::string text(size_t i) const {
    return arguments_[i].unwrapToString();
  }
  std::vector<int64_t> integers(size_t i) const {
    return arguments_[i].unwrapToIntList().vec();
  }
  // Expands integers as PyTorch does: one number stands for all, none (if allowed) for the fallback.
  std::vector<int64_t> integers(size_t i, size_t count) const;
  Dim dim(size_t i) const {
    return arguments_[i].unwrapToDim();
  }
  std::vector<Dim> dims(size_t i) const {
    return arguments_[i].unwrapToDimList();
  }
  DType dtype(size_t i) const;                  // of a ScalarType argument
  DType dtype(size_t i, DType fallback) const;  // where None
  Operand operand(size_t i) const;              // tensor or number
  // A dimension argument, counted from the end if negative; refused outside of a tensor of that rank (0 counts as 1).
  int64_t axis(size_t i, int rank) const;
  int64_t normalizeAxis(int64_t axis, int rank) const;
  std::vector<int64_t> axes(size_t i, int rank) const;     // sorted; None or empty: all
  int64_t number(const Dim& dim, const char* what) const;  // refuses a symbol

  // Layers.
  Tensor& add(LayerType type, const std::vector<Tensor*>& inputs, Attributes attributes = {}) const;
  Tensor& cast(Tensor& tensor, DType to) const;  // the tensor itself where it has the type
  Tensor& reshape(Tensor& tensor, const Dims& dims) const;
  Tensor& permute(Tensor& tensor, const std::vector<int64_t>& permutation) const;
  Tensor& unsqueeze(Tensor& tensor, int64_t axis) const;
  Tensor& squeeze(Tensor& tensor, int64_t axis) const;  // drops the axis, whose dim is 1
  Tensor& expand(Tensor& tensor, const Dims& dims) const;
  Tensor& slice(Tensor& tensor, int64_t axis, const Dim& start, const Dim& size, int64_t stride = 1) const;
  Tensor& elementwise(const std::string& op, Tensor& a, Tensor& b) const;  // of one dtype
  Tensor& unary(const std::string& op, Tensor& tensor) const;
  Tensor& activation(const std::string& op, Tensor& tensor, double alpha = 0, double beta = 0) const;
  Tensor& reduce(const std::string& op, Tensor& tensor, const std::vector<int64_t>& axes, bool keep_dims) const;
  Tensor& constant(const at::Scalar& number, DType dtype) const;  // 0-d
  Tensor& fill(const at::Scalar& number, const Dims& dims, DType dtype) const;
  // The operand as a tensor of this dtype.
  Tensor& materialize(const Operand& operand, DType dtype) const;

  [[noreturn]] void refuse(const std::string& code, const std::string& reason) const {
    ctx.refuse(code, reason);
  }

  ConversionCtx& ctx;
  Network& net;
  const torch::jit::Node& node;

 private:
  args& arguments_;
};

// Attributes from a list; strings are given as std::string, numbers as int64_t or double.
Attributes attributes(std::initializer_list<std::pair<const char*, AttributeValue>> values);
// at::result_type over these operands.
DType resultType(const std::vector<Operand>& operands);
// Integers and booleans become float32, as PyTorch's floating-point functions take them.
DType floatingType(DType dtype);
bool isOne(const Dim& dim);
// The size of an axis, which is not counted from the end.
const Dim& dimOf(const Tensor& tensor, int64_t axis);

// Names of operations that several kinds of layers know, as template arguments.
inline constexpr char kSum[] = "sum", kProd[] = "prod", kMax[] = "max", kMin[] = "min";

// A converter of one output, or of as many as it returns.
using Converter = Tensor& (*)(Call& call);
using MultiConverter = std::vector<Tensor*> (*)(Call& call);
using ListConverter = std::vector<Tensor*> (*)(Call& call);
OpConverter one(Converter converter);
OpConverter many(MultiConverter converter);
OpConverter listOf(ListConverter converter);  // the one output is a list of tensors
// A converter that associates the node's outputs itself.
using FreeConverter = void (*)(Call& call);
OpConverter free(FreeConverter converter);

Tensor& firstArgument(Call& call);  // a converter: the result is the tensor itself

}  // namespace torchtrt::conversion::converters
