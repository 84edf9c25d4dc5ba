#include "cpu_fast/convolution_problem.h"

namespace torchtrt::kernels {
namespace {

std::string list(const std::vector<int64_t>& values, const char* separator = ", ") {
  std::string text = "[";
  for (const int64_t value : values) {
    text += (text.size() > 1 ? separator : "") + std::to_string(value);
  }
  return text + "]";
}

std::string shape(const std::vector<int64_t>& values, bool dynamic) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    text += (i > 0 ? "," : "") + std::string(dynamic && i != 1 ? "?" : "") + std::to_string(values[i]);
  }
  return text + "]";
}

}  // namespace

std::string toText(const Convolution& c) {
  const size_t rank = c.input.size() - 2;
  const auto value = [&](const std::vector<int64_t>& values, int64_t missing) {
    return values.empty() ? std::vector<int64_t>(rank, missing) : values;
  };
  const auto stride = value(c.stride, 1);
  const auto dilation = value(c.dilation, 1);
  const auto pre = value(c.pre_padding, 0);
  const auto post = value(c.post_padding, 0);
  std::vector<int64_t> output = {c.input[0], c.kernel[0]};
  for (size_t i = 0; i < rank; ++i) {
    output.push_back((c.input[i + 2] + pre[i] + post[i] - dilation[i] * (c.kernel[i + 2] - 1) - 1) / stride[i] + 1);
  }
  const std::string of_channels = c.scale ? "float32 " : "", others = c.scale ? std::string(c.dtype) + " " : "";
  std::string text = "convolution " + std::string(c.dtype) + " " + shape(c.input, c.dynamic) + c.input_order + "x" +
                     list(c.kernel, ",") + (c.computed ? "x" : "!x");
  text += c.bias ? of_channels + list({c.kernel[0]}) : "null";
  if (c.residual) {
    text += "x" + others + shape(output, c.dynamic) + c.output_order;
  } else if (c.scale) {
    text += "xnull";
  }
  text += c.scale ? "x" + of_channels + list({c.kernel[0]}) + (c.computed ? "" : "!") : "";
  text += " -> " + others + shape(output, c.dynamic) + c.output_order + " {" + c.activation;
  text += "dilation=" + list(dilation) + ", groups=" + std::to_string(c.groups) + ", post_padding=" + list(post);
  return text + ", pre_padding=" + list(pre) + ", stride=" + list(stride) + "}";
}

void check(const char* implementation, const Convolution& convolution, double rtol) {
  CompareOptions options;
  options.rtol = rtol;
  options.atol = rtol == 0 ? 0 : 1e-6;
  const bool takes_both = std::string_view(implementation) == "packed_gemm";
  (takes_both ? expectMatchesReferenceInBoth : expectMatchesReference)(toText(convolution), implementation, options);
}

}  // namespace torchtrt::kernels
