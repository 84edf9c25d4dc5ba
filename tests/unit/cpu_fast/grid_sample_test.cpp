// The fast grid_sample against the reference: equal in every bit.
#include <gtest/gtest.h>

#include <string>

#include "cpu_fast/compare.h"

namespace torchtrt::kernels {
namespace {

std::string gridSample(const std::string& operands, const std::string& mode, const std::string& padding,
                       bool align_corners) {
  return "grid_sample float32 " + operands + " {align_corners=" + (align_corners ? "true" : "false") + ", mode=\"" +
         mode + "\", padding=\"" + padding + "\"}";
}

CompareOptions exact(Values values) {
  CompareOptions options;
  options.values = values;
  options.rtol = 0;
  options.atol = 0;
  return options;
}

// Places lie within the image, on elements, on its edge and outside; NaN in the image must not spread to places that do
// not touch it.
TEST(GatheringGridSample, ModesEdgesAndSizes) {
  for (const char* mode : {"nearest", "linear"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      for (const bool align_corners : {false, true}) {
        for (const Values values : {Values::kExact, Values::kSomeNan, Values::kSmooth, Values::kSpecial}) {
          for (const char* operands :
               {"[2,3,9,7]x[2,5,6,2] -> [2,3,5,6]", "[1,5,1,1]x[1,3,3,2] -> [1,5,3,3]",
                "[2,17,31,30]x[2,19,27,2] -> [2,17,19,27]", "[1,1,17,16]x[1,16,16,2] -> [1,1,16,16]"}) {
            expectMatchesReferenceInBoth(gridSample(operands, mode, padding, align_corners), "gathers", exact(values));
          }
        }
      }
    }
  }
}

TEST(GatheringGridSample, LeavesTheRestToTheReference) {
  for (const char* operands : {"[2,3,9,7]@0231x[2,5,6,2] -> [2,3,5,6]", "[2,3,9,7]x[2,5,6,2] -> [2,3,5,6]@0231",
                               "[2,3,9,7]x[2,5,6,2]@3012 -> [2,3,5,6]", "[2,3,9,7]x[2,0,6,2] -> [2,3,0,6]",
                               "[1,2,3,4,5]x[1,2,2,3,3] -> [1,2,2,2,3]"}) {
    expectMatchesReference(gridSample(operands, "linear", "zeros", false), "gathers", exact(Values::kExact));
  }
  expectRefused(gridSample("[2,3,9,7]x[2,5,6,2] -> [2,3,5,6]", "cubic", "zeros", false), "gathers", "mode");
}

TEST(GatheringGridSample, IsSafeForThreads) {
  expectSafeForThreads(gridSample("[1,9,31,30]x[1,40,27,2] -> [1,9,40,27]", "linear", "border", false), "gathers");
}

}  // namespace
}  // namespace torchtrt::kernels
