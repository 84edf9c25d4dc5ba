#include "input_spec.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <vector>

#include "torchtrt/error.h"

namespace torchtrtc {
namespace {

using torch_tensorrt::DataType;
using torch_tensorrt::TensorFormat;
using Shape = std::vector<int64_t>;

constexpr const char* kGrammar =
    "write (d,d,...) or [(min);(opt);(max)], then optionally @dtype and %format, e.g. "
    "\"[(1,3,224,224);(4,3,224,224);(8,3,224,224)]@f32%nchw\"";

[[noreturn]] void fail(const std::string& text, const std::string& why) {
  const std::string shown = text.substr(0, text.find_last_not_of(' ') + 1);
  throw torchtrt::CompileError(torchtrt::ErrorCode::kInvalidInputSpec, "input specification \"" + shown + "\": " + why,
                               {}, kGrammar);
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Shape parseShape(const std::string& whole, const std::string& text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') {
    fail(whole, "expected a shape in parentheses, got \"" + text + "\"");
  }
  Shape shape;
  const std::string inside = text.substr(1, text.size() - 2);
  if (inside.empty()) {
    return shape;
  }
  auto parts = split(inside, ',');
  if (parts.size() > 1 && parts.back().empty()) {
    parts.pop_back();  // "(8,)" as Python writes it
  }
  for (const std::string& part : parts) {
    int64_t dim = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), dim);
    if (error != std::errc() || end != part.data() + part.size() || dim < -1) {
      fail(whole, "expected a dimension (a number, or -1 for any), got \"" + part + "\"");
    }
    shape.push_back(dim);
  }
  return shape;
}

// The part behind `mark`, which is cut off `text`; "" when there is none.
std::string cutSuffix(std::string& text, char mark) {
  const size_t at = text.rfind(mark);
  if (at == std::string::npos) {
    return {};
  }
  std::string suffix = text.substr(at + 1);
  text.resize(at);
  return suffix;
}

TensorFormat parseFormat(const std::string& whole, const std::string& text) {
  static const std::map<std::string, TensorFormat> kFormats = {{"linear", TensorFormat::kContiguous},
                                                               {"nchw", TensorFormat::kContiguous},
                                                               {"chw", TensorFormat::kContiguous},
                                                               {"contiguous", TensorFormat::kContiguous},
                                                               {"nhwc", TensorFormat::kChannelsLast},
                                                               {"hwc", TensorFormat::kChannelsLast},
                                                               {"channels_last", TensorFormat::kChannelsLast}};
  const auto found = kFormats.find(lower(text));
  if (found == kFormats.end()) {
    fail(whole, "unknown format \"" + text + "\", expected linear, nchw, chw, contiguous, nhwc, hwc or channels_last");
  }
  return found->second;
}

}  // namespace

DataType parseDataType(const std::string& text, const std::string& option) {
  static const std::map<std::string, DataType> kTypes = {
      {"float", DataType::kFloat},       {"float32", DataType::kFloat}, {"f32", DataType::kFloat},
      {"fp32", DataType::kFloat},        {"half", DataType::kHalf},     {"float16", DataType::kHalf},
      {"bfloat16", DataType::kBFloat16}, {"bf16", DataType::kBFloat16}, {"f16", DataType::kHalf},
      {"fp16", DataType::kHalf},         {"int8", DataType::kChar},     {"i8", DataType::kChar},
      {"char", DataType::kChar},         {"int", DataType::kInt},       {"int32", DataType::kInt},
      {"i32", DataType::kInt},           {"long", DataType::kLong},     {"int64", DataType::kLong},
      {"i64", DataType::kLong},          {"double", DataType::kDouble}, {"float64", DataType::kDouble},
      {"f64", DataType::kDouble},        {"bool", DataType::kBool},     {"b", DataType::kBool}};
  const auto found = kTypes.find(lower(text));
  if (found == kTypes.end()) {
    throw torchtrt::CompileError(
        torchtrt::ErrorCode::kInvalidOption, option + ": unknown dtype \"" + text + "\"", {},
        "use float32, float64, float16, bfloat16, int8, int32, int64 or bool, or a short form such as f32");
  }
  return found->second;
}

torch_tensorrt::Input parseInputSpec(const std::string& text) {
  std::string shapes = text;
  std::erase_if(shapes, [](unsigned char c) { return std::isspace(c) != 0; });
  const std::string format = cutSuffix(shapes, '%');
  const std::string dtype = cutSuffix(shapes, '@');
  if (text.find('%') != std::string::npos && format.empty()) {
    fail(text, "nothing follows %");
  }
  if (text.find('@') != std::string::npos && dtype.empty()) {
    fail(text, "nothing follows @");
  }
  const TensorFormat tensor_format = format.empty() ? TensorFormat() : parseFormat(text, format);
  const DataType data_type = dtype.empty() ? DataType() : parseDataType(dtype, "input specification \"" + text + "\"");

  if (shapes.empty() || shapes.front() != '[') {
    return torch_tensorrt::Input(parseShape(text, shapes), data_type, tensor_format);
  }
  if (shapes.back() != ']') {
    fail(text, "the closing ] is missing");
  }
  const auto parts = split(shapes.substr(1, shapes.size() - 2), ';');
  if (parts.size() != 3) {
    fail(text, "expected three shapes (min);(opt);(max), got " + std::to_string(parts.size()));
  }
  return torch_tensorrt::Input(parseShape(text, parts[0]), parseShape(text, parts[1]), parseShape(text, parts[2]),
                               data_type, tensor_format);
}

}  // namespace torchtrtc
