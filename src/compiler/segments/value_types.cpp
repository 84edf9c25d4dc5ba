#include "compiler/segments/value_types.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "base/dim_substitution.h"
#include "compiler/inputs/dtype_inference.h"
#include "network/counted.h"
#include "runtime/dtypes.h"

namespace torchtrt::compiler {

using partitioning::ObservedType;
using torch::jit::Node;
using torch::jit::Value;

namespace {

constexpr int64_t kAnySize = std::numeric_limits<int32_t>::max();
const std::string kOnce = "once ";  // begins what symbols stand for that one run alone saw

bool mayBeMask(const Value& index, const partitioning::Observations* observations) {
  const ObservedType* seen = observations != nullptr ? observations->find(index) : nullptr;
  const auto constant = torch::jit::toIValue(&index);
  if (seen == nullptr && (!constant || !constant->isTensor())) {
    return !constant;
  }
  const at::ScalarType dtype = seen != nullptr ? seen->dtype : constant->toTensor().scalar_type();
  return dtype == at::kBool || dtype == at::kByte;
}

// True if the number of elements depends on what is in the operands.
bool hasDataDependentSize(const Node& node, const partitioning::Observations* observations) {
  static const std::set<std::string> kinds = {"aten::unique", "aten::unique_dim", "aten::repeat_interleave",
                                              "aten::bincount"};
  if (node.kind() == torch::jit::aten::index && node.input(1)->node()->kind() == torch::jit::prim::ListConstruct) {
    const auto indices = node.input(1)->node()->inputs();
    return std::any_of(indices.begin(), indices.end(),
                       [&](const Value* index) { return mayBeMask(*index, observations); });
  }
  return conversion::hasLateSize(node) || node.kind() == torch::jit::aten::index ||
         kinds.count(node.kind().toQualString()) != 0;
}

std::string uniqueName(std::set<std::string>& used, const std::string& wanted) {
  std::string name = wanted;
  for (int i = 1; !used.insert(name).second; ++i) {
    name = wanted + "_again" + std::to_string(i);
  }
  return name;
}

// Returns the sizes in every run that saw the value.
std::vector<int64_t> sizesOf(const ObservedType& type, size_t axis) {
  std::vector<int64_t> sizes;
  for (const auto& run : type.sizes) {
    sizes.push_back(run[axis]);
  }
  return sizes;
}

// "0:4,2:8,"
std::string keyOf(const ObservedType& type, size_t axis) {
  std::string key;
  for (size_t i = 0; i < type.sizes.size(); ++i) {
    key += std::to_string(type.runs[i]) + ":" + std::to_string(type.sizes[i][axis]) + ",";
  }
  return key;
}

}  // namespace

void ValueTypes::setObservations(const partitioning::Observations* observations,
                                 std::vector<RunSizes> sizes_of_symbols) {
  observations_ = observations;
  sizes_of_symbols_ = std::move(sizes_of_symbols);
  data_dependent_.clear();
  late_sizes_.clear();
  findDataDependent(*lowered_.graph->block());
}

void ValueTypes::forgetObservations() {
  observations_ = nullptr;
  sizes_of_symbols_.clear();
  seen_once_.clear();
  std::erase_if(named_, [](const auto& entry) { return entry.first.starts_with(kOnce); });
}

void ValueTypes::findDataDependent(const torch::jit::Block& block) {
  const auto depends = [this](const Value* value) { return data_dependent_.count(value) != 0; };
  for (const Node* node : block.nodes()) {
    const bool begins = hasDataDependentSize(*node, observations_);
    bool follows = begins || std::any_of(node->inputs().begin(), node->inputs().end(), depends);
    for (const torch::jit::Block* inner : node->blocks()) {
      size_t before = 0;
      do {  // what a trip of a loop gives, the next one takes
        before = data_dependent_.size();
        findDataDependent(*inner);
        for (size_t i = 1; node->kind() == torch::jit::prim::Loop && i < inner->inputs().size(); ++i) {
          if (depends(node->input(i + 1)) || depends(inner->outputs()[i])) {
            addDataDependent(*inner->inputs()[i]);
          }
        }
      } while (data_dependent_.size() != before);
      follows |= std::any_of(inner->outputs().begin(), inner->outputs().end(), depends);
    }
    for (const Value* output : node->outputs()) {
      const ObservedType* type = follows ? addDataDependent(*output) : nullptr;
      if (begins && type != nullptr) {
        late_sizes_.insert(keyOf(*type, 0));
      }
    }
  }
}

// A value without dimensions ends it: a sum over rows is as large, however many there are.
const ObservedType* ValueTypes::addDataDependent(const Value& value) {
  const ObservedType* type = observations_ != nullptr ? observations_->find(value) : nullptr;
  const bool is_known = type != nullptr && type->is_steady && !type->sizes.empty();
  if (is_known && type->sizes.front().empty()) {
    return nullptr;
  }
  data_dependent_.insert(&value);
  return is_known ? type : nullptr;
}

bool ValueTypes::followsFromArguments(const partitioning::Segment& segment) const {
  return std::all_of(segment.inputs.begin(), segment.inputs.end(),
                     [this](const Value* value) { return findLeaf(leaves_, *value) != nullptr; });
}

std::string ValueTypes::nameOf(const Value& value) const {
  if (const InputLeaf* leaf = findLeaf(leaves_, value)) {
    return leaf->name;
  }
  std::string name = "t_";  // numbers are what values without a name of their own have
  for (const char c : value.debugName()) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return value.hasDebugName() ? name.substr(2) : name;
}

namespace {

Refusal unknownType(const Value& value, const partitioning::Observations* observations) {
  const std::string what =
      "nothing is known of the type and rank of %" + value.debugName() + ", which PyTorch computes";
  const torch::jit::Block& block = *value.node()->owningBlock();
  const bool is_inside = block.owningNode() != nullptr && !(observations && observations->cameThrough(block));
  return is_inside ? Refusal{"control-flow", what +
                                                 " in a branch or loop that no example run comes through; give "
                                                 "sample inputs that do"}
                   : Refusal{"unknown-type", what + "; give sample inputs"};
}

// Returns the channels that a convolution of the segment takes of the value, by its weights: (axis from the end,
// channels).
std::optional<std::pair<int, int64_t>> channelsTaken(const partitioning::Segment& segment, const Value& value) {
  static const std::set<c10::Symbol> convolutions = {torch::jit::aten::conv1d, torch::jit::aten::conv2d,
                                                     torch::jit::aten::conv3d};
  for (const torch::jit::Node* node : segment.nodes) {
    if (convolutions.count(node->kind()) == 0 || node->input(0) != &value) {
      continue;
    }
    const auto weight = torch::jit::toIValue(node->namedInput("weight"));
    const auto groups = torch::jit::toIValue(node->namedInput("groups"));
    if (weight && weight->isTensor() && weight->toTensor().dim() > 2 && groups) {
      const at::Tensor& kernel = weight->toTensor();
      return std::pair(static_cast<int>(kernel.dim()) - 1, kernel.size(1) * groups->toInt());
    }
  }
  return std::nullopt;
}

// A value has other channels in every trip of a loop over layers. The engine takes the channels that fit its own layer.
void fitChannels(const partitioning::Segment& segment, const Value& value, TensorType& type) {
  const auto taken = channelsTaken(segment, value);
  const int axis = taken ? type.dims.rank() - taken->first : -1;
  if (axis >= 0 && !type.dims[axis].isConstant()) {
    type.dims[axis] = taken->second;
  }
}

}  // namespace

std::optional<ValueTypes::Unknown> ValueTypes::describe(const partitioning::Segment& segment,
                                                        conversion::ConversionRequest& request) {
  std::set<std::string> used;
  for (const Value* input : segment.inputs) {
    auto type = typeOf(*input);
    if (!type) {
      return Unknown{input, unknownType(*input, observations_)};
    }
    const InputLeaf* const leaf = findLeaf(leaves_, *input);
    if (leaf == nullptr) {
      fitChannels(segment, *input, *type);
    }
    const bool channels_last = leaf != nullptr && leaf->input->format == TensorFormat::kChannelsLast;
    request.inputs.push_back({uniqueName(used, nameOf(*input)), type->dtype, type->dims, channels_last});
  }
  replaceUnboundExpressions(request);
  return std::nullopt;
}

std::optional<TensorType> ValueTypes::typeOf(const Value& value) {
  if (const InputLeaf* leaf = findLeaf(leaves_, value)) {
    return TensorType{dtypeFor(*leaf, value, open_dtype_), leaf->dims};
  }
  const auto known = learnt_.find(&value);
  return known != learnt_.end() ? known->second : observedType(value);
}

std::optional<TensorType> ValueTypes::observedType(const Value& value) {
  const ObservedType* type = observations_ != nullptr ? observations_->find(value) : nullptr;
  const auto dtype = type != nullptr ? runtime::dtypeOf(type->dtype) : std::nullopt;
  if (!dtype || !type->is_steady || type->sizes.empty()) {
    return std::nullopt;
  }
  std::vector<Dim> dims;
  for (size_t axis = 0; axis < type->sizes.front().size(); ++axis) {
    dims.push_back(observedDim(value, *type, axis));
  }
  return TensorType{*dtype, Dims(std::move(dims))};
}

// Returns the dim that holds in every run. It is a number, unless there was only one run of many shapes, or the size
// follows from elements. Next it is what follows from arguments' dimensions in every run, unless elements decided it,
// as where a mask took all rows. Else it is any size, and the same for all that had the same sizes in several runs.
Dim ValueTypes::observedDim(const Value& value, const ObservedType& type, size_t axis) {
  const std::vector<int64_t> sizes = sizesOf(type, axis);
  const std::string place = value.debugName() + " " + std::to_string(axis);
  const bool varies_inside = std::count(sizes.begin(), sizes.end(), -1) != 0;
  const bool is_same = std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to<>()) == sizes.end();
  const bool is_told_apart = leaves_.symbols.empty() || sizes.size() > 1;
  const bool follows_from_data = axis == 0 && data_dependent_.count(&value) != 0;
  if (varies_inside) {
    return symbolFor("varies " + place, 0, type.largest[axis], kAnySize);
  }
  if (is_same && is_told_apart && !follows_from_data) {
    return sizes.front();
  }
  const std::string key = keyOf(type, axis);
  const bool is_late = follows_from_data && late_sizes_.count(key) != 0;
  const auto relation = is_late ? std::nullopt : relationOf(sizes, sizesOfSymbols(type));
  const bool is_likely = relation && (!follows_from_data || relation->isSymbol());
  if (is_likely && relation->range([this](const std::string& name) { return symbol(name); }).first >= 0) {
    return *relation;
  }
  const int64_t opt = optimumOf(type, axis);
  if (is_told_apart) {
    return symbolFor((is_late ? "late sizes " : "sizes ") + key, 0, opt, kAnySize);
  }
  const bool is_new = named_.count(kOnce + place) == 0;
  const Dim dim = symbolFor(kOnce + place, 0, opt, kAnySize);
  if (is_new) {
    seen_once_.emplace(dim.symbolName(), SeenOnce{kOnce + place, type.runs.front(), axis, sizes.front()});
  }
  return dim;
}

