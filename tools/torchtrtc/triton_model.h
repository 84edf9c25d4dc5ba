// A module as Triton's PyTorch backend sees it: names, types and dims of its inputs and outputs, and if requests can be
// put together into batches. Reads the module and calls it on zeros. The texts made of it are triton_config.h's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <torch/script.h>

namespace torchtrtc {

struct TritonTensor {
  std::string name;  // the argument's, "OUTPUT__0"
  at::ScalarType dtype = at::kFloat;
  std::vector<int64_t> dims;           // with the batch, -1 where they vary
  std::vector<int64_t> min, opt, max;  // of inputs: sizes that are taken; as many as dims
};

struct TritonBatch {
  int64_t opt = 0;
  int64_t max = 0;
};

struct TritonModel {
  std::vector<TritonTensor> inputs, outputs;
  std::optional<TritonBatch> batch;  // dim 0 of all inputs and outputs; nothing where requests run alone
  std::string unbatched;             // why they do
  bool is_whole = false;             // engines compute everything
};

struct TritonQuestion {
  std::vector<std::string> shapes;  // specifications of all inputs, in place of what engines take; may be empty
  std::optional<int64_t> largest;   // batch; 0: no batches
  std::string command;              // in front of specifications, for examples in messages
};

// "TYPE_FP32"; null for dtypes that the backend does not pass on.
const char* tritonType(at::ScalarType dtype);

// Throws CompileError: kInvalidModule for arguments, results or dtypes that the backend does not pass on,
// kInvalidInputSpec where nothing says what shapes an input has, kInvalidOption for a batch without an end.
TritonModel describeForTriton(const torch::jit::Module& module, const TritonQuestion& question);

}  // namespace torchtrtc
