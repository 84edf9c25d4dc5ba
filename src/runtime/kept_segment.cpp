#include "runtime/kept_segment.h"

#include <sstream>

#include "base/logging.h"

namespace torchtrt::runtime {

bool KeptSegment::helps(const EngineError& error) {
  return error.code() == ErrorCode::kInputShape || error.code() == ErrorCode::kInputDType;
}

torch::jit::Module KeptSegment::module() const {
  const std::lock_guard lock(mutex_);
  if (!module_) {
    std::istringstream stream(archive_);
    module_ = torch::jit::load(stream);
  }
  return *module_;
}

std::shared_ptr<torch::jit::Graph> KeptSegment::graph() const {
  return module().get_method("forward").graph();
}

std::vector<at::Tensor> KeptSegment::run(const std::vector<at::Tensor>& inputs) const {
  const at::NoGradGuard no_grad;
  std::vector<torch::jit::IValue> arguments(inputs.begin(), inputs.end());
  arguments.insert(arguments.end(), constants_.begin(), constants_.end());
  return module().forward(std::move(arguments)).toTensorVector();
}

std::vector<at::Tensor> KeptSegment::runInstead(const std::vector<at::Tensor>& inputs, const EngineError& why) const {
  if (!has_warned_.exchange(true)) {
    TORCHTRT_LOG(kWARNING, "PyTorch runs what an engine was not made for, now and in later calls like this one: "
                               << why.message());
  }
  return run(inputs);
}

}  // namespace torchtrt::runtime
