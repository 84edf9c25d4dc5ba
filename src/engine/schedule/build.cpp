#include <algorithm>

#include "base/check.h"
#include "base/checkpoint.h"
#include "engine/fusion/composed_maps.h"
#include "engine/fusion/fuser.h"
#include "engine/fusion/pointwise_group.h"
#include "engine/schedule/drafts.h"
#include "engine/schedule/schedule.h"
#include "engine/schedule/shapes.h"
#include "kernels/rearranges.h"
#include "plan/rules.h"

namespace torchtrt::engine {

namespace {

using kernels::TensorDesc;

// True if two tensors of the same dims lie alike. No element is reached by the stride of a dim of size 0 or 1.
bool liesAs(const TensorDesc& desc, const std::vector<int64_t>& strides) {
  bool same = true;
  for (size_t axis = 0; axis < desc.dims.size(); ++axis) {
    same = same && (desc.dims[axis] <= 1 || desc.strides[axis] == strides[axis]);
  }
  return same || std::find(desc.dims.begin(), desc.dims.end(), 0) != desc.dims.end();
}

class ScheduleBuilder {
 public:
  ScheduleBuilder(const Model& model, std::span<const TensorView> inputs, int threads)
      : model_(model),
        plan_(model.plan),
        inputs_(inputs),
        result_(std::make_shared<Schedule>()),
        fuser_(
            model, places_,
            [this](const plan::Step& step, const std::vector<int32_t>& operands) { return shapesOf(step, operands); },
            result_->apart) {
    result_->threads = threads;
    makeKey(inputs, result_->key);
  }

  std::shared_ptr<const Schedule> run() {
    registers_ = evaluateShapes(plan_, inputs_);
    plan::checkShapes(plan_, registers_, ErrorCode::kShapeArithmetic);
    describeTensors();
    for (size_t i = 0; i < plan_.inputs.size(); ++i) {
      placeInput(i);
    }
    claimOutputs();
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      addStep(i);
    }
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      finishOutput(i);
    }
    fusePointwiseGroups(model_, places_, drafts_);
    composeMaps(model_, places_, drafts_);
    complete();
    assemble(model_, std::move(places_), std::move(drafts_), *result_);
    return result_;
  }

 private:
  Place& placeOf(int32_t tensor) {
    return places_[static_cast<size_t>(tensor)];
  }
  const plan::Tensor& tensorOf(int32_t tensor) const {
    return plan_.tensors[static_cast<size_t>(tensor)];
  }

  void describeTensors() {
    places_.resize(plan_.tensors.size());
    for (size_t i = 0; i < places_.size(); ++i) {
      const plan::Tensor& tensor = plan_.tensors[i];
      Place& place = places_[i];
      place.desc.dtype = tensor.dtype;
      place.desc.dims = dimsOf(tensor.dims, registers_);
      place.bytes = plan::checkedBytes(place.desc.dims, tensor.dtype);
      place.desc.strides = kernels::denseStrides(place.desc.dims, tensor.order);
      place.base = tensor.view_of;
      if (tensor.weight >= 0) {
        place.slot.kind = Slot::Kind::kConstant;
        place.slot.constant = model_.weights[static_cast<size_t>(tensor.weight)].get();
      }
    }
  }

  // The strides a caller gave, with those that no element is reached by (dims of size 0 and 1) as in dense memory, so
  // that equal layouts compare equal.
  TensorDesc givenDesc(size_t input) {
    const TensorView& view = inputs_[input];
    TensorDesc desc = placeOf(plan_.inputs[input].tensor).desc;
    const bool empty = std::find(desc.dims.begin(), desc.dims.end(), 0) != desc.dims.end();
    for (size_t axis = 0; axis < desc.dims.size() && !empty; ++axis) {
      if (desc.dims[axis] != 1) {
        desc.strides[axis] = view.strides[axis];
      }
    }
    return desc;
  }

