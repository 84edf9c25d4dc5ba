// Arithmetic with the parts of complex numbers, in layers. Private to this folder.
#pragma once

#include <utility>
#include <vector>

#include "conversion/complex/complex.h"
#include "conversion/converters/call.h"

namespace torchtrt::conversion::complex {

// A complex number whose parts are tensors of one dtype; a real one has no imaginary part.
struct Number {
  network::Tensor* re;
  network::Tensor* im;
};

// The arithmetic of one call, in the floating dtype that PyTorch promotes its operands to.
class Arithmetic {
 public:
  Arithmetic(ConversionCtx& ctx, const torch::jit::Node& node)
      : ctx_(ctx), node_(node), arguments_(argumentsOf(ctx, node)), call_(&ctx, &node, arguments_) {}

  const converters::Call& call() const {
    return call_;
  }

  // Operands 0 to `count`, promoted.
  std::vector<Number> numbers(size_t count) {
    std::vector<std::pair<converters::Operand, converters::Operand>> parts;
    std::vector<converters::Operand> reals;
    for (size_t i = 0; i < count; ++i) {
      parts.push_back(operandsOf(i));
      reals.push_back(parts.back().first);
    }
    const DType promoted = converters::floatingType(converters::resultType(reals));
    const DType dtype = promoted == DType::kBFloat16 ? DType::kFloat32 : promoted;  // there is no complex bfloat16
    std::vector<Number> numbers;
    for (const auto& [re, im] : parts) {
      const bool is_real = im.tensor == nullptr && !im.is_wrapped_number;
      numbers.push_back({&call_.materialize(re, dtype), is_real ? nullptr : &call_.materialize(im, dtype)});
    }
    return numbers;
  }

  network::Tensor* sum(network::Tensor* a, network::Tensor* b) {
    return a && b ? &call_.elementwise("sum", *a, *b) : a ? a : b;
  }
  network::Tensor* difference(network::Tensor* a, network::Tensor* b) {
    return a && b ? &call_.elementwise("sub", *a, *b) : a ? a : b ? &call_.unary("neg", *b) : nullptr;
  }
  network::Tensor* product(network::Tensor* a, network::Tensor* b) {
    return a && b ? &call_.elementwise("prod", *a, *b) : nullptr;
  }
  network::Tensor* quotient(network::Tensor* a, network::Tensor* b) {
    return a ? &call_.elementwise("div", *a, *b) : nullptr;
  }
  network::Tensor* of(const char* function, network::Tensor* x) {
    return &call_.unary(function, *x);
  }
  Number times(const Number& a, const Number& b) {
    return {difference(product(a.re, b.re), product(a.im, b.im)), sum(product(a.re, b.im), product(a.im, b.re))};
  }
  // |a|^2
  network::Tensor* square(const Number& a) {
    return sum(product(a.re, a.re), product(a.im, a.im));
  }
  // |a|, which there is a number for wherever there is one for the parts, though not for their squares.
  network::Tensor* magnitude(const Number& a) {
    network::Tensor* const re = of("abs", a.re);
    network::Tensor* const im = of("abs", a.im);
    network::Tensor& larger = call_.elementwise("max", *re, *im);
    network::Tensor* const ratio = quotient(&call_.elementwise("min", *re, *im), &larger);
    network::Tensor* const one = &call_.constant(1, larger.getType());
    network::Tensor* const size = product(&larger, of("sqrt", sum(product(ratio, ratio), one)));
    network::Tensor& has_ratio =
        call_.elementwise("and", call_.elementwise("greater", larger, call_.constant(0, larger.getType())),
                          call_.unary("isfinite", larger));
    return &call_.add(network::LayerType::kSELECT, {&has_ratio, size, &larger});
  }
  Number scaled(const Number& a, const at::Scalar& by) {
    if (by.equal(1)) {
      return a;
    }
    if (by.isComplex()) {
      ctx_.refuse("complex", "a complex alpha");
    }
    network::Tensor* const factor = &call_.constant(by, a.re->getType());
    return {product(a.re, factor), product(a.im, factor)};
  }

  // Both parts have the shape of the two together.
  void give(const Number& value) {
    network::Tensor* const re = value.re;
    network::Tensor* const im = value.im ? value.im : zerosLike(ctx_, *re);
    const bool is_same = re->getDimensions() == im->getDimensions();
    const auto spread = [&](network::Tensor* part, network::Tensor* other) {
      return is_same ? part : sum(part, zerosLike(ctx_, *other));
    };
    associate(ctx_, node_.output(), wrap(Parts{spread(re, im), spread(im, re)}));
  }
  void giveReal(network::Tensor* tensor) {
    ctx_.AssociateValueAndTensor(node_.output(), tensor);
  }

 private:
  static args argumentsOf(ConversionCtx& ctx, const torch::jit::Node& node) {
    args arguments;
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      arguments.emplace_back(&ctx, node.inputs()[i], i);
    }
    return arguments;
  }

  // Real and imaginary part; an empty one where there is none.
  std::pair<converters::Operand, converters::Operand> operandsOf(size_t i) {
    const auto value = lookUp(ctx_, node_.input(i));
    if (value->isComplexDouble()) {
      const c10::complex<double> number = value->toComplexDouble();
      return {{nullptr, true, number.real()}, {nullptr, true, number.imag()}};
    }
    if (value->isTensor() && value->toTensor().is_complex() &&
        value->toTensor().unsafeGetTensorImpl()->is_wrapped_number()) {
      const auto number = value->toTensor().item().toComplexDouble();
      return {{nullptr, true, number.real()}, {nullptr, true, number.imag()}};
    }
    const bool is_complex = partsIn(*value) || (value->isTensor() && value->toTensor().is_complex());
    if (!is_complex) {
      return {call_.operand(i), {}};
    }
    const auto parts = partsOf(ctx_, node_.input(i));
    return {{parts->re, false, {}}, {parts->im, false, {}}};
  }

  ConversionCtx& ctx_;
  const torch::jit::Node& node_;
  args arguments_;
  converters::Call call_;
};

}  // namespace torchtrt::conversion::complex
