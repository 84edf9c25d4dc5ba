#include <gtest/gtest.h>

#include "optimization/optimization.h"
#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

using network::Tensor;

std::string attention(const std::string& inputs, const std::string& scores, const std::string& rest = "") {
  return R"(network "n" (s0 in [1, 2, 4]) {
  input %q : float32[s0, 2, 5, 8]
  input %v : float32[s0, 2, 3, 4]
)" + inputs +
         scores + R"(
  %weights = softmax(%scores) {axis=3}
  %y = matrix_multiply(%weights, %v) {}
  output "y" %y
)" + rest +
         "}";
}

constexpr const char* kKeys = "  input %k : float32[s0, 2, 8, 3]\n";
constexpr const char* kScores = "  %scores = matrix_multiply(%q, %k) {}";

std::string fused(const std::string& inputs, const std::string& operands, const std::string& fields) {
  return R"(network "n" (s0 in [1, 2, 4]) {
  input %q : float32[s0, 2, 5, 8]
  input %v : float32[s0, 2, 3, 4]
)" + inputs +
         "  %y = plugin_v2(" + operands + ") {namespace=\"torchtrt\", type=\"Attention\", version=\"1\", " + fields +
         R"(}
  output "y" %y
})";
}

TEST(FuseAttention, WithoutScale) {
  expectChanged("fuse_attention", attention(kKeys, kScores),
                fused(kKeys, "%q, %k, %v", "scale=1.0, transpose_k=false"));
}

TEST(FuseAttention, OfTransposedKeysWithScale) {
  const std::string keys = "  input %k : float32[s0, 2, 3, 8]\n";
  expectChanged("fuse_attention", attention(keys, R"(  %half = constant() {} : float32[] data=[0.5]
  %product = matrix_multiply(%q, %k) {transpose_b=true}
  %scores = elementwise(%product, %half) {op="prod"})"),
                fused(keys, "%q, %k, %v", "scale=0.5, transpose_k=true"));
}

TEST(FuseAttention, WithDivisorAndMask) {
  const std::string inputs = std::string(kKeys) + "  input %mask : float32[5, 3]\n";
  expectChanged("fuse_attention", attention(inputs, R"(  %two = constant() {} : float32[1] data=[2]
  %product = matrix_multiply(%q, %k) {}
  %scaled = elementwise(%product, %two) {op="div"}
  %scores = elementwise(%mask, %scaled) {op="sum"})"),
                fused(inputs, "%q, %k, %v, %mask", "scale=0.5, transpose_k=false"));
}

TEST(FuseAttention, NotWhereTheScoresAreReadElsewhere) {
  expectKept("fuse_attention", attention(kKeys, kScores, "  output \"scores\" %scores\n"));
}

TEST(FuseAttention, NotAMaskAddedBeforeTheScale) {
  expectKept("fuse_attention", attention(std::string(kKeys) + "  input %mask : float32[5, 3]\n",
                                         R"(  %two = constant() {} : float32[1] data=[2]
  %product = matrix_multiply(%q, %k) {}
  %masked = elementwise(%product, %mask) {op="sum"}
  %scores = elementwise(%masked, %two) {op="div"})"));
}

TEST(FuseAttention, NotWithAnActivationOnTheScores) {
  expectKept("fuse_attention", attention(kKeys, "  %scores = matrix_multiply(%q, %k) {activation=\"relu\"}"));
}

TEST(FuseAttention, NotOverAnotherAxis) {
  expectKept("fuse_attention", R"(network "n" () {
  input %q : float32[2, 3, 8]
  input %k : float32[2, 8, 3]
  input %v : float32[2, 3, 4]
  %scores = matrix_multiply(%q, %k) {}
  %weights = softmax(%scores) {axis=1}
  %y = matrix_multiply(%weights, %v) {}
  output "y" %y
})");
}

