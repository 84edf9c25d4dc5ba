// A module, its arguments and its graph on the device of a compile.
#pragma once

#include <vector>

#include <torch/script.h>

#include "compiler/compile.h"
#include "compiler/target.h"
#include "lowering/lowering.h"
#include "runtime/host_copies.h"

namespace torchtrt::compiler {

// The source itself where all its tensors are there, else a copy.
Source placed(const Source& source, const at::Device& device);
// Values with their tensors there; the same values where they are there already.
std::vector<torch::jit::IValue> placed(std::vector<torch::jit::IValue> values, const at::Device& device);
torch::jit::IValue placed(const torch::jit::IValue& value, const at::Device& device);

// Devices that a trace wrote down become the target's where they are those of the module that was given, or are not
// here; and so do tensors that lie in the graph. True if something changed.
bool retarget(torch::jit::Block& block, const DeviceTarget& target);

// A constant as a network takes it: tensors and devices are the CPU's.
torch::jit::IValue onHost(const torch::jit::IValue& constant, runtime::HostCopies& copies);
void bringToHost(torch::jit::Block& block, runtime::HostCopies& copies);

// Replaces a device that was compiled for by that of a tensor among the graph's inputs: the graph then runs where its
// inputs are. Nothing changes if no input is a tensor.
void followInputs(torch::jit::Graph& graph, const at::Device& device);

}  // namespace torchtrt::compiler
