#include "compiler/module/expected_calls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/segments/segment_engines.h"
#include "lowering/call_stacks.h"
#include "lowering/graph_walk.h"
#include "runtime/apart.h"
#include "torchtrt/conversion.h"

namespace torchtrt::compiler {

namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::IValue;
using torch::jit::Node;
using torch::jit::Value;
namespace aten = torch::jit::aten;
namespace prim = torch::jit::prim;

// The expected arguments, by number.
struct Expectation {
  std::map<size_t, IValue> values;                // of what is no tensor, None included
  std::vector<size_t> tensors;                    // optional ones that are given
  std::set<std::pair<size_t, size_t>> different;  // not one tensor
};

bool isOptionalTensor(const c10::Type& type) {
  const auto optional = type.cast<c10::OptionalType>();
  return optional && optional->getElementType()->kind() == c10::TypeKind::TensorType;
}

bool canBeCompared(const IValue& value, const c10::Type& type) {
  return value.isNone() || (value.isBool() && type.kind() == c10::TypeKind::BoolType) ||
         (value.isInt() && type.kind() == c10::TypeKind::IntType);
}

// Returns what the inputs say of arguments that the graph uses. Numbers and truth values count where an optional tensor
// does.
Expectation expectationOf(const lowering::LoweredGraph& lowered, const InputLeaves& leaves) {
  Expectation expected;
  bool has_optional_tensors = false;
  for (size_t i = 0; i < lowered.schema.arguments().size(); ++i) {
    const c10::Argument& argument = lowered.schema.arguments()[i];
    if (lowered.graph->inputs()[i]->uses().empty()) {
      continue;
    }
    const LeafPath path = {static_cast<int64_t>(i)};
    const auto given = leaves.values.find(path);
    const auto value = given != leaves.values.end() ? std::optional(given->second) : argument.default_value();
    const bool is_optional_tensor = isOptionalTensor(*argument.type());
    if (is_optional_tensor && leaves.leaves.count(path) != 0) {
      expected.tensors.push_back(i);
    } else if (leaves.leaves.count(path) == 0 && value && canBeCompared(*value, *argument.type())) {
      expected.values.emplace(i, *value);
    } else {
      continue;
    }
    has_optional_tensors |= is_optional_tensor;
  }
  return has_optional_tensors ? expected : Expectation{};
}

// Puts what is expected in the place of the arguments.
void assume(Graph& graph, const Expectation& expected) {
  const torch::jit::WithInsertPoint first(*graph.nodes().begin());
  for (const auto& [argument, value] : expected.values) {
    graph.inputs()[argument]->replaceAllUsesWith(graph.insertConstant(value));
  }
  for (const size_t argument : expected.tensors) {
    Value* input = graph.inputs()[argument];
    Value* tensor = graph.insertUncheckedCast(input, c10::TensorType::get());
    input->replaceAllUsesAfterNodeWith(tensor->node(), tensor);
  }
}

// "__torch__.torch.nn.___torch_mangle_4.Linear.forward" -> "torch.nn.Linear.forward"
std::string plainName(const std::string& qualified) {
  std::string name;
  const c10::QualifiedName split(qualified);
  for (const std::string& atom : split.atoms()) {
    if (atom != "__torch__" && atom.rfind("___torch_mangle", 0) != 0) {
      name += (name.empty() ? "" : ".") + atom;
    }
  }
  return name;
}

// Returns the method or function that the node was written in. Of functions outside of modules, only
// torch.nn.functional's have their module's name.
std::string functionOf(const Node& node, const std::string& method) {
  const auto call = lowering::innermostCall(node);
  if (!call) {
    return plainName(method);
  }
  if (!call->class_name.empty()) {
    return plainName(call->class_name + "." + call->function);
  }
  constexpr std::string_view kFunctional = "torch/nn/functional.py";
  const std::string file = conversion::util::locationOf(node).file;
  const bool is_functional = file.size() >= kFunctional.size() &&
                             file.compare(file.size() - kFunctional.size(), kFunctional.size(), kFunctional) == 0;
  return (is_functional ? "torch.nn.functional." : "") + call->function;
}

// torch.nn's attention asks it only to choose between ways that give the same, except for rows that masks hide.
bool onlyChoosesAWay(const Node& comparison, const Expectation& expected, const std::string& method) {
  static const std::set<std::string> kAttention = {"torch.nn.modules.activation.MultiheadAttention.forward",
                                                   "torch.nn.functional.multi_head_attention_forward",
                                                   "torch.nn.functional._in_projection_packed"};
  return expected.tensors.empty() && kAttention.count(functionOf(comparison, method)) != 0;
}

// Answers whether two arguments are one tensor: they are not. A call whose arguments are is another, where that counts.
void assumeDifferent(Graph& graph, Expectation& expected, const std::string& method) {
  const auto argument_of = [&graph](const Value* value) {
    while (value->node()->kind() == prim::unchecked_cast) {
      value = value->node()->input();
    }
    return value->node() == graph.param_node() && lowering::holdsTensors(value->type()) ? std::optional(value->offset())
                                                                                        : std::nullopt;
  };
  lowering::forEachNode(graph.block(), [&](Node* node) {
    if (node->kind() != aten::__is__ && node->kind() != aten::__isnot__) {
      return;
    }
    const auto one = argument_of(node->input(0));
    const auto other = argument_of(node->input(1));
    if (one && other && *one != *other) {
      if (!onlyChoosesAWay(*node, expected, method)) {
        expected.different.emplace(*one, *other);
      }
      const torch::jit::WithInsertPoint guard(node);
      node->output()->replaceAllUsesWith(graph.insertConstant(node->kind() == aten::__isnot__));
      node->destroy();
    }
  });
}

// Inserts nodes that tell if a call is as expected; returns the bool.
Value* insertQuestion(Graph& graph, const Expectation& expected) {
  Value* answer = nullptr;
  const auto require = [&](Value* condition) {
    answer = answer == nullptr ? condition : graph.insert(aten::__and__, {answer, condition});
  };
  for (const auto& [argument, value] : expected.values) {
    require(graph.insert(value.isNone() ? aten::__is__ : aten::eq, {graph.inputs()[argument], value}));
  }
  for (const size_t argument : expected.tensors) {
    require(graph.insert(aten::__isnot__, {graph.inputs()[argument], IValue()}));
  }
  for (const auto& [one, other] : expected.different) {
    require(graph.insert(aten::__isnot__, {graph.inputs()[one], graph.inputs()[other]}));
  }
  return answer;
}

std::shared_ptr<Graph> withInputsOf(const Graph& graph) {
  auto made = std::make_shared<Graph>();
  for (const Value* input : graph.inputs()) {
    made->addInput(input->hasDebugName() ? input->debugNameBase() : "")->setType(input->type());
  }
  return made;
}

size_t branchesIn(Graph& graph) {
  size_t count = 0;
  lowering::forEachNode(graph.block(), [&](const Node* node) { count += node->kind() == prim::If ? 1 : 0; });
  return count;
}

}  // namespace