TEST(FuseAttention, NotWhereKeysAreSharedAmongTheBatch) {
  expectKept("fuse_attention", R"(network "n" () {
  input %q : float32[2, 3, 8]
  input %k : float32[1, 8, 3]
  input %v : float32[2, 3, 4]
  %scores = matrix_multiply(%q, %k) {}
  %weights = softmax(%scores) {axis=2}
  %y = matrix_multiply(%weights, %v) {}
  output "y" %y
})");
}

// Queries and keys of these dims are fused as far as the kernel is worth it.
bool isFused(const std::string& queries, const std::string& keys) {
  const auto network = network::parse(R"(network "n" (s0 in [0, 2, 4], s1 in [0, 20, 40], s2 in [9, 20, 40]) {
  input %q : float32[2, )" + queries + R"(, 64]
  input %k : float32[2, )" + keys + R"(, 64]
  input %v : float32[2, )" + keys + R"(, 64]
  %scores = matrix_multiply(%q, %k) {transpose_b=true}
  %weights = softmax(%scores) {axis=2}
  %y = matrix_multiply(%weights, %v) {}
  output "y" %y
})");
  return createManager({"fuse_attention"}, {}).run(*network);
}

TEST(FuseAttention, OfFewQueriesIfTheyMayMeetManyKeys) {
  EXPECT_TRUE(isFused("1", "100"));
  EXPECT_TRUE(isFused("1", "s1"));
  EXPECT_TRUE(isFused("8", "s1"));
  EXPECT_TRUE(isFused("s0", "s1"));
  EXPECT_TRUE(isFused("9", "8"));
  EXPECT_TRUE(isFused("s2", "8"));
  EXPECT_FALSE(isFused("1", "7"));
  EXPECT_FALSE(isFused("9", "7"));
  EXPECT_FALSE(isFused("9", "s1")) << "the keys may be too few to pack";
  EXPECT_FALSE(isFused("s1", "100")) << "the queries may be too few to pack";
}

// The same text in another dtype.
std::string in(const std::string& dtype, std::string text) {
  for (size_t at = text.find("float32"); at != std::string::npos; at = text.find("float32", at)) {
    text.replace(at, 7, dtype);
  }
  return text;
}

TEST(FuseAttention, InSixteenBitsToo) {
  const std::string inputs = std::string(kKeys) + "  input %mask : float32[5, 3]\n";
  const std::string before = attention(inputs, R"(  %half = constant() {} : float32[] data=[0.5]
  %product = matrix_multiply(%q, %k) {}
  %scaled = elementwise(%product, %half) {op="prod"}
  %scores = elementwise(%scaled, %mask) {op="sum"})");
  const std::string after = fused(inputs, "%q, %k, %v, %mask", "scale=0.5, transpose_k=false");
  for (const char* dtype : {"float16", "bfloat16"}) {
    // Numbers differ by what the layers round in between; tests/unit/cpu/attention_test.cpp has those of the
    // kernel.
    const auto network = network::parse(in(dtype, before));
    Options options;
    options.min_attention_queries = options.min_attention_keys = 1;
    EXPECT_TRUE(createManager({"fuse_attention"}, options).run(*network));
    EXPECT_EQ(network::print(*network), network::print(*network::parse(in(dtype, after))));
  }
}

// Scores in float32 of operands in bfloat16, as scaled_dot_product_attention has them.
std::string widened(const std::string& result) {
  return R"(network "n" () {
  input %q : bfloat16[2, 5, 8]
  input %k : bfloat16[2, 8, 3]
  input %v : bfloat16[2, 3, 4]
  %wide_q = cast(%q) {to=float32}
  %wide_k = cast(%k) {to=float32}
  %wide_v = cast(%v) {to=float32}
  %scores = matrix_multiply(%wide_q, %wide_k) {}
  %weights = softmax(%scores) {axis=2}
  %context = matrix_multiply(%weights, %wide_v) {}
)" + result +
         "}";
}

std::string afterFusion(const std::string& text) {
  const auto network = network::parse(text);
  Options options;
  options.min_attention_queries = options.min_attention_keys = 1;
  EXPECT_TRUE(createManager({"fuse_attention", "remove_dead_layers"}, options).run(*network));
  return network::print(*network);
}

