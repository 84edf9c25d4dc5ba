// Pairs of steps that a fusion rule may join: what data flow and the kernels' interfaces (kernels/fusion.h) say when a
// plan is loaded. Shapes decide later (fuser.h). Private to engine.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/fusion/rules.h"
#include "kernels/kernel.h"
#include "plan/plan.h"

namespace torchtrt::engine {

struct LoadedStep;

// Each list has one entry per step of the plan, -1 where there is no partner.
struct Candidates {
  std::vector<int32_t> scaled_by;    // of a multiplication: the convolution that alone reads it and may multiply itself
  std::vector<int32_t> lines_for;    // of a 1x1 convolution: the depthwise one that alone reads it
  std::vector<int32_t> averaged_by;  // of a convolution: the step that averages its result over the image
  std::vector<int32_t> pooled_by;    // of a convolution: the 2x2 maxima that alone read it
  std::vector<int> reads;  // per tensor: by steps, as an output of the plan, and as the memory of another tensor
};

Candidates findCandidates(const plan::Plan& plan, const std::vector<LoadedStep>& steps, RuleSet rules);

}  // namespace torchtrt::engine
