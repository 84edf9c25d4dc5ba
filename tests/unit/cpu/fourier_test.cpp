// The plugins of Fourier transforms against sums by the definition, for every kind of length and in any layout;
// tests/python compares them with PyTorch.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "cpu/harness.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels::testing {
namespace {

using Complex = std::complex<double>;

// Powers, products of small primes, primes of a stage and beyond, and their doubles.
constexpr int64_t kLengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 15, 22, 31, 37, 60, 64, 74, 127};

Case fourier(const char* form, bool inverse, int64_t length, int64_t axis, double scale, std::vector<Tensor> operands,
             const Ints& dims) {
  plugin::registerBuiltinPlugins();
  const DType dtype = operands[0].desc.dtype;
  const std::vector<Output> outputs(std::string(form) == "real" ? 1 : 2, Output{dtype, dims});
  return {"plugin_v2",
          makeAttributes({{"namespace", std::string("torchtrt")},
                          {"type", std::string("Fourier")},
                          {"form", std::string(form)},
                          {"inverse", inverse},
                          {"length", length},
                          {"axis", axis},
                          {"scale", scale}}),
          {operands.begin(), operands.end()},
          outputs};
}

// Sums along the middle one of three axes, of which `count` are given.
Values sumsAlong(const Values& re, const Values& im, const Ints& dims, int64_t length, int64_t count, double sign,
                 double scale, bool imaginary) {
  Values result;
  for (int64_t outer = 0; outer < dims[0]; ++outer) {
    for (int64_t k = 0; k < count; ++k) {
      for (int64_t inner = 0; inner < dims[2]; ++inner) {
        Complex sum = 0;
        for (int64_t m = 0; m < std::min(dims[1], length); ++m) {
          const auto at = static_cast<size_t>((outer * dims[1] + m) * dims[2] + inner);
          const double angle =
              sign * 2 * std::numbers::pi * static_cast<double>(k * m % length) / static_cast<double>(length);
          sum += Complex(re[at], im.empty() ? 0 : im[at]) * std::polar(1.0, angle);
        }
        const double part = scale * (imaginary ? sum.imag() : sum.real());
        result.push_back(std::abs(part) < 1e-11 ? 0 : part);  // what roots that are not exact leave of a zero
      }
    }
  }
  return result;
}

double toleranceOf(DType dtype) {
  return dtype == DType::kFloat64 ? 1e-13 : 1e-6;
}

// Takes rows and columns, more of them than a vector has lanes and fewer, also with numbers too many and too few.
template <typename Check>
void forEachShape(int64_t length, const Check& check) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const auto& [outer, inner] : {std::pair<int64_t, int64_t>{19, 1}, {2, 17}}) {
      check(dtype, Ints{outer, length, inner});
    }
    if (length < 13) {
      check(dtype, Ints{3, length + 3, 2});
      check(dtype, Ints{1, std::max<int64_t>(1, length - 2), 1});
    }
  }
}

TEST(Fourier, ComplexNumbers) {
  for (const int64_t length : kLengths) {
    forEachShape(length, [&](DType dtype, const Ints& dims) {
      const int64_t total = dims[0] * dims[1] * dims[2];
      const Values re = mixedValues(total, dtype, 1), im = mixedValues(total, dtype, 2);
      for (const bool inverse : {false, true}) {
        const auto sums = [&](bool imaginary) {
          return sumsAlong(re, im, dims, length, length, inverse ? 1 : -1, 0.5, imaginary);
        };
        expectOutputs(fourier("complex", inverse, length, 1, 0.5,
                              {makeTensor(dtype, dims, re), makeTensor(dtype, dims, im)}, {dims[0], length, dims[2]}),
                      {sums(false), sums(true)}, toleranceOf(dtype));
      }
    });
  }
}

TEST(Fourier, RealNumbers) {
  for (const int64_t length : kLengths) {
    forEachShape(length, [&](DType dtype, const Ints& dims) {
      const Values x = mixedValues(dims[0] * dims[1] * dims[2], dtype);
      for (const char* form : {"half", "full"}) {
        const int64_t count = std::string(form) == "half" ? length / 2 + 1 : length;
        const auto sums = [&](bool imaginary) { return sumsAlong(x, {}, dims, length, count, -1, 2, imaginary); };
        expectOutputs(fourier(form, false, length, 1, 2, {makeTensor(dtype, dims, x)}, {dims[0], count, dims[2]}),
                      {sums(false), sums(true)}, toleranceOf(dtype));
      }
    });
  }
}

