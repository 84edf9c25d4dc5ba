// Codes and texts of the three kinds of error.
#include "torchtrt/error.h"

#include "base/check.h"

namespace torchtrt {
namespace {

std::string textOf(ErrorCode code, const std::string& message, const Location& location, const std::string& advice) {
  std::string text = "[" + std::string(toString(code)) + "] " + message;
  if (!location.empty()) {
    text += " (at " + toString(location) + ")";
  }
  if (!advice.empty()) {
    text += "\n  " + advice;
  }
  return text;
}

}  // namespace

const char* toString(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUnsupportedOperator:
      return "C001";
    case ErrorCode::kInvalidInputSpec:
      return "C002";
    case ErrorCode::kInvalidOption:
      return "C003";
    case ErrorCode::kInvalidModule:
      return "C004";
    case ErrorCode::kConversionFailed:
      return "C005";
    case ErrorCode::kBuildFailed:
      return "C006";
    case ErrorCode::kOutput:
      return "C007";
    case ErrorCode::kInvalidNetwork:
      return "C008";
    case ErrorCode::kRewriteBudget:
      return "C009";
    case ErrorCode::kPlanCorrupt:
      return "E001";
    case ErrorCode::kPlanVersion:
      return "E002";
    case ErrorCode::kInputCount:
      return "E003";
    case ErrorCode::kInputDType:
      return "E004";
    case ErrorCode::kInputShape:
      return "E005";
    case ErrorCode::kInputDevice:
      return "E006";
    case ErrorCode::kOutOfMemory:
      return "E007";
    case ErrorCode::kIndexOutOfRange:
      return "E008";
    case ErrorCode::kPlugin:
      return "E009";
    case ErrorCode::kShapeArithmetic:
      return "E010";
    case ErrorCode::kDivisionByZero:
      return "E011";
    case ErrorCode::kNotRealTime:
      return "E012";
    case ErrorCode::kBoundCallInUse:
      return "E013";
    case ErrorCode::kInternal:
      break;
  }
  return "I001";
}

Error::Error(ErrorCode code, std::string message, Location location, std::string advice)
    : code_(code), message_(std::move(message)), location_(std::move(location)), advice_(std::move(advice)) {
  text_ = textOf(code_, message_, location_, advice_);
}

InternalError::InternalError(std::string message, Location location)
    : Error(ErrorCode::kInternal, std::move(message), std::move(location),
            "this is a bug of torchtrt; please report it with the text above") {}

}  // namespace torchtrt
