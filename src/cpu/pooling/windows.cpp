#include "cpu/pooling/windows.h"

#include <algorithm>
#include <string>

#include "cpu/pooling/channels_last.h"

namespace torchtrt::kernels::pooling {
namespace {

std::vector<Span> fixedSpans(const Config& config, size_t axis, int64_t in, int64_t out) {
  std::vector<Span> spans;
  const int64_t step = config.dilation[axis];
  const int64_t reach = (config.window[axis] - 1) * step + 1;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t start = i * config.stride[axis] - config.pre_padding[axis];
    const int64_t skipped = start < 0 ? (-start + step - 1) / step : 0;
    const int64_t first = start + skipped * step;
    const int64_t end = std::min(start + reach, in);
    const int64_t count = first < end ? (end - first + step - 1) / step : 0;
    spans.push_back({first, count, step, std::min(start + reach, in + config.post_padding[axis]) - start});
  }
  return spans;
}

std::vector<Span> adaptiveSpans(int64_t in, int64_t out) {
  std::vector<Span> spans;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t first = i * in / out;
    const int64_t count = ((i + 1) * in + out - 1) / out - first;
    spans.push_back({first, count, 1, count});
  }
  return spans;
}

}  // namespace

Config readConfig(const Attributes& attributes) {
  Config config;
  config.is_max = attributes.getString("op") == "max";
  config.window = attributes.getInts("window");
  config.stride = attributes.getInts("stride");
  config.pre_padding = attributes.getInts("pre_padding");
  config.post_padding = attributes.getInts("post_padding");
  config.dilation = attributes.getInts("dilation");
  config.count_include_pad = attributes.getBool("count_include_pad", true);
  config.divisor = attributes.getInt("divisor", 0);
  return config;
}

Config readAdaptiveConfig(const Attributes& attributes) {
  Config config;
  config.is_max = attributes.getString("op") == "max";
  config.is_adaptive = true;
  return config;
}

std::optional<Refusal> refuse(const Problem& problem, size_t spatial, std::initializer_list<DType> dtypes) {
  const Operand& in = problem.inputs[0];
  if (std::find(dtypes.begin(), dtypes.end(), in.dtype) == dtypes.end()) {
    std::string known;
    for (const DType dtype : dtypes) {
      known += (known.empty() ? "" : " and ") + std::string(toString(dtype));
    }
    return Refusal{"dtype", "computes " + known + " only, not " + toString(in.dtype)};
  }
  if (problem.outputs.size() > 1) {
    return Refusal{"indices", "does not return indices"};
  }
  if (in.dims.size() != spatial + 2 || spatial > 3) {
    return Refusal{"rank", "pools the dimensions behind batch and channels only"};
  }
  return std::nullopt;
}

Windows::Windows(const Config& config, const convolution::Image& in, const convolution::Image& out, size_t rank)
    : divisor(config.divisor != 0        ? Divisor::kFixed
              : config.count_include_pad ? Divisor::kPadded
                                         : Divisor::kElements),
      spans{std::vector<Span>{Span{}}, std::vector<Span>{Span{}}, std::vector<Span>{Span{}}} {
  for (size_t axis = 0; axis < rank; ++axis) {
    const size_t slot = 3 - rank + axis;
    spans[slot] = config.is_adaptive ? adaptiveSpans(in.size[slot], out.size[slot])
                                     : fixedSpans(config, axis, in.size[slot], out.size[slot]);
    for (const Span& span : spans[slot]) {
      largest[slot] = std::max(largest[slot], span.count);
    }
  }
}

std::optional<Refusal> refuseChannelsLast(const Problem& problem, size_t spatial, std::initializer_list<DType> dtypes) {
  if (std::optional<Refusal> refusal = refuse(problem, spatial, dtypes)) {
    return refusal;
  }
  if (!convolution::isChannelsLast(problem.inputs[0]) || !convolution::isChannelsLast(problem.outputs[0])) {
    return Refusal{"memory-order", "reads and writes channels-last only"};
  }
  return std::nullopt;
}

}  // namespace torchtrt::kernels::pooling
