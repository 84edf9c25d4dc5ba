#include "runtime/weight_set.h"

#include "base/hash.h"

namespace torchtrt::runtime {

namespace {

namespace prim = torch::jit::prim;

WeightSet::Current listsOf(const std::vector<c10::intrusive_ptr<Engine>>& engines,
                           const std::vector<at::Tensor>& tensors) {
  return {WeightSet::Engines(engines), WeightSet::Tensors(tensors)};
}

const c10::TypePtr& engineType() {
  static const c10::TypePtr type = c10::getCustomClassType<c10::intrusive_ptr<Engine>>();
  return type;
}

const c10::TypePtr& setType() {
  static const c10::TypePtr type = c10::getCustomClassType<c10::intrusive_ptr<WeightSet>>();
  return type;
}

// None where the value is no attribute of the module itself.
c10::IValue attributeOf(const torch::jit::Module& module, const torch::jit::Value& value) {
  const torch::jit::Node& get = *value.node();
  const bool is_own = get.kind() == prim::GetAttr && get.input()->node()->kind() == prim::Param;
  return is_own ? module.attr(get.s(c10::attr::name)) : c10::IValue();
}

}  // namespace

WeightSet::WeightSet(std::vector<c10::intrusive_ptr<Engine>> engines, std::vector<at::Tensor> tensors)
    : current_(listsOf(engines, tensors)) {}

WeightSet::WeightSet(Pickled state) : current_(std::get<0>(state), std::get<1>(state)) {
  const at::Tensor& bytes = std::get<2>(state);
  if (!bytes.defined() || bytes.scalar_type() != at::kByte || bytes.is_meta()) {
    throw EngineError(ErrorCode::kPlanCorrupt, "what a weight set keeps for updates is no tensor of bytes", {},
                      "the file is damaged: copy it again, or save the module again");
  }
  const at::Tensor held = bytes.detach().to(at::kCPU).contiguous();
  recipe_.assign(static_cast<const char*>(held.const_data_ptr()), held.nbytes());
  if (hashText(recipe_) != std::get<3>(state)) {
    throw EngineError(ErrorCode::kPlanCorrupt, "what a weight set keeps for updates is not what its hash says", {},
                      "the file is damaged: copy it again, or save the module again");
  }
}

WeightSet::Current WeightSet::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

// The old lists go when the lock is free: the last reference to an engine runs the code of whoever owns its weights.
void WeightSet::become(const WeightSet& other) {
  Current made = other.current();
  const std::lock_guard lock(mutex_);
  std::swap(current_, made);
}

WeightSet::Pickled WeightSet::pickled() const {
  const auto [engines, tensors] = current();
  const at::Tensor bytes = at::empty({static_cast<int64_t>(recipe_.size())}, at::kByte);
  recipe_.copy(static_cast<char*>(bytes.mutable_data_ptr()), recipe_.size());  // memcpy() takes no null pointer
  return {engines, tensors, bytes, hashText(recipe_)};
}

bool takesWeights(const torch::jit::Node& node) {
  return node.kind() == prim::CallMethod && node.input(0)->type() == setType();
}

c10::intrusive_ptr<Engine> engineOf(const torch::jit::Module& module, const torch::jit::Value& value) {
  const torch::jit::Node& node = *value.node();
  if (node.kind() == prim::ListUnpack && node.input()->node()->kind() == prim::TupleUnpack) {
    const torch::jit::Node& call = *node.input()->node()->input()->node();
    const c10::IValue held = takesWeights(call) ? attributeOf(module, *call.input(0)) : c10::IValue();
    return held.isNone() ? nullptr : std::get<0>(held.toCustomClass<WeightSet>()->current()).get(value.offset());
  }
  const c10::IValue held = value.type() == engineType() ? attributeOf(module, value) : c10::IValue();
  return held.isNone() ? nullptr : held.toCustomClass<Engine>();
}

std::vector<std::pair<std::string, c10::intrusive_ptr<Engine>>> enginesIn(const torch::jit::Module& module) {
  std::vector<std::pair<std::string, c10::intrusive_ptr<Engine>>> found;
  for (const auto& attribute : module.named_attributes(/*recurse=*/true)) {
    if (!attribute.value.isObject()) {
      continue;
    }
    if (attribute.value.type() == engineType()) {
      found.emplace_back(attribute.name, attribute.value.toCustomClass<Engine>());
    } else if (attribute.value.type() == setType()) {
      const auto [engines, tensors] = attribute.value.toCustomClass<WeightSet>()->current();
      for (const c10::intrusive_ptr<Engine>& engine : engines) {
        found.emplace_back(engine->name(), engine);
      }
    }
  }
  return found;
}

}  // namespace torchtrt::runtime