std::vector<RunSizes> ValueTypes::sizesOfSymbols(const ObservedType& type) const {
  std::vector<RunSizes> sizes;
  for (const int run : type.runs) {
    sizes.push_back(sizes_of_symbols_.at(static_cast<size_t>(run)));
  }
  return sizes;
}

// Returns the size in the run in which the symbols have their optimum, if the value was seen there.
int64_t ValueTypes::optimumOf(const ObservedType& type, size_t axis) const {
  const auto is_optimum = [this](const RunSizes& sizes) {
    return std::all_of(leaves_.symbols.begin(), leaves_.symbols.end(),
                       [&](const Symbol& symbol) { return sizes.at(symbol.name) == symbol.opt; });
  };
  const std::vector<RunSizes> runs = sizesOfSymbols(type);
  const auto optimum = std::find_if(runs.begin(), runs.end(), is_optimum);
  return optimum == runs.end() ? type.largest[axis] : type.sizes[static_cast<size_t>(optimum - runs.begin())][axis];
}

// Sizes that one run alone saw need not be one, though they were as large; where they have to be, they are taken to be,
// with those that stand at the same axes.
bool ValueTypes::takeForOne(const Dim& a, const Dim& b) {
  if (!a.isSymbol() || !b.isSymbol()) {
    return false;
  }
  const auto first = seen_once_.find(a.symbolName());
  const auto second = seen_once_.find(b.symbolName());
  const auto known = first != seen_once_.end() ? first : second;
  if (known == seen_once_.end()) {
    return false;
  }
  const SeenOnce seen = known->second;
  const std::string other = (known == first ? b : a).symbolName();
  const auto same = known == first ? second : seen_once_.end();
  const RunSizes& of_arguments = sizes_of_symbols_.at(static_cast<size_t>(seen.run));
  const bool is_argument = of_arguments.count(other) != 0 && of_arguments.at(other) == seen.size;
  const bool is_alike = same != seen_once_.end() && same->second.run == seen.run && same->second.size == seen.size;
  if (!is_argument && !is_alike) {
    return false;
  }
  const size_t axis = is_alike ? same->second.axis : seen.axis;
  for (auto each = seen_once_.begin(); each != seen_once_.end();) {
    const SeenOnce& candidate = each->second;
    const bool joins = each->first != other && candidate.run == seen.run && candidate.size == seen.size &&
                       (candidate.axis == seen.axis || candidate.axis == axis);
    if (joins) {
      named_[candidate.key] = other;
    }
    each = joins ? seen_once_.erase(each) : std::next(each);
  }
  return true;
}

