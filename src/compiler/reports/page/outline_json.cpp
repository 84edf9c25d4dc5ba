#include "compiler/reports/page/outline_json.h"

#include "compiler/reports/text.h"

namespace torchtrt {

namespace {

using engine::Outline;

template <typename Numbers>
std::string numbers(const Numbers& values) {
  return list(values, [](const auto& value) { return std::to_string(value); });
}

std::string json(const Outline::Tensor& tensor) {
  return "{\"name\": " + quoted(tensor.name) + ", \"dtype\": " + quoted(toString(tensor.dtype)) +
         ", \"dims\": " + list(tensor.dims, quoted) + ", \"bytes\": " + std::to_string(tensor.bytes) +
         (tensor.view_of < 0 ? "" : ", \"view_of\": " + std::to_string(tensor.view_of)) +
         (tensor.is_weight ? ", \"is_weight\": true}" : "}");
}

std::string json(const Outline::Step& step) {
  return "{\"name\": " + quoted(step.name) + ", \"family\": " + quoted(step.family) +
         ", \"implementation\": " + quoted(step.implementation) + ", \"location\": " + quoted(toString(step.location)) +
         ", \"attributes\": " + quoted(step.attributes) + ", \"inputs\": " + numbers(step.inputs) +
         ", \"outputs\": " + numbers(step.outputs) + "}";
}

std::string json(const Outline::Action& action) {
  return "{\"steps\": " + numbers(action.steps) + (action.rule.empty() ? "" : ", \"rule\": " + quoted(action.rule)) +
         "}";
}

std::string json(const Outline::Buffer& buffer) {
  return "[" + std::to_string(buffer.tensor) + ", " + std::to_string(buffer.offset) + ", " +
         std::to_string(buffer.bytes) + ", " + std::to_string(buffer.first) + ", " + std::to_string(buffer.last) + "]";
}

}  // namespace

std::string outlineJson(const std::string& name, const engine::Outline& outline) {
  const auto print = [](const auto& each) { return json(each); };
  return "{\"name\": " + quoted(name) + ", \"note\": " + quoted(outline.note) +
         ", \"workspace_bytes\": " + std::to_string(outline.workspace_bytes) +
         ", \"tensors\": " + list(outline.tensors, print) + ", \"steps\": " + list(outline.steps, print) +
         ", \"inputs\": " + numbers(outline.inputs) + ", \"outputs\": " + numbers(outline.outputs) +
         ", \"actions\": " + list(outline.actions, print) + ", \"buffers\": " + list(outline.buffers, print) + "}";
}

}  // namespace torchtrt