TEST(FuseAttention, TakesTheCastsAroundItAlong) {
  const auto wanted = network::parse(R"(network "n" () {
  input %q : bfloat16[2, 5, 8]
  input %k : bfloat16[2, 8, 3]
  input %v : bfloat16[2, 3, 4]
  %y = plugin_v2(%q, %k, %v) {namespace="torchtrt", type="Attention", version="1", scale=1.0, transpose_k=false}
  output "y" %y
})");
  EXPECT_EQ(afterFusion(widened("  %y = cast(%context) {to=bfloat16}\n  output \"y\" %y\n")), network::print(*wanted));
}

// scaled_dot_product_attention scales its queries in float32; others scale both.
TEST(FuseAttention, TakesCastsAlongThroughScales) {
  const auto scaled = [](const std::string& factor) {
    return R"(network "n" () {
  input %q : float16[2, 5, 8]
  input %k : float16[2, 3, 8]
  input %v : float16[2, 3, 4]
  %factor = constant() {} : float32[] data=[)" +
           factor + R"(]
  %wide_q = cast(%q) {to=float32}
  %wide_k = cast(%k) {to=float32}
  %wide_v = cast(%v) {to=float32}
  %scaled_q = elementwise(%wide_q, %factor) {op="prod"}
  %scaled_k = elementwise(%wide_k, %factor) {op="prod"}
  %scores = matrix_multiply(%scaled_q, %scaled_k) {transpose_b=true}
  %weights = softmax(%scores) {axis=2}
  %context = matrix_multiply(%weights, %wide_v) {}
  %y = cast(%context) {to=float16}
  output "y" %y
})";
  };
  const auto wanted = network::parse(R"(network "n" () {
  input %q : float16[2, 5, 8]
  input %k : float16[2, 3, 8]
  input %v : float16[2, 3, 4]
  %y = plugin_v2(%q, %k, %v) {namespace="torchtrt", type="Attention", version="1", scale=0.25, transpose_k=true}
  output "y" %y
})");
  EXPECT_EQ(afterFusion(scaled("0.5")), network::print(*wanted));
  const std::string beyond = afterFusion(scaled("1e-30"));  // float32 has no 1e-60
  EXPECT_NE(beyond.find("plugin_v2(%scaled_q, %scaled_k, %wide_v)"), std::string::npos) << beyond;
}

TEST(FuseAttention, LeavesCastsThatOthersReadOrThatGoElsewhere) {
  for (const char* result : {"  output \"y\" %context\n", "  %y = cast(%context) {to=float16}\n  output \"y\" %y\n",
                             "  %y = cast(%context) {to=bfloat16}\n  output \"y\" %y\n  output \"c\" %context\n"}) {
    const std::string text = afterFusion(widened(result));
    EXPECT_NE(text.find("plugin_v2(%wide_q, %wide_k, %wide_v)"), std::string::npos) << text;
  }
}

TEST(FuseAttention, NotInDouble) {
  expectKept("fuse_attention", R"(network "n" () {
  input %q : float64[2, 3, 8]
  input %k : float64[2, 8, 3]
  input %v : float64[2, 3, 4]
  %scores = matrix_multiply(%q, %k) {}
  %weights = softmax(%scores) {axis=2}
  %y = matrix_multiply(%weights, %v) {}
  output "y" %y
})");
}

TEST(FuseAttention, OnlyWhereItIsFaster) {
  const auto fused = [](int64_t queries, int64_t keys) {
    network::Network network;
    const auto input = [&](const char* name, const Dims& dims) {
      return network.addInput(name, DType::kFloat32, dims);
    };
    Tensor* scores =
        network.addMatrixMultiply(*input("q", {1, queries, 8}), false, *input("k", {1, 8, keys}), false)->getOutput(0);
    Tensor* weights = network.addSoftMax(*scores, 2)->getOutput(0);
    network.markOutput(*network.addMatrixMultiply(*weights, false, *input("v", {1, keys, 8}), false)->getOutput(0));
    return createManager({"fuse_attention"}).run(network);
  };
  EXPECT_TRUE(fused(8, 8));
  EXPECT_FALSE(fused(7, 1024));
  EXPECT_FALSE(fused(256, 7));
}

