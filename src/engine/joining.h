// What steps that one kernel may compute together (joins.h) become for one set of shapes: kernels are asked whether
// they do, and steps are left to others. Private to this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "engine/drafts.h"
#include "engine/model.h"

namespace torchtrt::engine {

class Joining {
 public:
  // The shapes of a step whose operands are these tensors.
  using Shapes = std::function<kernels::ShapeSet(const plan::Step& step, const std::vector<int32_t>& inputs)>;

  // `places` are those of all tensors, described before the first step is asked for.
  Joining(const Model& model, const std::vector<Place>& places, Shapes shapes_of)
      : model_(model), places_(places), shapes_of_(std::move(shapes_of)), joined_(model.plan.steps.size()) {}

  // Whether an earlier step computes this one, too.
  bool isDone(size_t index) const {
    return joined_[index].done;
  }
  // Whether the one reader of the step's result computes it, too. Steps are asked in the order of the plan.
  bool isLeft(size_t index) {
    return leaveToReader(index) || leaveToFollower(index);
  }
  // Sets the kernel, operands and results of a step that computes others, too; false if it computes none.
  bool prepare(size_t index, Draft& draft) {
    return computeBefore(index, draft) || averageToo(index, draft) || poolInstead(index, draft);
  }

 private:
  struct Joined {
    std::unique_ptr<kernels::Prepared> prepared;  // null unless it computes the step before it
    std::vector<int32_t> inputs;                  // of both
    int32_t before = -1;                          // that step, where a profile shall name it
    int32_t means = -1;                           // a second output, of the step that averages the first
    bool done = false;
  };

  bool leaveToReader(size_t index);
  bool leaveToFollower(size_t index);
  bool computeBefore(size_t index, Draft& draft);
  bool averageToo(size_t index, Draft& draft);
  bool poolInstead(size_t index, Draft& draft);
  int32_t meansOf(size_t index) const;

  const plan::Step& stepOf(int32_t index) const {
    return model_.plan.steps[static_cast<size_t>(index)];
  }
  const Place& placeOf(int32_t tensor) const {
    return places_[static_cast<size_t>(tensor)];
  }
  Joined& joinedOf(int32_t step) {
    return joined_[static_cast<size_t>(step)];
  }
  // The step's kernel as one that can join what joins.h found; never null there.
  template <typename Join>
  const Join* kernelAs(int32_t step) const {
    return dynamic_cast<const Join*>(model_.steps[static_cast<size_t>(step)].kernel.get());
  }

  const Model& model_;
  const std::vector<Place>& places_;
  Shapes shapes_of_;
  std::vector<Joined> joined_;  // per step
};

}  // namespace torchtrt::engine
