#include "engine/schedule/precompile.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "device/machine_code.h"
#include "engine/schedule/row_major_inputs.h"
#include "engine/schedule/schedule.h"
#include "kernels/backend.h"
#include "torchtrt/plugin.h"

namespace torchtrt::engine {

namespace {

using Sizes = RowMajorInputs::Sizes;

// An open size ends where int32 does: tables that are prepared for such tensors, as those of a resize, are as large.
bool isOrdinary(const std::vector<BindingInfo>& bindings, Sizes sizes) {
  constexpr int64_t kMostElements = int64_t{1} << 28;
  return std::all_of(bindings.begin(), bindings.end(), [&](const BindingInfo& binding) {
    int64_t count = 1;
    for (const int64_t size : binding.*sizes) {
      if (size > kMostElements / std::max<int64_t>(count, 1)) {
        return false;
      }
      count *= size;
    }
    return true;
  });
}

// Prepares nothing where the sizes at an end of the ranges do not fit together: a call of these is an error, too.
void prepareFor(const Model& model, Sizes sizes) {
  try {
    buildSchedule(model, RowMajorInputs(model.inputs, sizes).views(), 1);
  } catch (const EngineError&) {
  }
}

}  // namespace

std::vector<plan::Binary> precompiled(plan::Plan plan, const std::string& architecture) {
  plugin::registerBuiltinPlugins();
  std::string reason;
  const kernels::Backend* const backend = kernels::findBackend("cuda", reason);
  if (backend == nullptr) {
    throw EngineError(ErrorCode::kInputDevice, reason);
  }
  const std::unique_ptr<const device::Device> stand_in = backend->standIn(architecture);
  {
    const auto model = loadModel(std::move(plan), Ownership::kTogether, {}, *stand_in);
    for (const Sizes sizes : {&BindingInfo::opt, &BindingInfo::min, &BindingInfo::max}) {
      if (isOrdinary(model->inputs, sizes) && isOrdinary(model->outputs, sizes)) {
        prepareFor(*model, sizes);
      }
    }
  }
  std::vector<plan::Binary> binaries;
  for (device::MachineCode& each : dynamic_cast<const device::CodeMaker&>(*stand_in).make()) {
    plan::Binary binary{architecture, std::move(each.key), each.code->size(), "", std::move(each.code)};
    binary.hash = plan::contentHash(binary);
    binaries.push_back(std::move(binary));
  }
  return binaries;
}

}  // namespace torchtrt::engine
