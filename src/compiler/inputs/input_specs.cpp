#include "compiler/inputs/input_specs.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "compiler/inputs/dtype_inference.h"
#include "compiler/inputs/typed_value.h"
#include "compiler/rejections.h"
#include "partitioning/roles.h"

namespace torchtrt::compiler {

namespace {

c10::TypePtr withoutOptional(const c10::TypePtr& type) {
  const auto optional = type->cast<c10::OptionalType>();
  return optional ? optional->getElementType() : type;
}

bool isTensor(const c10::TypePtr& type) {
  return withoutOptional(type)->kind() == c10::TypeKind::TensorType;
}

// Walks the arguments' types and, where there is one, the signature beside them; takes the flat inputs one by one.
class Matcher {
 public:
  Matcher(const GraphInputs& inputs, const lowering::LoweredGraph& lowered) : inputs_(inputs), lowered_(lowered) {}

  InputLeaves run() {
    const auto& arguments = lowered_.schema.arguments();
    const std::vector<torch::jit::IValue> given = argumentSignatures();
    for (size_t i = 0; i < arguments.size(); ++i) {
      argument_ = &arguments[i];
      const bool has_signature = !inputs_.input_signature.isNone();
      if (has_signature && i >= given.size() && !arguments[i].default_value()) {
        rejectCount();
      }
      if (!has_signature || i < given.size()) {
        match({static_cast<int64_t>(i)}, arguments[i].type(), has_signature ? &given[i] : nullptr);
      }
    }
    if (next_ < inputs_.inputs.size()) {
      rejectCount();
    }
    return std::move(result_);
  }

 private:
  std::vector<torch::jit::IValue> argumentSignatures() const {
    const torch::jit::IValue& signature = inputs_.input_signature;
    if (signature.isTuple()) {
      return signature.toTupleRef().elements().vec();
    }
    return {signature};
  }

  void match(const LeafPath& path, const c10::TypePtr& declared, const torch::jit::IValue* given) {
    const c10::TypePtr type = withoutOptional(declared);
    const auto list = type->cast<c10::ListType>();
    const auto dictionary = type->cast<c10::DictType>();
    if (given && (given->isNone() || !partitioning::holdsTensors(type))) {
      addValue(path, declared, *given);
    } else if (isTensor(type)) {
      if (given && !given->isTensor() && !given->isCustomClass()) {
        rejectKind(*type, *given);
      }
      addLeaf(path);
    } else if (const auto tuple = type->cast<c10::TupleType>()) {
      matchElements(path, tuple->elements().vec(), given);
    } else if (list && (given || isTensor(list->getElementType()))) {
      const size_t length = given ? lengthOf(*given) : inputs_.inputs.size() - std::min(next_, inputs_.inputs.size());
      matchElements(path, std::vector<c10::TypePtr>(length, list->getElementType()), given);
    } else if (dictionary && given) {
      matchEntries(path, *dictionary, *given);
    } else if (given) {
      rejectKind(*type, *given);
    }
  }

  void addValue(const LeafPath& path, const c10::TypePtr& type, const torch::jit::IValue& given) {
    auto value = asType(given, type);
    if (!value) {
      rejectKind(*type, given);
    }
    result_.values.emplace(path, std::move(*value));
  }

  [[noreturn]] void rejectKind(const c10::Type& type, const torch::jit::IValue& given) const {
    const std::string got = given.isCustomClass() ? "an Input" : "a " + given.tagKind();
    rejectInput("argument \"" + argument_->name() + "\" of " + what() + " has a " + type.annotation_str() +
                    " where the input signature gives " + got,
                "nest the signature as the method takes its arguments: " + declaration());
  }

  static size_t lengthOf(const torch::jit::IValue& given) {
    if (given.isTuple()) {
      return given.toTupleRef().elements().size();
    }
    return given.isList() ? given.toListRef().size() : 0;
  }

