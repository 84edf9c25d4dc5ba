// The fast interpolation of images against the reference.
#include <gtest/gtest.h>

#include <string>

#include "cpu_fast/compare.h"

namespace torchtrt::kernels {
namespace {

std::string resize(const std::string& mode, const std::string& in, const std::string& out, const std::string& size,
                   const std::string& order, const std::string& rest = "align_corners=false") {
  return "resize float32 " + in + order + " -> " + out + order + " {" + rest + ", mode=\"" + mode + "\", size=" + size +
         "}";
}

const char* const kModes[] = {"nearest", "nearest_exact", "linear", "cubic"};

TEST(LinesResize, ModesOrdersAndTails) {
  for (const char* mode : kModes) {
    for (const char* order : {"", "@0231"}) {
      for (const char* channels : {"1", "3", "8", "17", "70"}) {
        const std::string c = channels;
        const auto image = [&](const std::string& size) { return "[2," + c + "," + size + "]"; };
        expectMatchesReferenceInBoth(resize(mode, image("5,7"), image("10,14"), "(10, 14)", order),
                                     "interpolated_lines");
        expectMatchesReferenceInBoth(resize(mode, image("9,21"), image("4,5"), "(4, 5)", order), "interpolated_lines");
        expectMatchesReferenceInBoth(
            resize(mode, image("6,5"), image("13,37"), "(13, 37)", order, "align_corners=true"), "interpolated_lines");
      }
    }
  }
}

// Whole lines and columns of one element, and lines that all come of one.
TEST(LinesResize, SizesOfOne) {
  for (const char* mode : kModes) {
    for (const char* order : {"", "@0231"}) {
      expectMatchesReferenceInBoth(resize(mode, "[1,3,1,1]", "[1,3,6,9]", "(6, 9)", order), "interpolated_lines");
      expectMatchesReferenceInBoth(resize(mode, "[1,3,6,9]", "[1,3,1,1]", "(1, 1)", order), "interpolated_lines");
      expectMatchesReferenceInBoth(resize(mode, "[3,3,1,9]", "[3,3,4,1]", "(4, 1)", order), "interpolated_lines");
    }
  }
}

TEST(LinesResize, EqualSizesAndScales) {
  for (const char* mode : kModes) {
    expectMatchesReferenceInBoth(resize(mode, "[1,3,6,9]", "[1,3,6,9]", "(6, 9)", ""), "interpolated_lines");
    expectMatchesReferenceInBoth(resize(mode, "[1,3,6,9]", "[1,3,12,9]", "(12, 9)", "@0231"), "interpolated_lines");
    expectMatchesReferenceInBoth(
        resize(mode, "[1,3,6,9]", "[1,3,9,13]", "(9, 13)", "", "align_corners=false, scales=[1.5, 1.5]"),
        "interpolated_lines");
  }
}

// Threads share out lines of several images; a plane without neighbours in memory; ranks beside 4.
TEST(LinesResize, ManyPlanes) {
  expectMatchesReferenceInBoth(resize("linear", "[4,20,17,19]", "[4,20,33,40]", "(33, 40)", ""), "interpolated_lines");
  expectMatchesReferenceInBoth(resize("linear", "[4,20,17,19]", "[4,20,33,40]", "(33, 40)", "@0231"),
                               "interpolated_lines");
  expectMatchesReferenceInBoth(resize("nearest", "[4,20,17,19]", "[4,20,33,40]", "(33, 40)", ""), "interpolated_lines");
  expectMatchesReferenceInBoth(resize("linear", "[17,19]", "[33,40]", "(33, 40)", ""), "interpolated_lines");
  expectMatchesReferenceInBoth(resize("cubic", "[2,3,4,7,9]", "[2,3,4,15,11]", "(15, 11)", ""), "interpolated_lines");
}

TEST(LinesResize, SpecialValuesStayWhereTheyAre) {
  for (const char* mode : {"nearest", "linear"}) {
    CompareOptions options;  // sums of large numbers that cancel are another matter
    options.values = mode == std::string("nearest") ? Values::kSpecial : Values::kSomeNan;
    for (const char* order : {"", "@0231"}) {
      expectMatchesReferenceInBoth(resize(mode, "[1,9,11,13]", "[1,9,22,26]", "(22, 26)", order), "interpolated_lines",
                                   options);
      expectMatchesReferenceInBoth(resize(mode, "[1,9,11,13]", "[1,9,22,13]", "(22, 13)", order), "interpolated_lines",
                                   options);
    }
  }
}

// One kernel runs whatever shapes and strides come; what it is not good at falls to the reference behind it.
TEST(LinesResize, TakesOtherShapesToo) {
  CompareOptions options;
  options.shapes = {resize("linear", "[1,3,20,4]", "[1,3,5,60]", "(5, 60)", ""),
                    resize("linear", "[2,5,3,3]", "[2,5,7,7]", "(7, 7)", "")};
  expectMatchesReferenceInBoth(resize("linear", "[1,3,8,8]", "[1,3,16,16]", "(16, 16)", ""), "interpolated_lines",
                               options);
  expectMatchesReferenceInBoth(resize("linear", "[2,3,8]", "[2,3,17]", "(17,)", ""), "interpolated_lines");
  expectMatchesReferenceInBoth(resize("linear", "[1,3,4,5,6]", "[1,3,7,8,9]", "(7, 8, 9)", "@02341"),
                               "interpolated_lines");
}

// Scales near to 0, as a plan may have them, stand for places that no integer names.
TEST(LinesResize, StaysInsideForScalesNearToZero) {
  for (const char* mode : kModes) {
    for (const char* scales : {"[1e-300, 1e-300]", "[1e-30, 1e-45]", "[1e-10, 1e300]"}) {
      expectMatchesReference(
          resize(mode, "[1,2,5,6]", "[1,2,4,3]", "(4, 3)", "", std::string("align_corners=false, scales=") + scales),
          "interpolated_lines");
    }
  }
}

TEST(LinesResize, IsSafeForThreads) {
  expectSafeForThreads(resize("linear", "[1,20,17,19]", "[1,20,33,40]", "(33, 40)", ""), "interpolated_lines");
}

TEST(LinesResize, SaysWhatItCannotDo) {
  expectRefused("resize uint8 [1,3,4,4] -> [1,3,8,8] {align_corners=false, mode=\"linear\", size=(8, 8)}",
                "interpolated_lines", "dtype");
}

}  // namespace
}  // namespace torchtrt::kernels
