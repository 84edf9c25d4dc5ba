#include "compiler/updates/update_weights.h"

#include <optional>
#include <set>

#include "compiler/compile.h"
#include "compiler/rejections.h"
#include "compiler/updates/new_weights.h"
#include "compiler/updates/recipe.h"
#include "runtime/weight_set.h"

namespace torchtrt::compiler {

namespace {

using runtime::WeightSet;

c10::intrusive_ptr<WeightSet> weightSetOf(const torch::jit::Module& module) {
  return module.attr(WeightSet::kAttribute).toCustomClass<WeightSet>();
}

// The module itself, or the one inside of it that was compiled.
torch::jit::Module updatable(const torch::jit::Module& module) {
  std::optional<torch::jit::Module> found;
  for (const torch::jit::Module& each : module.modules()) {
    if (!each.hasattr(WeightSet::kAttribute)) {
      continue;
    }
    if (found) {
      rejectOption("the module holds several compiled modules", "update each of them on its own");
    }
    found = each;
  }
  if (!found) {
    const bool is_compiled = !runtime::enginesIn(module).empty();
    rejectOption(is_compiled ? "the module was compiled without refit: nothing in it tells how its engines came to be"
                             : "the module holds no engines that were compiled with refit",
                 "compile it with refit=True, and update what that returns");
  }
  return *found;
}

// On the device where the module's engines are now.
ts::CompileSpec specFor(ts::CompileSpec spec, const torch::jit::Module& compiled) {
  const auto engines = runtime::enginesIn(compiled);
  if (!engines.empty()) {
    const at::Device& device = engines.front().second->device();
    spec.device.device_type =
        device.is_cpu() && spec.target.empty() ? Device::DeviceType::kCPU : Device::DeviceType::kGPU;
    spec.device.gpu_id = device.has_index() ? device.index() : 0;
  }
  spec.tune = false;
  return spec;
}

// The attributes that other methods read, and those that the method writes to; not buffers that were not given.
void takeOver(const c10::ivalue::Object& from, c10::ivalue::Object& to, const std::set<std::string>& kept,
              const std::string& prefix = "") {
  for (size_t i = 0; i < to.type()->numAttributes(); ++i) {
    const std::string& name = to.type()->getAttributeName(i);
    const auto slot = from.type()->findAttributeSlot(name);
    const c10::IValue made = slot ? from.getSlot(*slot) : c10::IValue();
    if (made.isTensor() && kept.count(prefix + name) == 0) {
      to.setSlot(i, made);
    } else if (made.isModule()) {
      takeOver(made.toObjectRef(), *to.getSlot(i).toObject(), kept, prefix + name + ".");
    }
  }
}

}  // namespace

std::vector<std::string> updateWeights(const torch::jit::Module& compiled, const ts::Weights& weights, bool strict) {
  const torch::jit::Module module = updatable(compiled);
  const c10::intrusive_ptr<WeightSet> set = weightSetOf(module);
  const Recipe recipe = parseRecipe(set->recipe());
  std::vector<std::string> kept = setWeights(recipe.module, weights, recipe.spec.optional_weights, strict);
  const Source source{std::make_shared<torch::jit::Module>(recipe.module), recipe.method, nullptr};
  const torch::jit::Module made = compile(source, specFor(recipe.spec, module), &recipe.choices).module;
  if (hashOfMethod(made, recipe.method) != recipe.code) {
    throw CompileError(ErrorCode::kInvalidModule,
                       "with these weights the module is compiled to other code: a number in it depends on them", {},
                       "compile the module again with the new weights");
  }
  set->become(*weightSetOf(made));
  takeOver(*made._ivalue(), *module._ivalue(), {kept.begin(), kept.end()});
  return kept;
}

}  // namespace torchtrt::compiler
