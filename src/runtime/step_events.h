// Shows each step of a call to those who watch the process: PyTorch's profiler and other observers of
// at::RecordFunction (torch.autograd.profiler.emit_nvtx() among them) and, with TORCHTRT_NVTX=1, tools that read NVTX
// ranges, on a PyTorch with CUDA. While nobody watches, a call pays for one question.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ATen/record_function.h>

#include "engine/calls/step_watch.h"
#include "torchtrt/export.h"

namespace torchtrt::runtime {

class TORCHTRT_API StepEvents final : public engine::StepWatch {
 public:
  // True if TORCHTRT_NVTX asks for ranges and PyTorch can make them.
  static bool areRangesAsked();
  // True if somebody watches this thread now.
  static bool areWatched();

  // An event of the engine's name begins, in which those of its steps lie.
  explicit StepEvents(const std::string& engine, bool has_ranges = areRangesAsked());
  ~StepEvents() override;
  StepEvents(const StepEvents&) = delete;
  StepEvents& operator=(const StepEvents&) = delete;

  void begin(const engine::RunningStep& step) override;
  void end() noexcept override;

 private:
  void open(const std::string& name);

  bool has_ranges_;
  std::vector<std::unique_ptr<at::RecordFunction>> open_;
};

}  // namespace torchtrt::runtime
