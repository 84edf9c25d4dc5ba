// Which nodes only take collections apart that came in, or put collections together that go out. They stay with Torch.
#pragma once

#include <torch/script.h>

namespace torchtrt::partitioning {

// A tuple or list among the graph's inputs is opened: TupleUnpack, TupleIndex, ListUnpack, __getitem__.
bool opensInput(const torch::jit::Node& node);
// A tuple, list or dict that is returned, or is part of one that is: its only uses are there.
bool buildsOutput(const torch::jit::Node& node);

}  // namespace torchtrt::partitioning
