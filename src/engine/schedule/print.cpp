#include <algorithm>
#include <sstream>

#include "engine/schedule/schedule.h"
#include "engine/schedule/shapes.h"
#include "plan/plan.h"

namespace torchtrt::engine {
namespace {

class Printer {
 public:
  Printer(const Model& model, const Schedule& schedule, std::span<const TensorView> inputs)
      : model_(model), schedule_(schedule), registers_(evaluateShapes(model.plan, inputs)) {}

  std::string run() {
    out_ << "schedule \"" << model_.plan.name << "\": " << schedule_.threads
         << (schedule_.threads == 1 ? " thread, " : " threads, ") << schedule_.workspace_bytes
         << " bytes of workspace\n";
    for (size_t i = 0; i < schedule_.actions.size(); ++i) {
      printAction(i);
    }
    for (const Skipped& skipped : schedule_.skipped) {
      out_ << "skipped " << stepText(skipped.step) << ": " << skipped.reason << "\n";
    }
    for (const LeftApart& pair : schedule_.apart) {
      out_ << "apart " << nameOf(pair.rule) << " " << stepText(pair.first) << ", " << stepText(pair.second) << ": "
           << pair.reason << "\n";
    }
    return out_.str();
  }

 private:
  const plan::Step& stepOf(int32_t index) const {
    return model_.plan.steps[static_cast<size_t>(index)];
  }

  std::string stepText(int32_t index) const {
    return stepOf(index).family + " \"" + stepOf(index).name + "\"";
  }

  // The steps joined by " + "; those that share registers in braces.
  std::string stepsText(const Action& action) const {
    const std::vector<int32_t> steps = stepsOf(action);
    std::string text;
    const std::vector<uint32_t> units =
        action.unit_sizes.empty() ? std::vector<uint32_t>(steps.size(), 1) : action.unit_sizes;
    size_t next = 0;
    for (const uint32_t size : units) {
      text += next == 0 ? "" : " + ";
      text += size > 1 ? "{" : "";
      for (uint32_t i = 0; i < size; ++i) {
        text += (i == 0 ? "" : " + ") + stepText(steps[next++]);
      }
      text += size > 1 ? "}" : "";
    }
    return text;
  }

  std::string placeText(const Slot& slot) const {
    switch (slot.kind) {
      case Slot::Kind::kInput:
        return " in" + std::to_string(slot.index);
      case Slot::Kind::kOutput:
        return " out" + std::to_string(slot.index);
      case Slot::Kind::kWorkspace:
        return " ws+" + std::to_string(slot.offset);
      case Slot::Kind::kConstant:
      case Slot::Kind::kNull:
        break;
    }
    return "";
  }

  std::string operandText(uint32_t index) const {
    const int32_t tensor = schedule_.tensors[index];
    const Slot& slot = schedule_.slots[index];
    if (tensor < 0) {
      return slot.kind == Slot::Kind::kNull ? "null" : placeText(slot).substr(1);
    }
    return "%" + std::to_string(tensor) + placeText(slot);
  }

  std::string resultText(uint32_t index) const {
    const int32_t tensor = schedule_.tensors[index];
    if (tensor < 0) {
      return operandText(index);
    }
    const Slot& slot = schedule_.slots[index];
    const int updates = slot.kind == Slot::Kind::kOutput ? schedule_.outputs[slot.index].updates : -1;
    const plan::Tensor& described = model_.plan.tensors[static_cast<size_t>(tensor)];
    return operandText(index) + (updates < 0 ? "" : " over in" + std::to_string(updates)) + " " +
           toString(described.dtype) + dimsText(dimsOf(described.dims, registers_));
  }

  void printAction(size_t index) {
    const Action& action = schedule_.actions[index];
    out_ << "  " << index << " ";
    if (action.step < 0) {
      out_ << "copy";
    } else {
      out_ << stepsText(action) << " [" << model_.steps[static_cast<size_t>(action.step)].implementation
           << (action.rule == Rule::kNone ? "" : ", ") << nameOf(action.rule) << "]";
    }
    const char* separator = " (";
    for (uint32_t i = action.first_input; i < action.first_output; ++i) {
      out_ << separator << operandText(i);
      separator = ", ";
    }
    separator = ") -> ";
    for (uint32_t i = action.first_output; i < action.scratch; ++i) {
      out_ << separator << resultText(i);
      separator = ", ";
    }
    if (const size_t bytes = action.prepared->scratchBytes(); bytes != 0) {
      out_ << ", " << bytes << " bytes of scratch" << placeText(schedule_.slots[action.scratch]);
    }
    out_ << (action.is_fenced ? ", behind a fence\n" : "\n");
  }

  const Model& model_;
  const Schedule& schedule_;
  std::vector<int64_t> registers_;
  std::ostringstream out_;
};

}  // namespace

std::vector<int32_t> stepsOf(const Action& action) {
  std::vector<int32_t> steps = action.fused;
  if (action.step >= 0) {
    steps.push_back(action.step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

std::string print(const Model& model, const Schedule& schedule, std::span<const TensorView> inputs) {
  return Printer(model, schedule, inputs).run();
}

}  // namespace torchtrt::engine