  // True if every reader of the input takes it as it lies. Views share memory only with dense tensors.
  bool readersAccept(int32_t tensor, const TensorDesc& desc) {
    for (const plan::Tensor& other : plan_.tensors) {
      if (other.view_of == tensor) {
        return false;
      }
    }
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const plan::Step& step = plan_.steps[i];
      for (size_t k = 0; k < step.inputs.size(); ++k) {
        if (step.inputs[k] == tensor && !isReorderOf(step, desc) &&
            !model_.steps[i].kernel->acceptsStrides(static_cast<int>(k), desc)) {
          return false;
        }
      }
    }
    return true;
  }

  // A reorder whose result would lie exactly as its input does.
  bool isReorderOf(const plan::Step& step, const TensorDesc& desc) {
    return step.family == "reformat" && liesAs(desc, placeOf(step.outputs[0]).desc.strides);
  }

  void placeInput(size_t i) {
    const int32_t tensor = plan_.inputs[i].tensor;
    Place& place = placeOf(tensor);
    result_->input_bytes.push_back(place.bytes);
    const TensorDesc given = givenDesc(i);
    if (given.strides == place.desc.strides || readersAccept(tensor, given)) {
      place.desc = given;
      place.slot.kind = Slot::Kind::kInput;
      place.slot.index = static_cast<uint32_t>(i);
      return;
    }
    Draft draft;
    draft.prepared = prepareCopy(given, place.desc);
    draft.input_binding = static_cast<int32_t>(i);
    draft.outputs = {tensor};
    place.written_by = drafts_.size();
    place.slot.kind = Slot::Kind::kWorkspace;
    addDraft(std::move(draft));
    ++result_->input_copies;
  }

  std::unique_ptr<kernels::Prepared> prepareCopy(const TensorDesc& from, const TensorDesc& to) {
    kernels::Problem problem;
    static const Attributes kNoAttributes;
    problem.family = "reformat";
    problem.attributes = &kNoAttributes;
    problem.device = model_.device;
    problem.inputs.push_back({true, from.dtype, from.dims, from.dims, {}, nullptr});
    problem.outputs.push_back({true, to.dtype, to.dims, to.dims, {}, nullptr});
    kernels::Chosen chosen = kernels::createKernel(problem);
    kernels::ShapeSet shapes;
    shapes.inputs = {from};
    shapes.outputs = {to};
    shapes.threads = result_->threads;
    auto prepared = chosen.kernel->prepare(shapes);
    result_->copies.push_back(std::move(chosen.kernel));
    return prepared;
  }

  // An output is written where the caller wants it by the step that computes it: the first output of each memory, if it
  // is dense and row-major there. Inputs and constants never get here, since no step writes them.
  void claimOutputs() {
    claims_.assign(places_.size(), -1);
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      const int32_t tensor = plan_.outputs[i].tensor;
      Place& place = placeOf(tensor);
      result_->outputs.push_back({place.desc.dtype, place.desc.dims, place.bytes, model_.countOf(tensor) >= 0});
      const int32_t root = rootOf(places_, tensor);
      const bool free = model_.countOf(tensor) < 0 && placeOf(root).slot.kind == Slot::Kind::kNull &&
                        claims_[static_cast<size_t>(root)] < 0;
      if (free && liesAs(place.desc, kernels::denseStrides(place.desc.dims))) {
        claims_[static_cast<size_t>(root)] = static_cast<int32_t>(i);
      }
    }
  }

  // Kernels begin together what takes long, as compiling.
  void complete() const {
    for (const Draft& draft : drafts_) {
      if (draft.prepared != nullptr) {
        draft.prepared->begin();
      }
    }
    for (const Draft& draft : drafts_) {
      checkpoint();
      const auto complete = [&] {
        if (draft.prepared != nullptr) {
          draft.prepared->complete();
        }
      };
      draft.step < 0 ? complete() : locateErrors(plan_.steps[static_cast<size_t>(draft.step)], complete);
    }
  }

  void addStep(size_t index) {
    const plan::Step& step = plan_.steps[index];
    if (fuser_.isDone(index) || (step.family == "reformat" && skipReorder(index))) {
      return;
    }
    bool empty = true;
    for (const int32_t output : step.outputs) {
      place(output);
      empty = empty && placeOf(output).bytes == 0;
    }
    if (empty) {
      result_->skipped.push_back({static_cast<int32_t>(index), "its results have no elements"});
      return;
    }
    if (fuser_.isLeft(index)) {
      return;
    }
    Draft draft;
    draft.step = static_cast<int32_t>(index);
    draft.inputs = step.inputs;
    draft.outputs = step.outputs;
    if (!fuser_.prepare(index, draft)) {
      locateErrors(step, [&] { draft.prepared = model_.steps[index].kernel->prepare(shapesOf(step, step.inputs)); });
    }
    for (const int32_t output : draft.outputs) {  // fusion may have brought others
      place(output);
      placeOf(output).written_by = drafts_.size();
    }
    addDraft(std::move(draft));
  }

  kernels::ShapeSet shapesOf(const plan::Step& step, const std::vector<int32_t>& inputs) {
    kernels::ShapeSet shapes;
    shapes.threads = result_->threads;
    for (const int32_t input : inputs) {
      shapes.inputs.push_back(input < 0 ? TensorDesc() : placeOf(input).desc);
    }
    for (const int32_t output : step.outputs) {
      shapes.outputs.push_back(placeOf(output).desc);
    }
    for (const auto& [name, registers] : step.dims) {
      shapes.dims.emplace_back(name, dimsOf(registers, registers_));
    }
    return shapes;
  }

  // The memory that a step writes: a claimed output's, or a piece of the workspace.
  void place(int32_t tensor) {
    Place& place = placeOf(tensor);
    const int32_t claim = claims_[static_cast<size_t>(tensor)];
    place.slot.kind = claim >= 0 ? Slot::Kind::kOutput : Slot::Kind::kWorkspace;
    place.slot.index = claim >= 0 ? static_cast<uint32_t>(claim) : 0;
  }

  bool skipReorder(size_t index) {
    const plan::Step& step = plan_.steps[index];
    const int32_t output = step.outputs[0];
    const bool is_done = isReorderOf(step, placeOf(step.inputs[0]).desc);
    if (claims_[static_cast<size_t>(output)] >= 0 || !(is_done || isRearrangedByReader(output))) {
      return false;
    }
    placeOf(output).base = step.inputs[0];
    if (!is_done) {
      placeOf(output).desc.strides = placeOf(step.inputs[0]).desc.strides;
    }
    result_->skipped.push_back({static_cast<int32_t>(index), is_done ? "its input already lies as wanted"
                                                                     : "the one step that reads it rearranges it"});
    return true;
  }

  // True if a single step reads the tensor, and rearranges it for itself.
  bool isRearrangedByReader(int32_t tensor) const {
    if (model_.candidates.reads[static_cast<size_t>(tensor)] != 1) {
      return false;
    }
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const std::vector<int32_t>& inputs = plan_.steps[i].inputs;
      const auto found = std::find(inputs.begin(), inputs.end(), tensor);
      if (found != inputs.end()) {
        const auto* const kernel = dynamic_cast<const kernels::RearrangesInput*>(model_.steps[i].kernel.get());
        return kernel != nullptr && kernel->rearranges(static_cast<int>(found - inputs.begin()));
      }
    }
    return false;
  }

  void finishOutput(size_t i) {
    const int32_t tensor = plan_.outputs[i].tensor;
    if (model_.countOf(tensor) >= 0) {
      placeOf(tensor).last_use = placeOf(model_.countOf(tensor)).last_use = kNever;  // to the end of the call
      return;
    }
    const Slot& slot = placeOf(rootOf(places_, tensor)).slot;
    if (placeOf(tensor).bytes == 0 || (slot.kind == Slot::Kind::kOutput && slot.index == i)) {
      return;
    }
    TensorDesc row_major = placeOf(tensor).desc;
    row_major.strides = kernels::denseStrides(row_major.dims);
    Draft draft;
    draft.prepared = prepareCopy(placeOf(tensor).desc, row_major);
    draft.inputs = {tensor};
    draft.output_binding = static_cast<int32_t>(i);
    addDraft(std::move(draft));
    ++result_->output_copies;
  }

  void addDraft(Draft draft) {
    for (const int32_t input : draft.inputs) {
      if (input >= 0 && placeOf(rootOf(places_, input)).last_use != kNever) {
        placeOf(rootOf(places_, input)).last_use = drafts_.size();
      }
    }
    drafts_.push_back(std::move(draft));
  }

  const Model& model_;
  const plan::Plan& plan_;
  std::span<const TensorView> inputs_;
  std::shared_ptr<Schedule> result_;
  std::vector<int64_t> registers_;
  std::vector<Place> places_;
  std::vector<int32_t> claims_;  // per tensor that a step writes: the output it is, or -1
  Fuser fuser_;
  std::vector<Draft> drafts_;
};

}  // namespace

std::shared_ptr<const Schedule> buildSchedule(const Model& model, std::span<const TensorView> inputs, int threads) {
  return ScheduleBuilder(model, inputs, threads).run();
}

}  // namespace torchtrt::engine
