#include "compiler/inputs/example_arguments.h"

#include <algorithm>
#include <cmath>

#include "compiler/inputs/example_sizes.h"
#include "runtime/dtypes.h"

namespace torchtrt::compiler {

namespace {

using torch::jit::IValue;

constexpr uint64_t kSeed = 2026;
constexpr int64_t kMostElements = int64_t{1} << 26;  // of an argument that is made up

// True if the list must have exactly its number of elements.
bool hasKnownLength(const torch::jit::Value& list) {
  return std::any_of(list.uses().begin(), list.uses().end(),
                     [](const torch::jit::Use& use) { return use.user->kind() == torch::jit::prim::ListUnpack; });
}

// Returns the samples' value in the leaf's place; None if they have nothing there.
IValue valueAt(const InputLeaves& leaves, const std::vector<IValue>& samples, const LeafPath& path) {
  const auto first = static_cast<size_t>(path.front());
  IValue value = first < samples.size() ? samples[first] : IValue();
  for (size_t i = 1; i < path.size() && !value.isTensor(); ++i) {
    const auto index = static_cast<size_t>(path[i]);
    if (value.isTuple() && index < value.toTupleRef().elements().size()) {
      value = IValue(value.toTupleRef().elements()[index]);
    } else if (value.isList() && index < value.toListRef().size()) {
      value = IValue(value.toListRef()[index]);
    } else if (value.isGenericDict()) {
      const auto dictionary = value.toGenericDict();
      const IValue& key = leaves.keys.at(LeafPath(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(i)))[index];
      value = dictionary.contains(key) ? dictionary.at(key) : IValue();
    } else {
      return {};
    }
  }
  return value;
}

// A sample's elements over and over, as far as other sizes go: numbers that the module takes, such as indices.
bool canRepeat(const at::Tensor& sample, const std::vector<int64_t>& dims) {
  bool can = sample.layout() == at::kStrided && sample.dim() == static_cast<int64_t>(dims.size());
  for (size_t axis = 0; can && axis < dims.size(); ++axis) {
    can = sample.size(static_cast<int64_t>(axis)) > 0 || dims[axis] == 0;
  }
  return can;
}

at::Tensor repeated(const at::Tensor& sample, const std::vector<int64_t>& dims) {
  at::Tensor result = sample.detach().clone();
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto axis = static_cast<int64_t>(i);
    if (result.size(axis) != dims[i]) {
      result = result.index_select(axis, at::arange(dims[i]).remainder(std::max<int64_t>(result.size(axis), 1)));
    }
  }
  return result;
}

// True for the domain of an Input that says nothing else.
bool isOpen(const Input::Domain& domain) {
  return domain == Input::Domain{0, 2};
}

// Returns the number of rows of the table that an argument picks rows of; the least if there are several tables.
std::optional<double> rowsTakenFrom(const torch::jit::Value& indices) {
  std::optional<double> rows;
  for (const torch::jit::Use& use : indices.uses()) {
    const bool picks = use.user->kind() == torch::jit::aten::embedding && use.offset == 1;
    const auto table = picks ? torch::jit::toIValue(use.user->input(0)) : std::nullopt;
    if (table && table->isTensor() && table->toTensor().dim() > 0) {
      const auto size = static_cast<double>(table->toTensor().size(0));
      rows = std::min(rows.value_or(size), size);
    }
  }
  return rows;
}

bool mayBeLengths(const InputLeaf& leaf, const torch::jit::Value& value, DataType open_dtype) {
  const DType dtype = dtypeFor(leaf, value, open_dtype);
  return leaf.dims.rank() <= 1 && (dtype == DType::kInt64 || dtype == DType::kInt32) &&
         isOpen(leaf.input->tensor_domain) && !rowsTakenFrom(value);
}

class ArgumentMaker {
 public:
  ArgumentMaker(const lowering::LoweredGraph& lowered, const InputLeaves& leaves, DataType open_dtype,
                const std::vector<IValue>& samples, WantedArguments wanted)
      : lowered_(lowered),
        leaves_(leaves),
        open_dtype_(open_dtype),
        samples_(samples),
        wanted_(std::move(wanted)),
        generator_(at::detail::createCPUGenerator(kSeed)) {}

