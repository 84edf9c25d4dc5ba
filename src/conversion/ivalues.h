// An IValue of the evaluated map can also hold these in a container: a network tensor, the parts of a complex one, or a
// symbolic size.
#pragma once

#include <functional>
#include <optional>

#include "torchtrt/conversion.h"

namespace torchtrt::conversion {

using torch::jit::IValue;

// A complex tensor, of which networks have none: its real and its imaginary part, of one shape and dtype.
struct Parts {
  network::Tensor* re = nullptr;
  network::Tensor* im = nullptr;
};

class ComplexContainer : public torch::CustomClassHolder {
 public:
  explicit ComplexContainer(Parts parts) : parts_(parts) {}
  const Parts& parts() const {
    return parts_;
  }

 private:
  Parts parts_;
};

IValue wrap(network::Tensor* tensor);
IValue wrap(const Parts& parts);
IValue wrap(const Dim& dim);                     // an int where the dim is a number
network::Tensor* tensorIn(const IValue& value);  // null where it is something else
std::optional<Parts> partsIn(const IValue& value);
// The network tensor whose shape the value has: itself, or a part of it. Null where it is something else.
network::Tensor* shapedIn(const IValue& value);
std::optional<Dim> symbolIn(const IValue& value);
// A whole number: an int, a 0-d integral tensor, or a symbolic size.
std::optional<Dim> dimIn(const IValue& value);
// True if the predicate holds of the value or, if it is a list or tuple, of an element of it.
bool anyElement(const IValue& value, const std::function<bool(const IValue&)>& predicate);
// A complex number or tensor, whatever its imaginary part is: the result is complex.
bool isComplex(const IValue& value);
inline const Refusal kComplex = {"dtype", "it computes with complex numbers, and engines have tensors of real ones"};
// True if the value or an element of it is a container, which PyTorch's operators cannot take.
bool holdsContainers(const IValue& value);

// The value of a block's value in either map; nothing where it is in neither.
std::optional<IValue> lookUp(const ConversionCtx& ctx, const torch::jit::Value* value);
// Associates an output with what an evaluator found, unwrapping network tensors.
void associate(ConversionCtx& ctx, const torch::jit::Value* value, IValue ivalue);
// The 0-d int64 tensor of a symbolic size.
network::Tensor* sizeTensor(network::Network& net, const Dim& dim);

}  // namespace torchtrt::conversion