// Attention over heads [2, 3, 5, 8] q, k and v, whose results are put side by side.
std::string weighted(const std::string& operands) {
  return operands + R"(
  %scores = matrix_multiply(%q, %k) {transpose_b=true}
  %weights = softmax(%scores) {axis=3}
  %heads = matrix_multiply(%weights, %v) {}
  %y = shuffle(%heads) {first_permutation=[0, 2, 1, 3], reshape_dims=[2, 5, 24]}
  output "y" %y
})";
}

constexpr const char* kSplitQkv = R"(network "n" () {
  input %x : float32[2, 5, 72]
  %parts = shuffle(%x) {reshape_dims=[2, 5, 3, 3, 8], second_permutation=[2, 0, 3, 1, 4]}
  %q1 = slice(%parts) {size=[1, 2, 3, 5, 8], start=[0, 0, 0, 0, 0], stride=[1, 1, 1, 1, 1]}
  %k1 = slice(%parts) {size=[1, 2, 3, 5, 8], start=[1, 0, 0, 0, 0], stride=[1, 1, 1, 1, 1]}
  %v1 = slice(%parts) {size=[1, 2, 3, 5, 8], start=[2, 0, 0, 0, 0], stride=[1, 1, 1, 1, 1]}
  %q0 = shuffle(%q1) {reshape_dims=[2, 3, 5, 8]}
  %k = shuffle(%k1) {reshape_dims=[2, 3, 5, 8]}
  %v = shuffle(%v1) {reshape_dims=[2, 3, 5, 8]}
  %half = constant() {} : float32[] data=[0.5]
  %q = elementwise(%q0, %half) {op="prod"})";

constexpr const char* kInChannels =
    R"({namespace="torchtrt", type="Attention", version="1", head_size=8, heads=3, k_channel=24, q_channel=0, )"
    R"(scale=0.5, sequence_first=false, transpose_k=true, v_channel=48, value_size=8})";

TEST(FuseAttention, ReadsHeadsInTheChannelsOfOneProduct) {
  expectChanged("fuse_attention", weighted(kSplitQkv),
                std::string(R"(network "n" () {
  input %x : float32[2, 5, 72]
  %plugin_v2_13 = plugin_v2(%x, %x, %x) )") +
                    kInChannels +
                    R"(
  %heads = shuffle(%plugin_v2_13) {reshape_dims=[2, 5, 3, 8], second_permutation=[0, 2, 1, 3]}
  %y = shuffle(%heads) {first_permutation=[0, 2, 1, 3], reshape_dims=[2, 5, 24]}
  output "y" %y
})");
}

TEST(FuseAttention, ReadsHeadsOfSequencesThatComeFirst) {
  expectChanged("fuse_attention", R"(network "n" () {
  input %x : float32[5, 2, 24]
  %m = shuffle(%x) {reshape_dims=[5, 6, 8], second_permutation=[1, 0, 2]}
  %q = shuffle(%m) {reshape_dims=[2, 3, 5, 8]}
  %scores = matrix_multiply(%q, %q) {transpose_b=true}
  %weights = softmax(%scores) {axis=3}
  %y = matrix_multiply(%weights, %q) {}
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[5, 2, 24]
  %plugin_v2_5 = plugin_v2(%x, %x, %x) {namespace="torchtrt", type="Attention", version="1", head_size=8, heads=3, k_channel=0, q_channel=0, scale=1.0, sequence_first=true, transpose_k=true, v_channel=0, value_size=8}
  %y = shuffle(%plugin_v2_5) {reshape_dims=[5, 2, 3, 8], second_permutation=[1, 2, 0, 3]}
  output "y" %y
})");
}

