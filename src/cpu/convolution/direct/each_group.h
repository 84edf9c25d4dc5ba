// The groups of a channels-last convolution as convolutions of their own, each on its share of the channels.
#pragma once

#include <memory>
#include <vector>

#include "cpu/convolution/geometry.h"
#include "kernels/kernel.h"

namespace torchtrt::kernels::convolution {

// The geometry of one of them: its channels, outputs and weights.
Geometry geometryOfGroup(const Geometry& geometry, int64_t group);

// Runs each group's prepared kernel, which finds pixels by the strides of the whole tensors. `geometry` is that of all.
// `threads_of_group` is what they were prepared for: with one, groups are shared out among the threads.
std::unique_ptr<Prepared> prepareEachGroup(const Geometry& geometry, std::vector<std::unique_ptr<Prepared>> groups,
                                           int threads_of_group, int threads);

// One, or all of them where a group has parts for more threads than there are groups to share out.
int threadsOfGroup(int64_t groups, int64_t parts_of_group, int threads);

}  // namespace torchtrt::kernels::convolution