// The other sums are conjugates; imaginary parts of the first and, of an even length, the last do not count.
TEST(Fourier, BackToRealNumbers) {
  for (const int64_t length : kLengths) {
    const int64_t half = length / 2 + 1;
    forEachShape(half, [&](DType dtype, const Ints& dims) {
      const int64_t total = dims[0] * dims[1] * dims[2];
      const Values re = mixedValues(total, dtype, 1), im = mixedValues(total, dtype, 2);
      const Ints whole = {dims[0], length, dims[2]};
      Values whole_re(static_cast<size_t>(length * dims[0] * dims[2])), whole_im = whole_re;
      for (int64_t outer = 0; outer < dims[0]; ++outer) {
        for (int64_t k = 0; k < length; ++k) {
          for (int64_t inner = 0; inner < dims[2]; ++inner) {
            const int64_t from = std::min(k, length - k);
            const auto to = static_cast<size_t>((outer * length + k) * dims[2] + inner);
            if (from < dims[1]) {
              const auto at = static_cast<size_t>((outer * dims[1] + from) * dims[2] + inner);
              whole_re[to] = re[at];
              whole_im[to] = k == 0 || 2 * k == length ? 0 : k == from ? im[at] : -im[at];
            }
          }
        }
      }
      expectOutputs(
          fourier("real", true, length, 1, 0.25, {makeTensor(dtype, dims, re), makeTensor(dtype, dims, im)}, whole),
          {sumsAlong(whole_re, whole_im, whole, length, length, 1, 0.25, false)}, toleranceOf(dtype));
    });
  }
}

TEST(Fourier, NothingGoesFromOneRowToAnother) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Tensor> sums =
      run(fourier("half", false, 4, 1, 1,
                  {makeTensor(DType::kFloat32, {3, 4}, {1, 2, 3, 4, nan, 1, 1, 1, 1e30, 0, 0, 0})}, {3, 3}));
  const Values re = sums[0].values();
  EXPECT_EQ(Values(re.begin(), re.begin() + 3), (Values{10, -2, -2}));
  EXPECT_TRUE(std::isnan(re[3]) && std::isnan(re[5]));
  EXPECT_EQ(re[6], re[8]);
}

TEST(Fourier, RefusesOtherFields) {
  const Tensor x = makeTensor(DType::kFloat32, {2, 4}, iota(8));
  EXPECT_THROW(run(fourier("quarter", false, 4, 1, 1, {x}, {2, 3})), EngineError);
  EXPECT_THROW(run(fourier("half", false, 0, 1, 1, {x}, {2, 1})), EngineError);
  EXPECT_THROW(run(fourier("half", false, int64_t{1} << 40, 1, 1, {x}, {2, 3})), EngineError);
  EXPECT_THROW(run(fourier("half", false, 4, 2, 1, {x}, {2, 3})), EngineError);
  EXPECT_THROW(run(fourier("half", false, 4, -1, 1, {x}, {2, 3})), EngineError);
  EXPECT_THROW(run(fourier("complex", false, 4, 1, 1, {x, makeTensor(DType::kFloat32, {2, 3}, iota(6))}, {2, 4})),
               EngineError);
}

Case shortTime(int64_t length, int64_t hop, bool one_sided, const Tensor& signal, const Tensor& window,
               const Ints& dims) {
  plugin::registerBuiltinPlugins();
  return {"plugin_v2",
          makeAttributes({{"namespace", std::string("torchtrt")},
                          {"type", std::string("ShortTimeFourier")},
                          {"length", length},
                          {"hop", hop},
                          {"one_sided", one_sided},
                          {"scale", 1.0}}),
          {signal, window},
          {{signal.desc.dtype, dims}, {signal.desc.dtype, dims}}};
}

