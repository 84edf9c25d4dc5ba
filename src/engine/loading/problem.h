// Makes the problems for which a plan's steps need kernels. It chooses no kernel: engines ask for them when they are
// loaded, and the builder when it times them.
#pragma once

#include <cstdint>
#include <vector>

#include "device/device.h"
#include "kernels/kernel.h"
#include "plan/plan.h"
#include "torchtrt/export.h"

namespace torchtrt::engine {

// The tensor whose memory a tensor shares: itself, or the one at the end of its chain of views.
TORCHTRT_API int32_t rootOf(const plan::Plan& plan, int32_t tensor);

// The plan's registers for every symbol's optimum. Throws EngineError(kShapeArithmetic).
TORCHTRT_API std::vector<int64_t> optimumOf(const plan::Plan& plan);

// Points into the plan. `optimum`: registers for the shape to tune for. `device`: where the kernel will run.
TORCHTRT_API kernels::Problem problemOf(const plan::Plan& plan, const plan::Step& step,
                                        const std::vector<int64_t>& optimum, int threads,
                                        const device::Device& device = device::cpu());

// The threads that an engine is loaded for where its caller names none.
TORCHTRT_API int defaultThreads();

}  // namespace torchtrt::engine
