#include "compiler/inputs/typed_value.h"

#include <vector>

namespace torchtrt::compiler {

using torch::jit::IValue;

namespace {

std::optional<IValue> only(bool fits, const IValue& value) {
  return fits ? std::optional(value) : std::nullopt;
}

std::optional<IValue> asTuple(const IValue& value, const c10::TupleTypePtr& type) {
  if (!value.isTuple() || value.toTupleRef().elements().size() != type->elements().size()) {
    return std::nullopt;
  }
  std::vector<IValue> elements;
  for (size_t i = 0; i < type->elements().size(); ++i) {
    const auto element = asType(value.toTupleRef().elements()[i], type->elements()[i]);
    if (!element) {
      return std::nullopt;
    }
    elements.push_back(*element);
  }
  return type->schema() ? IValue(c10::ivalue::Tuple::createNamed(std::move(elements), type))
                        : IValue(c10::ivalue::Tuple::create(std::move(elements)));
}

std::optional<IValue> asList(const IValue& value, const c10::TypePtr& element_type) {
  if (!value.isList()) {
    return std::nullopt;
  }
  c10::impl::GenericList list(element_type);
  for (const IValue& each : value.toListRef()) {
    const auto element = asType(each, element_type);
    if (!element) {
      return std::nullopt;
    }
    list.push_back(*element);
  }
  return IValue(list);
}

std::optional<IValue> asDictionary(const IValue& value, const c10::DictType& type) {
  if (!value.isGenericDict()) {
    return std::nullopt;
  }
  c10::impl::GenericDict dictionary(type.getKeyType(), type.getValueType());
  for (const auto& entry : value.toGenericDict()) {
    const auto key = asType(entry.key(), type.getKeyType());
    const auto element = asType(entry.value(), type.getValueType());
    if (!key || !element) {
      return std::nullopt;
    }
    dictionary.insert(*key, *element);
  }
  return IValue(dictionary);
}

}  // namespace

std::optional<IValue> asType(const IValue& value, const c10::TypePtr& type) {
  switch (type->kind()) {
    case c10::TypeKind::OptionalType:
      return value.isNone() ? std::optional(value)
                            : asType(value, type->expectRef<c10::OptionalType>().getElementType());
    case c10::TypeKind::NoneType:
      return only(value.isNone(), value);
    case c10::TypeKind::TensorType:
      return only(value.isTensor(), value);
    case c10::TypeKind::BoolType:
      return only(value.isBool(), value);
    case c10::TypeKind::IntType:
      return only(value.isInt(), value);
    case c10::TypeKind::FloatType:
      return value.isInt() ? std::optional<IValue>(static_cast<double>(value.toInt())) : only(value.isDouble(), value);
    case c10::TypeKind::NumberType:
      return only(value.isScalar(), value);
    case c10::TypeKind::StringType:
      return only(value.isString(), value);
    case c10::TypeKind::TupleType:
      return asTuple(value, type->expect<c10::TupleType>());
    case c10::TypeKind::ListType:
      return asList(value, type->expectRef<c10::ListType>().getElementType());
    case c10::TypeKind::DictType:
      return asDictionary(value, type->expectRef<c10::DictType>());
    default:
      return std::nullopt;
  }
}

}  // namespace torchtrt::compiler
