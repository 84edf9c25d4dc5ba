// A method for the calls that its inputs describe, beside the method for all others: which optional arguments there
// are, and whether two arguments are one tensor, is asked once. Scripted attention asks it in every layer.
#pragma once

#include <optional>
#include <vector>

#include "compiler/inputs/input_specs.h"
#include "compiler/segments/kept_segment.h"
#include "lowering/lowering.h"
#include "stitching/stitching.h"
#include "torchtrt/options.h"

namespace torchtrt::compiler {

struct SegmentEngine;

struct OtherCalls {
  std::shared_ptr<torch::jit::Graph> question;  // of the method's arguments: whether a call is as expected
  std::shared_ptr<torch::jit::Graph> graph;     // the method for all calls; its constant tensors are its last inputs
  std::vector<at::Tensor> constants;
};

// Lowers the graph again with the answers if it asks such things, and returns the former graph; nothing if the graph
// stays as it is.
std::optional<OtherCalls> expectCalls(lowering::LoweredGraph& lowered, const InputLeaves& leaves,
                                      const ts::CompileSpec& spec);
// The calls in which an argument that the method writes to overlaps another one: `plain` is the method for these, and
// `lowered` for all others. It writes to an argument.
OtherCalls overlappingCalls(const lowering::LoweredGraph& lowered, const lowering::LoweredGraph& plain);
// The same for stitching: constants are those that the engines keep, as far as they have them.
stitching::OtherCalls withEngines(const OtherCalls& others, const std::vector<SegmentEngine>& engines);

}  // namespace torchtrt::compiler
