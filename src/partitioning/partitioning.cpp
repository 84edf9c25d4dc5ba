#include "partitioning/partitioning.h"

#include <sstream>

#include "partitioning/collections.h"
#include "partitioning/segment_builder.h"

namespace torchtrt::partitioning {

namespace {

constexpr const char* kForced = "torch-executed-op";

bool isConstant(const torch::jit::Node& node) {
  return node.kind() == torch::jit::prim::Constant;
}

bool staysForItsKind(const Verdict& verdict) {
  return verdict.refusal && verdict.refusal->code == kCollectionCode;
}

// "  %3 : Tensor = aten::lgamma(%x) # model.py:5:8\n    schema: ...\n    reason: ..."
void describe(std::ostream& out, const Verdict& verdict) {
  std::ostringstream node;
  verdict.node->print(node, 0, nullptr, /*print_source_locations=*/true, /*print_attributes=*/true,
                      /*print_scopes=*/false, /*print_body=*/false);
  std::string text = node.str();
  text.erase(text.find_last_not_of(" \n") + 1);
  const torch::jit::FunctionSchema* schema = verdict.node->maybeSchema();
  out << "\n  " << text << "\n    schema: " << (schema ? c10::toString(*schema) : "none")
      << "\n    reason: " << verdict.refusal->reason;
}

[[noreturn]] void throwUnsupported(const std::vector<Verdict>& verdicts, const std::string& what) {
  std::ostringstream nodes;
  int count = 0;
  for (const Verdict& verdict : verdicts) {
    if (verdict.target == Target::kTorch && !staysForItsKind(verdict)) {
      describe(nodes, verdict);
      ++count;
    }
  }
  throw CompileError(ErrorCode::kUnsupportedOperator,
                     "unable to convert " + std::to_string(count) + (count == 1 ? " node" : " nodes") + " of " + what +
                         ":" + nodes.str(),
                     {},
                     "write the operators in other terms, or register a converter for each schema with "
                     "RegisterNodeConversionPatterns().pattern({schema, converter})");
}

// Collections that are opened, the engine, collections that are built.
struct Builders {
  SegmentBuilder openers{Target::kTorch, "takes collections among the inputs apart"};
  SegmentBuilder engine{Target::kEngine, "every node converts"};
  SegmentBuilder builders{Target::kTorch, "puts collections among the outputs together"};
};

void addNodes(Builders& segments, const std::vector<Verdict>& verdicts) {
  for (const Verdict& verdict : verdicts) {
    if (verdict.target == Target::kEngine) {
      segments.engine.add(*verdict.node);
    } else {
      (opensInput(*verdict.node) ? segments.openers : segments.builders).add(*verdict.node);
    }
  }
}

// What goes out, from the return downwards, so that an engine's outputs stand in the order in which the user sees them.
void addOutput(Builders& segments, const torch::jit::Value& value) {
  if (segments.builders.produces(value)) {
    for (const torch::jit::Value* part : value.node()->inputs()) {
      addOutput(segments, *part);
    }
  } else if (segments.engine.produces(value)) {
    segments.engine.addOutput(value);
  }
}

void addOutputs(Builders& segments, const torch::jit::Graph& graph) {
  for (const torch::jit::Value* value : graph.outputs()) {
    addOutput(segments, *value);
    if (isConstant(*value->node())) {
      segments.builders.addConstant(*value);
    }
    if (segments.builders.produces(*value)) {
      segments.builders.addOutput(*value);
    }
  }
}

void checkTensors(const std::vector<const torch::jit::Value*>& values, const char* direction, const std::string& what) {
  for (const torch::jit::Value* value : values) {
    if (!value->type()->isSubtypeOf(*c10::TensorType::get())) {
      throw CompileError(ErrorCode::kConversionFailed,
                         std::string("an engine ") + direction + " tensors only, got %" + value->debugName() +
                             " of type " + value->type()->str() + " in " + what,
                         {}, "pass it as a tensor, or fix its value while the module is scripted");
    }
  }
}

}  // namespace

std::vector<Verdict> judge(const torch::jit::Graph& graph, const ConvertibleQuestion& refusal_of,
                           const PartitioningOptions& options) {
  std::vector<Verdict> verdicts;
  for (const torch::jit::Node* node : graph.nodes()) {
    if (isConstant(*node)) {
      continue;
    }
    Verdict verdict{node, Target::kTorch, std::nullopt};
    if (opensInput(*node) || buildsOutput(*node)) {
      verdict.refusal = Refusal{kCollectionCode, "collections at the border stay with Torch"};
    } else if (options.torch_executed_ops.count(node->kind().toQualString()) != 0) {
      verdict.refusal =
          Refusal{kForced, "torch_executed_ops asks for it to run in PyTorch, and only whole modules are compiled"};
    } else {
      verdict.refusal = refusal_of(*node);
    }
    verdict.target = verdict.refusal ? Target::kTorch : Target::kEngine;
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

Partition partition(const std::shared_ptr<torch::jit::Graph>& graph, const ConvertibleQuestion& refusal_of,
                    const PartitioningOptions& options) {
  Partition result{graph, {}, judge(*graph, refusal_of, options)};
  bool has_engine = false;
  for (const Verdict& verdict : result.verdicts) {
    if (verdict.target == Target::kTorch && !staysForItsKind(verdict)) {
      throwUnsupported(result.verdicts, options.what);
    }
    has_engine = has_engine || verdict.target == Target::kEngine;
  }
  if (!has_engine) {
    throw CompileError(ErrorCode::kInvalidModule,
                       "there is nothing to compile in " + options.what + ": it computes nothing", {},
                       "compile a module whose method works on its inputs");
  }
  Builders segments;
  addNodes(segments, result.verdicts);
  addOutputs(segments, *graph);
  const Segment engine = segments.engine.take();
  const Segment builders = segments.builders.take();
  checkTensors(engine.inputs, "takes", options.what);
  checkTensors(engine.outputs, "gives", options.what);
  for (const Segment* user : {&engine, &builders}) {
    for (const torch::jit::Value* value : user->inputs) {
      if (segments.openers.produces(*value)) {
        segments.openers.addOutput(*value);
      }
    }
  }
  const bool opens = !segments.openers.empty();
  const bool builds = !segments.builders.empty();
  if (opens) {
    result.segments.push_back(segments.openers.take());
  }
  result.segments.push_back(engine);
  if (builds) {
    result.segments.push_back(builders);
  }
  return result;
}

}  // namespace torchtrt::partitioning
