// Compares what a compiled method gives with what PyTorch gives, as strictly as the dtypes allow.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <torch/script.h>

namespace torchtrt::compiler {

// The first difference between two results, or nothing: types and structure, shapes, dtypes, integers, booleans and the
// places of NaN and infinity are the same; floating values satisfy max|a - b| <= tolerance of the dtype *
// max|expected|.
std::optional<std::string> firstDifference(const torch::jit::IValue& expected, const torch::jit::IValue& got);

}  // namespace torchtrt::compiler