TEST(FuseAttention, TakesMatricesWhereHeadsLieOtherwise) {
  // Elements of a head are three apart: nothing that the kernel reads in place.
  const std::string operands = R"(network "n" () {
  input %x : float32[2, 5, 24]
  %q = shuffle(%x) {reshape_dims=[2, 5, 8, 3], second_permutation=[0, 3, 1, 2]}
)";
  const std::string rest = R"(  output "y" %y
})";
  expectChanged(
      "fuse_attention", operands + R"(  %scores = matrix_multiply(%q, %q) {transpose_b=true}
  %weights = softmax(%scores) {axis=3}
  %y = matrix_multiply(%weights, %q) {}
)" + rest,
      operands +
          R"(  %y = plugin_v2(%q, %q, %q) {namespace="torchtrt", type="Attention", version="1", scale=1.0, transpose_k=true}
)" + rest);
}

TEST(FuseAttention, WithTwoMasksOfWhichOneIsPerWindow) {
  const std::string inputs =
      std::string(kKeys) + "  input %bias : float32[1, 2, 5, 3]\n  input %windows : float32[1, 1, 1, 5, 3]\n";
  expectChanged("fuse_attention", attention(inputs, R"(  %product = matrix_multiply(%q, %k) {}
  %biased = elementwise(%product, %bias) {op="sum"}
  %cut = shuffle(%biased) {reshape_dims=[s0, 1, 2, 5, 3]}
  %masked = elementwise(%cut, %windows) {op="sum"}
  %scores = shuffle(%masked) {reshape_dims=[s0, 2, 5, 3]})"),
                R"(network "n" (s0 in [1, 2, 4]) {
  input %q : float32[s0, 2, 5, 8]
  input %v : float32[s0, 2, 3, 4]
)" + inputs + R"(  %shuffle_7 = shuffle(%windows) {reshape_dims=[1, 1, 5, 3]}
  %y = plugin_v2(%q, %k, %v, %bias, %shuffle_7) {namespace="torchtrt", type="Attention", version="1", scale=1.0, transpose_k=false}
  output "y" %y
})");
}

constexpr const char* kSafe = R"(  %product = matrix_multiply(%q, %k) {}
  %nothing = constant() {} : float32[] data=[-inf]
  %zero = constant() {} : float32[] data=[0.0]
  %masked = select(%keep, %product, %nothing) {}
  %greatest = reduce(%masked) {axes=[3], keep_dims=true, op="max"}
  %empty = elementwise(%greatest, %nothing) {op="equal"}
  %some = softmax(%masked) {axis=3}
  %weights = select(%empty, %zero, %some) {}
  %y = matrix_multiply(%weights, %v) {}
  output "y" %y
})";

std::string safe(const std::string& scores) {
  return std::string(R"(network "n" (s0 in [1, 2, 4]) {
  input %q : float32[s0, 2, 5, 8]
  input %v : float32[s0, 2, 3, 4]
  input %k : float32[s0, 2, 8, 3]
  input %keep : bool[5, 3]
)") + scores;
}

TEST(FuseAttention, WithChosenKeysAndRowsThatMayBeEmpty) {
  expectChanged(
      "fuse_attention", safe(kSafe),
      safe(
          R"(  %y = plugin_v2(%q, %k, %v, %keep) {namespace="torchtrt", type="Attention", version="1", safe=true, scale=1.0, transpose_k=false}
  output "y" %y
})"));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(FuseAttention, WithoutMasksThatHideNothing) {
  const auto added = [](const std::string& mask) {
    return attention(kKeys, "  %mask = constant() {} : float32[5, 3] data=[" + mask + R"(]
  %product = matrix_multiply(%q, %k) {}
  %scores = elementwise(%product, %mask) {op="sum"})");
  };
  expectChanged("fuse_attention", added("0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0"),
                fused(kKeys, "%q, %k, %v", "scale=1.0, transpose_k=false"));
  const std::string other = added("0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1");
  const std::string text = afterFusion(other);
  EXPECT_NE(text.find("plugin_v2(%q, %k, %v, %mask)"), std::string::npos) << text;
}

