#include "engine/schedule/drafts.h"

#include <algorithm>
#include <utility>

#include "engine/schedule/workspace.h"

namespace torchtrt::engine {
namespace {

class Assembler {
 public:
  Assembler(const Model& model, std::vector<Place> places, std::vector<Draft> drafts, Schedule& result)
      : model_(model), places_(std::move(places)), drafts_(std::move(drafts)), result_(result) {}

  void run() {
    avoidFences();
    placeWorkspace();
    findUpdates();
    fillSlots();
    measure();
  }

 private:
  // Moves the action that writes what another reads ahead one place to the front, if it reads nothing written there.
  void avoidFences() {
    for (size_t i = 2; i < drafts_.size(); ++i) {
      if (!needsFence(i) || readsOfFront(i - 1)) {
        continue;
      }
      swapWithNext(i - 2);
      if (needsFence(i - 2) || needsFence(i - 1) || needsFence(i)) {
        swapWithNext(i - 2);
      }
    }
  }

  bool readsOfFront(size_t index) {
    const std::vector<int32_t>& inputs = drafts_[index].inputs;
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](int32_t input) { return input >= 0 && isWrittenInFront(input, index); });
  }

  void swapWithNext(size_t first) {
    const size_t second = first + 1;
    const auto isOne = [&](size_t action) { return action == first || action == second; };
    std::swap(drafts_[first], drafts_[second]);
    for (Place& place : places_) {
      place.written_by = isOne(place.written_by) ? first + second - place.written_by : place.written_by;
    }
    for (const size_t action : {first, second}) {
      for (const int32_t input : drafts_[action].inputs) {
        if (input >= 0 && isOne(places_[static_cast<size_t>(rootOf(places_, input))].last_use)) {
          places_[static_cast<size_t>(rootOf(places_, input))].last_use = action;
        }
      }
    }
  }

