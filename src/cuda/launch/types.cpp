#include "cuda/launch/types.h"

#include "torchtrt/error.h"

namespace torchtrt::cuda {

const char* storedType(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    case DType::kFloat16:
      return "Half";
    case DType::kBFloat16:
      return "BFloat";
    case DType::kInt8:
      return "signed char";
    case DType::kInt16:
      return "short";
    case DType::kInt32:
      return "int";
    case DType::kInt64:
      return "long long";
    case DType::kUInt8:
      return "unsigned char";
    case DType::kBool:
      return "Bool";
  }
  throw InternalError("a dtype that no kernel stores");
}

const char* computedType(DType dtype) {
  return dtype == DType::kFloat64 ? "double" : isFloating(dtype) ? "float" : "long long";
}

const char* indexType(int64_t count) {
  return count <= int64_t{0xffffffff} ? "unsigned" : "long long";
}

const char* bitsType(DType dtype) {
  switch (sizeOf(dtype)) {
    case 1:
      return "unsigned char";
    case 2:
      return "unsigned short";
    case 4:
      return "unsigned int";
    default:
      return "unsigned long long";
  }
}

}  // namespace torchtrt::cuda
