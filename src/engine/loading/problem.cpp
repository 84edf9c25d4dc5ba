#include "engine/loading/problem.h"

#include <algorithm>

#include "cpu/threads/parallel.h"
#include "device/device.h"

namespace torchtrt::engine {

namespace {

kernels::Operand describe(const plan::Plan& plan, int32_t index, const std::vector<int64_t>& optimum) {
  kernels::Operand operand;
  if (index < 0) {
    return operand;
  }
  const plan::Tensor& tensor = plan.tensors[static_cast<size_t>(index)];
  operand.present = true;
  operand.dtype = tensor.dtype;
  operand.order = tensor.order;
  for (const plan::Register r : tensor.dims) {
    const bool fixed = plan.program[r].op == plan::Op::kConstant;
    operand.dims.push_back(fixed ? plan.program[r].immediate : -1);
    operand.opt_dims.push_back(optimum[r]);
  }
  const int32_t weight = plan.tensors[static_cast<size_t>(rootOf(plan, index))].weight;
  if (weight >= 0) {
    operand.constant = plan.weights[static_cast<size_t>(weight)].data.get();
  }
  return operand;
}

}  // namespace

int32_t rootOf(const plan::Plan& plan, int32_t tensor) {
  while (plan.tensors[static_cast<size_t>(tensor)].view_of >= 0) {
    tensor = plan.tensors[static_cast<size_t>(tensor)].view_of;
  }
  return tensor;
}

std::vector<int64_t> optimumOf(const plan::Plan& plan) {
  std::vector<int64_t> values;
  for (const Symbol& symbol : plan.symbols) {
    values.push_back(symbol.opt);
  }
  std::vector<int64_t> registers;
  plan::runProgram(plan, values, registers);
  return registers;
}

kernels::Problem problemOf(const plan::Plan& plan, const plan::Step& step, const std::vector<int64_t>& optimum,
                           int threads, const device::Device& device) {
  kernels::Problem problem;
  problem.family = step.family;
  problem.attributes = &step.attributes;
  problem.threads = threads;
  problem.device = &device;
  problem.batch_invariant = plan.batch_invariant;
  for (const int32_t input : step.inputs) {
    problem.inputs.push_back(describe(plan, input, optimum));
  }
  for (const int32_t output : step.outputs) {
    problem.outputs.push_back(describe(plan, output, optimum));
  }
  return problem;
}

int defaultThreads() {
  return std::min(kernels::currentThreads(), device::cpu().properties().cores);
}

}  // namespace torchtrt::engine
