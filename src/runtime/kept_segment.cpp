#include "runtime/kept_segment.h"

#include <algorithm>
#include <sstream>

#include "base/logging.h"
#include "runtime/threads.h"
#include "torchtrt/load.h"

namespace torchtrt::runtime {

namespace {

// Returns the device of the inputs. Numbers that lie on the CPU go with every device.
at::Device deviceOf(const std::vector<at::Tensor>& inputs, const at::Device& otherwise) {
  const auto found = std::find_if(inputs.begin(), inputs.end(),
                                  [](const at::Tensor& input) { return input.dim() > 0 || !input.is_cpu(); });
  return found == inputs.end() ? otherwise : found->device();
}

}  // namespace

KeptSegment::KeptSegment(State state, std::shared_ptr<const EngineWeights> weights, const at::Device& device)
    : archive_(std::move(state.archive)), weights_(std::move(weights)), device_(device) {
  constants_.reserve(state.constants.size());
  for (at::Tensor& tensor : state.constants) {
    Constant constant;
    if (const std::optional<size_t> weight = weights_->findLetGo(tensor)) {
      constant = {at::Tensor(), *weight, tensor.sizes().vec(), tensor.strides().vec(), tensor.storage_offset()};
    } else {
      constant.held = std::move(tensor);
    }
    constants_.push_back(std::move(constant));
  }
}

std::vector<at::Tensor> KeptSegment::constants() const {
  std::vector<at::Tensor> tensors;
  tensors.reserve(constants_.size());
  for (const Constant& constant : constants_) {
    tensors.push_back(constant.held.defined()
                          ? constant.held
                          : weights_->at(constant.weight).as_strided(constant.dims, constant.strides, constant.offset));
  }
  return tensors;
}

// Restoring takes longer than a call, and a caller that came here once will come again.
std::vector<at::Tensor> KeptSegment::constantsThatStay(const at::Device& device) const {
  const std::lock_guard lock(mutex_);
  std::vector<at::Tensor>& restored = restored_[device];
  if (restored.empty()) {
    restored = constants();
    for (at::Tensor& constant : restored) {
      constant = constant.to(device);
    }
  }
  return restored;
}

std::vector<at::Tensor> KeptSegment::constantsForOtherCall() const {
  warnOnce("a call with other optional arguments than the inputs gave when the module was compiled");
  return constantsThatStay(device_);
}

bool KeptSegment::helps(const EngineError& error) {
  return error.code() == ErrorCode::kInputShape || error.code() == ErrorCode::kInputDType;
}

torch::jit::Module KeptSegment::module() const {
  const std::lock_guard lock(mutex_);
  if (!module_) {
    std::istringstream stream(archive_);
    checkModule(stream);
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
  const std::vector<at::Tensor> constants = constantsThatStay(deviceOf(inputs, device_));
  arguments.insert(arguments.end(), constants.begin(), constants.end());
  return module().forward(std::move(arguments)).toTensorVector();
}

std::vector<at::Tensor> KeptSegment::runInstead(const std::vector<at::Tensor>& inputs, const EngineError& why) const {
  warnOnce(why.message());
  std::vector<at::Tensor> outputs;
  onTeam([&](int) { outputs = run(inputs); });  // PyTorch's kernels wait for a team that a fork lost, for ever
  return outputs;
}

void KeptSegment::warnOnce(const std::string& why) const {
  if (!has_warned_.exchange(true)) {
    TORCHTRT_LOG(kWARNING,
                 "PyTorch runs what an engine was not made for, now and in later calls like this one: " << why);
  }
}

}  // namespace torchtrt::runtime
