// Values that torch.save wrote: calibration batches, and the arguments of a call.
#pragma once

#include <string>
#include <vector>

#include <torch/script.h>

namespace torchtrtc {

// The file's value: tensors, numbers and texts in lists, tuples and dictionaries. Throws
// CompileError(kInvalidOption) that names `option` and the way out, `advice`.
torch::jit::IValue readSaved(const std::string& file, const std::string& option, const std::string& advice);

bool isSequence(const torch::jit::IValue& value);  // a list or tuple
std::vector<torch::jit::IValue> elementsOf(const torch::jit::IValue& sequence);

}  // namespace torchtrtc