  void matchElements(const LeafPath& path, const std::vector<c10::TypePtr>& types, const torch::jit::IValue* given) {
    if (given && !given->isTuple() && !given->isList()) {
      rejectKind(*c10::TupleType::create(types), *given);
    }
    if (given && lengthOf(*given) != types.size()) {
      rejectInput("argument \"" + argument_->name() + "\" of " + what() + " is a collection of " +
                      std::to_string(types.size()) + " values, and the input signature gives " +
                      std::to_string(lengthOf(*given)),
                  "nest the signature as the method takes its arguments: " + declaration());
    }
    if (given || !types.empty()) {
      result_.lengths.emplace(path, types.size());
    }
    for (size_t i = 0; i < types.size(); ++i) {
      const torch::jit::IValue* element = nullptr;
      if (given) {
        element = given->isTuple() ? &given->toTupleRef().elements()[i] : &given->toListRef()[i];
      }
      match(below(path, i), types[i], element);
    }
  }

  void matchEntries(const LeafPath& path, const c10::DictType& type, const torch::jit::IValue& given) {
    if (!given.isGenericDict()) {
      rejectKind(type, given);
    }
    std::vector<torch::jit::IValue>& keys = result_.keys[path];
    for (const auto& entry : given.toGenericDict()) {
      const auto key = asType(entry.key(), type.getKeyType());
      if (!key) {
        rejectKind(*type.getKeyType(), entry.key());
      }
      keys.push_back(*key);
      match(below(path, keys.size() - 1), type.getValueType(), &entry.value());
    }
  }

  // "pairs_0_1", "images_left"
  std::string leafName(const LeafPath& path) const {
    std::string name = argument_->name();
    for (size_t i = 1; i < path.size(); ++i) {
      const auto keys = result_.keys.find(LeafPath(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(i)));
      const auto index = static_cast<size_t>(path[i]);
      const bool is_text = keys != result_.keys.end() && keys->second[index].isString();
      name += "_" + (is_text ? keys->second[index].toStringRef() : std::to_string(index));
    }
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
  }

  void addLeaf(const LeafPath& path) {
    if (next_ >= inputs_.inputs.size()) {
      if (argument_->default_value()) {
        return;
      }
      rejectCount();
    }
    const Input& input = inputs_.inputs[next_++];
    InputLeaf leaf{leafName(path), &input, dimsOf(input)};
    result_.leaves.emplace(path, std::move(leaf));
  }

  Dims dimsOf(const Input& input) {
    std::vector<Dim> dims;
    for (size_t i = 0; i < input.min_shape.size(); ++i) {
      if (input.min_shape[i] == input.max_shape[i]) {
        dims.emplace_back(input.min_shape[i]);
      } else {
        dims.push_back(symbolOf(input, i));
      }
    }
    return Dims(std::move(dims));
  }

  Dim symbolOf(const Input& input, size_t i) {
    const bool named = i < input.dim_names.size() && !input.dim_names[i].empty();
    Symbol symbol{named ? input.dim_names[i] : "s" + std::to_string(result_.symbols.size()), input.min_shape[i],
                  input.opt_shape[i], input.max_shape[i]};
    const auto known = std::find_if(result_.symbols.begin(), result_.symbols.end(),
                                    [&](const Symbol& other) { return other.name == symbol.name; });
    if (known == result_.symbols.end()) {
      result_.symbols.push_back(symbol);
    } else if (known->min != symbol.min || known->opt != symbol.opt || known->max != symbol.max) {
      rejectInput("the dimension name \"" + symbol.name + "\" is used for different ranges",
                  "give dimensions that share a name the same minimum, optimum and maximum");
    }
    return Dim::symbol(symbol.name);
  }

  std::string what() const {
    return lowered_.module_name + "." + lowered_.schema.name();
  }

  std::string declaration() const {
    std::string text = lowered_.schema.name() + "(";
    for (size_t i = 0; i < lowered_.schema.arguments().size(); ++i) {
      const c10::Argument& argument = lowered_.schema.arguments()[i];
      text += (i == 0 ? "" : ", ") + argument.name() + ": " + argument.type()->annotation_str();
    }
    return text + ")";
  }

