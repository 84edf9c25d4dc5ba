#include "conversion/converters/call.h"
#include "conversion/converters/list.h"

namespace torchtrt::conversion::converters {
namespace {

struct Convolution {
  std::vector<int64_t> stride, pre_padding, post_padding, dilation, output_padding;
  int64_t groups = 1;
  bool transposed = false;
};

// The number of spatial dims, which the kernel [K,C/groups,k...] says.
size_t spatialDims(const Call& call) {
  const int rank = call.tensor(1).rank();
  if (rank < 3 || rank > 5) {
    call.refuse("rank",
                "the kernel has to have 1 to 3 spatial dimensions, got a kernel of rank " + std::to_string(rank));
  }
  return static_cast<size_t>(rank - 2);
}

// Operands 0 to 2 are input, weight, bias. An input without a batch dimension gets one for the while.
Tensor& convolve(const Call& call, const Convolution& settings) {
  Tensor& given = call.tensor(0);
  const bool batched = given.rank() == call.tensor(1).rank();
  Tensor& input = batched ? given : call.unsqueeze(given, 0);
  const std::vector<Tensor*> operands = {&input, &call.tensor(1), call.tensorOrNull(2)};
  Attributes common = attributes({{"stride", settings.stride},
                                  {"pre_padding", settings.pre_padding},
                                  {"post_padding", settings.post_padding},
                                  {"dilation", settings.dilation},
                                  {"groups", settings.groups}});
  if (settings.transposed) {
    common.set("output_padding", settings.output_padding);
  }
  Tensor& output =
      call.add(settings.transposed ? LayerType::kDECONVOLUTION : LayerType::kCONVOLUTION, operands, std::move(common));
  return batched ? output : call.squeeze(output, 0);
}

// input, weight, bias, stride, padding, dilation, groups
Tensor& convolution(Call& call) {
  const size_t dims = spatialDims(call);
  const std::vector<int64_t> padding = call.integers(4, dims);
  return convolve(call, {call.integers(3, dims), padding, padding, call.integers(5, dims), {}, call.integer(6), false});
}

// Takes padding "valid" or "same"; "same" puts the odd one at the end.
Tensor& convolutionNamedPadding(Call& call) {
  const size_t dims = spatialDims(call);
  Convolution settings{call.integers(3, dims), {}, {}, call.integers(5, dims), {}, call.integer(6), false};
  settings.pre_padding.resize(dims);
  settings.post_padding.resize(dims);
  for (size_t i = 0; i < dims && call.text(4) == "same"; ++i) {
    const Dim& kernel = call.tensor(1).getDimensions()[static_cast<int>(i) + 2];
    const int64_t total = settings.dilation[i] * (call.number(kernel, "the kernel's size") - 1);
    settings.pre_padding[i] = total / 2;
    settings.post_padding[i] = total - total / 2;
  }
  return convolve(call, settings);
}

// input, weight, bias, stride, padding, output_padding, groups, dilation
Tensor& transposedConvolution(Call& call) {
  const size_t dims = spatialDims(call);
  const std::vector<int64_t> padding = call.integers(4, dims);
  return convolve(call, {call.integers(3, dims), padding, padding, call.integers(7, dims), call.integers(5, dims),
                         call.integer(6), true});
}

// input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, ...
Tensor& generalConvolution(Call& call) {
  const size_t dims = spatialDims(call);
  const std::vector<int64_t> padding = call.integers(4, dims);
  const bool transposed = call.flag(6);
  return convolve(call, {call.integers(3, dims), padding, padding, call.integers(5, dims),
                         transposed ? call.integers(7, dims) : std::vector<int64_t>{}, call.integer(8), transposed});
}

}  // namespace

void addConvolutions(NodeConverterRegistry& registry) {
  registry.add(
      "aten::conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0], "
      "SymInt[1] dilation=[1], SymInt groups=1) -> Tensor",
      one(convolution));
  registry.add(
      "aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], "
      "SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor",
      one(convolution));
  registry.add(
      "aten::conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, "
      "0, 0], SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor",
      one(convolution));
  registry.add(
      "aten::conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], str "
      "padding=\"valid\", SymInt[1] dilation=[1], SymInt groups=1) -> Tensor",
      one(convolutionNamedPadding));
  registry.add(
      "aten::conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], str "
      "padding=\"valid\", SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor",
      one(convolutionNamedPadding));
  registry.add(
      "aten::conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], str "
      "padding=\"valid\", SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor",
      one(convolutionNamedPadding));
  registry.add(
      "aten::_convolution_mode(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, str padding, SymInt[] "
      "dilation, "
      "SymInt groups) -> Tensor",
      one(convolutionNamedPadding));
  registry.add(
      "aten::conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] "
      "padding=[0], SymInt[1] output_padding=[0], SymInt groups=1, SymInt[1] dilation=[1]) -> Tensor",
      one(transposedConvolution));
  registry.add(
      "aten::conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] "
      "padding=[0, 0], SymInt[2] output_padding=[0, 0], SymInt groups=1, SymInt[2] dilation=[1, 1]) -> Tensor",
      one(transposedConvolution));
  registry.add(
      "aten::conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], "
      "SymInt[3] padding=[0, 0, 0], SymInt[3] output_padding=[0, 0, 0], SymInt groups=1, SymInt[3] dilation=[1, 1, 1]) "
      "-> Tensor",
      one(transposedConvolution));
  registry.add(
      "aten::convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] "
      "dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
      one(generalConvolution));
  registry.add(
      "aten::_convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] "
      "dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool benchmark, bool deterministic, bool "
      "cudnn_enabled, bool allow_tf32) -> Tensor",
      one(generalConvolution));
  registry.add(
      "aten::_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, "
      "SymInt[] dilation, bool transposed, int[] output_padding, SymInt groups, bool benchmark, bool deterministic, "
      "bool cudnn_enabled) -> Tensor",
      one(generalConvolution));
}

}  // namespace torchtrt::conversion::converters
