// Compares what a compiled method or an engine gives with what PyTorch gives, as strictly as the dtypes allow.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <torch/script.h>

#include "runtime/engine_class.h"
#include "torchtrt/deviation.h"
#include "torchtrt/export.h"

namespace torchtrt::runtime {

// Returns how far two results are apart. They agree if types and structure, shapes, dtypes, integers, booleans and the
// places of NaN and infinity are the same. Floating values satisfy max|a - b| <= tolerance of the dtype *
// max|expected|, or the tolerance of `coarsest` if that is more. Numbers outside of tensors are compared as float32.
TORCHTRT_API Deviation deviation(const torch::jit::IValue& expected, const torch::jit::IValue& got,
                                 at::ScalarType coarsest = at::kDouble);
// The first difference that is not allowed, or nothing; without looking at how far others are apart. With `exact`, the
// same results in float64, floating values may be up to four times as far apart if they are about as near to those as
// the expected ones are, and further apart if they are clearly nearer.
TORCHTRT_API std::optional<std::string> firstDifference(const torch::jit::IValue& expected,
                                                        const torch::jit::IValue& got,
                                                        at::ScalarType coarsest = at::kDouble,
                                                        const torch::jit::IValue& exact = {});

// A difference that float64 could excuse only if the expected results were further off: more than four times what is
// allowed.
TORCHTRT_API std::optional<std::string> grossDifference(const torch::jit::IValue& expected,
                                                        const torch::jit::IValue& got,
                                                        at::ScalarType coarsest = at::kDouble);
// True if the results are those in float64, as near as their dtypes allow: rounding decided nothing.
TORCHTRT_API bool isRounded(const torch::jit::IValue& results, const torch::jit::IValue& exact,
                            at::ScalarType coarsest = at::kDouble);

// A dtype of 16 bits where nodes are pinned to one, since what follows from them is no more exact for being cast back,
// and where engines may use TF32; int8 where an engine was quantized, which is held against float to tell wrong from
// coarse; else float64. Of an engine: one that keeps its operators.
TORCHTRT_API at::ScalarType coarsestOf(const torch::jit::Graph& graph);
TORCHTRT_API at::ScalarType coarsestOf(const torch::jit::Graph& graph, const Engine& engine);
TORCHTRT_API at::ScalarType coarsestOf(const Engine& engine);
// True if a step may use TF32, which has as many significant bits as float16.
inline constexpr at::ScalarType kTf32 = at::kHalf;
TORCHTRT_API bool usesTf32(const Engine& engine);

// True if a value's elements are whatever was in memory: there is nothing to compare.
TORCHTRT_API bool hasAnyElements(const torch::jit::Value& value);

// The same for the outputs of an engine, without those that are whatever was in memory. `outputs`: of its graph.
TORCHTRT_API Deviation deviation(const std::vector<at::Tensor>& expected, const std::vector<at::Tensor>& got,
                                 at::ArrayRef<torch::jit::Value*> outputs, at::ScalarType coarsest);
// Runs the engine's kept segment, which has to be there, and compares. Throws what PyTorch throws.
TORCHTRT_API Deviation deviationFromPyTorch(const Engine& engine, const std::vector<at::Tensor>& inputs,
                                            const std::vector<at::Tensor>& got);

}  // namespace torchtrt::runtime
