#include "compiler/checking/validation.h"

#include <algorithm>
#include <string>

#include "runtime/weight_set.h"
#include "stitching/stitching.h"

namespace torchtrt::compiler {

namespace {

bool hasTf32(const torch::jit::Module& compiled) {
  const auto engines = runtime::enginesIn(compiled);
  return std::any_of(engines.begin(), engines.end(), [](const auto& each) { return runtime::usesTf32(*each.second); });
}

}  // namespace

at::ScalarType coarsestOf(const torch::jit::Module& compiled) {
  const std::string record =
      compiled.hasattr(stitching::kJsonRecord) ? compiled.attr(stitching::kJsonRecord).toStringRef() : std::string();
  if (record.find(R"("is_quantized": true)") != std::string::npos) {
    return at::kChar;
  }
  const bool has_halves = record.find(R"("dtype": "bfloat16")") != std::string::npos ||
                          record.find(R"("dtype": "float16")") != std::string::npos;
  return has_halves ? at::kBFloat16 : hasTf32(compiled) ? runtime::kTf32 : at::kDouble;
}

at::ScalarType coarsestOf(const torch::jit::Graph& graph, const torch::jit::Module& compiled) {
  return hasTf32(compiled) ? runtime::kTf32 : coarsestOf(graph);
}

}  // namespace torchtrt::compiler
