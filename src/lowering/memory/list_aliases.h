// libtorch's alias analysis for passes that change lists. It costs more than all else that they do, and few lists need
// it: it is made where the first one does.
#pragma once

#include <memory>

#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/script.h>

namespace torchtrt::lowering {

class ListAliases {
 public:
  explicit ListAliases(std::shared_ptr<torch::jit::Graph> graph) : graph_(std::move(graph)) {}

  const torch::jit::AliasDb& get();
  // After a change, the analysis is old.
  void forget() {
    aliases_.reset();
  }
  // True if somebody may write to the list. The uses of a list that is made here and only read tell.
  bool mayBeWritten(const torch::jit::Value* list);

 private:
  std::shared_ptr<torch::jit::Graph> graph_;
  std::unique_ptr<torch::jit::AliasDb> aliases_;
};

}  // namespace torchtrt::lowering