Case backFromShortTime(int64_t length, int64_t hop, int64_t trim, int64_t samples, const Tensor& re, const Tensor& im,
                       const Tensor& window, const Ints& dims) {
  plugin::registerBuiltinPlugins();
  return {"plugin_v2",
          makeAttributes({{"namespace", std::string("torchtrt")},
                          {"type", std::string("InverseShortTimeFourier")},
                          {"length", length},
                          {"hop", hop},
                          {"scale", 1.0 / static_cast<double>(length)},
                          {"trim", trim},
                          {"samples", samples}}),
          {re, im, window},
          {{re.desc.dtype, dims}}};
}

TEST(ShortTimeFourier, FramesTimesWindow) {
  for (const int64_t length : {int64_t{6}, int64_t{9}, int64_t{16}}) {
    for (const int64_t hop : {1, 4, 20}) {
      for (const bool one_sided : {true, false}) {
        const int64_t rows = 3, samples = 50, frames = (samples - length) / hop + 1;
        const int64_t count = one_sided ? length / 2 + 1 : length;
        const Values signal = mixedValues(rows * samples, DType::kFloat32),
                     window = mixedValues(length, DType::kFloat32, 3);
        Values framed;  // [rows, length, frames]
        for (int64_t row = 0; row < rows; ++row) {
          for (int64_t m = 0; m < length; ++m) {
            for (int64_t frame = 0; frame < frames; ++frame) {
              framed.push_back(signal[static_cast<size_t>(row * samples + frame * hop + m)] *
                               window[static_cast<size_t>(m)]);
            }
          }
        }
        const auto sums = [&](bool imaginary) {
          return sumsAlong(framed, {}, {rows, length, frames}, length, count, -1, 1, imaginary);
        };
        expectOutputs(shortTime(length, hop, one_sided, makeTensor(DType::kFloat32, {rows, samples}, signal),
                                makeTensor(DType::kFloat32, {length}, window), {rows, count, frames}),
                      {sums(false), sums(true)}, 1e-6);
      }
    }
  }
}

// There and back is the signal, as far as windows reach; behind them there are zeros.
TEST(InverseShortTimeFourier, GivesTheSignalBack) {
  for (const int64_t trim : {0, 4}) {
    for (const int64_t wanted : {-1, 20, 60}) {
      const int64_t length = 8, hop = 3, rows = 2, frames = 12, samples = length + hop * (frames - 1);
      const Values signal = mixedValues(rows * samples, DType::kFloat64), window = iota(length, 1, 0.25);
      const Tensor window_tensor = makeTensor(DType::kFloat64, {length}, window);
      const std::vector<Tensor> sums = run(shortTime(
          length, hop, true, makeTensor(DType::kFloat64, {rows, samples}, signal), window_tensor, {rows, 5, frames}));
      const int64_t count = wanted < 0 ? samples - 2 * trim : wanted;
      Values expected;
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t i = 0; i < count; ++i) {
          expected.push_back(i + trim < samples ? signal[static_cast<size_t>(row * samples + i + trim)] : 0);
        }
      }
      expectOutputs(backFromShortTime(length, hop, trim, wanted, sums[0], sums[1], window_tensor, {rows, count}),
                    {expected}, 1e-12);
    }
  }
}

TEST(InverseShortTimeFourier, RefusesWhatCannotBeDivided) {
  const Tensor zeros = makeTensor(DType::kFloat32, {1, 3, 2}, Values(6, 0));
  const Tensor window = makeTensor(DType::kFloat32, {4}, {0, 1, 1, 1});
  EXPECT_THROW(run(backFromShortTime(4, 2, 0, -1, zeros, zeros, window, {1, 6})), EngineError);
  EXPECT_NO_THROW(run(backFromShortTime(4, 2, 1, -1, zeros, zeros, window, {1, 4})));
  EXPECT_THROW(run(backFromShortTime(4, 5, 0, -1, zeros, zeros, window, {1, 9})), EngineError);  // gaps
  EXPECT_THROW(run(backFromShortTime(4, 2, 4, -1, zeros, zeros, window, {1, 0})), EngineError);  // more than there is
}

}  // namespace
}  // namespace torchtrt::kernels::testing
