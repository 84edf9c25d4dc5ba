#include "compiler/updates/new_weights.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "compiler/rejections.h"

namespace torchtrt::compiler {

namespace {

constexpr size_t kMostNames = 5;  // of a kind in a message

struct Slot {
  c10::intrusive_ptr<c10::ivalue::Object> owner;
  size_t index = 0;
  at::Tensor tensor;
  bool is_parameter = false;
};

// In the order of their names.
std::map<std::string, Slot> slotsOf(const torch::jit::Module& module) {
  std::map<std::string, Slot> slots;
  for (const auto& named : module.named_modules()) {
    const c10::ClassType& type = *named.value.type();
    for (size_t i = 0; i < type.numAttributes(); ++i) {
      const c10::IValue& value = named.value._ivalue()->getSlot(i);
      const bool is_weight = type.is_parameter(i) || type.is_buffer(i);
      if (is_weight && value.isTensor() && value.toTensor().defined()) {
        const std::string name = (named.name.empty() ? "" : named.name + ".") + type.getAttributeName(i);
        slots.emplace(name, Slot{named.value._ivalue(), i, value.toTensor(), type.is_parameter(i)});
      }
    }
  }
  return slots;
}

class Problems {
 public:
  void add(const std::string& kind, const std::string& name) {
    names_[kind].push_back(name);
  }

  void rejectIfAny(const ts::Weights& weights, const std::map<std::string, Slot>& slots) const {
    if (names_.empty()) {
      return;
    }
    std::ostringstream text;
    text << "the weights do not fit the module";
    for (const auto& [kind, names] : names_) {
      text << "; " << names.size() << " " << kind << ": ";
      for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
        text << (i == 0 ? "" : ", ") << names[i];
      }
      text << (names.size() > kMostNames ? ", ..." : "");
    }
    rejectOption(text.str(), adviceFor(weights, slots));
  }

 private:
  // Wrappers put a prefix in front of every name.
  static std::string adviceFor(const ts::Weights& weights, const std::map<std::string, Slot>& slots) {
    const std::string& first = weights.empty() ? std::string() : weights.begin()->first;
    for (size_t dot = first.find('.'); dot != std::string::npos; dot = first.find('.', dot + 1)) {
      const std::string prefix = first.substr(0, dot + 1);
      const bool explains = std::all_of(weights.begin(), weights.end(), [&](const auto& each) {
        return each.first.rfind(prefix, 0) == 0 && slots.count(each.first.substr(prefix.size())) != 0;
      });
      if (explains) {
        return "remove \"" + prefix + "\" from the names, which a wrapper of the module put there";
      }
    }
    return "give the state_dict() of a module like the one that was compiled; strict=False leaves buffers that are "
           "missing as they are, and does not look at names that are unknown";
  }

  std::map<std::string, std::vector<std::string>> names_;  // by kind
};

std::string describe(const at::Tensor& tensor) {
  return c10::str(tensor.scalar_type(), " ", tensor.sizes());
}

bool canBeCast(const at::Tensor& from, const at::Tensor& to) {
  return from.scalar_type() == to.scalar_type() || (from.is_floating_point() && to.is_floating_point());
}

}  // namespace

std::vector<std::string> setWeights(const torch::jit::Module& module, const ts::Weights& weights,
                                    const std::vector<std::string>& optional, bool strict) {
  const std::map<std::string, Slot> slots = slotsOf(module);
  Problems problems;
  std::vector<std::string> kept;
  for (const auto& [name, slot] : slots) {
    const auto found = weights.find(name);
    if (found == weights.end()) {
      const bool is_optional = std::find(optional.begin(), optional.end(), name) != optional.end();
      if (slot.is_parameter || (strict && !is_optional)) {
        problems.add("missing", name);
      }
      kept.push_back(name);
      continue;
    }
    const at::Tensor& given = found->second;
    const bool is_plain = given.defined() && given.layout() == at::kStrided && !given.is_meta();
    if (!is_plain) {
      problems.add("without plain values", name);
    } else if (given.sizes() != slot.tensor.sizes() || !canBeCast(given, slot.tensor)) {
      problems.add("of another shape or dtype",
                   name + " (expected " + describe(slot.tensor) + ", got " + describe(given) + ")");
    }
  }
  for (const auto& [name, tensor] : weights) {
    if (strict && slots.count(name) == 0) {
      problems.add("unknown", name);
    }
  }
  problems.rejectIfAny(weights, slots);
  for (const auto& [name, slot] : slots) {
    if (const auto found = weights.find(name); found != weights.end()) {
      const at::Tensor tensor = found->second.detach().to(at::kCPU, slot.tensor.scalar_type());
      slot.owner->setSlot(slot.index, tensor.is_same(found->second) ? tensor.alias() : tensor);
    }
  }
  return kept;
}

}  // namespace torchtrt::compiler
