// Reading between elements, padding, ranges and arithmetic of integers, where the CPU's cases are few.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <tuple>

#include "cpu/antialiased_resize.h"
#include "cuda/against_reference.h"

namespace torchtrt::kernels::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Case resize(const std::string& mode, Tensor in, const Ints& size, bool align_corners,
            const std::vector<double>& scales = {}) {
  const DType dtype = in.desc.dtype;
  Ints out = in.desc.dims;
  std::copy_backward(size.begin(), size.end(), out.end());
  return {"resize",
          makeAttributes({{"mode", mode}, {"align_corners", align_corners}, {"scales", scales}}),
          {std::move(in)},
          {{dtype, out}},
          {{"size", size}}};
}

TEST(Resizing, EveryModeDTypeAndSize) {
  for (const char* mode : {"nearest", "nearest_exact", "linear", "cubic"}) {
    const bool is_exact = std::string(mode).starts_with("nearest");
    for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBFloat16, DType::kUInt8}) {
      for (const Ints& size : {Ints{7, 13}, Ints{17, 3}, Ints{1, 1}, Ints{5, 18}}) {
        for (const bool align : {false, true}) {
          if (!align || !is_exact) {
            const Tensor in = makeTensor(dtype, {2, 1, 5, 9}, mixedValues(90, dtype));
            expectAsOnCpu(resize(mode, in, size, align));
          }
        }
      }
    }
    if (std::string(mode) != "cubic") {
      expectAsOnCpu(resize(mode, makeTensor(DType::kFloat32, {1, 2, 3, 4, 2}, mixedValues(48, DType::kFloat32)),
                           {5, 3, 7}, false));
      expectAsOnCpu(
          resize(mode, makeTensor(DType::kFloat16, {2, 37}, mixedValues(74, DType::kFloat16)), {111}, false, {3.01}));
    }
  }
}

// Made smaller and larger, with scale factors, and along one axis alone.
TEST(AntialiasedResizing, EveryModeDTypeAndSize) {
  for (const char* mode : {"linear", "cubic"}) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kUInt8}) {
      for (const Ints& size : {Ints{3, 4}, Ints{25, 5}, Ints{11, 30}, Ints{1, 19}}) {
        for (const std::vector<double>& scales : {std::vector<double>{0, 0}, std::vector<double>{0.3, 1.7}}) {
          expectAsOnCpu(antialiased(mode, dtype, {2, 3, 11, 19}, mixedValues(6 * 209, dtype), size, scales));
        }
      }
    }
  }
}

Case gridSample(const char* mode, const char* edge, bool align, Tensor in, Tensor grid) {
  Ints out = {in.desc.dims[0], in.desc.dims[1]};
  out.insert(out.end(), grid.desc.dims.begin() + 1, grid.desc.dims.end() - 1);
  const DType dtype = in.desc.dtype;
  return {"grid_sample",
          makeAttributes({{"mode", std::string(mode)}, {"padding", std::string(edge)}, {"align_corners", align}}),
          {std::move(in), std::move(grid)},
          {{dtype, out}}};
}

TEST(GridSampling, PlacesInsideOutsideAndNowhere) {
  Values places = mixedValues(2 * 3 * 20, DType::kFloat32);
  for (double& place : places) {
    place *= 0.4375;
  }
  const Values odd = {kNan, kInfinity, -kInfinity, 1e20, -1e20, 3e9, -3e9, 1, -1, 0};
  std::copy(odd.begin(), odd.end(), places.begin() + 3);
  std::copy(odd.begin(), odd.end(), places.begin() + 60);
  for (const char* edge : {"zeros", "border", "reflection"}) {
    for (const char* mode : {"nearest", "linear", "cubic"}) {
      for (const bool align : {false, true}) {
        for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16}) {
          const Tensor grid = makeTensor(dtype, {2, 3, 10, 2}, places);
          expectAsOnCpu(gridSample(mode, edge, align, makeTensor(dtype, {2, 2, 4, 7}, mixedValues(112, dtype)), grid));
        }
        if (std::string(mode) != "cubic") {
          const Tensor grid = makeTensor(DType::kFloat32, {1, 2, 2, 10, 3}, places);
          const Tensor in = makeTensor(DType::kFloat32, {1, 3, 3, 1, 5}, mixedValues(45, DType::kFloat32));
          expectAsOnCpu(gridSample(mode, edge, align, in, grid));
        }
      }
    }
  }
}

