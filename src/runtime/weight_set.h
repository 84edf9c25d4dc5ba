// The value that a module compiled with `refit` holds instead of engines: all that a call reads of weights, which are
// its engines and the tensors of what PyTorch runs. A call takes them once, at its start; an update replaces them all
// at once, so that no call ever sees old and new weights together. Engines themselves never change.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <torch/custom_class.h>
#include <torch/script.h>

#include "runtime/engine_class.h"
#include "torchtrt/export.h"

namespace torchtrt::runtime {

class TORCHTRT_API WeightSet : public torch::CustomClassHolder {
 public:
  using Engines = c10::List<c10::intrusive_ptr<Engine>>;
  using Tensors = c10::List<at::Tensor>;
  using Current = std::tuple<Engines, Tensors>;
  // Engines, tensors, the recipe's bytes, and their hash.
  using Pickled = std::tuple<Engines, Tensors, at::Tensor, std::string>;

  // The attribute of a module that holds it, and the method that a call takes its weights with.
  static constexpr const char* kAttribute = "torchtrt_weights";
  static constexpr const char* kCurrent = "current";

  WeightSet(std::vector<c10::intrusive_ptr<Engine>> engines, std::vector<at::Tensor> tensors);
  // Throws EngineError where the recipe is not what its hash says.
  explicit WeightSet(Pickled state);

  // Nobody may change the lists.
  Current current() const;
  // Takes the other one's weights as they are, from the next call on, and leaves the recipe.
  void become(const WeightSet& other);

  // The recipe lets the compiler make another such set of other weights (compiler/updates/recipe.h). It is set before
  // the weight set is handed out. Empty: nothing was recorded.
  void setRecipe(std::string recipe) {
    recipe_ = std::move(recipe);
  }
  const std::string& recipe() const {
    return recipe_;
  }
  Pickled pickled() const;

 private:
  mutable std::mutex mutex_;  // held for the copy of two pointers
  Current current_;
  std::string recipe_;
};

// The engine that a value of the module's method is: an attribute, or one of its weight set. Null for other values.
TORCHTRT_API c10::intrusive_ptr<Engine> engineOf(const torch::jit::Module& module, const torch::jit::Value& value);
// True for the call with which a method takes its weights.
TORCHTRT_API bool takesWeights(const torch::jit::Node& node);

// The engines that a module and its submodules hold, by the name of their attribute, or their own in a weight set.
TORCHTRT_API std::vector<std::pair<std::string, c10::intrusive_ptr<Engine>>> enginesIn(
    const torch::jit::Module& module);

}  // namespace torchtrt::runtime
