// The check behind a compile: the compiled module beside the original on one call, and what the user is told of it.
// `torchtrtc verify` compares engine by engine.
#pragma once

#include <vector>

#include <torch/script.h>

namespace torchtrtc {

// The reference system's rule: |compiled - original| <= atol + rtol * the largest value of the original's output.
struct Threshold {
  double atol, rtol;
};

// Calls both modules, and writes one line to stderr: the output that is nearest to its limit. Outputs that differ by
// more, in shape, in dtype or in integers are warnings, as in the reference system.
void compareWithOriginal(torch::jit::Module original, torch::jit::Module compiled,
                         const std::vector<torch::jit::IValue>& inputs, const Threshold& threshold);

}  // namespace torchtrtc
