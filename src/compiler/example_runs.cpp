#include "compiler/example_runs.h"

#include <algorithm>
#include <cmath>

#include "base/logging.h"
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

Sizes extreme(const InputLeaves& leaves, bool largest) {
  Sizes sizes;
  for (const Symbol& symbol : leaves.symbols) {
    sizes[symbol.name] = largest ? symbol.max : symbol.min;
  }
  return sizes;
}

class ArgumentMaker {
 public:
  ArgumentMaker(const lowering::LoweredGraph& lowered, const InputLeaves& leaves, DataType open_dtype,
                const Sizes& sizes, bool with_samples)
      : lowered_(lowered),
        leaves_(leaves),
        open_dtype_(open_dtype),
        sizes_(sizes),
        with_samples_(with_samples),
        generator_(at::detail::createCPUGenerator(kSeed)) {}

  std::vector<std::optional<IValue>> run() {
    std::vector<std::optional<IValue>> arguments;
    for (size_t i = 0; i < lowered_.schema.arguments().size(); ++i) {
      const c10::Argument& argument = lowered_.schema.arguments()[i];
      auto made =
          make({static_cast<int64_t>(i)}, argument.type(), *lowered_.graph->inputs()[i + leaves_.first_argument]);
      arguments.push_back(made || !argument.default_value() ? made : argument.default_value());
    }
    return arguments;
  }

 private:
  std::optional<IValue> make(const LeafPath& path, const c10::TypePtr& declared, const torch::jit::Value& value) {
    const auto leaf = leaves_.leaves.find(path);
    if (leaf != leaves_.leaves.end()) {
      return tensor(leaf->second, value);
    }
    const auto optional = declared->cast<c10::OptionalType>();
    const c10::TypePtr type = optional ? optional->getElementType() : declared;
    if (const auto tuple = type->cast<c10::TupleType>()) {
      return makeTuple(path, tuple, value);
    }
    if (const auto list = type->cast<c10::ListType>(); list && holdsLeaves(path)) {
      return makeList(path, *list, value);
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
    for (size_t i = 0; holdsLeaves(below(path, i)); ++i) {
      const auto element = make(below(path, i), type.getElementType(), value);
      if (!element) {
        return std::nullopt;
      }
      list.push_back(*element);
    }
    return IValue(list);
  }

  static LeafPath below(LeafPath path, size_t index) {
    path.push_back(static_cast<int64_t>(index));
    return path;
  }

  bool holdsLeaves(const LeafPath& path) const {
    return std::any_of(leaves_.leaves.begin(), leaves_.leaves.end(), [&](const auto& leaf) {
      return leaf.first.size() >= path.size() && std::equal(path.begin(), path.end(), leaf.first.begin());
    });
  }

  std::optional<IValue> tensor(const InputLeaf& leaf, const torch::jit::Value& value) {
    if (with_samples_ && leaf.input->sample.defined()) {
      return leaf.input->sample.clone();
    }
    std::vector<int64_t> dims;
    int64_t elements = 1;
    for (const Dim& dim : leaf.dims) {
      dims.push_back(dim.evaluate([this](const std::string& name) { return sizes_.at(name); }));
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
  const Sizes& sizes_;
  bool with_samples_;
  at::Generator generator_;
};

// The sizes that the symbols have in the user's samples.
void readSizes(const InputLeaves& leaves, const std::vector<IValue>& samples, Sizes& sizes) {
  for (const auto& [path, leaf] : leaves.leaves) {
    IValue value = samples.at(static_cast<size_t>(path.front()));
    for (size_t i = 1; i < path.size() && !value.isTensor(); ++i) {
      const auto index = static_cast<size_t>(path[i]);
      value = value.isTuple() ? value.toTupleRef().elements().at(index) : value.toListRef().at(index);
    }
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
  ExampleRuns result{std::make_unique<partitioning::Observations>(lowered.graph, roles), {}};
  const auto run = [&](const Sizes& sizes, std::vector<std::optional<IValue>> arguments) {
    if (lowered.has_self) {
      arguments.insert(arguments.begin(), self.deepcopy());
    }
    result.observations->run(arguments);
    result.sizes_of_symbols.push_back(sizes);
  };
  Sizes first = optimum(leaves);
  if (samples.empty()) {
    run(first, ArgumentMaker(lowered, leaves, open_dtype, first, true).run());
  } else {
    std::vector<std::optional<IValue>> arguments(lowered.schema.arguments().size());
    for (size_t i = 0; i < arguments.size(); ++i) {
      arguments[i] =
          i < samples.size() ? std::optional(samples[i].deepcopy()) : lowered.schema.arguments()[i].default_value();
    }
    readSizes(leaves, samples, first);
    run(first, arguments);
  }
  if (!leaves.symbols.empty()) {
    const Sizes second = others(leaves) != first ? others(leaves) : extreme(leaves, false);
    run(second, ArgumentMaker(lowered, leaves, open_dtype, second, false).run());
  }
  return result;
}

}  // namespace torchtrt::compiler
