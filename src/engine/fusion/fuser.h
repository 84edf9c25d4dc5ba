// Applies the rules that join a convolution with its neighbours to one set of shapes. Steps are asked in the order of
// the plan: an earlier step may be left to a later one, and a later one may be done already. Pointwise groups come
// afterwards (pointwise_group.h). Private to engine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "engine/loading/model.h"
#include "engine/schedule/drafts.h"
#include "kernels/fusion.h"

namespace torchtrt::engine {

class Fuser {
 public:
  // The shapes of a step whose operands are these tensors.
  using Shapes = std::function<kernels::ShapeSet(const plan::Step& step, const std::vector<int32_t>& inputs)>;

  // `places` are those of all tensors, described before the first step is asked for. Refusals go to `apart`.
  Fuser(const Model& model, const std::vector<Place>& places, Shapes shapes_of, std::vector<LeftApart>& apart)
      : model_(model),
        places_(places),
        shapes_of_(std::move(shapes_of)),
        apart_(apart),
        states_(model.plan.steps.size()) {}

  // True if an earlier step computes this one, too.
  bool isDone(size_t index) const {
    return states_[index].done;
  }
  // True if the one reader of the step's result computes it, too.
  bool isLeft(size_t index) {
    return leaveToScaling(index) || leaveToDepthwise(index);
  }
  // Sets the kernel, operands and results of a step that computes others, too; false if it computes none.
  bool prepare(size_t index, Draft& draft) {
    return takeLeft(index, draft) || averageToo(index, draft) || poolInstead(index, draft);
  }

 private:
  // One for each step.
  struct State {
    std::unique_ptr<kernels::Prepared> prepared;  // null unless it computes the step before it
    Rule rule = Rule::kNone;                      // by which it does
    std::vector<int32_t> inputs;                  // of both
    int32_t before = -1;                          // that step
    int32_t means = -1;                           // a second output, of the step that averages the first
    bool done = false;
  };

  bool leaveToScaling(size_t index);             // scale_input.cpp
  bool leaveToDepthwise(size_t index);           // depthwise_lines.cpp
  bool averageToo(size_t index, Draft& draft);   // average_output.cpp
  int32_t meansOf(size_t index) const;           // the same
  bool poolInstead(size_t index, Draft& draft);  // pool_output.cpp

  // Takes over what an earlier step left to this one; false if nothing was left.
  bool takeLeft(size_t index, Draft& draft);
  void markAveraged(size_t index, Draft& draft, int32_t means);

  // The kernel that a rule gave, or null with the refusal noted.
  std::unique_ptr<kernels::Prepared> kernelOf(kernels::Fused fused, Rule rule, int32_t first, int32_t second);
  // Notes why a rule leaves two steps apart; returns false.
  bool refuse(Rule rule, int32_t first, int32_t second, std::string reason);

  const plan::Step& stepOf(int32_t index) const {
    return model_.plan.steps[static_cast<size_t>(index)];
  }
  const Place& placeOf(int32_t tensor) const {
    return places_[static_cast<size_t>(tensor)];
  }
  State& stateOf(int32_t step) {
    return states_[static_cast<size_t>(step)];
  }
  // The step's kernel as one with an interface of kernels/fusion.h; never null for a candidate.
  template <typename Interface>
  const Interface* kernelAs(int32_t step) const {
    return dynamic_cast<const Interface*>(model_.steps[static_cast<size_t>(step)].kernel.get());
  }

  const Model& model_;
  const std::vector<Place>& places_;
  Shapes shapes_of_;
  std::vector<LeftApart>& apart_;
  std::vector<State> states_;
};

// True if `factors` holds one value for each image and channel of `tensor`, next to each other.
bool isPerChannel(const kernels::TensorDesc& factors, const kernels::TensorDesc& tensor);

}  // namespace torchtrt::engine
