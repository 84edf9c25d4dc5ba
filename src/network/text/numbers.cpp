// Exact text of numbers.
#include "network/text/numbers.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace torchtrt::network {
namespace {

// An IEEE-like format in at most 64 bits.
struct Format {
  int exponent_bits;
  int fraction_bits;
};

std::optional<Format> formatOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return Format{11, 52};
    case DType::kFloat32:
      return Format{8, 23};
    case DType::kFloat16:
      return Format{5, 10};
    case DType::kBFloat16:
      return Format{8, 7};
    default:
      return std::nullopt;
  }
}

uint64_t signMask(Format format) {
  return uint64_t{1} << (format.exponent_bits + format.fraction_bits);
}

uint64_t infinityBits(Format format) {
  return ((uint64_t{1} << format.exponent_bits) - 1) << format.fraction_bits;
}

uint64_t quietNan(Format format) {
  return infinityBits(format) | (uint64_t{1} << (format.fraction_bits - 1));
}

// Exact: every format is a subset of double. NaN payloads are not kept.
double toDouble(Format format, uint64_t bits) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const auto exponent = static_cast<int>((bits & infinityBits(format)) >> format.fraction_bits);
  const uint64_t fraction = bits & ((uint64_t{1} << format.fraction_bits) - 1);
  double magnitude = 0;
  if (exponent == (1 << format.exponent_bits) - 1) {
    magnitude = fraction == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<double>(fraction), 1 - bias - format.fraction_bits);
  } else {
    const uint64_t significand = fraction | (uint64_t{1} << format.fraction_bits);
    magnitude = std::ldexp(static_cast<double>(significand), exponent - bias - format.fraction_bits);
  }
  return (bits & signMask(format)) != 0 ? -magnitude : magnitude;
}

// The nearest bits, ties to even; nothing for a finite value that the format cannot hold.
std::optional<uint64_t> fromDouble(Format format, double value) {
  const uint64_t sign = std::signbit(value) ? signMask(format) : 0;
  if (std::isnan(value)) {
    return quietNan(format);
  }
  if (std::isinf(value)) {
    return sign | infinityBits(format);
  }
  if (value == 0) {
    return sign;
  }
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int exponent = std::max(std::ilogb(value), 1 - bias);
  if (exponent > bias) {
    return std::nullopt;
  }
  const double significand = std::nearbyint(std::ldexp(std::fabs(value), format.fraction_bits - exponent));
  // The leading one of a normal significand carries into the exponent field, and so does rounding up.
  const uint64_t magnitude =
      (static_cast<uint64_t>(exponent + bias - 1) << format.fraction_bits) + static_cast<uint64_t>(significand);
  return magnitude < infinityBits(format) ? std::optional(sign | magnitude) : std::nullopt;
}

uint64_t readBits(const void* element, size_t size) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, size);  // the machine is little-endian, as plans are
  return bits;
}

template <typename Float>
std::string shortest(Float value) {
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr};
}

std::string withPoint(const std::string& text) {
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;  // 'n': "inf" and "nan"
}

std::string hexText(uint64_t bits) {
  char buffer[32];
  return "0x" + std::string(buffer, std::to_chars(buffer, buffer + sizeof(buffer), bits, 16).ptr);
}

std::string floatingText(DType dtype, Format format, uint64_t bits) {
  const double value = toDouble(format, bits);
  if (std::isnan(value) && bits != quietNan(format)) {
    return hexText(bits);
  }
  if (std::isnan(value)) {
    return "nan";
  }
  // Digits that tell floats apart tell the narrower formats' numbers apart as well.
  return withPoint(dtype == DType::kFloat64 ? shortest(value) : shortest(static_cast<float>(value)));
}

std::optional<uint64_t> parseFloating(DType dtype, Format format, std::string_view text) {
  if (text.substr(0, 2) == "0x") {
    uint64_t bits = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
    const bool fits = error == std::errc() && end == text.data() + text.size() && bits < 2 * signMask(format);
    return fits ? std::optional(bits) : std::nullopt;
  }
  if (dtype == DType::kFloat32) {
    float value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    return is_number ? fromDouble(format, value) : std::nullopt;
  }
  const std::optional<double> value = parseDouble(text);
  return value ? fromDouble(format, *value) : std::nullopt;
}

template <typename Integer>
bool parseInteger(std::string_view text, void* element) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::memcpy(element, &value, sizeof(value));
  return error == std::errc() && end == text.data() + text.size();
}

template <typename Integer>
std::string integerText(const void* element) {
  Integer value = 0;
  std::memcpy(&value, element, sizeof(value));
  return std::to_string(value);
}

}  // namespace

std::string doubleText(double value) {
  return withPoint(shortest(value));
}

std::optional<int64_t> parseInt(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<double> parseDouble(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::string elementText(DType dtype, const void* element) {
  if (const auto format = formatOf(dtype)) {
    return floatingText(dtype, *format, readBits(element, sizeOf(dtype)));
  }
  switch (dtype) {
    case DType::kInt8:
      return integerText<int8_t>(element);
    case DType::kInt16:
      return integerText<int16_t>(element);
    case DType::kInt32:
      return integerText<int32_t>(element);
    case DType::kInt64:
      return integerText<int64_t>(element);
    default:
      return integerText<uint8_t>(element);  // uint8, and bool as 0 and 1
  }
}

bool parseElement(DType dtype, std::string_view text, void* element) {
  if (const auto format = formatOf(dtype)) {
    const std::optional<uint64_t> bits = parseFloating(dtype, *format, text);
    if (bits) {
      std::memcpy(element, &*bits, sizeOf(dtype));
    }
    return bits.has_value();
  }
  switch (dtype) {
    case DType::kInt8:
      return parseInteger<int8_t>(text, element);
    case DType::kInt16:
      return parseInteger<int16_t>(text, element);
    case DType::kInt32:
      return parseInteger<int32_t>(text, element);
    case DType::kInt64:
      return parseInteger<int64_t>(text, element);
    case DType::kBool:
      return (text == "0" || text == "1") && parseInteger<uint8_t>(text, element);
    default:
      return parseInteger<uint8_t>(text, element);
  }
}

}  // namespace torchtrt::network
