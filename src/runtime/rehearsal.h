// A call on zeros of a method that calls engines and does nothing else, so that the first real one finds code and data
// in the caches and pages in place. Private to this folder.
#pragma once

#include <vector>

#include <torch/script.h>

namespace torchtrt::runtime {

// Calls `method` of `module` once with zeros of the shapes that its engines were optimised for, if all of them are
// small, inputs and outputs included: a longer call hides what its first one has to fetch, and nobody expects a
// preparation to take memory. Results are dropped, and so are errors, which the caller's own call will show. Returns
// the arguments, the module apart; none where it was not called or failed.
std::vector<at::Tensor> rehearse(const torch::jit::Module& module, const torch::jit::Method& method);

}  // namespace torchtrt::runtime
