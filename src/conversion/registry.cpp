#include <torch/csrc/jit/frontend/function_schema_parser.h>

#include <algorithm>

#include "base/logging.h"
#include "conversion/converters/list.h"
#include "torchtrt/conversion.h"

namespace torchtrt::conversion {
namespace {

c10::FunctionSchema parse(const std::string& signature) {
  try {
    return torch::jit::parseSchema(signature, /*allow_typevars=*/true);
  } catch (const std::exception& error) {
    throw CompileError(ErrorCode::kInvalidOption, "'" + signature + "' is no function schema: " + error.what(), {},
                       "copy the schema that the error for the unsupported operator prints");
  }
}

// Names and types; defaults and alias annotations may be left out.
bool argumentsAgree(const c10::FunctionSchema& a, const c10::FunctionSchema& b) {
  return a.arguments().size() == b.arguments().size() &&
         std::equal(a.arguments().begin(), a.arguments().end(), b.arguments().begin(),
                    [](const c10::Argument& x, const c10::Argument& y) { return *x.type() == *y.type(); });
}

}  // namespace

NodeConverterRegistry::NodeConverterRegistry() {
  converters::addAll(*this);
  building_ = false;
}

NodeConverterRegistry& NodeConverterRegistry::instance() {
  static NodeConverterRegistry registry;
  return registry;
}

void NodeConverterRegistry::add(const std::string& signature, OpConverter converter) {
  c10::FunctionSchema schema = parse(signature);
  const c10::OperatorName name = schema.operator_name();
  const auto existing = entries_.find(name);
  if (existing != entries_.end()) {
    if (building_) {
      throw InternalError("two built-in converters for " + c10::toString(name));
    }
    TORCHTRT_LOG(kWARNING, "a converter for " << name << " replaces the one registered before");
    entries_.erase(existing);
  }
  entries_.emplace(name, Entry{std::move(schema), std::move(converter)});
}

const OpConverter* NodeConverterRegistry::find(const torch::jit::Node& node) const {
  const auto* schema = node.maybeSchema();
  const auto entry = schema ? entries_.find(schema->operator_name()) : entries_.end();
  const bool fits = entry != entries_.end() && argumentsAgree(entry->second.schema, *schema);
  return fits ? &entry->second.converter : nullptr;
}

std::vector<std::string> NodeConverterRegistry::schemas() const {
  std::vector<std::string> texts;
  for (const auto& [name, entry] : entries_) {
    std::ostringstream text;
    text << entry.schema;
    texts.push_back(text.str());
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

RegisterNodeConversionPatterns&& RegisterNodeConversionPatterns::pattern(ConversionPattern pattern) && {
  NodeConverterRegistry::instance().add(pattern.signature, std::move(pattern.converter));
  return std::move(*this);
}

}  // namespace torchtrt::conversion
