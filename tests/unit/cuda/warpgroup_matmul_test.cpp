// Products of 16 bits by whole warpgroups, the implementation "warpgroups": against the CPU's reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cuda/emulation.h"
#include "cuda/image_convolutions.h"
#include "kernels/backend.h"

namespace torchtrt::kernels::testing {
namespace {

// With weights and bias as constants.
Problem problemWithConstants(const Case& layer) {
  Problem problem = problemOf(layer);
  for (const size_t input : {1, 2}) {
    problem.inputs[input].constant = layer.inputs[input] ? layer.inputs[input]->bytes.data() : nullptr;
  }
  return problem;
}

// True if a text of this kernel with so many groups and columns was compiled.
bool hasTile(const std::string& groups, const std::string& columns) {
  const std::vector<std::string> texts = cuda::testing::compiledTexts();
  return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
    const auto has = [&](const std::string& part) { return text.find(part) != std::string::npos; };
    return has("#define FACTOR_B ") && has("#define OUT ") && has("#define SUM float\n") &&
           has("#define GROUPS " + groups + "\n") && has("#define COLUMNS " + columns + "\n");
  });
}

void expectByWarpgroups(const Case& layer, size_t skipped = 0) {
  const Problem problem = problemWithConstants(layer);
  const Values got = resultOf(problem, "warpgroups", layer, Layout::kRowMajor, Layout::kRowMajor, skipped);
  expectNear(got, referenceOf(layer).at(0), toleranceOf(layer.outputs[0].dtype), problem.toString());
}

void expectTile(const Case& layer, const std::string& groups, const std::string& columns) {
  expectByWarpgroups(layer);
  EXPECT_TRUE(!cuda::testing::isEmulated() || hasTile(groups, columns))
      << problemOf(layer).toString() << ": no text has the tile " << groups << " x " << columns;
}

TEST(WarpgroupMatmul, OfEveryTile) {
  expectTile(product(DType::kFloat16, {70}, 72, 136, {true, true, "relu"}), "1", "128");
  expectTile(product(DType::kBFloat16, {12000}, 40, 8, {true, true, "relu"}), "2", "64");
  expectTile(product(DType::kFloat16, {12000}, 40, 72, {true, true, "relu"}), "2", "128");
  expectTile(product(DType::kFloat16, {12007}, 40, 264, {true, true, "relu"}), "3", "192");
}

TEST(WarpgroupMatmul, OfEverySize) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    for (const int64_t depth : {8, 64, 72, 520}) {
      expectByWarpgroups(product(dtype, {2, 45}, depth, 40));
    }
    for (const int64_t columns : {8, 128, 264}) {
      expectByWarpgroups(product(dtype, {1}, 136, columns));
      expectByWarpgroups(product(dtype, {200}, 136, columns));
    }
  }
}

TEST(WarpgroupMatmul, WithBiasResidualAndActivation) {
  for (const char* activation : {"", "relu", "gelu_erf", "silu"}) {
    for (const bool bias : {false, true}) {
      for (const bool residual : {false, true}) {
        expectByWarpgroups(product(DType::kFloat16, {70}, 48, 40, {bias, residual, activation}));
      }
    }
  }
}

// A block makes one tile after the other; its stages go on from where the tile before ended.
TEST(WarpgroupMatmul, OfMoreTilesThanBlocks) {
  expectByWarpgroups(product(DType::kFloat16, {64 * 450 + 7}, 72, 24, {true, true, ""}));
  expectByWarpgroups(product(DType::kFloat16, {25001}, 40, 384, {true, true, ""}));  // results take two stages
}

TEST(WarpgroupMatmul, OfOperandsThatBeginAnywhere) {
  const Case layer = product(DType::kFloat16, {70}, 24, 16, {true, true, "relu"});
  for (const size_t skipped : {1, 8}) {
    expectByWarpgroups(layer, skipped);
  }
}

// Other kernels take these: operands that do not lie dense, weights of a call, and batches of them.
TEST(WarpgroupMatmul, LeavesOtherOperands) {
  const auto compiled = [] { return cuda::testing::compiledTexts().size(); };
  const auto isLeft = [&](const Case& layer, const Problem& problem, Layout in) {
    const size_t before = compiled();
    const Values got = resultOf(problem, "warpgroups", layer, in, Layout::kRowMajor, 0);
    for (size_t i = before; i < compiled(); ++i) {
      EXPECT_EQ(cuda::testing::compiledTexts()[i].find("#define FACTOR_B "), std::string::npos) << problem.toString();
    }
    expectNear(got, referenceOf(layer).at(0), toleranceOf(DType::kFloat16), problem.toString());
  };
  const Case layer = product(DType::kFloat16, {70}, 104, 56);
  isLeft(layer, problemOf(layer), Layout::kRowMajor);
  isLeft(layer, problemWithConstants(layer), Layout::kColumnMajor);
  const Case odd = product(DType::kFloat16, {70}, 100, 60);
  isLeft(odd, problemWithConstants(odd), Layout::kRowMajor);
}

// The choice needs no measurement where nobody asks for one.
TEST(WarpgroupMatmul, IsChosenByTimingAlone) {
  const Case layer = product(DType::kFloat16, {4096}, 768, 768);
  EXPECT_STRNE(createKernel(problemWithConstants(layer)).implementation, "warpgroups");
}

}  // namespace
}  // namespace torchtrt::kernels::testing
