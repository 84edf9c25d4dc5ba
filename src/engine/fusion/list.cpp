// The one list of fusion rules.
#include <algorithm>
#include <array>
#include <string>

#include "engine/fusion/rules.h"
#include "torchtrt/error.h"

namespace torchtrt::engine {
namespace {

constexpr std::array kRules = {
    RuleInfo{Rule::kScaleInput, "scale_input",
             "a 1x1 convolution multiplies its input by a factor for each image and channel"},
    RuleInfo{Rule::kDepthwiseLines, "depthwise_lines",
             "a depthwise convolution computes the 1x1 convolution before it line by line"},
    RuleInfo{Rule::kAverageOutput, "average_output", "a depthwise convolution also averages its result over the image"},
    RuleInfo{Rule::kPoolOutput, "pool_output",
             "a convolution writes the maxima of two by two pixels of its result instead"},
    RuleInfo{Rule::kPointwiseGroup, "pointwise_group",
             "neighbouring steps go through pieces of their tensors together"},
    RuleInfo{Rule::kRegisterUnit, "register_unit", "arithmetic inside a pointwise group keeps its values in registers"},
};

}  // namespace

std::span<const RuleInfo> fusionRules() {
  return kRules;
}

const char* nameOf(Rule rule) {
  return rule == Rule::kNone ? "" : kRules[static_cast<size_t>(rule) - 1].name;
}

void RuleSet::remove(std::span<const std::string> names) {
  for (const std::string& name : names) {
    const auto found =
        std::find_if(kRules.begin(), kRules.end(), [&](const RuleInfo& info) { return name == info.name; });
    if (found == kRules.end()) {
      std::string known;
      for (const RuleInfo& info : kRules) {
        known += (known.empty() ? "" : ", ") + std::string(info.name);
      }
      throw CompileError(ErrorCode::kInvalidOption, "no fusion rule '" + name + "'", {}, "the rules are " + known);
    }
    bits_ &= ~(1U << static_cast<unsigned>(found->rule));
  }
}

}  // namespace torchtrt::engine
