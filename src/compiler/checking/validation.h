// Compares what a compiled method gives with what PyTorch gives, as strictly as the dtypes allow.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <torch/script.h>

#include "runtime/engine_class.h"
#include "torchtrt/verify.h"

namespace torchtrt::compiler {

// Returns how far two results are apart. They agree if types and structure, shapes, dtypes, integers, booleans and the
// places of NaN and infinity are the same. Floating values satisfy max|a - b| <= tolerance of the dtype *
// max|expected|, or the tolerance of `coarsest` if that is more. Numbers outside of tensors are compared as float32.
Verification::Deviation deviation(const torch::jit::IValue& expected, const torch::jit::IValue& got,
                                  at::ScalarType coarsest = at::kDouble);
// The first difference that is not allowed, or nothing; without looking at how far others are apart. With `exact`, the
// same results in float64, floating values may be up to four times as far apart if they are about as near to those as
// the expected ones are.
std::optional<std::string> firstDifference(const torch::jit::IValue& expected, const torch::jit::IValue& got,
                                           at::ScalarType coarsest = at::kDouble, const torch::jit::IValue& exact = {});

// A difference that float64 could not excuse either: more than four times what is allowed.
std::optional<std::string> grossDifference(const torch::jit::IValue& expected, const torch::jit::IValue& got,
                                           at::ScalarType coarsest = at::kDouble);
// True if the results are those in float64, as near as their dtypes allow: rounding decided nothing.
bool isRounded(const torch::jit::IValue& results, const torch::jit::IValue& exact,
               at::ScalarType coarsest = at::kDouble);

// A dtype of 16 bits where nodes are pinned to one, since what follows from them is no more exact for being cast back,
// and where engines may use TF32; int8 where an engine was quantized, which is held against float to tell wrong from
// coarse; else float64. Of a compiled module: as its record and its engines have it. Of an engine: one that keeps its
// operators. Of a graph beside engines: as both have it, where nothing is quantized.
at::ScalarType coarsestOf(const torch::jit::Graph& graph);
at::ScalarType coarsestOf(const torch::jit::Graph& graph, const runtime::Engine& engine);
at::ScalarType coarsestOf(const torch::jit::Graph& graph, const torch::jit::Module& compiled);
at::ScalarType coarsestOf(const torch::jit::Module& compiled);
at::ScalarType coarsestOf(const runtime::Engine& engine);

// True if a value's elements are whatever was in memory: there is nothing to compare.
bool hasAnyElements(const torch::jit::Value& value);

}  // namespace torchtrt::compiler
