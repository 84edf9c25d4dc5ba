#include "conversion/complex/functions.h"

#include <map>
#include <string>

#include "conversion/complex/arithmetic.h"

namespace torchtrt::conversion::complex {
namespace {

using converters::Call;
using network::Tensor;
using torch::jit::Node;

template <void (*compute)(Arithmetic& math)>
void function(ConversionCtx& ctx, const Node& node) {
  Arithmetic math(ctx, node);
  compute(math);
}

at::Scalar alphaOf(const Call& call) {
  return call.count() > 2 ? call.number(2) : at::Scalar(1);
}

void add(Arithmetic& math) {
  const std::vector<Number> x = math.numbers(2);
  const Number b = math.scaled(x[1], alphaOf(math.call()));
  math.give({math.sum(x[0].re, b.re), math.sum(x[0].im, b.im)});
}

template <bool reversed>
void subtract(Arithmetic& math) {
  const std::vector<Number> x = math.numbers(2);
  const Number& a = x[reversed ? 1 : 0];
  const Number b = math.scaled(x[reversed ? 0 : 1], alphaOf(math.call()));
  math.give({math.difference(a.re, b.re), math.difference(a.im, b.im)});
}

void multiply(Arithmetic& math) {
  const std::vector<Number> x = math.numbers(2);
  math.give(math.times(x[0], x[1]));
}

void divide(Arithmetic& math) {
  if (math.call().count() > 2 && !math.call().isNone(2)) {
    math.call().refuse("complex", "a quotient of complex numbers is not rounded");
  }
  const std::vector<Number> x = math.numbers(2);
  if (!x[1].im) {
    math.give({math.quotient(x[0].re, x[1].re), math.quotient(x[0].im, x[1].re)});
    return;
  }
  const Number conjugate = {x[1].re, math.of("neg", x[1].im)};
  const Number product = math.times(x[0], conjugate);
  Tensor* const square = math.square(x[1]);
  math.give({math.quotient(product.re, square), math.quotient(product.im, square)});
}

void reciprocal(Arithmetic& math) {
  const Number x = math.numbers(1)[0];
  Tensor* const square = math.square(x);
  math.give({math.quotient(x.re, square), math.quotient(math.of("neg", x.im), square)});
}

void square(Arithmetic& math) {
  const Number x = math.numbers(1)[0];
  math.give(math.times(x, x));
}

void power(Arithmetic& math) {
  const Var& exponent = math.call().arg(1);
  const at::Scalar number =
      exponent.isIValue() && exponent.IValue()->isScalar() ? exponent.IValue()->toScalar() : at::Scalar(0);
  const bool is_known =
      !number.isComplex() && (number.toDouble() == 1 || number.toDouble() == 2 || number.toDouble() == 3);
  if (!is_known) {
    math.call().refuse("complex", "powers of complex numbers other than 1, 2 and 3");
  }
  const Number x = math.numbers(1)[0];
  Number result = x;
  for (int i = 1; i < static_cast<int>(number.toDouble()); ++i) {
    result = math.times(result, x);
  }
  math.give(result);
}

// squares of magnitudes, as spectrograms ask for them: re^2 + im^2, without the root.
bool squaresMagnitude(const Node& node) {
  const std::string kind = node.kind().toQualString();
  const auto exponent = kind == "aten::pow" ? torch::jit::toIValue(node.input(1)) : std::nullopt;
  const bool is_square = kind == "aten::square" || (exponent && exponent->isScalar() && exponent->toScalar().equal(2));
  return is_square && node.input(0)->node()->kind() == torch::jit::aten::abs;
}

void absolute(Arithmetic& math) {
  math.giveReal(math.magnitude(math.numbers(1)[0]));
}

void angle(Arithmetic& math) {
  const Number x = math.numbers(1)[0];
  math.giveReal(&math.call().elementwise("atan2", *x.im, *x.re));
}

void conjugate(Arithmetic& math) {
  const Number x = math.numbers(1)[0];
  math.give({x.re, math.of("neg", x.im)});
}

void exponential(Arithmetic& math) {
  const Number x = math.numbers(1)[0];
  Tensor* const size = math.of("exp", x.re);
  math.give({math.product(size, math.of("cos", x.im)), math.product(size, math.of("sin", x.im))});
}

void logarithm(Arithmetic& math) {
  const Number x = math.numbers(1)[0];
  math.give({math.of("log", math.magnitude(x)), &math.call().elementwise("atan2", *x.im, *x.re)});
}

// x / |x|, and 0 where x is.
void sign(Arithmetic& math) {
  const Number x = math.numbers(1)[0];
  Tensor* const size = math.magnitude(x);
  const Call& call = math.call();
  Tensor& zero = call.constant(0, size->getType());
  Tensor& is_zero = call.elementwise("equal", *size, zero);
  const auto part = [&](Tensor* of) {
    return &call.add(network::LayerType::kSELECT, {&is_zero, &zero, math.quotient(of, size)});
  };
  math.give({part(x.re), part(x.im)});
}

// condition, self, other
void where(Arithmetic& math) {
  const Call& call = math.call();
  const auto a = partsOf(call.ctx, call.node.input(1)), b = partsOf(call.ctx, call.node.input(2));
  if (!a || !b || a->re->getType() != b->re->getType()) {
    call.refuse("complex", "a choice between complex tensors of different dtypes");
  }
  const auto choose = [&](Tensor* of_a, Tensor* of_b) {
    return &call.add(network::LayerType::kSELECT, {&call.tensor(0), of_a, of_b});
  };
  const auto imaginary = [&](const Parts& parts) { return parts.im ? parts.im : zerosLike(call.ctx, *parts.re); };
  math.give({choose(a->re, b->re), choose(imaginary(*a), imaginary(*b))});
}

// self, mask, value
void maskedFill(Arithmetic& math) {
  const Call& call = math.call();
  const at::Scalar value = call.number(2);
  const Number x = math.numbers(1)[0];
  const auto fill = [&](Tensor* part, double number) {
    return &call.add(network::LayerType::kSELECT, {&call.tensor(1), &call.constant(number, part->getType()), part});
  };
  const c10::complex<double> number = value.toComplexDouble();
  math.give({fill(x.re, number.real()), fill(x.im, number.imag())});
}

// self, pad, value: the padding is of real numbers.
void pad(Arithmetic& math) {
  const Call& call = math.call();
  const Number x = math.numbers(1)[0];
  const std::vector<Dim> pairs = call.dims(1);
  const int rank = x.re->rank();
  if (pairs.size() % 2 != 0 || static_cast<int>(pairs.size() / 2) > rank) {
    call.refuse("argument", "argument 'pad' has to hold a pair for each of the last dimensions");
  }
  std::vector<Dim> pre(static_cast<size_t>(rank)), post = pre;
  for (size_t i = 0; 2 * i < pairs.size(); ++i) {
    pre[pre.size() - 1 - i] = pairs[2 * i];
    post[post.size() - 1 - i] = pairs[2 * i + 1];
  }
  bool is_constant = true;
  double value = 0;
  if (call.node.kind() == c10::Symbol::fromQualString("aten::pad")) {
    is_constant = call.text(2) == "constant";
    value = call.isNone(3) ? 0 : call.real(3);
  } else {
    value = call.number(2).toDouble();
  }
  if (!is_constant) {
    call.refuse("complex", "complex numbers are padded with a constant alone");
  }
  const auto padded = [&](Tensor* part, double with) {
    return &call.add(
        network::LayerType::kPADDING, {part},
        converters::attributes(
            {{"pre", Dims(pre)}, {"post", Dims(post)}, {"mode", std::string("constant")}, {"value", with}}));
  };
  math.give({padded(x.re, value), padded(x.im, 0)});
}

// self, dtype, ...
void toDtype(Arithmetic& math) {
  const Call& call = math.call();
  const auto wanted = static_cast<at::ScalarType>(call.integer(1));
  if (!c10::isComplexType(wanted)) {
    call.refuse("complex", std::string("complex numbers to ") + at::toString(wanted));
  }
  const DType dtype = util::toDType(c10::toRealValueType(wanted));
  const auto x = partsOf(call.ctx, call.node.input(0));
  math.give({&call.cast(*x->re, dtype), x->im ? &call.cast(*x->im, dtype) : nullptr});
}

// self, other: to the other's dtype.
void toOther(Arithmetic& math) {
  const Call& call = math.call();
  const auto x = partsOf(call.ctx, call.node.input(0)), other = partsOf(call.ctx, call.node.input(1));
  if (!x || !other || !other->im) {
    call.refuse("complex", "complex numbers to a real dtype");
  }
  const DType dtype = other->re->getType();
  math.give({&call.cast(*x->re, dtype), x->im ? &call.cast(*x->im, dtype) : nullptr});
}

}  // namespace

bool convertSquareOfMagnitude(ConversionCtx& ctx, const Node& node) {
  if (!squaresMagnitude(node)) {
    return false;
  }
  const auto of = lookUp(ctx, node.input(0)->node()->input(0));
  const auto parts = of ? partsIn(*of) : std::nullopt;
  if (!parts) {
    return false;
  }
  Arithmetic math(ctx, node);
  math.giveReal(math.square({parts->re, parts->im}));
  return true;
}

Function findFunction(const Node& node) {
  static const std::map<std::string, Function> functions = {
      {"aten::add", function<add>},
      {"aten::sub", function<subtract<false>>},
      {"aten::rsub", function<subtract<true>>},
      {"aten::mul", function<multiply>},
      {"aten::multiply", function<multiply>},
      {"aten::div", function<divide>},
      {"aten::true_divide", function<divide>},
      {"aten::reciprocal", function<reciprocal>},
      {"aten::square", function<square>},
      {"aten::pow", function<power>},
      {"aten::abs", function<absolute>},
      {"aten::absolute", function<absolute>},
      {"aten::angle", function<angle>},
      {"aten::conj", function<conjugate>},
      {"aten::_conj", function<conjugate>},
      {"aten::conj_physical", function<conjugate>},
      {"aten::exp", function<exponential>},
      {"aten::log", function<logarithm>},
      {"aten::sgn", function<sign>},
      {"aten::where", function<where>},
      {"aten::masked_fill", function<maskedFill>},
      {"aten::constant_pad_nd", function<pad>},
      {"aten::pad", function<pad>},
      {"aten::to", function<toDtype>},
      {"aten::type_as", function<toOther>},
  };
  const auto found = functions.find(node.kind().toQualString());
  if (found == functions.end()) {
    return nullptr;
  }
  const std::string& overload = node.schema().overload_name();
  if (found->second == function<toDtype> && overload == "other") {
    return function<toOther>;
  }
  const bool is_other_form = (found->second == function<toDtype> && overload != "dtype") ||
                             (found->second == function<where> && overload != "self") ||
                             (found->second == function<maskedFill> && overload != "Scalar") ||
                             (found->second == function<power> && overload != "Tensor_Scalar");
  return is_other_form ? nullptr : found->second;
}

}  // namespace torchtrt::conversion::complex
