// Into complex tensors and out of them again. Arithmetic with them is in conversion/complex.
#include "conversion/complex/complex.h"
#include "conversion/converters/call.h"
#include "conversion/converters/list.h"

namespace torchtrt::conversion::converters {
namespace {

void checkPart(const Call& call, const Tensor& tensor) {
  if (!isFloating(tensor.getType()) || tensor.getType() == DType::kBFloat16) {
    call.refuse("dtype", "complex numbers have parts of float16, float32 or float64");
  }
}

void giveParts(const Call& call, const Parts& parts) {
  associate(call.ctx, call.node.output(), wrap(parts));
}

// [..., 2] to parts.
void viewAsComplex(Call& call) {
  Tensor& x = call.tensor(0);
  checkPart(call, x);
  const int64_t last = x.rank() - 1;
  const auto part = [&](int64_t i) { return &call.squeeze(call.slice(x, last, Dim(i), Dim(1)), last); };
  giveParts(call, {part(0), part(1)});
}

Parts complexOperand(const Call& call) {
  const auto parts = complex::partsOf(call.ctx, call.node.input(0));
  if (!parts || !parts->im) {
    call.refuse("complex", "its operand is not complex");
  }
  return *parts;
}

Tensor& viewAsReal(Call& call) {
  const Parts parts = complexOperand(call);
  const int64_t axis = parts.re->rank();
  return call.add(LayerType::kCONCATENATION, {&call.unsqueeze(*parts.re, axis), &call.unsqueeze(*parts.im, axis)},
                  attributes({{"axis", axis}}));
}

// Returns the real part, which for a real tensor is itself.
Tensor& realPart(Call& call) {
  return *complex::partsOf(call.ctx, call.node.input(0)).value().re;
}

Tensor& imaginaryPart(Call& call) {
  return *complexOperand(call).im;
}

// Both operands in the shape that they have together.
std::pair<Tensor*, Tensor*> together(const Call& call) {
  Tensor& a = call.tensor(0);
  Tensor& b = call.tensor(1);
  checkPart(call, a);
  if (a.getType() != b.getType()) {
    call.refuse("dtype", "its operands have to be of one dtype");
  }
  if (a.getDimensions() == b.getDimensions()) {
    return {&a, &b};
  }
  Tensor& nothing = call.elementwise("prod", *complex::zerosLike(call.ctx, a), *complex::zerosLike(call.ctx, b));
  return {&call.elementwise("sum", a, nothing), &call.elementwise("sum", b, nothing)};
}

// real, imag
void makeComplex(Call& call) {
  const auto [re, im] = together(call);
  giveParts(call, {re, im});
}

// abs, angle
void makePolar(Call& call) {
  const auto [size, angle] = together(call);
  giveParts(call, {&call.elementwise("prod", *size, call.unary("cos", *angle)),
                   &call.elementwise("prod", *size, call.unary("sin", *angle))});
}

// Returns the angle of a real tensor: pi where it is negative, NaN where it is NaN.
Tensor& angleOfReal(Call& call) {
  Tensor& given = call.tensor(0);
  Tensor& x = call.cast(given, floatingType(given.getType()));
  const DType dtype = x.getType();
  Tensor& zero = call.constant(0, dtype);
  Tensor& turned = call.add(LayerType::kSELECT,
                            {&call.elementwise("less", x, zero), &call.constant(3.14159265358979323846, dtype), &zero});
  return call.add(LayerType::kSELECT, {&call.unary("isnan", x), &x, &turned});
}

}  // namespace

void addComplexNumbers(NodeConverterRegistry& registry) {
  registry.add("aten::view_as_complex(Tensor(a) self) -> Tensor(a)", free(viewAsComplex));
  registry.add("aten::view_as_real(Tensor(a) self) -> Tensor(a)", one(viewAsReal));
  registry.add("aten::real(Tensor(a) self) -> Tensor(a)", one(realPart));
  registry.add("aten::imag(Tensor(a) self) -> Tensor(a)", one(imaginaryPart));
  registry.add("aten::complex(Tensor real, Tensor imag) -> Tensor", free(makeComplex));
  registry.add("aten::polar(Tensor abs, Tensor angle) -> Tensor", free(makePolar));
  registry.add("aten::angle(Tensor self) -> Tensor", one(angleOfReal));
  registry.add("aten::conj(Tensor(a) self) -> Tensor(a)", one(firstArgument));
  registry.add("aten::_conj(Tensor(a) self) -> Tensor(a)", one(firstArgument));
  registry.add("aten::conj_physical(Tensor self) -> Tensor", one(firstArgument));
}

}  // namespace torchtrt::conversion::converters
