// Windows that slide over the last dims: their sizes, and the lists of attributes that describe them.
#pragma once

#include <algorithm>

#include "base/layer_rules/rule.h"

namespace torchtrt::layer_rules {

// One spatial dim of a convolution, deconvolution or pooling.
template <typename D>
struct Window {
  D size;  // of the kernel
  int64_t stride, pre_padding, post_padding, dilation;
};

template <typename D>
D convolutionSize(const D& input, const Window<D>& window) {
  const D reach = D(window.dilation) * (window.size - 1);
  return D::floorDiv(input + window.pre_padding + window.post_padding - reach - 1, window.stride) + 1;
}

template <typename D>
D deconvolutionSize(const D& input, const Window<D>& window, int64_t output_padding) {
  const D reach = D(window.dilation) * (window.size - 1);
  return (input - 1) * window.stride - window.pre_padding - window.post_padding + reach + output_padding + 1;
}

template <typename D>
D poolingSize(const D& input, const Window<D>& window, bool ceil_mode) {
  if (!ceil_mode) {
    return convolutionSize(input, window);
  }
  // PyTorch rounds up and drops a last window that would start beyond input and left padding: with paddings smaller
  // than the window that is the smaller of two quotients by the stride, hence the quotient of the smaller numerator.
  const D reach = D(window.dilation) * (window.size - 1);
  const D rounded_up = input + window.pre_padding + window.post_padding - reach - 1 + 2 * window.stride - 1;
  const D started = input + window.pre_padding + window.stride - 1;
  return D::floorDiv(D::min(rounded_up, started), window.stride);
}

inline constexpr const char* kNotSpatial = "it has not 1 to 3 spatial dimensions";
inline constexpr const char* kWindowTooLarge = "the window is larger than the padded input";
inline constexpr int64_t kMostEntry = int64_t{1} << 40;  // of the lists: kernels add and multiply them in 64 bits

template <typename D>
Problem checkList(const LayerView<D>& layer, const char* name, size_t count, int64_t least) {
  const std::vector<int64_t>& values = layer.ints(name);
  const auto none_is = [&](auto is_bad) { return std::none_of(values.begin(), values.end(), is_bad); };
  const bool large_enough = none_is([&](int64_t value) { return value < least; });
  const bool small_enough = none_is([](int64_t value) { return value > kMostEntry; });
  if (values.size() == count && large_enough && small_enough) {
    return {};
  }
  return broken(values.size() == count ? kOutOfRange : "an attribute has a wrong number of entries",
                std::to_string(count) + " numbers of at least " + std::to_string(least) +
                    (small_enough ? "" : " and at most " + std::to_string(kMostEntry)),
                std::string(name) + " " + textOf(values));
}

template <typename D>
Problem checkWindowLists(const LayerView<D>& layer, size_t count) {
  for (const auto& [name, least] : {std::pair{"stride", 1}, {"pre_padding", 0}, {"post_padding", 0}, {"dilation", 1}}) {
    if (Problem problem = checkList(layer, name, count, least)) {
      return problem;
    }
  }
  return {};
}

template <typename D>
Window<D> windowAt(const LayerView<D>& layer, int spatial_dim, const D& size) {
  const auto at = static_cast<size_t>(spatial_dim);
  return {size, layer.ints("stride")[at], layer.ints("pre_padding")[at], layer.ints("post_padding")[at],
          layer.ints("dilation")[at]};
}

template <typename Dims, typename SizeOf>
Dims withSpatial(const Dims& dims, int spatial, SizeOf size_of) {
  Dims result = dims;
  const int first = dims.rank() - spatial;
  for (int i = 0; i < spatial; ++i) {
    result[first + i] = size_of(dims[first + i], i);
  }
  return result;
}

// Spatial dims of the first output reach at least `smallest` for some value of the symbols.
template <typename D>
Problem checkOutputSize(const LayerView<D>& layer, const typename LayerView<D>::Dims& output, int spatial,
                        int64_t smallest, const char* damage) {
  for (int i = output.rank() - spatial; i < output.rank(); ++i) {
    if (layer.most(output[i]) < smallest) {
      return broken(damage, "an input that the window fits into",
                    operandText(layer, 0) + ", which gives output dims " + output.toString());
    }
  }
  return {};
}

}  // namespace torchtrt::layer_rules
