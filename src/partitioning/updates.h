// Tensors of the caller that an engine updates: a copy of an engine's result into one of its inputs needs no segment
// of PyTorch's.
#pragma once

#include "partitioning/partition.h"
#include "partitioning/roles.h"

namespace torchtrt::partitioning {

// Makes copies right behind an engine, of its results into its inputs, updates of that engine (Segment::updates), and
// drops the segments that had nothing else. Nobody else may read such a result.
void absorbUpdates(Partition& partition, const Roles& roles);

}  // namespace torchtrt::partitioning
