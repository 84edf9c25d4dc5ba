#include <gtest/gtest.h>

#include <array>

#include "cpu/harness.h"

namespace torchtrt::kernels::testing {
namespace {

struct Geometry {
  int64_t batch, groups, in_per_group, out_per_group;
  Ints size, kernel, stride, pre, post, dilation;
  Ints output_padding = {};  // transposed only
};

using Index = std::array<int64_t, 3>;

Index threeDims(const Ints& values, int64_t fill) {
  Index result = {fill, fill, fill};
  std::copy_backward(values.begin(), values.end(), result.end());
  return result;
}

int64_t volume(const Index& size) {
  return size[0] * size[1] * size[2];
}

Ints outputSize(const Geometry& g, bool transposed) {
  Ints out;
  for (size_t i = 0; i < g.size.size(); ++i) {
    const int64_t reach = g.dilation[i] * (g.kernel[i] - 1) + 1;
    out.push_back(transposed ? (g.size[i] - 1) * g.stride[i] - g.pre[i] - g.post[i] + reach + g.output_padding[i]
                             : (g.size[i] + g.pre[i] + g.post[i] - reach) / g.stride[i] + 1);
  }
  return out;
}

// Every (input, kernel) pair of a channel pair that meets in an output, by the definition of the layer: a convolution
// joins input o*s-p+k*d with output o; the transposed one is its adjoint and joins input i with output i*s-p+k*d.
Values naive(const Geometry& g, bool transposed, const Values& in, const Values& kernel, const Values& bias) {
  const Index size = threeDims(g.size, 1), window = threeDims(g.kernel, 1), stride = threeDims(g.stride, 1),
              pre = threeDims(g.pre, 0), dilation = threeDims(g.dilation, 1),
              out_size = threeDims(outputSize(g, transposed), 1);
  const Index& small = transposed ? size : out_size;
  const Index& large = transposed ? out_size : size;
  const int64_t in_channels = g.groups * g.in_per_group, out_channels = g.groups * g.out_per_group;
  Values out(static_cast<size_t>(g.batch * out_channels * volume(out_size)), 0);
  const auto unflatten = [](int64_t flat, const Index& dims) {
    return Index{flat / dims[2] / dims[1], flat / dims[2] % dims[1], flat % dims[2]};
  };
  for (int64_t n = 0; n < g.batch; ++n) {
    for (int64_t k = 0; k < out_channels; ++k) {
      const int64_t group = k / g.out_per_group;
      double* out_plane = out.data() + (n * out_channels + k) * volume(out_size);
      std::fill(out_plane, out_plane + volume(out_size), bias.empty() ? 0 : bias[static_cast<size_t>(k)]);
      for (int64_t c = 0; c < g.in_per_group; ++c) {
        const double* in_plane = in.data() + (n * in_channels + group * g.in_per_group + c) * volume(size);
        const int64_t filter =
            transposed ? (group * g.in_per_group + c) * g.out_per_group + k % g.out_per_group : k * g.in_per_group + c;
        for (int64_t p = 0; p < volume(small); ++p) {
          for (int64_t w = 0; w < volume(window); ++w) {
            const Index position = unflatten(p, small), offset = unflatten(w, window);
            int64_t flat = 0;
            bool inside = true;
            for (size_t axis = 0; axis < 3; ++axis) {
              const int64_t at = position[axis] * stride[axis] - pre[axis] + offset[axis] * dilation[axis];
              inside = inside && at >= 0 && at < large[axis];
              flat = flat * large[axis] + at;
            }
            if (inside) {
              const double weight = kernel[static_cast<size_t>(filter * volume(window) + w)];
              transposed ? out_plane[flat] += in_plane[p] * weight : out_plane[p] += in_plane[flat] * weight;
            }
          }
        }
      }
    }
  }
  return out;
}

Ints joined(std::initializer_list<int64_t> lead, const Ints& rest) {
  Ints result = lead;
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}

void expectNaive(const Geometry& g, bool transposed, DType dtype, bool with_bias) {
  const int64_t in_channels = g.groups * g.in_per_group, out_channels = g.groups * g.out_per_group;
  const Ints in_dims = joined({g.batch, in_channels}, g.size);
  const Ints kernel_dims =
      transposed ? joined({in_channels, g.out_per_group}, g.kernel) : joined({out_channels, g.in_per_group}, g.kernel);
  const Values in = mixedValues(g.batch * in_channels * volume(threeDims(g.size, 1)), dtype, 1);
  const Values kernel = mixedValues(kernel_dims[0] * kernel_dims[1] * volume(threeDims(g.kernel, 1)), dtype, 2);
  const Values bias = with_bias ? mixedValues(out_channels, dtype, 3) : Values();
  Case layer = {transposed ? "deconvolution" : "convolution",
                makeAttributes({{"stride", g.stride},
                                {"pre_padding", g.pre},
                                {"post_padding", g.post},
                                {"dilation", g.dilation},
                                {"groups", g.groups}}),
                {makeTensor(dtype, in_dims, in), makeTensor(dtype, kernel_dims, kernel)},
                {{dtype, joined({g.batch, out_channels}, outputSize(g, transposed))}}};
  if (transposed) {
    layer.attributes.set("output_padding", g.output_padding);
  }
  if (with_bias) {
    layer.inputs.push_back(makeTensor(dtype, {out_channels}, bias));
  }
  expectOutputs(layer, {naive(g, transposed, in, kernel, bias)});
}

const Geometry kGeometries[] = {
    {2, 1, 3, 5, {6, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
    {1, 1, 2, 3, {7, 8}, {3, 2}, {2, 3}, {0, 2}, {2, 0}, {2, 1}, {1, 2}},
    {2, 3, 2, 1, {5, 5}, {1, 1}, {1, 2}, {0, 0}, {0, 0}, {1, 1}, {0, 1}},
    {1, 4, 1, 1, {6, 6}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {2, 1, 3, 2, {11}, {4}, {2}, {3}, {1}, {2}, {1}},
    {1, 2, 1, 6, {300}, {3}, {1}, {1}, {1}, {1}, {0}},
    {1, 1, 2, 2, {4, 5, 6}, {2, 3, 2}, {1, 2, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 2}, {0, 1, 0}},
    {2, 1, 3, 5, {6, 9}, {2, 3}, {2, 3}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
    {1, 1, 3, 4, {7, 10}, {3, 4}, {3, 4}, {0, 0}, {0, 0}, {1, 1}, {2, 1}},
};
// Its windows lie side by side, and leave a border.
const Geometry& kPatches = kGeometries[8];

TEST(Convolution, IsTheSumOverItsWindow) {
  for (const Geometry& geometry : kGeometries) {
    for (const bool with_bias : {false, true}) {
      expectNaive(geometry, false, DType::kFloat32, with_bias);
    }
  }
}

TEST(Deconvolution, IsTheAdjoint) {
  for (const Geometry& geometry : kGeometries) {
    for (const bool with_bias : {false, true}) {
      expectNaive(geometry, true, DType::kFloat32, with_bias);
    }
  }
}

TEST(Convolution, TakesEveryType) {
  for (const DType dtype :
       {DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt16, DType::kInt32, DType::kInt64}) {
    expectNaive(kGeometries[1], false, dtype, true);
    expectNaive(kGeometries[1], true, dtype, true);
    expectNaive(kPatches, false, dtype, true);
  }
}

TEST(Convolution, AddsTheResidualBeforeTheActivation) {
  const Case layer = {"convolution",
                      makeAttributes({{"stride", Ints{1}},
                                      {"pre_padding", Ints{0}},
                                      {"post_padding", Ints{0}},
                                      {"dilation", Ints{1}},
                                      {"activation", "clip"},
                                      {"activation_alpha", 0.0},
                                      {"activation_beta", 6.0}}),
                      {makeTensor(DType::kFloat32, {1, 1, 3}, {1, 2, 3}), makeTensor(DType::kFloat32, {1, 1, 1}, {2}),
                       std::nullopt, makeTensor(DType::kFloat32, {1, 1, 3}, {-5, 1, 1})},
                      {{DType::kFloat32, {1, 1, 3}}}};
  expectOutputs(layer, {{0, 5, 6}});
}

TEST(Convolution, ScalesTheSumInFloat32) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    Case layer = {"convolution",
                  makeAttributes({{"stride", Ints{1}},
                                  {"pre_padding", Ints{0}},
                                  {"post_padding", Ints{0}},
                                  {"dilation", Ints{1}},
                                  {"activation", "relu"}}),
                  {makeTensor(dtype, {1, 1, 3}, {1, 2, 3}), makeTensor(dtype, {2, 1, 1}, {2, -1}),
                   makeTensor(DType::kFloat32, {2}, {-1, 10}), makeTensor(dtype, {1, 2, 3}, {0, 0, 1, 0, 0, -7}),
                   makeTensor(DType::kFloat32, {2}, {0.5, 4})},
                  {{dtype, {1, 2, 3}}}};
    expectOutputs(layer, {{0, 1, 3, 6, 2, 0}});
    layer.inputs[2] = layer.inputs[3] = std::nullopt;
    expectOutputs(layer, {{1, 2, 3, 0, 0, 0}});
  }
}

TEST(Convolution, IntegersWrap) {
  const Case layer = {
      "convolution",
      makeAttributes({{"stride", Ints{1}}, {"pre_padding", Ints{0}}, {"post_padding", Ints{0}}, {"dilation", Ints{1}}}),
      {makeTensor(DType::kInt8, {1, 1, 2}, {100, 3}), makeTensor(DType::kInt8, {1, 1, 1}, {3})},
      {{DType::kInt8, {1, 1, 2}}}};
  expectOutputs(layer, {{44, 9}});
}

TEST(Convolution, AnEmptyBatchIsEmpty) {
  Geometry empty = kGeometries[0];
  empty.batch = 0;
  expectNaive(empty, false, DType::kFloat32, true);
  expectNaive(empty, true, DType::kFloat32, true);
}

TEST(Convolution, RefusesActivationsThatIntegersDoNotHave) {
  Case layer = {"convolution",
                makeAttributes({{"stride", Ints{1}},
                                {"pre_padding", Ints{0}},
                                {"post_padding", Ints{0}},
                                {"dilation", Ints{1}},
                                {"activation", "tanh"}}),
                {makeTensor(DType::kInt32, {1, 1, 1}, {1}), makeTensor(DType::kInt32, {1, 1, 1}, {1})},
                {{DType::kInt32, {1, 1, 1}}}};
  EXPECT_THROW(run(layer), InternalError);
}

}  // namespace
}  // namespace torchtrt::kernels::testing
