// Inputs that a method can never take: every call would raise, whatever the tensors hold.
#pragma once

#include "partitioning/observation.h"
#include "partitioning/partition.h"

namespace torchtrt::compiler {

// True if an operator was refused for its operands, so that an example run tells if PyTorch takes them.
bool hasMisfits(const partitioning::Partition& partition);
// Throws CompileError(kInvalidInputSpec) with the operator, its line and what it expects, where every example run fails
// at an operator that was refused and that looks at nothing but shapes and dtypes.
void rejectImpossibleInputs(const partitioning::Partition& partition, const partitioning::Observations& observations);
// Says where example runs fail, in place of refusals for types that are unknown only because of that.
void nameCauses(partitioning::Partition& partition, const partitioning::Observations& observations);

}  // namespace torchtrt::compiler
