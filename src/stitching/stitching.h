// Partition + engines -> Module: the graph of document 004. Torch segments are copied as they are, an engine segment
// becomes GetAttr, ListConstruct, execute_engine, ListUnpack. The signature is the original method's; names come from
// the module alone.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torch/script.h>

#include "partitioning/partition.h"
#include "runtime/engine_class.h"
#include "torchtrt/export.h"

namespace torchtrt::stitching {

// Calls that the partition is not for.
struct OtherCalls {
  std::shared_ptr<torch::jit::Graph> question;  // of the method's arguments: whether the partition is for a call
  std::shared_ptr<torch::jit::Graph> graph;     // for all others; behind the arguments it takes what engines keep
  std::vector<std::pair<size_t, size_t>> kept;  // engine, and number of one of its kept constants
};

struct StitchOptions {
  std::string module_name;     // of the original, qualified: "__torch__.LeNet"; the new one has "_trt" at its end
  std::string method;          // "forward"
  c10::FunctionSchema schema;  // of the method, without self
  // The new module also has this module's other methods, with the attributes that they and the new one use, which it
  // shares, and plain ones; null: none.
  std::shared_ptr<const torch::jit::Module> original = nullptr;
  bool keep_methods = true;  // of the original; its hooks stay in any case
  std::optional<OtherCalls> other_calls = std::nullopt;
  // True for a module whose weights an update may replace: a weight set holds its engines and constant tensors, which
  // every call takes from there at its start.
  bool updatable = false;
  bool owns_constants = true;  // constants of an updatable module are copied
};

// "__torch___LeNet_trt_engine", with "_0", "_1", ... at its end where there are several.
TORCHTRT_API std::string engineName(const std::string& module_name, size_t index, size_t count);

// One engine per engine segment, in order.
TORCHTRT_API torch::jit::Module stitch(const partitioning::Partition& partition,
                                       const std::vector<c10::intrusive_ptr<runtime::Engine>>& engines,
                                       const StitchOptions& options);

// These attributes carry the report of what was compiled and what was not, as text and as JSON.
constexpr const char* kRecord = "torchtrt_report";
constexpr const char* kJsonRecord = "torchtrt_report_json";
TORCHTRT_API void attachRecord(torch::jit::Module& module, const std::string& text, const std::string& json);

// A module around one engine alone: `forward` takes and gives its bindings. The orders are indices of bindings; empty:
// as they are.
struct EmbedOptions {
  std::string module_name = "__torch__.Engine";
  std::vector<size_t> input_order;
  std::vector<size_t> output_order;
};
TORCHTRT_API torch::jit::Module embed(const c10::intrusive_ptr<runtime::Engine>& engine,
                                      const EmbedOptions& options = {});

}  // namespace torchtrt::stitching