std::optional<OtherCalls> expectCalls(lowering::LoweredGraph& lowered, const InputLeaves& leaves,
                                      const ts::CompileSpec& spec) {
  if (spec.require_full_compilation || lowered.has_self || !lowered.pinned.empty()) {
    return std::nullopt;
  }
  Expectation expected = expectationOf(lowered, leaves);
  if (expected.values.empty() && expected.tensors.empty()) {
    return std::nullopt;
  }
  std::shared_ptr<Graph> graph = lowered.graph->copy();
  assume(*graph, expected);
  assumeDifferent(*graph, expected, lowered.module_name + "." + lowered.schema.name());
  lowering::LoweringOptions options;
  options.disabled_passes.emplace_back("lower_quantized");  // as where something may stay in PyTorch
  options.weights_may_change = spec.refit;
  graph = lowering::lower(graph, options).graph;
  // One branch cuts little, and in its place both kinds of calls run in engines.
  if (branchesIn(*lowered.graph) < branchesIn(*graph) + 2) {
    return std::nullopt;
  }
  OtherCalls others{withInputsOf(*lowered.graph), lowered.graph, {}};
  {
    const torch::jit::WithInsertPoint inside(others.question->block());
    others.question->registerOutput(insertQuestion(*others.question, expected));
  }
  hoistTensors(others.graph->block(), *others.graph, others.constants);
  lowered.graph = graph;
  return others;
}

OtherCalls overlappingCalls(const lowering::LoweredGraph& lowered, const lowering::LoweredGraph& plain) {
  const std::vector<size_t>& written = lowered.written_arguments;
  OtherCalls others{withInputsOf(*lowered.graph), plain.graph, {}};
  Graph& question = *others.question;
  std::vector<Value*> changed, read;
  for (size_t i = 0; i < question.inputs().size(); ++i) {
    const bool is_written = std::find(written.begin(), written.end(), i) != written.end();
    if (is_written || lowering::isTensor(*question.inputs()[i])) {
      (is_written ? changed : read).push_back(question.inputs()[i]);
    }
  }
  const torch::jit::WithInsertPoint inside(question.block());
  const auto listed = [&](const std::vector<Value*>& tensors) {
    return question.insertNode(question.createList(c10::TensorType::get(), tensors))->output();
  };
  question.registerOutput(
      question.insert(c10::Symbol::fromQualString(runtime::kLieApart), {listed(changed), listed(read)}));
  hoistTensors(others.graph->block(), *others.graph, others.constants);
  return others;
}

stitching::OtherCalls withEngines(const OtherCalls& others, const std::vector<SegmentEngine>& engines) {
  stitching::OtherCalls stitched{others.question, others.graph->copy(), {}};
  Graph& graph = *stitched.graph;
  const size_t first = graph.inputs().size() - others.constants.size();
  for (size_t i = others.constants.size(); i-- > 0;) {
    const auto holder = std::find_if(engines.begin(), engines.end(),
                                     [i](const SegmentEngine& engine) { return engine.found.count(i) != 0; });
    if (holder == engines.end()) {
      const torch::jit::WithInsertPoint top(*graph.nodes().begin());
      graph.inputs()[first + i]->replaceAllUsesWith(graph.insertConstant(others.constants[i]));
      graph.eraseInput(first + i);
      continue;
    }
    const FoundConstant& found = holder->found.at(i);
    replaceInput(graph, first + i, found.parts.size(), found.scaled);
    for (const size_t part : found.parts) {
      stitched.kept.emplace_back(static_cast<size_t>(holder - engines.begin()), part);
    }
  }
  return stitched;
}

}  // namespace torchtrt::compiler
