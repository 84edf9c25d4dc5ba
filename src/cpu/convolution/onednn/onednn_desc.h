// oneDNN's primitives for a convolution and a deconvolution, described from a Geometry. Empty where the build has no
// oneDNN.
#pragma once

#ifndef TORCHTRT_NO_ONEDNN

#include <algorithm>
#include <optional>
#include <string_view>

#include "cpu/convolution/geometry.h"
#include "cpu/convolution/onednn/onednn_shapes.h"
#include "cpu/onednn/onednn.h"

namespace torchtrt::kernels::convolution {

// The differences between a convolution and a deconvolution.
struct Forward {
  static constexpr bool kTransposed = false;
  using Primitive = dnnl::convolution_forward;
  static constexpr const char* kName = "convolution";
  static constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
};
struct Transposed {
  static constexpr bool kTransposed = true;
  using Primitive = dnnl::deconvolution_forward;
  static constexpr const char* kName = "deconvolution";
  static constexpr auto kAlgorithm = dnnl::algorithm::deconvolution_direct;
};

// True if windows of a deconvolution share outputs.
inline bool windowsOverlap(const Geometry& g) {
  return g.kernel[0] > g.stride[0] || g.kernel[1] > g.stride[1] || g.kernel[2] > g.stride[2];
}

// oneDNN 3.2 leaves out products there where channels are many: with a kernel of 4, stride 2 and 512 channels, or of 6
// and 256, results are off by half of the largest. No convolution has it, and no deconvolution that is row-major.
template <typename Kind, typename Desc>
bool isWrong(const Geometry& g, const Desc& desc) {
  return Kind::kTransposed && windowsOverlap(g) &&
         std::string_view(desc.impl_info_str()).find("brgconv_strided") != std::string_view::npos;
}

// True if heights or widths come with the call. oneDNN would then keep code for every one of them.
inline bool hasManyImages(const Problem& problem) {
  const std::vector<int64_t>& dims = problem.inputs[0].dims;
  return std::find(dims.begin() + 2, dims.end(), -1) != dims.end();
}

// The primitive for one set of shapes. Layouts may be left to oneDNN. Where it has no other, the primitive isWrong.
template <typename Kind>
typename Kind::Primitive::primitive_desc makeDesc(const Geometry& g, const dnnl::memory::desc& source,
                                                  const dnnl::memory::desc& weights, const dnnl::memory::desc& target,
                                                  const dnnl::primitive_attr& attributes) {
  const int rank = g.spatial_rank;
  const dnnl::memory::desc bias = onednn::describe({g.outputs}, {1}, g.dtype);
  const auto strides = lastDims(g.stride, rank);
  const auto dilations = lastDims(g.dilation, rank, 1);
  const auto before = lastDims(g.pre_padding, rank);
  const auto after = lastDims(g.post_padding, rank);
  using Desc = typename Kind::Primitive::primitive_desc;
  constexpr auto kPropagation = dnnl::prop_kind::forward_inference;
  Desc desc = g.addsBias() ? Desc(onednn::engine(), kPropagation, Kind::kAlgorithm, source, weights, bias, target,
                                  strides, dilations, before, after, attributes)
                           : Desc(onednn::engine(), kPropagation, Kind::kAlgorithm, source, weights, target, strides,
                                  dilations, before, after, attributes);
  while (isWrong<Kind>(g, desc) && desc.next_impl()) {
  }
  return desc;
}

// A primitive, and what of the layer it fuses.
template <typename Kind>
struct Described {
  typename Kind::Primitive::primitive_desc desc;
  onednn::Fusion fusion;
};

// Does what makeDesc() does, and prefers forms that leave no code behind. An activation becomes a slope; for other
// activations and for many images it takes another implementation than oneDNN's first.
template <typename Kind>
Described<Kind> describeKind(const Geometry& g, const dnnl::memory::desc& source, const dnnl::memory::desc& weights,
                             const dnnl::memory::desc& target, const dnnl::memory::desc* residual, bool many_images) {
  std::optional<onednn::ChannelScale> scale;
  if (g.has_scale) {
    scale = {g.spatial_rank + 2, g.outputs, g.has_bias};
  }
  // oneDNN's took 1.1 ns for each result on a core of a Sapphire Rapids, and a pass behind takes a third of that.
  const bool is_slow = g.dtype != DType::kFloat32 && g.activation == "silu";
  onednn::Fusion fusion = onednn::fuse(is_slow ? "" : g.activation, g.alpha, g.beta, residual, g.dtype, scale);
  if (is_slow) {
    fusion.rest = activationRows(g.activation, g.alpha, g.beta);
  }
  auto desc = makeDesc<Kind>(g, source, weights, target, fusion.attributes);
  if (!onednn::keepsCode(desc) || (!many_images && !fusion.has_activation)) {
    return {desc, fusion};
  }
  if (!many_images) {
    if (std::optional<onednn::Fusion> slope = onednn::fuseSlope(g.activation, g.alpha, residual, scale)) {
      const auto sloped = makeDesc<Kind>(g, source, weights, target, slope->attributes);
      if (onednn::keepsCode(sloped)) {
        return {sloped, *slope};
      }
    }
  }
  auto other = makeDesc<Kind>(g, source, weights, target, fusion.attributes);
  while ((onednn::keepsCode(other) || isWrong<Kind>(g, other)) && other.next_impl()) {
  }
  const bool is_usable = !onednn::keepsCode(other) && !isWrong<Kind>(g, other) && !onednn::isPlainLoop(other);
  return {is_usable ? other : desc, fusion};
}

// Refuses memory orders and paddings that oneDNN does not take, or reads slowly.
std::optional<Refusal> refuseLayout(const Problem& problem, const Geometry& geometry);

}  // namespace torchtrt::kernels::convolution

#endif  // TORCHTRT_NO_ONEDNN