Case padding(const char* mode, Tensor in, const Ints& pre, const Ints& post, double value = 0) {
  Ints out = in.desc.dims;
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] += pre[i] + post[i];
  }
  const DType dtype = in.desc.dtype;
  return {"padding",
          makeAttributes({{"mode", std::string(mode)}, {"value", value}}),
          {std::move(in)},
          {{dtype, out}},
          {{"pre", pre}, {"post", post}}};
}

TEST(Paddings, EveryModeAndDType) {
  for (const char* mode : {"constant", "reflect", "replicate", "circular"}) {
    for (const DType dtype : kAllDTypes) {
      const Tensor in = makeTensor(dtype, {2, 3, 4, 5}, mixedValues(120, dtype));
      expectAsOnCpu(padding(mode, in, {0, 0, 2, 3}, {0, 0, 3, 4}, 3));
      expectAsOnCpu(padding(mode, in, {0, 0, 0, -1}, {0, 0, 0, 3}, 1));
    }
    expectAsOnCpu(padding(mode, makeTensor(DType::kFloat32, {2, 4}, iota(8)), {1, -1}, {0, -1}));
  }
  expectAsOnCpu(padding("constant", makeTensor(DType::kFloat32, {}, {3}), {}, {}));
  expectAsOnCpu(padding("constant", makeTensor(DType::kFloat32, {0, 2}, {}), {1, 0}, {2, 0}, -kInfinity));
  EXPECT_THROW(run(padding("reflect", makeTensor(DType::kFloat32, {0}, {}), {1}, {1})), EngineError);
}

TEST(Ranges, OfEveryDType) {
  for (const DType dtype : kAllDTypes) {
    if (dtype == DType::kBool) {
      continue;
    }
    expectAsOnCpu({"fill",
                   makeAttributes({{"op", std::string("arange")},
                                   {"value", -1.5},
                                   {"step", 0.1},
                                   {"int_value", int64_t{3}},
                                   {"int_step", int64_t{-2}}}),
                   {},
                   {{dtype, {300}}}});
  }
}

// Results are wrapped to the dtype before the activation; bounds beyond all integers are the outermost ones.
TEST(IntegerArithmetic, ActivationsComeBehindTheWrap) {
  const double kFar = 1e30;
  const Values a = {100, -100, 5, -5, 127, 0}, b = {100, -100, -9, 9, 127, 3};
  for (const DType dtype : {DType::kInt8, DType::kUInt8, DType::kInt32, DType::kInt64}) {
    for (const auto& [op, alpha, beta] : {std::tuple<const char*, double, double>{"relu", 0, 0},
                                          {"clip", -6, 90},
                                          {"clip", -kFar, kFar},
                                          {"clip", kNan, 50.75},
                                          {"thresholded_relu", 4.5, 1}}) {
      const auto withActivation = [&, name = op, low = alpha, high = beta](Attributes attributes) {
        attributes.set("activation", std::string(name));
        attributes.set("activation_alpha", low);
        attributes.set("activation_beta", high);
        return attributes;
      };
      const Tensor x = makeTensor(dtype, {2, 3}, a), y = makeTensor(dtype, {2, 3}, b);
      expectAsOnCpu({"activation",
                     makeAttributes({{"op", std::string(op)}, {"alpha", alpha}, {"beta", beta}}),
                     {x},
                     {{dtype, {2, 3}}}});
      expectAsOnCpu(
          {"elementwise", withActivation(makeAttributes({{"op", std::string("sum")}})), {x, y}, {{dtype, {2, 3}}}});
      expectAsOnCpu({"matrix_multiply",
                     withActivation(makeAttributes({{"transpose_a", false}, {"transpose_b", true}})),
                     {x, y},
                     {{dtype, {2, 2}}}});
    }
  }
}

TEST(IntegerArithmetic, DividesAndRaisesAsTheCpu) {
  const Values a = {7, -7, 7, -7, -128, 0, 5, 1, -1, -1, 2, 3};
  const Values b = {2, 2, -2, -2, -1, 5, 7, -3, -3, -2, -1, 4};
  for (const char* op : {"floor_div", "trunc_div", "mod", "fmod", "pow"}) {
    for (const DType dtype : {DType::kInt8, DType::kInt32, DType::kInt64}) {
      expectAsOnCpu({"elementwise",
                     makeAttributes({{"op", std::string(op)}}),
                     {makeTensor(dtype, {12}, a), makeTensor(dtype, {12}, b)},
                     {{dtype, {12}}}});
    }
  }
}

}  // namespace
}  // namespace torchtrt::kernels::testing
