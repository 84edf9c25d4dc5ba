#include "cpu/storage/convert.h"

#include <cstring>
#include <limits>

#include "base/check.h"
#include "cpu/storage/bool_byte.h"
#include "kernels/scalar/half.h"

namespace torchtrt::kernels {
namespace {

template <typename T, typename Stored>
T fromStored(Stored value) {
  if constexpr (std::is_same_v<Stored, BoolByte>) {
    return static_cast<T>(value.byte != 0);
  } else if constexpr (std::is_same_v<Stored, Float16> || std::is_same_v<Stored, BFloat16>) {
    return static_cast<T>(toFloat(value));
  } else {
    return static_cast<T>(value);
  }
}

// Truncates as x86's conversion instructions do, in defined C++: all that does not fit becomes the smallest integer.
template <typename Integer, typename T>
Integer truncateTo(T value) {
  constexpr T kLimit = static_cast<T>(uint64_t{1} << (8 * sizeof(Integer) - 1));
  return value >= -kLimit && value < kLimit ? static_cast<Integer>(value) : std::numeric_limits<Integer>::min();
}

template <typename Stored, typename T>
Stored toStored(T value) {
  if constexpr (std::is_same_v<Stored, BoolByte>) {
    return {static_cast<uint8_t>(value != 0)};
  } else if constexpr (std::is_same_v<Stored, Float16>) {
    return toFloat16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<Stored, BFloat16>) {
    return toBFloat16(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<Stored> || std::is_integral_v<T>) {
    return static_cast<Stored>(value);
  } else if constexpr (std::is_same_v<Stored, uint8_t> || std::is_same_v<Stored, int64_t>) {
    return static_cast<Stored>(truncateTo<int64_t>(value));
  } else {
    return static_cast<Stored>(truncateTo<int32_t>(value));
  }
}

template <typename T, typename Stored>
void readRun(const std::byte* source, int64_t step, int64_t count, T* out) {
  const auto* values = reinterpret_cast<const Stored*>(source);
  if (step == 1) {
    for (int64_t i = 0; i < count; ++i) {
      out[i] = fromStored<T>(values[i]);
    }
  } else {
    for (int64_t i = 0; i < count; ++i) {
      out[i] = fromStored<T>(values[i * step]);
    }
  }
}

template <typename T, typename Stored>
void writeRun(const T* values, int64_t count, std::byte* target, int64_t step) {
  auto* out = reinterpret_cast<Stored*>(target);
  if (step == 1) {
    for (int64_t i = 0; i < count; ++i) {
      out[i] = toStored<Stored>(values[i]);
    }
  } else {
    for (int64_t i = 0; i < count; ++i) {
      out[i * step] = toStored<Stored>(values[i]);
    }
  }
}

template <typename Visitor>
auto visitStorage(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::kFloat32:
      return visitor(std::type_identity<float>{});
    case DType::kFloat64:
      return visitor(std::type_identity<double>{});
    case DType::kFloat16:
      return visitor(std::type_identity<Float16>{});
    case DType::kBFloat16:
      return visitor(std::type_identity<BFloat16>{});
    case DType::kInt8:
      return visitor(std::type_identity<int8_t>{});
    case DType::kInt16:
      return visitor(std::type_identity<int16_t>{});
    case DType::kInt32:
      return visitor(std::type_identity<int32_t>{});
    case DType::kInt64:
      return visitor(std::type_identity<int64_t>{});
    case DType::kUInt8:
      return visitor(std::type_identity<uint8_t>{});
    case DType::kBool:
      break;
  }
  TORCHTRT_CHECK(dtype == DType::kBool, "dtype number " << static_cast<int>(dtype) << " is none of ours");
  return visitor(std::type_identity<BoolByte>{});
}

// Blocks of a known length become vectors.
template <int64_t kSourceStep, typename Element>
void copyBlocks(const Element* __restrict from, Element* __restrict to, int64_t count) {
  constexpr int64_t kBlock = 16;
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    for (int64_t j = 0; j < kBlock; ++j) {
      to[i + j] = from[(i + j) * kSourceStep];
    }
  }
  for (; i < count; ++i) {
    to[i] = from[i * kSourceStep];
  }
}

template <typename Element>
void copyElements(const std::byte* source, int64_t source_step, std::byte* target, int64_t target_step, int64_t count) {
  const auto* from = reinterpret_cast<const Element*>(source);
  auto* to = reinterpret_cast<Element*>(target);
  if (target_step == 1 && source_step == 0) {
    copyBlocks<0>(from, to, count);
  } else if (target_step == 1 && source_step == -1) {
    copyBlocks<-1>(from, to, count);
  } else {
    for (int64_t i = 0; i < count; ++i) {
      to[i * target_step] = from[i * source_step];
    }
  }
}

}  // namespace

template <typename T>
Reader<T>::Reader(DType dtype) : size_(static_cast<int64_t>(sizeOf(dtype))), in_place_(false) {
  visitStorage(dtype, [this](auto stored) {
    using Stored = typename decltype(stored)::type;
    function_ = readRun<T, Stored>;
    in_place_ = std::is_same_v<T, Stored>;
  });
}

template <typename T>
Writer<T>::Writer(DType dtype) : size_(static_cast<int64_t>(sizeOf(dtype))) {
  visitStorage(dtype, [this](auto stored) { function_ = writeRun<T, typename decltype(stored)::type>; });
}

template class Reader<float>;
template class Reader<double>;
template class Reader<int64_t>;
template class Writer<float>;
template class Writer<double>;
template class Writer<int64_t>;

void copyRun(size_t size, const std::byte* source, int64_t source_step, std::byte* target, int64_t target_step,
             int64_t count) {
  if (source_step == 1 && target_step == 1) {
    std::memcpy(target, source, size * static_cast<size_t>(count));
    return;
  }
  switch (size) {
    case 1:
      return copyElements<uint8_t>(source, source_step, target, target_step, count);
    case 2:
      return copyElements<uint16_t>(source, source_step, target, target_step, count);
    case 4:
      return copyElements<uint32_t>(source, source_step, target, target_step, count);
    default:
      TORCHTRT_CHECK(size == 8, "elements of " << size << " bytes");
      return copyElements<uint64_t>(source, source_step, target, target_step, count);
  }
}

}  // namespace torchtrt::kernels
