// Steps of a plan that one kernel may compute together (kernels/joins.h): a product read by a 1x1 convolution alone,
// a 1x1 convolution read by a depthwise one alone, the average over what that writes, and maxima that alone read a
// convolution. Found when a plan is
// loaded; whether they are joined is asked once the shapes are known. Private to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kernel.h"
#include "plan/plan.h"

namespace torchtrt::engine {

struct LoadedStep;

struct Joins {
  std::vector<int32_t> readers;    // per step that multiplies: the convolution that may do so instead, or -1
  std::vector<int32_t> followers;  // per convolution of pixels: the one that alone reads it, and may compute it, or -1
  std::vector<int32_t> poolers;    // per convolution: the step that alone reads it, maxima of two by two pixels, or -1
  std::vector<int32_t> averagers;  // per convolution: the step that averages its result, which it may do instead, or -1
  std::vector<int> reads;  // per tensor: by steps, as an output of the plan, and as the memory of another tensor
};

Joins findJoins(const plan::Plan& plan, const std::vector<LoadedStep>& steps);

// Whether `factors` holds one value for each image and channel of `tensor`, next to each other.
bool isPerChannel(const kernels::TensorDesc& factors, const kernels::TensorDesc& tensor);

}  // namespace torchtrt::engine