  std::vector<std::optional<IValue>> run() {
    std::vector<std::optional<IValue>> arguments;
    for (size_t i = 0; i < lowered_.schema.arguments().size(); ++i) {
      const c10::Argument& argument = lowered_.schema.arguments()[i];
      auto made = make({static_cast<int64_t>(i)}, argument.type(), input(i));
      if (!made && i < samples_.size()) {
        made = samples_[i].deepcopy();
      }
      arguments.push_back(made || !argument.default_value() ? made : argument.default_value());
    }
    return arguments;
  }

 private:
  const torch::jit::Value& input(size_t argument) const {
    return *lowered_.graph->inputs()[argument + leaves_.first_argument];
  }

  std::optional<IValue> make(const LeafPath& path, const c10::TypePtr& declared, const torch::jit::Value& value) {
    const auto leaf = leaves_.leaves.find(path);
    if (leaf != leaves_.leaves.end()) {
      return tensor(path, leaf->second, value, wanted_.sizes);
    }
    const auto known = leaves_.values.find(path);
    if (known != leaves_.values.end()) {
      return known->second.deepcopy();
    }
    const auto optional = declared->cast<c10::OptionalType>();
    const c10::TypePtr type = optional ? optional->getElementType() : declared;
    if (const auto tuple = type->cast<c10::TupleType>()) {
      return makeTuple(path, tuple, value);
    }
    if (const auto list = type->cast<c10::ListType>(); list && leaves_.lengths.count(path) != 0) {
      return makeList(path, *list, value);
    }
    if (const auto dictionary = type->cast<c10::DictType>(); dictionary && leaves_.keys.count(path) != 0) {
      return makeDictionary(path, *dictionary, value);
    }
    return std::nullopt;
  }

  std::optional<IValue> makeTuple(const LeafPath& path, const c10::TupleTypePtr& type, const torch::jit::Value& value) {
    std::vector<IValue> elements;
    for (size_t i = 0; i < type->elements().size(); ++i) {
      const auto element = make(below(path, i), type->elements()[i], value);
      if (!element) {
        return std::nullopt;
      }
      elements.push_back(*element);
    }
    return type->schema() ? IValue(c10::ivalue::Tuple::createNamed(std::move(elements), type))
                          : IValue(c10::ivalue::Tuple::create(std::move(elements)));
  }

  std::optional<IValue> makeList(const LeafPath& path, const c10::ListType& type, const torch::jit::Value& value) {
    c10::impl::GenericList list(type.getElementType());
    for (size_t i = 0; i < leaves_.lengths.at(path); ++i) {
      const auto element = make(below(path, i), type.getElementType(), value);
      if (!element) {
        return std::nullopt;
      }
      list.push_back(*element);
    }
    const auto leaf = leaves_.leaves.find(below(path, 0));
    if (wanted_.with_longer_lists && path.size() == 1 && leaf != leaves_.leaves.end() && !hasKnownLength(value)) {
      if (const auto element = tensor(leaf->first, leaf->second, value, optimumSizes(leaves_))) {
        list.push_back(*element);
      }
    }
    return IValue(list);
  }

  std::optional<IValue> makeDictionary(const LeafPath& path, const c10::DictType& type,
                                       const torch::jit::Value& value) {
    c10::impl::GenericDict dictionary(type.getKeyType(), type.getValueType());
    const std::vector<IValue>& keys = leaves_.keys.at(path);
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto element = make(below(path, i), type.getValueType(), value);
      if (!element) {
        return std::nullopt;
      }
      dictionary.insert(keys[i], *element);
    }
    return IValue(dictionary);
  }