  // True if the kernel may read an operand while the action in front of it, or the caller's work, still writes that.
  bool needsFence(size_t index) {
    const std::vector<int32_t>& inputs = drafts_[index].inputs;
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (inputs[k] >= 0 && isWrittenInFront(inputs[k], index) && drafts_[index].prepared->readsAhead(k)) {
        return true;
      }
    }
    return false;
  }

  bool isWrittenInFront(int32_t tensor, size_t index) {
    const int32_t root = rootOf(places_, tensor);
    if (index == 0) {
      return places_[static_cast<size_t>(root)].slot.kind == Slot::Kind::kInput;
    }
    const std::vector<int32_t>& written = drafts_[index - 1].outputs;
    return std::any_of(written.begin(), written.end(),
                       [&](int32_t output) { return output >= 0 && rootOf(places_, output) == root; });
  }

  // Finds outputs that may be written over an input: their kernels change some elements of it, and nothing reads the
  // input any more.
  void findUpdates() {
    for (size_t i = 0; i < drafts_.size(); ++i) {
      const Draft& draft = drafts_[i];
      const int operand = draft.prepared->updatedInput();
      if (operand < 0 || !draft.fused.empty() || draft.outputs.size() != 1 || draft.input_binding >= 0) {
        continue;
      }
      const int32_t from = draft.inputs[static_cast<size_t>(operand)], to = draft.outputs[0];
      const Place& source = places_[static_cast<size_t>(from)];
      const Place& target = places_[static_cast<size_t>(to)];
      const Slot written = slotOf(to), read = slotOf(from);
      if (written.kind == Slot::Kind::kOutput && read.kind == Slot::Kind::kInput && source.desc == target.desc &&
          isReadLastBy(rootOf(places_, from), i, static_cast<size_t>(operand))) {
        result_.outputs[written.index].updates = static_cast<int>(read.index);
      }
    }
  }

  // True if no action behind that one reads the memory, and that one itself as this operand alone.
  bool isReadLastBy(int32_t root, size_t action, size_t operand) const {
    for (size_t i = action; i < drafts_.size(); ++i) {
      const std::vector<int32_t>& inputs = drafts_[i].inputs;
      for (size_t k = 0; k < inputs.size(); ++k) {
        if (inputs[k] >= 0 && rootOf(places_, inputs[k]) == root && (i != action || k != operand)) {
          return false;
        }
      }
      if (drafts_[i].input_binding >= 0) {
        return false;  // it reads an input as the caller gave it
      }
    }
    return true;
  }

  void placeWorkspace() {
    std::vector<Buffer> buffers;
    std::vector<size_t*> offsets;
    for (Place& place : places_) {
      if (place.slot.kind == Slot::Kind::kWorkspace && place.written_by != kNever && place.bytes != 0) {
        buffers.push_back({place.bytes, place.written_by, std::max(place.written_by, place.last_use), 0});
        offsets.push_back(&place.slot.offset);
      }
    }
    scratch_.resize(drafts_.size(), 0);
    for (size_t i = 0; i < drafts_.size(); ++i) {
      if (const size_t bytes = drafts_[i].prepared->scratchBytes(); bytes != 0) {
        buffers.push_back({bytes, i, i, 0});
        offsets.push_back(&scratch_[i]);
      }
    }
    result_.workspace_bytes = layOut(buffers);
    for (size_t i = 0; i < buffers.size(); ++i) {
      *offsets[i] = buffers[i].offset;
    }
  }

  uint32_t addSlot(const Slot& slot, int32_t tensor = -1) {
    const auto index = static_cast<uint32_t>(result_.slots.size());
    result_.tensors.push_back(tensor);
    if (slot.kind == Slot::Kind::kInput || slot.kind == Slot::Kind::kOutput) {
      result_.call_slots.push_back(index);
    }
    result_.slots.push_back(slot);
    return index;
  }

  Slot slotOf(int32_t tensor) {
    return tensor < 0 ? Slot() : places_[static_cast<size_t>(rootOf(places_, tensor))].slot;
  }

  void fillSlots() {
    for (size_t i = 0; i < drafts_.size(); ++i) {
      Draft& draft = drafts_[i];
      Action action;
      action.is_fenced = needsFence(i);
      action.prepared = draft.prepared.get();
      action.step = draft.step;
      action.rule = draft.rule;
      action.fused = std::move(draft.fused);
      action.unit_sizes = std::move(draft.unit_sizes);
      action.first_input = static_cast<uint32_t>(result_.slots.size());
      for (const int32_t input : draft.inputs) {
        addSlot(slotOf(input), input);
      }
      if (draft.input_binding >= 0) {
        addSlot({Slot::Kind::kInput, static_cast<uint32_t>(draft.input_binding), 0, nullptr});
      }
      action.first_output = static_cast<uint32_t>(result_.slots.size());
      for (const int32_t output : draft.outputs) {
        addSlot(slotOf(output), output);
      }
      if (draft.output_binding >= 0) {
        addSlot({Slot::Kind::kOutput, static_cast<uint32_t>(draft.output_binding), 0, nullptr});
      }
      const bool scratch = draft.prepared->scratchBytes() != 0;
      action.scratch = addSlot({scratch ? Slot::Kind::kWorkspace : Slot::Kind::kNull, 0, scratch_[i], nullptr});
      result_.actions.push_back(action);
      result_.prepared.push_back(std::move(draft.prepared));
    }
    for (size_t i = 0; i < model_.plan.outputs.size(); ++i) {
      const int32_t tensor = model_.plan.outputs[i].tensor;
      if (model_.countOf(tensor) >= 0) {
        const uint32_t rows = addSlot(slotOf(tensor));
        result_.cuts.push_back({static_cast<uint32_t>(i), rows, addSlot(slotOf(model_.countOf(tensor)))});
      }
    }
  }

  void measure() {
    size_t bytes = sizeof(Schedule) + result_.key.size() * sizeof(int64_t);
    bytes += result_.slots.size() * (sizeof(Slot) + sizeof(int32_t)) + result_.call_slots.size() * sizeof(uint32_t);
    bytes += result_.apart.size() * sizeof(LeftApart) + result_.skipped.size() * sizeof(Skipped);
    for (const auto& prepared : result_.prepared) {
      bytes += sizeof(Action) + kBytesPerKernel + prepared->heldBytes();
    }
    constexpr size_t kFewestActions = 4;  // the start of a recording costs as much as that of two or three kernels
    result_.waits =
        !result_.cuts.empty() || std::any_of(result_.prepared.begin(), result_.prepared.end(),
                                             [](const auto& prepared) { return !prepared->isRecordable(); });
    result_.is_replayed =
        model_.replays && !model_.device->isHost() && !result_.waits && result_.actions.size() >= kFewestActions;
    result_.held_bytes = bytes;
  }

  const Model& model_;
  std::vector<Place> places_;
  std::vector<Draft> drafts_;
  Schedule& result_;
  std::vector<size_t> scratch_;  // per draft, offset in the workspace
};

}  // namespace

int32_t rootOf(const std::vector<Place>& places, int32_t tensor) {
  while (places[static_cast<size_t>(tensor)].base >= 0) {
    tensor = places[static_cast<size_t>(tensor)].base;
  }
  return tensor;
}

void assemble(const Model& model, std::vector<Place> places, std::vector<Draft> drafts, Schedule& result) {
  Assembler(model, std::move(places), std::move(drafts), result).run();
}

}  // namespace torchtrt::engine
