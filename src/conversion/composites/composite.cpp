#include "conversion/composites/composite.h"

#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <mutex>

#include "conversion/ivalues.h"
#include "conversion/walk.h"

namespace torchtrt::conversion::composites {
namespace {

using torch::jit::Graph;
using torch::jit::Value;

// A type as TorchScript writes it in an annotation.
std::string annotation(const c10::TypePtr& type) {
  switch (type->kind()) {
    case c10::TypeKind::OptionalType:
      return "Optional[" + annotation(type->expectRef<c10::OptionalType>().getElementType()) + "]";
    case c10::TypeKind::ListType:
      return "List[" + annotation(type->expectRef<c10::ListType>().getElementType()) + "]";
    case c10::TypeKind::NumberType:
      return "number";
    default:
      return type->annotation_str();
  }
}

std::string sourceOf(const c10::FunctionSchema& schema, const std::string& body) {
  std::string parameters;
  for (const c10::Argument& argument : schema.arguments()) {
    parameters += (parameters.empty() ? "" : ", ") + argument.name() + ": " + annotation(argument.type());
  }
  return "def composite(" + parameters + "):\n" + body + "\n";
}

// Compiled when first needed, which most are never in a process.
class Definition {
 public:
  Definition(c10::FunctionSchema schema, std::string body) : schema_(std::move(schema)), body_(std::move(body)) {}

  const std::string& name() const {
    return schema_.name();
  }

  const Graph& graph() {
    std::call_once(once_, [this] {
      unit_ = std::make_shared<torch::jit::CompilationUnit>();
      unit_->define(std::nullopt, sourceOf(schema_, body_), torch::jit::nativeResolver(), nullptr);
      graph_ = toGraphFunction(unit_->get_function("composite")).graph();
      torch::jit::Inline(*graph_);
    });
    return *graph_;
  }

 private:
  c10::FunctionSchema schema_;
  std::string body_;
  std::once_flag once_;
  std::shared_ptr<torch::jit::CompilationUnit> unit_;
  std::shared_ptr<Graph> graph_;
};

// The definition's outputs: one value for each output of the node, where several come as a tuple.
std::vector<IValue> resultsOf(const ConversionCtx& ctx, const Graph& graph, size_t count) {
  const auto value = lookUp(ctx, graph.outputs().at(0));
  if (!value) {
    throw InternalError("the definition of an operator gives no result");
  }
  return count == 1 ? std::vector<IValue>{*value} : value->toTupleRef().elements().vec();
}

void convertThrough(ConversionCtx& ctx, const torch::jit::Node& node, const Graph& graph) {
  const torch::jit::Node* outer = ctx.composite;
  ctx.composite = outer ? outer : &node;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    associate(ctx, graph.inputs()[i], lookUp(ctx, node.inputs()[i]).value());
  }
  convertNodes(ctx, *graph.block());
  const std::vector<IValue> results = resultsOf(ctx, graph, node.outputs().size());
  for (size_t i = 0; i < results.size(); ++i) {
    associate(ctx, node.outputs()[i], results[i]);
  }
  ctx.composite = outer;
  ctx.node = &node;
}

std::vector<std::shared_ptr<Definition>>& definitions() {
  static std::vector<std::shared_ptr<Definition>> all;
  return all;
}

OpConverter converterOf(const c10::FunctionSchema& schema, const std::string& body) {
  auto definition = std::make_shared<Definition>(schema, body);
  definitions().push_back(definition);
  return [definition](ConversionCtx* ctx, const torch::jit::Node* node, args&) {
    convertThrough(*ctx, *node, definition->graph());
    return true;
  };
}

}  // namespace

void add(NodeConverterRegistry& registry, const std::string& name, const std::string& body) {
  const size_t dot = name.find('.');
  const c10::OperatorName operator_name(name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1));
  const auto found = torch::jit::findOperatorFor(operator_name);
  if (!found) {
    throw InternalError("libtorch has no operator " + name);
  }
  std::ostringstream text;
  text << found->schema();
  registry.add(text.str(), converterOf(found->schema(), body));
}

void addSchema(NodeConverterRegistry& registry, const std::string& schema, const std::string& body) {
  registry.add(schema, converterOf(torch::jit::parseSchema(schema), body));
}

std::vector<std::string> brokenDefinitions() {
  std::vector<std::string> broken;
  for (const auto& definition : definitions()) {
    try {
      definition->graph();
    } catch (const std::exception& error) {
      broken.push_back(definition->name() + ": " + error.what());
    }
  }
  return broken;
}

}  // namespace torchtrt::conversion::composites
