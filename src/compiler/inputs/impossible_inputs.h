// Inputs that a method can never take: every call would raise, whatever the tensors hold.
#pragma once

#include "partitioning/observation.h"
#include "partitioning/partition.h"

namespace torchtrt::compiler {

// Whether an operator was refused for what its operands are, so that an example run tells whether PyTorch takes them.
bool hasMisfits(const partitioning::Partition& partition);
// Throws CompileError(kInvalidInputSpec) with the operator, its line and what it expects, where every example run fails
// at an operator that was refused and that looks at nothing but shapes and dtypes.
void rejectImpossibleInputs(const partitioning::Partition& partition, const partitioning::Observations& observations);
// What is of unknown type because example runs fail before it is no reason of its own: says where they fail instead.
void nameCauses(partitioning::Partition& partition, const partitioning::Observations& observations);

}  // namespace torchtrt::compiler