TEST(FuseAttention, WithoutCareForRowsThatNothingEmpties) {
  const auto withKeys = [](const std::string& keep, const std::string& rest) {
    return replaced(safe(rest), "  input %keep : bool[5, 3]\n",
                    keep.empty() ? "" : "  %keep = constant() {} : bool[5, 3] data=[" + keep + "]\n");
  };
  expectChanged(
      "fuse_attention", withKeys("1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1", kSafe),
      withKeys(
          "",
          R"(  %y = plugin_v2(%q, %k, %v) {namespace="torchtrt", type="Attention", version="1", scale=1.0, transpose_k=false}
  output "y" %y
})"));
  const std::string some = afterFusion(withKeys("1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1", kSafe));
  EXPECT_NE(some.find("safe=true"), std::string::npos) << some;
}

TEST(FuseAttention, NotWhereEmptyRowsBecomeSomethingElse) {
  expectKept("fuse_attention", safe(replaced(kSafe, "data=[0.0]", "data=[1.0]")));
  expectKept("fuse_attention", safe(replaced(kSafe, "data=[-inf]", "data=[-100]")));
}

TEST(FuseAttention, NotScalesThatFloat32HasNot) {
  expectKept("fuse_attention", attention(kKeys, R"(  %tiny = constant() {} : float32[1] data=[1e-40]
  %product = matrix_multiply(%q, %k) {}
  %scores = elementwise(%product, %tiny) {op="div"})"));
  // A factor that does not go into the scale of heads stays before the matmul.
  const std::string operands = replaced(kSplitQkv, "data=[0.5]", "data=[1e-25]");
  const std::string small = R"(  %product = matrix_multiply(%q, %k) {transpose_b=true}
  %small = constant() {} : float32[] data=[1e-25]
  %scores = elementwise(%product, %small) {op="prod"})";
  const std::string fused =
      R"(  %heads = plugin_v2(%q, %k, %v) {namespace="torchtrt", type="Attention", version="1", scale=1.0000000195414814e-25, transpose_k=true}
)";
  std::string before = replaced(weighted(operands), "  %scores = matrix_multiply(%q, %k) {transpose_b=true}", small);
  std::string after = replaced(weighted(operands), "  %scores = matrix_multiply(%q, %k) {transpose_b=true}\n", "");
  after = replaced(after, "  %weights = softmax(%scores) {axis=3}\n", "");
  expectChanged("fuse_attention", before, replaced(after, "  %heads = matrix_multiply(%weights, %v) {}\n", fused));
}

TEST(FuseAttention, NotAMaskThatCutsTheHeadsInTwo) {
  expectKept("fuse_attention", R"(network "n" () {
  input %q : float32[3, 4, 5, 8]
  input %v : float32[3, 4, 3, 4]
  input %k : float32[3, 4, 8, 3]
  input %mask : float32[1, 2, 1, 5, 3]
  %product = matrix_multiply(%q, %k) {}
  %cut = shuffle(%product) {reshape_dims=[3, 2, 2, 5, 3]}
  %masked = elementwise(%cut, %mask) {op="sum"}
  %scores = shuffle(%masked) {reshape_dims=[3, 4, 5, 3]}
  %weights = softmax(%scores) {axis=3}
  %y = matrix_multiply(%weights, %v) {}
  output "y" %y
})");
}

TEST(FuseAttention, NotWithThreeMasks) {
  expectKept("fuse_attention", attention(std::string(kKeys) + "  input %mask : float32[5, 3]\n",
                                         R"(  %product = matrix_multiply(%q, %k) {}
  %a = elementwise(%product, %mask) {op="sum"}
  %b = elementwise(%a, %mask) {op="sum"}
  %scores = elementwise(%b, %mask) {op="sum"})"));
}

}  // namespace
}  // namespace torchtrt::optimization::testing
