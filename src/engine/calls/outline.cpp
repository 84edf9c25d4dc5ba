#include "engine/calls/outline.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/calls/loaded_engine.h"
#include "engine/schedule/row_major_inputs.h"
#include "engine/schedule/shapes.h"
#include "plan/plan.h"

namespace torchtrt::engine {

namespace {

std::vector<int32_t> tensorsOf(const std::vector<plan::Binding>& bindings) {
  std::vector<int32_t> tensors;
  for (const plan::Binding& binding : bindings) {
    tensors.push_back(binding.tensor);
  }
  return tensors;
}

void addPlan(const Model& model, Outline& outline) {
  const plan::Plan& plan = model.plan;
  for (const plan::Tensor& tensor : plan.tensors) {
    Outline::Tensor& entry = outline.tensors.emplace_back();
    entry.name = tensor.name;
    entry.dtype = tensor.dtype;
    entry.is_weight = tensor.weight >= 0;
    entry.view_of = tensor.view_of;
    entry.bytes = entry.is_weight ? plan.weights[static_cast<size_t>(tensor.weight)].bytes : 0;
    for (const plan::Register dim : tensor.dims) {
      entry.dims.push_back(plan::printRegister(plan, dim));
    }
  }
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const plan::Step& step = plan.steps[i];
    outline.steps.push_back({step.name, step.family, model.steps[i].implementation, plan::printAttributes(step),
                             step.location, step.inputs, step.outputs});
  }
  outline.inputs = tensorsOf(plan.inputs);
  outline.outputs = tensorsOf(plan.outputs);
}

// Follows the workspace through the actions of a schedule.
class Buffers {
 public:
  Buffers(const Schedule& schedule, Outline& outline) : schedule_(schedule), outline_(outline) {
    for (size_t i = 0; i < schedule.actions.size(); ++i) {
      add(schedule.actions[i], static_cast<uint32_t>(i));
    }
  }

 private:
  void add(const Action& action, uint32_t index) {
    for (uint32_t slot = action.first_input; slot < action.first_output; ++slot) {
      use(slot, index, /*is_written=*/false);
    }
    for (uint32_t slot = action.first_output; slot < action.scratch; ++slot) {
      use(slot, index, /*is_written=*/true);
    }
    if (const size_t bytes = action.prepared->scratchBytes(); bytes != 0) {
      outline_.buffers.push_back({-1, schedule_.slots[action.scratch].offset, bytes, index, index});
    }
  }

  void use(uint32_t slot, uint32_t index, bool is_written) {
    const Slot& place = schedule_.slots[slot];
    if (place.kind != Slot::Kind::kWorkspace) {
      return;
    }
    const int32_t tensor = schedule_.tensors[slot];
    const auto [found, is_new] = living_.try_emplace({place.offset, tensor}, outline_.buffers.size());
    if (is_new || (is_written && outline_.buffers[found->second].last < index)) {
      const uint64_t bytes = tensor < 0 ? 0 : outline_.tensors[static_cast<size_t>(tensor)].bytes;
      found->second = outline_.buffers.size();
      outline_.buffers.push_back({tensor, place.offset, bytes, index, index});
    } else {
      outline_.buffers[found->second].last = index;
    }
  }

  const Schedule& schedule_;
  Outline& outline_;
  std::map<std::pair<size_t, int32_t>, size_t> living_;  // the newest buffer of a tensor at a place
};

void addSchedule(const LoadedEngine& engine, Outline& outline) {
  alignas(64) static const char memory[64] = {};  // stands for the inputs' memory: a schedule reads no data
  const plan::Plan& plan = engine.model().plan;
  const RowMajorInputs inputs(engine.inputs(), &BindingInfo::opt, memory);
  const std::vector<int64_t> registers = evaluateShapes(plan, inputs.views());
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    if (!outline.tensors[i].is_weight) {
      outline.tensors[i].bytes = plan::checkedBytes(dimsOf(plan.tensors[i].dims, registers), plan.tensors[i].dtype);
    }
  }
  const std::shared_ptr<const Schedule> schedule = engine.scheduleFor(inputs.views(), 0);
  outline.workspace_bytes = schedule->workspace_bytes;
  for (const Action& action : schedule->actions) {
    outline.actions.push_back({stepsOf(action), nameOf(action.rule)});
  }
  Buffers(*schedule, outline);
}

}  // namespace

Outline outlineOf(const Engine& engine) {
  Outline outline;
  const auto* const loaded = dynamic_cast<const LoadedEngine*>(&engine);
  if (loaded == nullptr) {
    outline.note = "this kind of engine shows no steps";
    return outline;
  }
  addPlan(loaded->model(), outline);
  try {
    addSchedule(*loaded, outline);
  } catch (const EngineError& error) {
    outline.note = error.what();
  }
  return outline;
}

std::vector<std::string> implementationsOf(const Engine& engine) {
  return dynamic_cast<const LoadedEngine&>(engine).implementations();
}

}  // namespace torchtrt::engine
