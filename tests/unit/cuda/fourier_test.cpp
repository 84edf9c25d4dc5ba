// Fourier transforms of lines that fit into no block's memory, with and without a chirp, and of many that share one.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "cuda/against_reference.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels::testing {
namespace {

Case transform(const char* form, int64_t length, int64_t axis, std::vector<std::optional<Tensor>> parts,
               const Ints& dims) {
  plugin::registerBuiltinPlugins();
  const DType dtype = parts[0]->desc.dtype;
  return {"plugin_v2",
          makeAttributes({{"namespace", std::string("torchtrt")},
                          {"type", std::string("Fourier")},
                          {"form", std::string(form)},
                          {"inverse", std::string(form) == "complex"},
                          {"length", length},
                          {"axis", axis},
                          {"scale", 0.5}}),
          std::move(parts), std::vector<Output>(std::string(form) == "real" ? 1 : 2, Output{dtype, dims})};
}

double toleranceOf(DType dtype) {
  return dtype == DType::kFloat64 ? 1e-13 : 1e-6;
}

Tensor mixed(DType dtype, const Ints& dims, uint32_t seed = 1) {
  return makeTensor(dtype, dims, mixedValues(countOf(dims), dtype, seed));
}

// Transforms rows with numbers too many, and columns with too few; the CPU's tests say what is right of each form.
TEST(FourierOnDevices, LinesThatFitIntoABlock) {
  for (const int64_t length : {1, 2, 3, 7, 12, 31, 37, 60}) {
    const DType dtype = length % 2 == 0 ? DType::kFloat64 : DType::kFloat32;
    for (const char* form : {"half", "full", "complex", "real"}) {
      const int64_t given = std::string(form) == "real" ? length / 2 + 1 : length;
      const int64_t made = std::string(form) == "half" ? length / 2 + 1 : length;
      for (const int64_t axis : {1, 0}) {
        const Ints dims = axis == 1 ? Ints{3, given + 2} : Ints{std::max<int64_t>(1, given - 1), 3};
        Ints out = dims;
        out[static_cast<size_t>(axis)] = made;
        std::vector<std::optional<Tensor>> parts = {mixed(dtype, dims)};
        if (given != length || std::string(form) == "complex") {
          parts.emplace_back(mixed(dtype, dims, 2));
        }
        expectAsOnCpu(transform(form, length, axis, parts, out), toleranceOf(dtype));
      }
    }
  }
}

TEST(FourierOnDevices, LinesThatFitIntoNoBlock) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const int64_t length : {int64_t{4096}, int64_t{3750}, int64_t{2053}}) {
      const double tolerance = toleranceOf(dtype);
      expectAsOnCpu(transform("half", length, 1, {mixed(dtype, {2, length})}, {2, length / 2 + 1}), tolerance);
      expectAsOnCpu(
          transform("complex", length, 0, {mixed(dtype, {length, 2}), mixed(dtype, {length, 2}, 2)}, {length, 2}),
          tolerance);
      const Ints half = {1, length / 2 + 1};
      expectAsOnCpu(transform("real", length, 1, {mixed(dtype, half), mixed(dtype, half, 2)}, {1, length}), tolerance);
    }
  }
}

TEST(FourierOnDevices, ManyLinesToABlock) {
  for (const int64_t length : {5, 6}) {
    expectAsOnCpu(transform("full", length, 1, {mixed(DType::kFloat32, {50, length, 23})}, {50, length, 23}), 1e-6);
  }
}

TEST(FourierOnDevices, TheSameBitsEachTime) {
  const Case layer = transform("half", 60, 1, {mixed(DType::kFloat32, {40, 60})}, {40, 31});
  const std::vector<Tensor> first = run(layer), again = run(layer);
  EXPECT_EQ(first[0].bytes, again[0].bytes);
  EXPECT_EQ(first[1].bytes, again[1].bytes);
}

Case backFrom(Tensor re, Tensor im, Tensor window, int64_t hop, int64_t trim, int64_t samples) {
  plugin::registerBuiltinPlugins();
  const Output out = {re.desc.dtype, {re.desc.dims[0], samples}};
  return {"plugin_v2",
          makeAttributes({{"namespace", std::string("torchtrt")},
                          {"type", std::string("InverseShortTimeFourier")},
                          {"length", window.desc.dims[0]},
                          {"hop", hop},
                          {"scale", 0.05},
                          {"trim", trim},
                          {"samples", samples}}),
          {std::move(re), std::move(im), std::move(window)},
          {out}};
}

TEST(FourierOnDevices, ReportsWindowsThatAddUpToNothing) {
  const Tensor zeros = makeTensor(DType::kFloat32, {1, 3, 2}, Values(6, 0));
  const Tensor window = makeTensor(DType::kFloat32, {4}, {0, 1, 1, 1});
  try {
    run(backFrom(zeros, zeros, window, 2, 0, 6));
    FAIL() << "there is nothing to divide by";
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPlugin);
    EXPECT_NE(error.message().find("the squares of the windows add up to nothing somewhere"), std::string::npos);
  }
  EXPECT_NO_THROW(run(backFrom(zeros, zeros, window, 2, 1, 4)));
}

TEST(FourierOnDevices, FramesOfSignalsThereAndBack) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const int64_t length = 20, hop = 5, samples = 200, frames = (samples - length) / hop + 1;
    plugin::registerBuiltinPlugins();
    const Tensor window = makeTensor(dtype, {length}, iota(length, 1, 0.125));
    const Case there = {"plugin_v2",
                        makeAttributes({{"namespace", std::string("torchtrt")},
                                        {"type", std::string("ShortTimeFourier")},
                                        {"length", length},
                                        {"hop", hop},
                                        {"one_sided", true},
                                        {"scale", 1.0}}),
                        {mixed(dtype, {3, samples}), window},
                        {{dtype, {3, 11, frames}}, {dtype, {3, 11, frames}}}};
    expectAsOnCpu(there, toleranceOf(dtype));
    const std::vector<Tensor> sums = run(there);
    expectAsOnCpu(backFrom(sums[0], sums[1], window, hop, 7, 210), toleranceOf(dtype));
  }
}

}  // namespace
}  // namespace torchtrt::kernels::testing
