#include <sstream>

#include "lowering/call_stacks.h"
#include "lowering/module_path.h"
#include "lowering/source_files.h"
#include "torchtrt/conversion.h"

namespace torchtrt::conversion::util {

using torch::jit::Node;

std::vector<int64_t> toVec(const Dims& dims) {
  if (!dims.isStatic()) {
    throw ConversionRefused({"dynamic-dimension", "numbers are needed, but the shape is " + dims.toString()}, {},
                            "compile for fixed sizes, or write the converter with Dims instead of numbers");
  }
  return dims.constants();
}

Dims toDims(c10::IntArrayRef values) {
  return Dims::of(values.vec());
}

Dims toDims(const c10::List<int64_t>& values) {
  return Dims::of(values.vec());
}

std::string node_info(const Node* node) {
  std::ostringstream text;
  node->print(text, 0, nullptr, /*print_source_locations=*/true, /*print_attributes=*/true, /*print_scopes=*/false,
              /*print_body=*/false);
  std::string line = text.str();
  line.erase(line.find_last_not_of('\n') + 1);
  return line;
}

std::optional<DType> tryToDType(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return DType::kFloat32;
    case at::kDouble:
      return DType::kFloat64;
    case at::kHalf:
      return DType::kFloat16;
    case at::kBFloat16:
      return DType::kBFloat16;
    case at::kChar:
      return DType::kInt8;
    case at::kShort:
      return DType::kInt16;
    case at::kInt:
      return DType::kInt32;
    case at::kLong:
      return DType::kInt64;
    case at::kByte:
      return DType::kUInt8;
    case at::kBool:
      return DType::kBool;
    default:
      return std::nullopt;
  }
}

DType toDType(at::ScalarType type) {
  const auto dtype = tryToDType(type);
  if (!dtype) {
    throw ConversionRefused({"dtype", std::string("engines have no element type for torch.") + at::toString(type)});
  }
  return *dtype;
}

at::ScalarType toScalarType(DType type) {
  switch (type) {
    case DType::kFloat32:
      return at::kFloat;
    case DType::kFloat64:
      return at::kDouble;
    case DType::kFloat16:
      return at::kHalf;
    case DType::kBFloat16:
      return at::kBFloat16;
    case DType::kInt8:
      return at::kChar;
    case DType::kInt16:
      return at::kShort;
    case DType::kInt32:
      return at::kInt;
    case DType::kInt64:
      return at::kLong;
    case DType::kUInt8:
      return at::kByte;
    case DType::kBool:
      return at::kBool;
  }
  throw InternalError("no such DType: " + std::to_string(static_cast<int>(type)));
}

// A loaded module's ranges are of its archive's code; the source that this was made from is behind them.
Location locationOf(const Node& node) {
  Location location;
  const auto original = node.sourceRange().findSourceRangeThatGenerated();
  if (const auto line = original ? original->file_line_col() : node.sourceRange().file_line_col()) {
    location.file = lowering::shownFile(std::get<0>(*line));
    location.line = static_cast<int>(std::get<1>(*line));
    location.column = static_cast<int>(std::get<2>(*line));
  }
  const auto call = lowering::innermostCall(node);
  location.function = call ? call->function : "";
  location.scope = lowering::modulePath(node);
  return location;
}

}  // namespace torchtrt::conversion::util
