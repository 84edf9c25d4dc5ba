// Discrete Fourier transforms, which are plugins (src/cpu/fourier): of whole tensors, and of the frames of signals.
#include <algorithm>
#include <cmath>

#include "conversion/complex/complex.h"
#include "conversion/converters/call.h"
#include "conversion/converters/list.h"
#include "conversion/converters/plugin_layer.h"

namespace torchtrt::conversion::converters {
namespace {

constexpr char kHalf[] = "half", kFull[] = "full", kComplex[] = "complex", kReal[] = "real";

void give(const Call& call, const Parts& parts) {
  associate(call.ctx, call.node.output(), parts.im ? wrap(parts) : wrap(parts.re));
}

// Whole numbers become float32; a real operand has no imaginary part.
Parts operandOf(const Call& call) {
  const auto parts = complex::partsOf(call.ctx, call.node.input(0));
  if (!parts) {
    call.refuse("argument", "its operand is no tensor of the network");
  }
  Tensor& re = call.cast(*parts->re, floatingType(parts->re->getType()));
  if (re.getType() != DType::kFloat32 && re.getType() != DType::kFloat64) {
    call.refuse("dtype", "transforms of 16 bits");
  }
  return {&re, parts->im};
}

// Returns the factor of a sum of `length` numbers; backward transforms are divided unless they are told otherwise.
double scaleOf(const Call& call, const std::string& norm, bool backward, int64_t length) {
  const auto n = static_cast<double>(length);
  if (norm == "ortho") {
    return 1 / std::sqrt(n);
  }
  if (norm != "backward" && norm != "forward") {
    call.refuse("argument", "argument 'norm' has to be 'backward', 'forward' or 'ortho', got '" + norm + "'");
  }
  return (norm == "backward") == backward ? 1 / n : 1;
}

std::string normOf(const Call& call) {
  return call.isNone(3) ? "backward" : call.text(3);
}

Parts transform(const Call& call, const char* form, bool inverse, const Parts& x, int64_t axis, int64_t length,
                double scale) {
  constexpr int64_t kMostLength = int64_t{1} << 24;
  if (length < 1 || length > kMostLength) {
    call.refuse("argument", "transforms of " + std::to_string(length) + " numbers");
  }
  std::vector<Tensor*> inputs = {x.re};
  if (x.im) {
    inputs.push_back(x.im);
  }
  const Layer* layer = addPlugin(
      call, "Fourier", inputs,
      attributes(
          {{"form", std::string(form)}, {"inverse", inverse}, {"length", length}, {"axis", axis}, {"scale", scale}}));
  return {layer->getOutput(0), form == kReal ? nullptr : layer->getOutput(1)};
}

int64_t lengthAlong(const Call& call, const Parts& x, int64_t axis) {
  return call.number(dimOf(*x.re, axis), "the length of a transform");
}

// Forwards or back along an axis, of real or complex numbers to complex ones.
Parts toComplex(const Call& call, bool inverse, const Parts& x, int64_t axis, int64_t length, const std::string& norm) {
  const double scale = scaleOf(call, norm, inverse, length);
  return transform(call, x.im || inverse ? kComplex : kFull, inverse, x, axis, length, scale);
}

void checkReal(const Call& call, const Parts& x) {
  if (x.im) {
    call.refuse("complex", "its operand has to be real");
  }
}

// self, n, dim, norm
template <bool inverse>
void along(Call& call) {
  const Parts x = operandOf(call);
  const int64_t axis = call.axis(2, x.re->rank());
  give(call,
       toComplex(call, inverse, x, axis, call.isNone(1) ? lengthAlong(call, x, axis) : call.integer(1), normOf(call)));
}

void realToHalf(Call& call) {
  const Parts x = operandOf(call);
  checkReal(call, x);
  const int64_t axis = call.axis(2, x.re->rank());
  const int64_t length = call.isNone(1) ? lengthAlong(call, x, axis) : call.integer(1);
  give(call, transform(call, kHalf, false, x, axis, length, scaleOf(call, normOf(call), false, length)));
}

void halfToReal(Call& call) {
  const Parts x = operandOf(call);
  const int64_t axis = call.axis(2, x.re->rank());
  const int64_t length = call.isNone(1) ? 2 * (lengthAlong(call, x, axis) - 1) : call.integer(1);
  give(call, transform(call, kReal, true, x, axis, length, scaleOf(call, normOf(call), true, length)));
}

// The axes of a transform of several, in the order in which they are named, and their lengths (-1: as the operand).
struct Axes {
  std::vector<int64_t> axes, lengths;
};

// self, s, dim, norm
Axes axesOf(const Call& call, const Parts& x) {
  const int rank = x.re->rank();
  Axes result;
  std::vector<int64_t> sizes;
  if (!call.isNone(1)) {
    sizes = call.integers(1);
  }
  if (!call.isNone(2)) {
    for (const int64_t axis : call.integers(2)) {
      result.axes.push_back(call.normalizeAxis(axis, rank));
    }
  } else {
    const auto count = call.isNone(1) ? rank : static_cast<int>(sizes.size());
    for (int64_t axis = rank - count; axis < rank; ++axis) {
      result.axes.push_back(axis);
    }
  }
  result.lengths = call.isNone(1) ? std::vector<int64_t>(result.axes.size(), -1) : sizes;
  if (result.axes.empty() || result.lengths.size() != result.axes.size()) {
    call.refuse("argument", "expected a length for each of the axes, and an axis");
  }
  for (const int64_t axis : result.axes) {
    if (axis < 0 || std::count(result.axes.begin(), result.axes.end(), axis) != 1) {
      call.refuse("argument", "axes that there are not, or the same twice");
    }
  }
  return result;
}

int64_t lengthOf(const Call& call, const Parts& x, const Axes& axes, size_t i) {
  return axes.lengths[i] < 0 ? lengthAlong(call, x, axes.axes[i]) : axes.lengths[i];
}

template <bool inverse>
void alongSeveral(Call& call) {
  Parts x = operandOf(call);
  const Axes axes = axesOf(call, x);
  for (size_t i = axes.axes.size(); i-- > 0;) {
    x = toComplex(call, inverse, x, axes.axes[i], lengthOf(call, x, axes, i), normOf(call));
  }
  give(call, x);
}

void realToHalfAlongSeveral(Call& call) {
  Parts x = operandOf(call);
  checkReal(call, x);
  const Axes axes = axesOf(call, x);
  const size_t last = axes.axes.size() - 1;
  const int64_t length = lengthOf(call, x, axes, last);
  x = transform(call, kHalf, false, x, axes.axes[last], length, scaleOf(call, normOf(call), false, length));
  for (size_t i = last; i-- > 0;) {
    x = toComplex(call, false, x, axes.axes[i], lengthOf(call, x, axes, i), normOf(call));
  }
  give(call, x);
}

void halfToRealAlongSeveral(Call& call) {
  Parts x = operandOf(call);
  const Axes axes = axesOf(call, x);
  const size_t last = axes.axes.size() - 1;
  const int64_t given = axes.lengths[last];
  const int64_t length = given < 0 ? 2 * (lengthAlong(call, x, axes.axes[last]) - 1) : given;
  for (size_t i = 0; i < last; ++i) {
    x = toComplex(call, true, x, axes.axes[i], lengthOf(call, x, axes, i), normOf(call));
  }
  give(call, transform(call, kReal, true, x, axes.axes[last], length, scaleOf(call, normOf(call), true, length)));
}

// A window of the length of the transform: in the middle of it, 0 around; None: ones.
Tensor& windowFor(const Call& call, size_t i, int64_t window_length, int64_t length, DType dtype) {
  Tensor& given = call.isNone(i) ? call.fill(1, Dims({Dim(window_length)}), dtype) : call.cast(call.tensor(i), dtype);
  if (given.rank() != 1 || (dimOf(given, 0).isConstant() && dimOf(given, 0) != Dim(window_length))) {
    call.refuse("argument", "the window has to have win_length numbers");
  }
  if (window_length == length) {
    return given;
  }
  const int64_t left = (length - window_length) / 2;
  return call.add(LayerType::kPADDING, {&given},
                  attributes({{"pre", Dims({Dim(left)})},
                              {"post", Dims({Dim(length - window_length - left)})},
                              {"mode", std::string("constant")},
                              {"value", 0.0}}));
}

struct Frames {
  int64_t length, hop, window_length;
};

// Arguments 1 to 3: n_fft, hop_length, win_length
Frames framesOf(const Call& call) {
  Frames frames{};
  frames.length = call.integer(1);
  frames.hop = call.isNone(2) ? frames.length / 4 : call.integer(2);
  frames.window_length = call.isNone(3) ? frames.length : call.integer(3);
  if (frames.length < 1 || frames.hop < 1 || frames.window_length < 1 || frames.window_length > frames.length) {
    call.refuse("argument", "a window that is longer than the transform, or numbers below 1");
  }
  return frames;
}

// Pads before and behind with half a transform's samples.
Tensor& centered(const Call& call, Tensor& signal, int64_t length, const std::string& mode) {
  const Dim half = length / 2;
  return call.add(
      LayerType::kPADDING, {&signal},
      attributes({{"pre", Dims({Dim(0), half})}, {"post", Dims({Dim(0), half})}, {"mode", mode}, {"value", 0.0}}));
}

// self, n_fft, hop_length, win_length, window, [center, pad_mode,] normalized, onesided, return_complex,
// align_to_window
template <bool has_center>
void shortTime(Call& call) {
  constexpr size_t kNormalized = has_center ? 7 : 5;
  const Parts x = operandOf(call);
  checkReal(call, x);
  const Frames frames = framesOf(call);
  if (call.isNone(kNormalized + 2) || !call.isNone(kNormalized + 3)) {
    call.refuse("argument", "without return_complex, or with align_to_window");
  }
  Tensor& signal = x.re->rank() == 1 ? call.unsqueeze(*x.re, 0) : *x.re;
  if (signal.rank() != 2) {
    call.refuse("argument", "a signal of rank " + std::to_string(x.re->rank()));
  }
  Tensor* padded = &signal;
  if constexpr (has_center) {
    padded = call.flag(5) ? &centered(call, signal, frames.length, call.text(6)) : padded;
  }
  Tensor& window = windowFor(call, 4, frames.window_length, frames.length, signal.getType());
  const bool one_sided = call.isNone(kNormalized + 1) || call.flag(kNormalized + 1);
  const double scale = call.flag(kNormalized) ? 1 / std::sqrt(static_cast<double>(frames.length)) : 1;
  const Layer* layer = addPlugin(
      call, "ShortTimeFourier", {padded, &window},
      attributes({{"length", frames.length}, {"hop", frames.hop}, {"one_sided", one_sided}, {"scale", scale}}));
  const auto part = [&](int i) {
    return x.re->rank() == 1 ? &call.squeeze(*layer->getOutput(i), 0) : layer->getOutput(i);
  };
  const Parts sums = {part(0), part(1)};
  if (call.flag(kNormalized + 2)) {
    give(call, sums);
    return;
  }
  const int64_t axis = sums.re->rank();
  give(call, {&call.add(LayerType::kCONCATENATION, {&call.unsqueeze(*sums.re, axis), &call.unsqueeze(*sums.im, axis)},
                        attributes({{"axis", axis}})),
              nullptr});
}

// self, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex
Tensor& inverseShortTime(Call& call) {
  const Parts x = operandOf(call);
  const Frames frames = framesOf(call);
  if (!x.im || call.flag(9) || frames.hop > frames.window_length) {
    call.refuse("argument", "of real numbers, to complex ones, or with gaps between windows");
  }
  const int rank = x.re->rank();
  if (rank != 2 && rank != 3) {
    call.refuse("argument", "sums of rank " + std::to_string(rank));
  }
  const auto part = [&](Tensor* of) { return rank == 2 ? &call.unsqueeze(*of, 0) : of; };
  Tensor& window = windowFor(call, 4, frames.window_length, frames.length, x.re->getType());
  const auto n = static_cast<double>(frames.length);
  const Layer* layer = addPlugin(call, "InverseShortTimeFourier", {part(x.re), part(x.im), &window},
                                 attributes({{"length", frames.length},
                                             {"hop", frames.hop},
                                             {"scale", call.flag(6) ? 1 / std::sqrt(n) : 1 / n},
                                             {"trim", call.flag(5) ? frames.length / 2 : int64_t{0}},
                                             {"samples", call.isNone(8) ? int64_t{-1} : call.integer(8)}}));
  Tensor& signal = *layer->getOutput(0);
  return rank == 2 ? call.squeeze(signal, 0) : signal;
}

}  // namespace

void addFouriers(NodeConverterRegistry& registry) {
  const std::pair<const char*, FreeConverter> of_one[] = {
      {"fft", along<false>}, {"ifft", along<true>}, {"rfft", realToHalf}, {"irfft", halfToReal}};
  for (const auto& [name, converter] : of_one) {
    registry.add(
        std::string("aten::fft_") + name + "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
        free(converter));
  }
  const std::pair<const char*, FreeConverter> of_several[] = {{"fft", alongSeveral<false>},
                                                              {"ifft", alongSeveral<true>},
                                                              {"rfft", realToHalfAlongSeveral},
                                                              {"irfft", halfToRealAlongSeveral}};
  for (const auto& [name, converter] : of_several) {
    registry.add(std::string("aten::fft_") + name +
                     "2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
                 free(converter));
    registry.add(std::string("aten::fft_") + name +
                     "n(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
                 free(converter));
  }
  const std::string frames =
      "(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, ";
  registry.add("aten::stft" + frames +
                   "bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? "
                   "align_to_window=None) -> Tensor",
               free(shortTime<false>));
  registry.add("aten::stft.center" + frames +
                   "bool center=True, str pad_mode=\"reflect\", bool normalized=False, bool? onesided=None, bool? "
                   "return_complex=None, bool? align_to_window=None) -> Tensor",
               free(shortTime<true>));
  registry.add("aten::istft" + frames +
                   "bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool "
                   "return_complex=False) -> Tensor",
               one(inverseShortTime));
}

}  // namespace torchtrt::conversion::converters
