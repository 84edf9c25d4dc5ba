#include "kernels/kernel.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>

#include "base/check.h"
#include "base/logging.h"
#include "kernels/backend.h"
#include "kernels/each_sample.h"
#include "kernels/real_time.h"

namespace torchtrt::kernels {
namespace {

// Asks the implementations of one family, and notes what they refuse.
class Choice {
 public:
  Choice(const Family& family, const Problem& problem, bool for_real_time)
      : family_(family), problem_(problem), for_real_time_(for_real_time) {}

  bool attempt(const Implementation& implementation) {
    CreateResult result = create(implementation);
    if (Refusal* refusal = std::get_if<Refusal>(&result)) {
      chosen_.refusals.emplace_back(implementation.name, std::move(*refusal));
      return false;
    }
    auto& kernel = std::get<std::unique_ptr<Kernel>>(result);
    if (for_real_time_ && mayAllocate(*kernel)) {
      chosen_.refusals.emplace_back(implementation.name, Refusal{"real-time", "may allocate memory or wait in a call"});
      return false;
    }
    chosen_.kernel = std::move(kernel);
    chosen_.implementation = implementation.name;
    return true;
  }

  // Only what it can do counts, not the speed of others.
  bool attemptByName(Implementation implementation) {
    implementation.leaves = nullptr;
    return attempt(implementation);
  }

  Chosen take() {
    return std::move(chosen_);
  }

 private:
  // A kernel for the problem as it is, else for its other form. The last of a family takes every problem as it is.
  CreateResult create(const Implementation& implementation) {
    CreateResult result = createByRule(implementation, problem_);
    const bool is_last = implementation.create == family_.implementations.back().create;
    if (is_last || !std::holds_alternative<Refusal>(result)) {
      return result;
    }
    if (!asked_for_other_form_) {
      asked_for_other_form_ = true;
      other_form_ = backendOf(problem_.device).otherForm(problem_);
    }
    if (other_form_ == nullptr) {
      return result;
    }
    CreateResult other = other_form_->create(implementation);
    const Refusal* refusal = std::get_if<Refusal>(&other);
    return refusal != nullptr && refusal->code == "dtype" ? std::move(result) : std::move(other);
  }

  const Family& family_;
  Problem problem_;
  bool for_real_time_;
  bool asked_for_other_form_ = false;
  std::unique_ptr<OtherForm> other_form_;
  Chosen chosen_;
};

// The implementation of that name if it accepts, else the first that does.
Chosen choose(const Family& family, const Problem& problem, std::string_view hint, bool for_real_time) {
  Choice choice(family, problem, for_real_time);
  const Implementation* const named = hint.empty() ? nullptr : family.find(hint);
  if (named != nullptr && choice.attemptByName(*named)) {
    return choice.take();
  }
  const std::vector<Implementation>& all = family.implementations;
  // Where a rule left the problem to one that is not for real time, the last of the list is not the next best.
  const auto attemptLeft = [&] {
    return std::any_of(std::next(all.rbegin()), all.rend(), [&](const Implementation& implementation) {
      return implementation.leaves != nullptr && choice.attemptByName(implementation);
    });
  };
  for (const Implementation& implementation : all) {
    const bool is_last = &implementation == &all.back();
    if ((is_last && for_real_time && attemptLeft()) || (&implementation != named && choice.attempt(implementation))) {
      break;
    }
  }
  return choice.take();
}

std::string describe(const std::vector<std::pair<std::string, Refusal>>& refusals) {
  std::string text;
  for (const auto& [name, refusal] : refusals) {
    text += "; " + name + " refuses (" + refusal.code + "): " + refusal.reason;
  }
  return text;
}

const Family& familyOf(const Problem& problem) {
  const Family* family = findFamily(problem.family, problem.device);
  if (family == nullptr) {
    throw EngineError(ErrorCode::kPlanVersion, "there is no kernel family '" + std::string(problem.family) + "'", {},
                      "run the plan with the version of torchtrt that built it, or build it again");
  }
  return *family;
}

void logChoice(const Problem& problem, const Chosen& chosen) {
  TORCHTRT_LOG(kDEBUG,
               "kernel " << chosen.implementation << " for " << problem.toString() << describe(chosen.refusals));
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

CreateResult createByRule(const Implementation& implementation, const Problem& problem) {
  if (problem.batch_invariant) {
    return createInvariant(implementation, problem);
  }
  if (implementation.leaves != nullptr) {
    if (std::optional<Refusal> refusal = implementation.leaves(problem)) {
      return *std::move(refusal);
    }
  }
  return implementation.create(problem);
}

const Implementation* Family::find(std::string_view name_of_implementation) const {
  for (const Implementation& implementation : implementations) {
    if (name_of_implementation == implementation.name) {
      return &implementation;
    }
  }
  for (const Implementation& implementation : implementations) {
    if (!name_of_implementation.empty() && name_of_implementation == implementation.former) {
      return &implementation;
    }
  }
  return nullptr;
}

const Family* findFamily(std::string_view name, const device::Device* device) {
  return findFamily(name, backendOf(device));
}

const Family* findFamily(std::string_view name, const Backend& backend) {
  for (const Family& family : backend.families()) {
    if (name == family.name) {
      return &family;
    }
  }
  return nullptr;
}

Chosen createKernel(const Problem& problem, std::string_view hint) {
  Chosen chosen = choose(familyOf(problem), problem, hint, /*for_real_time=*/false);
  if (chosen.kernel == nullptr) {
    throw InternalError("no implementation accepts " + problem.toString() + describe(chosen.refusals));
  }
  logChoice(problem, chosen);
  return chosen;
}

Chosen createRealTimeKernel(const Problem& problem, std::string_view hint) {
  Chosen chosen = choose(familyOf(problem), problem, hint, /*for_real_time=*/true);
  if (chosen.kernel == nullptr) {
    throw EngineError(ErrorCode::kNotRealTime,
                      "nothing computes " + problem.toString() + " in real time" + describe(chosen.refusals), {},
                      "call the module without binding, or compile with this operator in PyTorch");
  }
  logChoice(problem, chosen);
  return chosen;
}

int64_t countOf(const std::vector<int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

std::vector<int64_t> broadcastStrides(const TensorDesc& tensor, const std::vector<int64_t>& dims) {
  TORCHTRT_CHECK(tensor.dims.size() <= dims.size(),
                 "a tensor of rank " << tensor.dims.size() << " broadcast to rank " << dims.size());
  std::vector<int64_t> strides(dims.size(), 0);
  const size_t lead = dims.size() - tensor.dims.size();
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    TORCHTRT_CHECK(tensor.dims[i] == 1 || tensor.dims[i] == dims[lead + i],
                   "dimension " << tensor.dims[i] << " broadcast to " << dims[lead + i]);
    strides[lead + i] = tensor.dims[i] == 1 ? 0 : tensor.strides[i];
  }
  return strides;
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