  [[noreturn]] void rejectCount() const {
    rejectInput("the number of input specifications does not fit: " + what() + " takes " + declaration() + ", got " +
                    std::to_string(inputs_.inputs.size()) + (inputs_.inputs.size() == 1 ? " input" : " inputs"),
                "give one Input for every tensor, in this order");
  }

  const GraphInputs& inputs_;
  const lowering::LoweredGraph& lowered_;
  const c10::Argument* argument_ = nullptr;
  size_t next_ = 0;
  InputLeaves result_;
};

// Returns the place that the key or index of a collection leads to; nothing if the signature has none such.
std::optional<int64_t> placeOf(const InputLeaves& leaves, const LeafPath& path, const torch::jit::IValue& index) {
  const auto keys = leaves.keys.find(path);
  if (keys != leaves.keys.end()) {
    const auto key = std::find(keys->second.begin(), keys->second.end(), index);
    return key == keys->second.end() ? std::nullopt : std::optional<int64_t>(key - keys->second.begin());
  }
  const auto length = leaves.lengths.find(path);
  if (length == leaves.lengths.end() || !index.isInt()) {
    return std::nullopt;
  }
  return index.toInt() < 0 ? index.toInt() + static_cast<int64_t>(length->second) : index.toInt();
}

std::optional<LeafPath> pathOf(const InputLeaves& leaves, const torch::jit::Value& value) {
  const torch::jit::Node& node = *value.node();
  if (node.kind() == torch::jit::prim::Param) {
    const bool is_argument = node.owningBlock()->owningNode() == nullptr && value.offset() >= leaves.first_argument;
    return is_argument ? std::optional(LeafPath{static_cast<int64_t>(value.offset() - leaves.first_argument)})
                       : std::nullopt;
  }
  static const auto kGetItem = c10::Symbol::fromQualString("aten::__getitem__");
  const bool unpacks = node.kind() == torch::jit::prim::TupleUnpack || node.kind() == torch::jit::prim::ListUnpack;
  const bool indexes = node.kind() == torch::jit::prim::TupleIndex || node.kind() == kGetItem;
  const bool casts = node.kind() == torch::jit::prim::unchecked_cast;
  auto path = unpacks || indexes || casts ? pathOf(leaves, *node.input(0)) : std::nullopt;
  if (!path || casts) {
    return path;
  }
  if (unpacks) {
    path->push_back(static_cast<int64_t>(value.offset()));
    return path;
  }
  const auto index = torch::jit::toIValue(node.input(1));
  const auto place = index ? placeOf(leaves, *path, *index) : std::nullopt;
  return place ? std::optional(below(*path, static_cast<size_t>(*place))) : std::nullopt;
}

}  // namespace

LeafPath below(LeafPath path, size_t place) {
  path.push_back(static_cast<int64_t>(place));
  return path;
}

InputLeaves matchInputs(const GraphInputs& inputs, const lowering::LoweredGraph& lowered) {
  InputLeaves leaves = Matcher(inputs, lowered).run();
  leaves.first_argument = lowered.has_self ? 1 : 0;
  return leaves;
}

const InputLeaf* findLeaf(const InputLeaves& leaves, const torch::jit::Value& value) {
  const auto path = pathOf(leaves, value);
  const auto found = path ? leaves.leaves.find(*path) : leaves.leaves.end();
  return found == leaves.leaves.end() ? nullptr : &found->second;
}

DType dtypeFor(const InputLeaf& leaf, const torch::jit::Value& value, DataType open_dtype) {
  if (leaf.input->dtype != DataType::kUnknown) {
    return dtypeOf(leaf.input->dtype);
  }
  const DType inferred = inferDType(value);
  return open_dtype != DataType::kUnknown && isFloating(inferred) ? dtypeOf(open_dtype) : inferred;
}

}  // namespace torchtrt::compiler