  std::optional<IValue> tensor(const LeafPath& path, const InputLeaf& leaf, const torch::jit::Value& value,
                               const RunSizes& sizes) {
    if (wanted_.with_samples && leaf.input->sample.defined()) {
      return leaf.input->sample.clone();
    }
    std::vector<int64_t> dims;
    int64_t elements = 1;
    for (const Dim& dim : leaf.dims) {
      dims.push_back(dim.evaluate([&](const std::string& name) { return sizes.at(name); }));
      elements =
          dims.back() != 0 && elements > kMostElements / dims.back() ? kMostElements + 1 : elements * dims.back();
    }
    if (elements > kMostElements) {
      return std::nullopt;
    }
    const IValue sample = valueAt(leaves_, samples_, path);
    if (sample.isTensor() && canRepeat(sample.toTensor(), dims)) {
      return repeated(sample.toTensor(), dims);
    }
    const at::ScalarType type = runtime::scalarTypeOf(dtypeFor(leaf, value, open_dtype_));
    if (wanted_.length && mayBeLengths(leaf, value, open_dtype_)) {
      const int64_t length = wanted_.length->evaluate([&](const std::string& name) { return sizes.at(name); });
      return at::full(dims, length, at::TensorOptions().dtype(type));
    }
    const double low = leaf.input->tensor_domain[0];
    const double high =
        isOpen(leaf.input->tensor_domain) ? rowsTakenFrom(value).value_or(2) : leaf.input->tensor_domain[1];
    if (at::isFloatingType(type)) {
      return at::empty(dims, at::kDouble).uniform_(low, high, generator_).to(type);
    }
    const auto first = static_cast<int64_t>(std::ceil(low));
    const auto end = std::max(first + 1, static_cast<int64_t>(std::ceil(high)));
    return at::randint(first, end, dims, generator_, at::TensorOptions().dtype(at::kLong)).to(type);
  }

  const lowering::LoweredGraph& lowered_;
  const InputLeaves& leaves_;
  DataType open_dtype_;
  const std::vector<IValue>& samples_;
  WantedArguments wanted_;
  at::Generator generator_;
};

}  // namespace

std::vector<std::optional<IValue>> makeArguments(const lowering::LoweredGraph& lowered, const InputLeaves& leaves,
                                                 DataType open_dtype, const std::vector<IValue>& samples,
                                                 const WantedArguments& wanted) {
  return ArgumentMaker(lowered, leaves, open_dtype, samples, wanted).run();
}

bool hasOpenLists(const lowering::LoweredGraph& lowered, const InputLeaves& leaves) {
  for (size_t i = 0; i < lowered.schema.arguments().size(); ++i) {
    const bool is_list = lowered.schema.arguments()[i].type()->kind() == c10::TypeKind::ListType;
    const LeafPath first = {static_cast<int64_t>(i), 0};
    const torch::jit::Value& list = *lowered.graph->inputs()[i + leaves.first_argument];
    if (is_list && leaves.leaves.count(first) != 0 && !hasKnownLength(list)) {
      return true;
    }
  }
  return false;
}

std::vector<Dim> possibleLengths(const lowering::LoweredGraph& lowered, const InputLeaves& leaves,
                                 DataType open_dtype) {
  constexpr size_t kMost = 4;
  bool has_lengths = false;
  std::vector<Dim> dynamic;
  std::vector<Dim> fixed;
  for (const auto& [path, leaf] : leaves.leaves) {
    const torch::jit::Value& argument =
        *lowered.graph->inputs()[static_cast<size_t>(path.front()) + leaves.first_argument];
    has_lengths |= mayBeLengths(leaf, argument, open_dtype);
    for (int axis = 1; axis < leaf.dims.rank(); ++axis) {
      std::vector<Dim>& dims = leaf.dims[axis].isConstant() ? fixed : dynamic;
      if (std::find(dims.begin(), dims.end(), leaf.dims[axis]) == dims.end()) {
        dims.push_back(leaf.dims[axis]);
      }
    }
  }
  dynamic.insert(dynamic.end(), fixed.begin(), fixed.end());
  dynamic.resize(has_lengths ? std::min(dynamic.size(), kMost) : 0);
  return dynamic;
}

RunSizes sizesInSamples(const InputLeaves& leaves, const std::vector<IValue>& samples) {
  RunSizes sizes;
  for (const auto& [path, leaf] : leaves.leaves) {
    const IValue value = valueAt(leaves, samples, path);
    for (int axis = 0; value.isTensor() && axis < leaf.dims.rank() && axis < value.toTensor().dim(); ++axis) {
      if (leaf.dims[axis].isSymbol()) {
        sizes[leaf.dims[axis].symbolName()] = value.toTensor().size(axis);
      }
    }
  }
  return sizes;
}

}  // namespace torchtrt::compiler
