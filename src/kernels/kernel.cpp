#include "kernels/kernel.h"

#include "base/check.h"
#include "base/logging.h"
#include "kernels/isa.h"

namespace torchtrt::kernels {
namespace {

// Asks one implementation; its refusal is noted.
bool tryImplementation(const Implementation& implementation, const Problem& problem, Chosen& chosen) {
  CreateResult result = implementation.create(problem);
  if (Refusal* refusal = std::get_if<Refusal>(&result)) {
    chosen.refusals.emplace_back(implementation.name, std::move(*refusal));
    return false;
  }
  chosen.kernel = std::move(std::get<std::unique_ptr<Kernel>>(result));
  chosen.implementation = implementation.name;
  return true;
}

std::string describe(const std::vector<std::pair<std::string, Refusal>>& refusals) {
  std::string text;
  for (const auto& [name, refusal] : refusals) {
    text += "; " + name + " refuses (" + refusal.code + "): " + refusal.reason;
  }
  return text;
}

}  // namespace

const std::vector<int64_t>& ShapeSet::dimsOf(std::string_view name) const {
  for (const auto& [candidate, values] : dims) {
    if (candidate == name) {
      return values;
    }
  }
  throw InternalError("the shape set has no dims named \"" + std::string(name) + "\"");
}

const Family* findFamily(std::string_view name) {
  for (const Family& family : families()) {
    if (name == family.name) {
      return &family;
    }
  }
  return nullptr;
}

Chosen createKernel(const Problem& problem, std::string_view hint) {
  isaCap();
  const Family* family = findFamily(problem.family);
  if (family == nullptr) {
    throw EngineError(ErrorCode::kPlanVersion, "there is no kernel family '" + std::string(problem.family) + "'", {},
                      "run the plan with the version of torchtrt that built it, or build it again");
  }
  Chosen chosen;
  for (const Implementation& implementation : family->implementations) {
    if (hint == implementation.name && tryImplementation(implementation, problem, chosen)) {
      break;
    }
  }
  for (const Implementation& implementation : family->implementations) {
    if (chosen.kernel != nullptr) {
      break;
    }
    if (hint != implementation.name) {
      tryImplementation(implementation, problem, chosen);
    }
  }
  if (chosen.kernel == nullptr) {
    throw InternalError("no implementation accepts " + problem.toString() + describe(chosen.refusals));
  }
  TORCHTRT_LOG(kDEBUG,
               "kernel " << chosen.implementation << " for " << problem.toString() << describe(chosen.refusals));
  return chosen;
}

std::vector<int64_t> denseStrides(const std::vector<int64_t>& dims, const std::vector<uint8_t>& order) {
  TORCHTRT_CHECK(order.empty() || order.size() == dims.size(),
                 "a memory order of rank " << order.size() << " for a tensor of rank " << dims.size());
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    const size_t axis = order.empty() ? i : order[i];
    strides.at(axis) = stride;
    stride *= dims[axis] == 0 ? 1 : dims[axis];
  }
  return strides;
}

}  // namespace torchtrt::kernels
