#include "runtime/step_events.h"

#include <cstdlib>

#include <torch/csrc/profiler/stubs/base.h>

namespace torchtrt::runtime {

bool StepEvents::areRangesAsked() {
  static const bool asks = [] {
    const char* const value = std::getenv("TORCHTRT_NVTX");
    return value != nullptr && *value != '\0' && *value != '0';
  }();
  return asks && torch::profiler::impl::cudaStubs()->enabled();
}

bool StepEvents::areWatched() {
  return areRangesAsked() || at::getStepCallbacksUnlessEmpty(at::RecordScope::USER_SCOPE).has_value();
}

StepEvents::StepEvents(const std::string& engine, bool has_ranges) : has_ranges_(has_ranges) {
  open("torchtrt engine " + engine);
}

StepEvents::~StepEvents() {
  end();
}

void StepEvents::begin(const engine::RunningStep& step) {
  open("torchtrt::" + step.family + " " + step.name +
       (step.implementation.empty() ? "" : " [" + step.implementation + "]"));
}

void StepEvents::open(const std::string& name) {
  if (has_ranges_) {
    torch::profiler::impl::cudaStubs()->rangePush(name.c_str());
  }
  open_.push_back(std::make_unique<at::RecordFunction>(at::RecordScope::USER_SCOPE));
  if (open_.back()->isActive()) {
    open_.back()->before(name);
  }
}

void StepEvents::end() noexcept {
  open_.pop_back();
  if (has_ranges_) {
    torch::profiler::impl::cudaStubs()->rangePop();
  }
}

}  // namespace torchtrt::runtime