Dim ValueTypes::symbolFor(const std::string& key, int64_t min, int64_t opt, int64_t max) {
  const auto known = named_.find(key);
  if (known != named_.end()) {
    return Dim::symbol(known->second);
  }
  std::string name;
  const auto is_taken = [&](const Symbol& symbol) { return symbol.name == name; };
  for (size_t i = named_.size(); name.empty() || std::any_of(symbols_.begin(), symbols_.end(), is_taken); ++i) {
    name = "d" + std::to_string(i);
  }
  named_[key] = name;
  symbols_.push_back({name, min, std::clamp(opt, min, max), max});
  return Dim::symbol(name);
}

Symbol ValueTypes::symbol(const std::string& name) const {
  return *std::find_if(symbols_.begin(), symbols_.end(), [&](const Symbol& symbol) { return symbol.name == name; });
}

// An engine finds the values of symbols in its inputs. A dimension that is an expression over symbols that none of
// them has becomes a symbol of its own.
void ValueTypes::replaceUnboundExpressions(conversion::ConversionRequest& request) {
  std::set<std::string> bound;
  for (const auto& input : request.inputs) {
    for (const Dim& dim : input.dims) {
      if (dim.isSymbol()) {
        bound.insert(dim.symbolName());
      }
    }
  }
  for (auto& input : request.inputs) {
    for (int axis = 0; axis < input.dims.rank(); ++axis) {
      Dim& dim = input.dims[axis];
      const std::vector<std::string> names = dim.symbols();
      if (std::any_of(names.begin(), names.end(), [&](const std::string& name) { return bound.count(name) == 0; })) {
        const auto [low, high] = dim.range([this](const std::string& name) { return symbol(name); });
        const int64_t opt = dim.evaluate([this](const std::string& name) { return symbol(name).opt; });
        const Dim expression = dim;
        dim = symbolFor("expression " + dim.toString(), std::max<int64_t>(low, 0), opt, std::min(high, kAnySize));
        stands_for_.try_emplace(dim.symbolName(), expression);
        bound.insert(dim.symbolName());
      }
    }
  }
  for (const Symbol& symbol : symbols_) {
    if (bound.count(symbol.name) != 0) {
      request.symbols.push_back(symbol);
    }
  }
}

void ValueTypes::learn(const partitioning::Segment& segment, const network::Network& network) {
  const auto meant = [this](const std::string& name) -> std::optional<Dim> {
    const auto expression = stands_for_.find(name);
    return expression == stands_for_.end() ? std::nullopt : std::optional(expression->second);
  };
  for (size_t i = 0; i < segment.outputs.size(); ++i) {
    const network::Tensor& output = *network.getOutput(static_cast<int>(i));
    if (!network::isCounted(output)) {  // else its dims are those there is room for
      learnt_[segment.outputs[i]] = {output.getType(), substitute(output.getDimensions(), meant)};
    }
  }
}

}  // namespace torchtrt::compiler
