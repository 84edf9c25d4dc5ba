// Element types: names, sizes, categories and PyTorch's promotion.
#include <array>

#include "base/check.h"
#include "torchtrt/types.h"

namespace torchtrt {
namespace {

enum class Category : uint8_t { kBool, kIntegral, kFloating };

struct DTypeInfo {
  const char* name;
  size_t size;
  Category category;
};

// Indexed by DType.
constexpr std::array<DTypeInfo, kDTypeCount> kDTypes = {{
    {"float32", 4, Category::kFloating},
    {"float64", 8, Category::kFloating},
    {"float16", 2, Category::kFloating},
    {"bfloat16", 2, Category::kFloating},
    {"int8", 1, Category::kIntegral},
    {"int32", 4, Category::kIntegral},
    {"int64", 8, Category::kIntegral},
    {"uint8", 1, Category::kIntegral},
    {"bool", 1, Category::kBool},
    {"int16", 2, Category::kIntegral},
}};

const DTypeInfo& infoOf(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  TORCHTRT_CHECK(index < kDTypes.size(), "dtype number " << index << " is unknown");
  return kDTypes[index];
}

}  // namespace

const char* toString(DType dtype) {
  return infoOf(dtype).name;
}

std::optional<DType> parseDType(std::string_view text) {
  for (size_t i = 0; i < kDTypes.size(); ++i) {
    if (text == kDTypes[i].name) {
      return static_cast<DType>(i);
    }
  }
  return std::nullopt;
}

size_t sizeOf(DType dtype) {
  return infoOf(dtype).size;
}

bool isFloating(DType dtype) {
  return infoOf(dtype).category == Category::kFloating;
}

bool isIntegral(DType dtype, bool include_bool) {
  const Category category = infoOf(dtype).category;
  return category == Category::kIntegral || (include_bool && category == Category::kBool);
}

DType promoteTypes(DType a, DType b) {
  if (a == b) {
    return a;
  }
  const DTypeInfo& info_a = infoOf(a);
  const DTypeInfo& info_b = infoOf(b);
  if (info_a.category != info_b.category) {
    return info_a.category > info_b.category ? a : b;
  }
  if (info_a.size != info_b.size) {
    // uint8 with a wider signed integer fits; with int8 see below.
    return info_a.size > info_b.size ? a : b;
  }
  // Equal size, different types: the two halves meet in float32, uint8 and int8 in int16.
  return info_a.category == Category::kFloating ? DType::kFloat32 : DType::kInt16;
}

}  // namespace torchtrt
