#include "partitioning/worth.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

namespace torchtrt::partitioning {

namespace {

constexpr int64_t kHeavySaving = 100;  // in light operators
constexpr int64_t kEnoughLight = 3;    // that fuse into one pass over memory

// Parts of names of operators that take time of their own.
constexpr std::array<std::string_view, 20> kHeavy = {
    "conv",    "linear",       "mm",          "matmul",        "einsum", "norm", "attention",
    "softmax", "pool",         "interpolate", "upsample",      "lstm",   "gru",  "embedding",
    "cumsum",  "grid_sampler", "roi_align",   "encoder_layer", "stft",   "fft_"};

// These move nothing, or move data once.
const std::set<std::string>& views() {
  static const std::set<std::string> kinds = {"aten::reshape",
                                              "aten::view",
                                              "aten::permute",
                                              "aten::transpose",
                                              "aten::t",
                                              "aten::unsqueeze",
                                              "aten::squeeze",
                                              "aten::flatten",
                                              "aten::expand",
                                              "aten::expand_as",
                                              "aten::slice",
                                              "aten::select",
                                              "aten::narrow",
                                              "aten::chunk",
                                              "aten::split",
                                              "aten::unbind",
                                              "aten::contiguous",
                                              "aten::detach",
                                              "aten::to",
                                              "aten::alias",
                                              "aten::numpy_T",
                                              "aten::movedim",
                                              "aten::unflatten",
                                              "aten::split_with_sizes",
                                              "aten::type_as",
                                              "aten::view_as",
                                              "aten::clone",
                                              "aten::tensor_split",
                                              "aten::_autocast_to_full_precision",
                                              "aten::_autocast_to_reduced_precision"};
  return kinds;
}

int64_t savingOf(const torch::jit::Node& node) {
  const std::string kind = node.kind().toQualString();
  if (std::any_of(kHeavy.begin(), kHeavy.end(),
                  [&](std::string_view part) { return kind.find(part) != std::string::npos; })) {
    return kHeavySaving;
  }
  const bool works = node.kind().is_prim() ? !node.blocks().empty() : views().count(kind) == 0;
  return works ? 1 : 0;
}

}  // namespace

int64_t countWithCarried(const std::vector<const torch::jit::Node*>& nodes, const Roles& roles) {
  std::unordered_set<const torch::jit::Node*> counted;
  std::vector<const torch::jit::Node*> open = nodes;
  auto total = static_cast<int64_t>(nodes.size());
  while (!open.empty()) {
    const torch::jit::Node* node = open.back();
    open.pop_back();
    for (const torch::jit::Value* input : node->inputs()) {
      if (roles.of(*input->node()) == Role::kCarried && counted.insert(input->node()).second) {
        open.push_back(input->node());
        ++total;
      }
    }
  }
  return total;
}

Worth worthOf(const std::vector<const torch::jit::Node*>& nodes, int64_t node_count,
              const std::optional<uint64_t>& min_block_size) {
  Worth worth;
  for (const torch::jit::Node* node : nodes) {
    worth.saving += savingOf(*node);
  }
  worth.suffices = min_block_size ? node_count >= static_cast<int64_t>(*min_block_size) : worth.saving >= kEnoughLight;
  return worth;
}

}  // namespace torchtrt::partitioning
