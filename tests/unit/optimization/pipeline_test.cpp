#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "optimization/optimization.h"
#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A residual block of an exported image model looks like this.
constexpr const char* kBlock = R"(network "block" (s0 in [1, 2, 4]) {
  input %x : float32[s0, 1, 4, 4]
  %w1 = constant() {} : float32[2, 1, 1, 1] data=[1, 2]
  %mean = constant() {} : float32[2] data=[0.5, 1]
  %variance = constant() {} : float32[2] data=[3, 8]
  %zero = constant() {} : float32[] data=[0]
  %w2 = constant() {} : float32[2, 1, 1, 1] data=[0.5, -1]
  %main = activation(%x) {op="tanh"}
  %conv1 = convolution(%main, %w1) {}
  %norm1 = normalization(%conv1, null, null, %mean, %variance) {mode="batch", eps=1}
  %conv2 = convolution(%x, %w2) {}
  %norm2 = normalization(%conv2, null, null, %mean, %variance) {mode="batch", eps=1}
  %sum = elementwise(%norm1, %norm2) {op="sum"}
  %relu = elementwise(%zero, %sum) {op="max"}
  %mean_of_plane = reduce(%relu) {op="avg", axes=[2, 3], keep_dims=true}
  %flat = shuffle(%mean_of_plane) {reshape_dims=[0, -1]}
  %again = shuffle(%flat) {reshape_dims=[0, 2]}
  output "y" %again
})";

TEST(Optimize, ResidualBlock) {
  expectOptimized(kBlock, R"(network "block" (s0 in [1, 2, 4]) {
  input %x : float32[s0, 1, 4, 4]
  %main = activation(%x) {op="tanh"}
  %constant_18 = constant() {} : float32[2, 1, 1, 1] data=[0.5, 0.6666667]
  %constant_19 = constant() {} : float32[2] data=[-0.25, -0.33333334]
  %constant_21 = constant() {} : float32[2, 1, 1, 1] data=[0.25, -0.33333334]
  %norm2 = convolution(%x, %constant_21, %constant_19) {}
  %relu = convolution(%main, %constant_18, %constant_19, %norm2) {activation="relu"}
  %mean_of_plane = adaptive_pooling(%relu) {op="average", output_size=[1, 1]}
  %flat = shuffle(%mean_of_plane) {reshape_dims=[0, -1]}
  output "y" %flat
})");
}

// Layer normalization, attention, bias and gelu, each spelled out.
TEST(Optimize, TransformerBlockInPieces) {
  expectOptimized(R"(network "transformer" (s0 in [1, 2, 4]) {
  input %x : float32[s0, 3, 2]
  %two = constant() {} : float32[] data=[2]
  %eps = constant() {} : float32[] data=[0.5]
  %gain = constant() {} : float32[2] data=[1, 3]
  %shift = constant() {} : float32[2] data=[4, 5]
  %mean = reduce(%x) {op="avg", axes=[2], keep_dims=true}
  %centered = elementwise(%x, %mean) {op="sub"}
  %squares = elementwise(%centered, %two) {op="pow"}
  %variance = reduce(%squares) {op="avg", axes=[2], keep_dims=true}
  %safe = elementwise(%variance, %eps) {op="sum"}
  %deviation = unary(%safe) {op="sqrt"}
  %normal = elementwise(%centered, %deviation) {op="div"}
  %scaled = elementwise(%normal, %gain) {op="prod"}
  %shifted = elementwise(%scaled, %shift) {op="sum"}
  %turned = shuffle(%shifted) {first_permutation=[0, 2, 1]}
  %products = matrix_multiply(%shifted, %turned) {}
  %scores = elementwise(%products, %two) {op="div"}
  %weights = softmax(%scores) {axis=2}
  %context = matrix_multiply(%weights, %shifted) {}
  %w = constant() {} : float32[2, 4] data=[1, 2, 3, 4, 5, 6, 7, 8]
  %b = constant() {} : float32[4] data=[1, 2, 3, 4]
  %product = matrix_multiply(%context, %w) {}
  %up = elementwise(%b, %product) {op="sum"}
  %half = constant() {} : float32[] data=[0.5]
  %one = constant() {} : float32[] data=[1]
  %root = constant() {} : float32[] data=[1.4142135]
  %quotient = elementwise(%up, %root) {op="div"}
  %error = unary(%quotient) {op="erf"}
  %cdf = elementwise(%error, %one) {op="sum"}
  %weighted = elementwise(%up, %cdf) {op="prod"}
  %gelu = elementwise(%weighted, %half) {op="prod"}
  output "y" %gelu
})",
                  R"(network "transformer" (s0 in [1, 2, 4]) {
  input %x : float32[s0, 3, 2]
  %constant_34 = constant() {} : float32[2] data=[1, 3]
  %constant_36 = constant() {} : float32[2] data=[4, 5]
  %shifted = normalization(%x, %constant_34, %constant_36) {eps=0.5, mode="layer"}
  %context = plugin_v2(%shifted, %shifted, %shifted) {namespace="torchtrt", type="Attention", version="1", scale=0.5, transpose_k=true}
  %w = constant() {} : float32[2, 4] data=[1, 2, 3, 4, 5, 6, 7, 8]
  %constant_40 = constant() {} : float32[4] data=[1, 2, 3, 4]
  %gelu = matrix_multiply(%context, %w, %constant_40) {activation="gelu_erf"}
  output "y" %gelu
})");
}

