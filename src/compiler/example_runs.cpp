#include "compiler/example_runs.h"

#include <algorithm>
#include <cmath>

#include "compiler/module_state.h"
#include "compiler/source.h"
#include "runtime/dtypes.h"

namespace torchtrt::compiler {

namespace {

using torch::jit::IValue;
using Sizes = std::map<std::string, int64_t>;

constexpr uint64_t kSeed = 2026;
constexpr int64_t kMostElements = int64_t{1} << 26;  // of an argument that is made up

Sizes optimum(const InputLeaves& leaves) {
  Sizes sizes;
  for (const Symbol& symbol : leaves.symbols) {
    sizes[symbol.name] = symbol.opt;
  }
  return sizes;
}

// Other sizes than the optimum's, each another, so that it shows which dimension follows from which.
Sizes others(const InputLeaves& leaves) {
  Sizes sizes;
  int64_t step = 1;
  for (const Symbol& symbol : leaves.symbols) {
    const int64_t larger = symbol.opt + step;
    const int64_t smaller = symbol.opt - step;
    sizes[symbol.name] = larger <= symbol.max ? larger : std::max(smaller, symbol.min);
    ++step;
  }
  return sizes;
}

// Sizes far from the optimum, about as many elements as there: every other one larger, up to twice, the rest smaller.
// They show what follows in steps, as sizes that are rounded up do.
Sizes apart(const InputLeaves& leaves, bool begins_large) {
  Sizes sizes;
  bool is_large = begins_large;
  for (const Symbol& symbol : leaves.symbols) {
    const int64_t larger = symbol.opt > symbol.max / 2 ? symbol.max : symbol.opt * 2;
    sizes[symbol.name] = is_large ? larger : std::max(symbol.min, (symbol.opt + 1) / 2);
    is_large = !is_large;
  }
  return sizes;
}

// Whether more elements than now would not do.
bool hasKnownLength(const torch::jit::Value& list) {
  return std::any_of(list.uses().begin(), list.uses().end(),
                     [](const torch::jit::Use& use) { return use.user->kind() == torch::jit::prim::ListUnpack; });
}

struct Made {
  Sizes sizes;
  bool with_samples = false;
  bool with_longer_lists = false;  // by an element, of the optimum's sizes
};

class ArgumentMaker {
 public:
  ArgumentMaker(const lowering::LoweredGraph& lowered, const InputLeaves& leaves, DataType open_dtype, Made wanted)
      : lowered_(lowered),
        leaves_(leaves),
        open_dtype_(open_dtype),
        wanted_(std::move(wanted)),
        generator_(at::detail::createCPUGenerator(kSeed)) {}

  // Whether an argument is a list that may be of any length.
  bool hasLists() const {
    for (size_t i = 0; i < lowered_.schema.arguments().size(); ++i) {
      const bool is_list = lowered_.schema.arguments()[i].type()->kind() == c10::TypeKind::ListType;
      const LeafPath first = {static_cast<int64_t>(i), 0};
      if (is_list && leaves_.leaves.count(first) != 0 && !hasKnownLength(input(i))) {
        return true;
      }
    }
    return false;
  }

  std::vector<std::optional<IValue>> run() {
    std::vector<std::optional<IValue>> arguments;
    for (size_t i = 0; i < lowered_.schema.arguments().size(); ++i) {
      const c10::Argument& argument = lowered_.schema.arguments()[i];
      auto made = make({static_cast<int64_t>(i)}, argument.type(), input(i));
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
      return tensor(leaf->second, value, wanted_.sizes);
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
      if (const auto element = tensor(leaf->second, value, optimum(leaves_))) {
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

  std::optional<IValue> tensor(const InputLeaf& leaf, const torch::jit::Value& value, const Sizes& sizes) {
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
    const at::ScalarType type = runtime::scalarTypeOf(dtypeFor(leaf, value, open_dtype_));
    const double low = leaf.input->tensor_domain[0];
    const double high = leaf.input->tensor_domain[1];
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
  Made wanted_;
  at::Generator generator_;
};

// Of all but the module: a call may write to its arguments.
std::vector<std::optional<IValue>> forAnotherCall(const std::vector<std::optional<IValue>>& arguments) {
  std::vector<std::optional<IValue>> copies;
  for (const auto& argument : arguments) {
    copies.push_back(copies.empty() || !argument ? argument : std::optional(argument->deepcopy()));
  }
  return copies;
}

// What the samples have where the leaf is; None where they have nothing there.
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

// The sizes that the symbols have in the user's samples.
void readSizes(const InputLeaves& leaves, const std::vector<IValue>& samples, Sizes& sizes) {
  for (const auto& [path, leaf] : leaves.leaves) {
    const IValue value = valueAt(leaves, samples, path);
    for (int axis = 0; value.isTensor() && axis < leaf.dims.rank() && axis < value.toTensor().dim(); ++axis) {
      if (leaf.dims[axis].isSymbol()) {
        sizes[leaf.dims[axis].symbolName()] = value.toTensor().size(axis);
      }
    }
  }
}

}  // namespace

ExampleRuns runExamples(const lowering::LoweredGraph& lowered, const partitioning::Roles& roles,
                        const InputLeaves& leaves, DataType open_dtype, const IValue& self,
                        const std::vector<IValue>& samples) {
  ExampleRuns result{std::make_unique<partitioning::Observations>(lowered.graph, roles), {}, nullptr};
  const bool has_state = callsLeaveState(lowered, roles);
  if (has_state) {
    result.first_calls = std::make_unique<partitioning::Observations>(lowered.graph, roles);
  }
  const auto run = [&](const Sizes& sizes, std::vector<std::optional<IValue>> arguments) {
    if (lowered.has_self) {
      arguments.insert(arguments.begin(), has_state ? self.deepcopy() : sharingTensors(self));
    }
    // An engine is for the state that calls find, which need not be of the size or rank that the first one finds. Where
    // it grows with every call, sizes differ.
    const int earlier_calls = !has_state ? 0 : result.sizes_of_symbols.empty() ? 1 : 2;
    for (int i = 0; i < earlier_calls; ++i) {
      partitioning::Observations later(lowered.graph, roles);
      (i == 0 ? *result.first_calls : later).run(forAnotherCall(arguments));
    }
    result.observations->run(arguments);
    result.sizes_of_symbols.push_back(sizes);
  };
  const auto run_made = [&](const Made& wanted) {
    run(wanted.sizes, ArgumentMaker(lowered, leaves, open_dtype, wanted).run());
  };
  const auto run_first = [&] {
    Made wanted{optimum(leaves), true};
    if (samples.empty()) {
      return run_made(wanted);
    }
    std::vector<std::optional<IValue>> arguments(lowered.schema.arguments().size());
    for (size_t i = 0; i < arguments.size(); ++i) {
      arguments[i] =
          i < samples.size() ? std::optional(samples[i].deepcopy()) : lowered.schema.arguments()[i].default_value();
    }
    readSizes(leaves, samples, wanted.sizes);
    run(wanted.sizes, arguments);
  };
  run_first();
  const bool has_lists = ArgumentMaker(lowered, leaves, open_dtype, {}).hasLists();
  if (!leaves.symbols.empty() || has_lists) {
    run_made({others(leaves), false, has_lists});
  }
  if (!leaves.symbols.empty()) {
    run_made({apart(leaves, true)});
    run_made({apart(leaves, false)});
  } else if (!has_lists && (has_state || result.observations->guesses())) {
    run_first();
  }
  return result;
}

}  // namespace torchtrt::compiler
