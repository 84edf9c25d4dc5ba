// Batches whose samples do not depend on each other, bit for bit. An implementation is chosen as for one sample. If its
// results depend on the batch, it runs once for each sample. What has no samples along its first axis is refused.
#pragma once

#include <optional>

#include "kernels/kernel.h"

namespace torchtrt::kernels {

// Returns the problem with one sample; nothing for layers whose operands have no axis of samples in front, such as
// matrix multiplications, whose rows may be of any sample.
std::optional<Problem> withOneSample(const Problem& problem);

// Asks an implementation for a kernel that computes every sample with the same bits, whatever the batch: the kernel
// itself, or one that runs it once for each sample (Kernel::runsEachSample).
CreateResult createInvariant(const Implementation& implementation, const Problem& problem);

}  // namespace torchtrt::kernels