TEST(Optimize, LeavesOutWhatIsDisabled) {
  const auto network = network::parse(kBlock);
  Options options;
  options.disabled = {"fold_batch_norm", "recognize_global_pooling"};
  optimize(*network, options);
  EXPECT_THAT(network::print(*network), HasSubstr("normalization("));
  EXPECT_THAT(network::print(*network), HasSubstr("reduce("));
}

TEST(Optimize, DumpsAfterThePassesThatAreNamed) {
  const auto network = network::parse(kBlock);
  std::vector<std::string> dumped;
  Options options;
  options.dump_after = "^fold_b";
  options.dump = [&](const std::string& pass, const std::string& text) {
    if (dumped.empty()) {
      EXPECT_THAT(text, HasSubstr("network \"block\""));
    }
    dumped.push_back(pass);
  };
  optimize(*network, options);
  EXPECT_THAT(std::set<std::string>(dumped.begin(), dumped.end()), ElementsAre("fold_batch_norm"));
}

TEST(CreateManager, RefusesAnUnknownPass) {
  try {
    createManager({"fold_everything"});
    FAIL() << "an unknown pass was created";
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidOption);
    EXPECT_THAT(error.what(), HasSubstr("there is no pass named 'fold_everything'"));
  }
}

TEST(Pipeline, NamesPassesAsTheyNameThemselves) {
  std::set<std::string> names;
  for (const PassEntry& entry : pipeline()) {
    EXPECT_EQ(entry.create({})->name(), entry.name);
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name << " is listed twice";
  }
}

// The fuzzer runs all passes, and this asks for tests beside it. The test runs in the root of the repository.
TEST(Pipeline, EveryPassHasTestsOfWhatItChangesAndOfWhatItKeeps) {
  std::string tests;
  for (const auto& file : std::filesystem::directory_iterator("tests/unit/optimization")) {
    std::ifstream stream(file.path());
    for (std::string word; stream >> word;) {
      tests += word;  // without spaces, since a call may be broken after its parenthesis
    }
  }
  for (const PassEntry& entry : pipeline()) {
    for (const char* call : {"expectChanged", "expectKept"}) {
      EXPECT_NE(tests.find(std::string(call) + "(\"" + entry.name + "\""), std::string::npos)
          << "no " << call << " of " << entry.name;
    }
  }
}

// docs/passes.md is generated. The test runs in the root of the repository.
TEST(Pipeline, IsWhatTheDocumentationSays) {
  std::ifstream file("docs/passes.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str().starts_with(pipelineMarkdown()))
      << "the first part has to be what this prints: build/release/bin/torchtrt-opt --list-passes";
}

// Fusing must carry every source location along.
TEST(Optimize, MergesLocationsOfWhatItFuses) {
  const auto network = network::parse(kBlock);
  for (const char* name : {"conv1", "norm1", "sum", "relu"}) {
    network->findLayer(name)->setLocation({"model.py", 10, 4, "forward", name});
  }
  optimize(*network);
  EXPECT_EQ(network->findLayer("relu")->location().scope, "conv1 + norm1 + sum + relu");
}

}  // namespace
}  // namespace torchtrt::optimization::testing
