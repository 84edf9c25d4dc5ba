// The greatest and smallest elements against the reference: values, positions, and which of equal ones come first.
#include <gtest/gtest.h>

#include <string>

#include "cpu_fast/compare.h"

namespace torchtrt::kernels {
namespace {

// Compares few different numbers, many of them equal; and infinities, NaN and both zeros.
void expectSameTopK(const std::string& in, const std::string& out, int axis, int k) {
  for (const char* largest : {"true", "false"}) {
    const std::string text = "topk float32 " + in + " -> " + out + "xint64 " + out + " {axis=" + std::to_string(axis) +
                             ", k=(" + std::to_string(k) + "), largest=" + largest + "}";
    for (const Values values : {Values::kExact, Values::kSpecial, Values::kSparse, Values::kSomeNan}) {
      CompareOptions options;
      options.values = values;
      expectMatchesReferenceInBoth(text, "floats", options);
    }
  }
}

TEST(FloatsTopK, OneOfRowsOfEveryLength) {
  for (const char* size : {"1", "2", "7", "31", "32", "33", "64", "100", "4099"}) {
    expectSameTopK("[3,5," + std::string(size) + "]", "[3,5,1]", 2, 1);
  }
  expectSameTopK("[1,1,4099]", "[1,1,1]", 2, 1);
  expectSameTopK("[3,40,5]@021", "[3,1,5]", 1, 1);
  expectSameTopK("[40,3,5]@210", "[1,3,5]@210", 0, 1);
}

TEST(FloatsTopK, OneOfColumnsOfEveryWidth) {
  for (const char* size : {"1", "2", "7", "8", "9", "31", "300"}) {
    expectSameTopK("[3,21," + std::string(size) + "]", "[3,1," + std::string(size) + "]", 1, 1);
  }
  expectSameTopK("[17,3,5]", "[1,3,5]", 0, 1);
  expectSameTopK("[2,9,5,4]@0231", "[2,9,1,4]@0231", 2, 1);
  expectSameTopK("[2,9,5,4]@0231", "[2,9,1,4]", 2, 1);
}

TEST(FloatsTopK, SeveralAndAll) {
  for (const char* k : {"2", "5", "33", "299", "300"}) {
    const std::string n = k;
    expectSameTopK("[2,3,300]", "[2,3," + n + "]", 2, std::stoi(n));
    expectSameTopK("[2,300,3]", "[2," + n + ",3]", 1, std::stoi(n));
    expectSameTopK("[2,300,3]@021", "[2," + n + ",3]", 1, std::stoi(n));
  }
}

TEST(FloatsTopK, LongRowsBySortingDigits) {
  expectSameTopK("[2,70000]", "[2,70000]", 1, 70000);
  expectSameTopK("[2,7001]", "[2,3500]", 1, 3500);
  expectSameTopK("[2,7001]", "[2,99]", 1, 99);
}

// PyTorch's order of equal values, of few different numbers and of many.
TEST(FloatsTopK, TiesAsInPyTorch) {
  for (const char* ties : {"sort", "topk", "kthvalue"}) {
    const std::string rest = std::string(ties) == "kthvalue" ? "false" : "true";
    for (const int64_t k : {1, 2, 16, 17, 40, 199, 200}) {
      if (std::string(ties) == "sort" && k != 200) {
        continue;
      }
      for (const char* more : {"", ", sorted=false"}) {
        const std::string out = "[3," + std::to_string(k) + "]";
        const std::string attributes = " {axis=1, k=(" + std::to_string(k) + "), largest=" + rest +
                                       (std::string(ties) == "topk" ? more : "") + ", ties=\"" + ties + "\"}";
        for (const Values values : {Values::kExact, Values::kSpecial, Values::kSmooth}) {
          CompareOptions options;
          options.values = values;
          expectMatchesReferenceInBoth("topk float32 [3,200] -> " + out + "xint64 " + out + attributes, "floats",
                                       options);
          expectMatchesReference("topk int64 [3,200] -> " + out + "x" + out + attributes, "integers", options);
        }
      }
    }
  }
}

// Most of a long row is passed over; its last vector is not full.
TEST(FloatsTopK, FewOfLongRows) {
  for (const char* k : {"2", "31", "32", "40", "800"}) {
    const std::string n = k;
    expectSameTopK("[3,7001]", "[3," + n + "]", 1, std::stoi(n));
  }
}

// Takes any bits, which lie further apart than keys hold; and bytes.
TEST(IntegerTopK, OneSeveralAndAll) {
  for (const char* dtype : {"int64", "int32", "int16", "int8", "uint8"}) {
    for (const char* largest : {"true", "false"}) {
      for (const Values values : {Values::kExact, Values::kWide, Values::kSparse}) {
        CompareOptions options;
        options.values = values;
        options.rtol = 0;
        options.atol = 0;
        const auto check = [&](const std::string& in, const std::string& out, int axis, int k) {
          expectMatchesReference("topk " + std::string(dtype) + " " + in + " -> " + out + "xint64 " + out + " {axis=" +
                                     std::to_string(axis) + ", k=(" + std::to_string(k) + "), largest=" + largest + "}",
                                 "integers", options);
        };
        check("[3,5,401]", "[3,5,1]", 2, 1);
        check("[3,401,5]", "[3,1,5]", 1, 1);
        check("[3,401]", "[3,7]", 1, 7);
        check("[3,401]", "[3,200]", 1, 200);
        check("[3,401]", "[3,401]", 1, 401);
        check("[40,3]", "[40,3]", 0, 40);
        check("[3,0]", "[3,0]", 1, 0);
      }
    }
  }
}

TEST(FloatsTopK, Nothing) {
  expectSameTopK("[3,5]", "[3,0]", 1, 0);
  expectSameTopK("[0,5]", "[0,2]", 1, 2);
  expectSameTopK("[3,0]", "[3,0]", 1, 0);
}

TEST(FloatsTopK, OfHalf) {
  expectMatchesReference("topk float16 [3,40] -> [3,2]xint64 [3,2] {axis=1, k=(2), largest=true}", "floats");
}

}  // namespace
}  // namespace torchtrt::kernels
