// The whole compiled module held against PyTorch in one call.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <torch/script.h>

#include "compiler/checking/trial_call.h"
#include "compiler/module/source.h"
#include "lowering/lowering.h"
#include "partitioning/partition.h"
#include "partitioning/partitioning.h"

namespace torchtrt::compiler {

// Describes the first difference of the module's results from PyTorch's in the call; empty if they agree. A call that
// is made up and that PyTorch refuses tells nothing, nor does a result that PyTorch itself gives in two ways: random
// numbers, or what rounding decides.
std::optional<std::string> disagreement(const Source& source, const torch::jit::Module& module,
                                        const lowering::LoweredGraph& lowered, const TrialCall& call);
// Wrong results are never handed out: with nothing to fall back to, a disagreement ends the compile.
[[noreturn]] void rejectDisagreement(const std::string& message);
// No engine disagreed on its own, but the module does with them: those inside of branches and loops are compared with
// it only. Finds the first node that brings the disagreement, and has it refused.
void refuseFirstThatDisagrees(
    const partitioning::Partition& partition, const std::string& difference, partitioning::PartitioningOptions& options,
    const std::function<std::optional<std::string>(partitioning::PartitioningOptions)>& attempt);

}  // namespace torchtrt::compiler
