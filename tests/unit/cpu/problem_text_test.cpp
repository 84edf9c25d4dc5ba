#include "kernels/problem_text.h"

#include <gtest/gtest.h>

#include "cpu/harness.h"

namespace torchtrt::kernels {
namespace {

TEST(ProblemText, PrintsALineToPaste) {
  Problem problem;
  const Attributes attributes = testing::makeAttributes({{"stride", testing::Ints{2, 2}}, {"groups", 1}});
  problem.family = "convolution";
  problem.attributes = &attributes;
  const float weights[1] = {0};
  problem.inputs = {{true, DType::kFloat32, {-1, 3, 8, 8}, {4, 3, 8, 8}, {0, 2, 3, 1}, nullptr},
                    {true, DType::kFloat32, {6, 3, 1, 1}, {6, 3, 1, 1}, {}, weights},
                    {}};
  problem.outputs = {{true, DType::kFloat16, {-1, 6, 4, 4}, {4, 6, 4, 4}, {}, nullptr}};
  EXPECT_EQ(problem.toString(),
            "convolution float32 [?4,3,8,8]@0231x[6,3,1,1]!xnull -> float16 [?4,6,4,4] {groups=1, stride=[2, 2]}");
}

TEST(ProblemText, ParsingIsTheInverseOfPrinting) {
  for (const char* line : {
           "activation float32 [2,3] -> [2,3] {alpha=0.1, beta=inf, op=\"clip\"}",
           "fill -> int64 [4] {dims=(4), dtype=int64, int_step=-1, int_value=3, op=\"arange\"}",
           "gather float32 [10,4]xint64 [3] -> float32 [3,4] {axis=0, mode=\"default\"}",
           "matrix_multiply bfloat16 [2,3]x[3,4]xnullx[2,4]@10 -> [2,4] {transpose_a=false, transpose_b=true}",
           "softmax float64 [] -> [] {axis=0, log=true}",
           "resize float32 [1,2,?5,7] -> [1,2,?10,14] {mode=\"a \\\"b\\\"\", scales=[2.0, 1e-30], size=(2*s0+1, "
           "max(s0,1))}",
           "padding uint8 [0] -> [3] {empty_doubles=[.], empty_ints=[], post=(), value=-2.5}",
           "identity bool [1] -> [1] {}",
       }) {
    const ParsedProblem parsed = parseProblem(line);
    EXPECT_EQ(parsed.problem.toString(), line);
  }
}

TEST(ProblemText, MarksConstantsForTheCaller) {
  const ParsedProblem parsed = parseProblem("elementwise float32 [3]x[3]! -> [3] {op=\"sum\"}");
  EXPECT_EQ(parsed.constant, (std::vector<bool>{false, true}));
  EXPECT_EQ(parsed.problem.attributes->getString("op"), "sum");
  EXPECT_EQ(parsed.problem.inputs[1].constant, nullptr);
}

TEST(ProblemText, KeepsAttributeTypesApart) {
  const ParsedProblem parsed =
      parseProblem("x float32 [1] -> [1] {a=1, b=1.0, c=true, d=float32, e=[1], f=[1.0], g=(1), h=\"1\"}");
  const Attributes& attributes = *parsed.problem.attributes;
  EXPECT_EQ(attributes.getInt("a"), 1);
  EXPECT_EQ(attributes.getDouble("b"), 1.0);
  EXPECT_TRUE(attributes.getBool("c"));
  EXPECT_EQ(attributes.getDType("d"), DType::kFloat32);
  EXPECT_EQ(attributes.getInts("e"), (std::vector<int64_t>{1}));
  EXPECT_EQ(attributes.getDoubles("f"), (std::vector<double>{1.0}));
  EXPECT_EQ(attributes.getDims("g").constants(), (std::vector<int64_t>{1}));
  EXPECT_EQ(attributes.getString("h"), "1");
}

TEST(ProblemText, GivesTheShapesToTuneFor) {
  const ParsedProblem parsed = parseProblem("resize float32 [?2,3,4]@021xnull -> [?2,3,8] {size=(8)}");
  const ShapeSet shapes = tunedShapes(parsed.problem);
  EXPECT_EQ(shapes.inputs[0].dims, (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(shapes.inputs[0].strides, (std::vector<int64_t>{12, 1, 3}));
  EXPECT_TRUE(shapes.inputs[1].dims.empty());
  EXPECT_EQ(shapes.outputs[0].strides, (std::vector<int64_t>{24, 8, 1}));
  EXPECT_EQ(shapes.dimsOf("size"), (std::vector<int64_t>{8}));
}

TEST(ProblemText, SaysWhereALineIsWrong) {
  for (const auto& [line, expected] : std::vector<std::pair<const char*, const char*>>{
           {"", "expected a word at column 1"},
           {"relu [2] -> [2] {}", "expected a dtype at column 6"},
           {"relu float33 [2] -> [2] {}", "expected a dtype or '[' at column 6"},
           {"relu float32 [2] [2] {}", "expected '->' at column 18"},
           {"relu float32 [two] -> [2] {}", "expected an integer at column 15"},
           {"relu float32 [2]@1 -> [2] {}", "expected a memory order of rank 1"},
           {"relu float32 [2] -> [2] {a}", "expected '='"},
           {"relu float32 [2] -> [2] {a=[1, 2.0]}", "expected a list of one type"},
           {"relu float32 [2] -> [2] {a=(?)}", "expected a dimension"},
           {"relu float32 [2] -> [2] {a=\"b}", "expected '\"'"},
           {"relu float32 [2] -> [2] {} more", "expected the end of the line"},
       }) {
    try {
      parseProblem(line);
      FAIL() << "accepted: " << line;
    } catch (const EngineError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidOption);
      EXPECT_NE(error.message().find(expected), std::string::npos) << error.message();
    }
  }
}

}  // namespace
}  // namespace torchtrt::kernels
