// Typed reading of layer attributes.

#include "base/attribute_fault.h"
#include "torchtrt/types.h"

namespace torchtrt {
namespace {

// Indexed by the alternative of AttributeValue.
constexpr const char* kTypeNames[] = {"bool", "int", "double", "string", "dtype", "ints", "doubles", "dims"};
static_assert(std::variant_size_v<AttributeValue> == std::size(kTypeNames));

const char* typeName(const AttributeValue& value) {
  return kTypeNames[value.index()];
}

[[noreturn]] void fail(std::string_view name, const char* expected, const char* got) {
  throw AttributeFault("expected attribute \"" + std::string(name) + "\" of type " + expected + ", got " + got);
}

template <typename T>
const T* get(const Attributes& attributes, std::string_view name) {
  const AttributeValue* value = attributes.find(name);
  if (value == nullptr) {
    return nullptr;
  }
  const T* typed = std::get_if<T>(value);
  if (typed == nullptr) {
    fail(name, typeName(AttributeValue(T{})), typeName(*value));
  }
  return typed;
}

template <typename T>
const T& require(const Attributes& attributes, std::string_view name) {
  const T* value = get<T>(attributes, name);
  if (value == nullptr) {
    fail(name, typeName(AttributeValue(T{})), "none");
  }
  return *value;
}

}  // namespace

const AttributeValue* Attributes::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

bool Attributes::getBool(std::string_view name) const {
  return require<bool>(*this, name);
}

bool Attributes::getBool(std::string_view name, bool fallback) const {
  const bool* value = get<bool>(*this, name);
  return value == nullptr ? fallback : *value;
}

int64_t Attributes::getInt(std::string_view name) const {
  return require<int64_t>(*this, name);
}

int64_t Attributes::getInt(std::string_view name, int64_t fallback) const {
  const int64_t* value = get<int64_t>(*this, name);
  return value == nullptr ? fallback : *value;
}

double Attributes::getDouble(std::string_view name) const {
  return require<double>(*this, name);
}

double Attributes::getDouble(std::string_view name, double fallback) const {
  const double* value = get<double>(*this, name);
  return value == nullptr ? fallback : *value;
}

const std::string& Attributes::getString(std::string_view name) const {
  return require<std::string>(*this, name);
}

std::string Attributes::getString(std::string_view name, const std::string& fallback) const {
  const auto* value = get<std::string>(*this, name);
  return value == nullptr ? fallback : *value;
}

DType Attributes::getDType(std::string_view name) const {
  return require<DType>(*this, name);
}

const std::vector<int64_t>& Attributes::getInts(std::string_view name) const {
  return require<std::vector<int64_t>>(*this, name);
}

std::vector<int64_t> Attributes::getInts(std::string_view name, std::vector<int64_t> fallback) const {
  const auto* value = get<std::vector<int64_t>>(*this, name);
  if (value == nullptr) {
    return fallback;
  }
  return *value;
}

const std::vector<double>& Attributes::getDoubles(std::string_view name) const {
  return require<std::vector<double>>(*this, name);
}

const Dims& Attributes::getDims(std::string_view name) const {
  return require<Dims>(*this, name);
}

}  // namespace torchtrt
