#include <gtest/gtest.h>

#include "optimization/optimization.h"
#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

// x [2, 3, 4], of which the lines are rolled by one along axis 1.
std::string rolled(const std::string& rest, const std::string& dtype = "float32") {
  return R"(network "n" () {
  input %x : )" +
         dtype + R"([2, 3, 4]
  %back = slice(%x) {size=[2, 2, 4], start=[0, 1, 0], stride=[1, 1, 1]}
  %front = slice(%x) {size=[2, 1, 4], start=[0, 0, 0], stride=[1, 1, 1]}
  %r = concatenation(%back, %front) {axis=1}
)" + rest +
         "}";
}

TEST(GatherRows, ARollIsOneMove) {
  expectChanged("gather_rows", rolled("  output \"r\" %r\n"), R"(network "n" () {
  input %x : float32[2, 3, 4]
  %constant_3 = constant() {} : int64[6] data=[1, 2, 0, 4, 5, 3]
  %shuffle_4 = shuffle(%x) {reshape_dims=[6, 4]}
  %gather_5 = gather(%shuffle_4, %constant_3) {axis=0}
  %r = shuffle(%gather_5) {reshape_dims=[2, 3, 4]}
  output "r" %r
})");
}

TEST(GatherRows, WithTheWindowsCutOutOfIt) {
  expectChanged("gather_rows",
                rolled(R"(  %windows = shuffle(%r) {first_permutation=[1, 0, 2], reshape_dims=[3, 2, 1, 4]}
  %y = shuffle(%windows) {first_permutation=[2, 1, 0, 3], reshape_dims=[6, 4]}
  output "y" %y
)"),
                R"(network "n" () {
  input %x : float32[2, 3, 4]
  %constant_5 = constant() {} : int64[6] data=[1, 2, 0, 4, 5, 3]
  %shuffle_6 = shuffle(%x) {reshape_dims=[6, 4]}
  %y = gather(%shuffle_6, %constant_5) {axis=0}
  output "y" %y
})");
}

TEST(GatherRows, TakesEverySecondRowAndRowsThatRepeat) {
  expectChanged("gather_rows", R"(network "n" () {
  input %x : float32[5, 4]
  %odd = slice(%x) {size=[2, 4], start=[1, 0], stride=[2, 1]}
  %down = slice(%x) {size=[3, 4], start=[4, 0], stride=[-2, 1]}
  %y = concatenation(%odd, %down, %odd) {axis=0}
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[5, 4]
  %constant_3 = constant() {} : int64[7] data=[1, 3, 4, 2, 0, 1, 3]
  %y = gather(%x, %constant_3) {axis=0}
  output "y" %y
})");
}

TEST(GatherRows, TakesRowsOfALayerWithoutOperands) {
  expectChanged("gather_rows", R"(network "n" () {
  %x = fill() {op="arange", dims=[12], dtype=float32, step=1}
  %lines = shuffle(%x) {reshape_dims=[3, 4]}
  %back = slice(%lines) {size=[2, 4], start=[1, 0], stride=[1, 1]}
  %front = slice(%lines) {size=[1, 4], start=[0, 0], stride=[1, 1]}
  %y = concatenation(%back, %front) {axis=0}
  output "y" %y
})",
                R"(network "n" () {
  %x = fill() {op="arange", dims=[12], dtype=float32, step=1}
  %lines = shuffle(%x) {reshape_dims=[3, 4]}
  %constant_5 = constant() {} : int64[3] data=[1, 2, 0]
  %y = gather(%lines, %constant_5) {axis=0}
  output "y" %y
})");
  expectChanged("gather_rows", R"(network "n" () {
  %x = fill() {op="constant", dims=[3, 4], dtype=float32, value=1}
  %back = slice(%x) {size=[2, 4], start=[1, 0], stride=[1, 1]}
  %front = slice(%x) {size=[1, 4], start=[0, 0], stride=[1, 1]}
  %y = concatenation(%back, %front) {axis=0}
  output "y" %y
})",
                R"(network "n" () {
  %x = fill() {op="constant", dims=[3, 4], dtype=float32, value=1}
  %constant_4 = constant() {} : int64[3] data=[1, 2, 0]
  %y = gather(%x, %constant_4) {axis=0}
  output "y" %y
})");
}

TEST(GatherRows, NotWhatIsReadBetween) {
  expectKept("gather_rows", rolled("  output \"r\" %r\n  output \"front\" %front\n"));
}

TEST(GatherRows, NotShortRows) {
  expectKept("gather_rows", rolled("  output \"r\" %r\n", "float16"));
}

TEST(GatherRows, NotPartsOfRows) {
  expectKept("gather_rows", R"(network "n" () {
  input %x : float32[3, 8]
  %right = slice(%x) {size=[3, 4], start=[0, 4], stride=[1, 1]}
  %left = slice(%x) {size=[3, 4], start=[0, 0], stride=[1, 1]}
  %y = concatenation(%right, %left) {axis=1}
  output "y" %y
})");
}

TEST(GatherRows, NotRowsThatAreTurnedRound) {
  expectKept("gather_rows", R"(network "n" () {
  input %x : float32[2, 3, 4]
  %back = slice(%x) {size=[2, 2, 4], start=[0, 1, 3], stride=[1, 1, -1]}
  %front = slice(%x) {size=[2, 1, 4], start=[0, 0, 0], stride=[1, 1, 1]}
  %r = concatenation(%back, %front) {axis=1}
  output "r" %r
})");
}

TEST(GatherRows, NotShufflesThatTurnRowsIntoColumns) {
  expectChanged("gather_rows", R"(network "n" () {
  input %x : float32[2, 4, 4]
  %back = slice(%x) {size=[2, 3, 4], start=[0, 1, 0], stride=[1, 1, 1]}
  %front = slice(%x) {size=[2, 1, 4], start=[0, 0, 0], stride=[1, 1, 1]}
  %r = concatenation(%back, %front) {axis=1}
  %y = shuffle(%r) {first_permutation=[0, 2, 1]}
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[2, 4, 4]
  %constant_4 = constant() {} : int64[8] data=[1, 2, 3, 0, 5, 6, 7, 4]
  %shuffle_5 = shuffle(%x) {reshape_dims=[8, 4]}
  %gather_6 = gather(%shuffle_5, %constant_4) {axis=0}
  %r = shuffle(%gather_6) {reshape_dims=[2, 4, 4]}
  %y = shuffle(%r) {first_permutation=[0, 2, 1]}
  output "y" %y
})");
}

TEST(GatherRows, NotRowsOfTwoTensors) {
  expectKept("gather_rows", R"(network "n" () {
  input %x : float32[3, 4]
  input %z : float32[3, 4]
  %a = slice(%x) {size=[2, 4], start=[1, 0], stride=[1, 1]}
  %b = slice(%z) {size=[2, 4], start=[0, 0], stride=[1, 1]}
  %y = concatenation(%a, %b) {axis=0}
  output "y" %y
})");
}

TEST(GatherRows, NotWithADynamicBatch) {
  expectKept("gather_rows", R"(network "n" (s0 in [1, 2, 4]) {
  input %x : float32[s0, 3, 4]
  %back = slice(%x) {size=[s0, 2, 4], start=[0, 1, 0], stride=[1, 1, 1]}
  %front = slice(%x) {size=[s0, 1, 4], start=[0, 0, 0], stride=[1, 1, 1]}
  %y = concatenation(%back, %front) {axis=1}
  output "y" %y
})");
}

TEST(GatherRows, NotPartsOfDynamicLengthThatAddUpToAKnownOne) {
  expectKept("gather_rows", R"(network "n" (s0 in [1, 2, 4]) {
  input %x : float32[5, 4]
  %one = slice(%x) {size=[1, 4], start=[0, 0], stride=[1, 1]}
  %front = slice(%x) {size=[s0, 4], start=[0, 0], stride=[1, 1]}
  %back = slice(%x) {size=[5 - s0, 4], start=[s0, 0], stride=[1, 1]}
  %y = concatenation(%one, %back, %front) {axis=0}
  output "y" %y
})");
}

// Each roll reads the one before twice: traced anew for each they would take 2^40 steps.
TEST(GatherRows, ManyRollsInARowAreOneMove) {
  network::Network network;
  network::Tensor* x = network.addInput("x", DType::kFloat32, {41, 4});
  for (int i = 0; i < 40; ++i) {
    network::Tensor* back = network.addSlice(*x, {1, 0}, {40, 4}, {1, 1})->getOutput(0);
    network::Tensor* front = network.addSlice(*x, {0, 0}, {1, 4}, {1, 1})->getOutput(0);
    x = network.addConcatenation({back, front}, 0)->getOutput(0);
  }
  network.markOutput(*x);
  EXPECT_TRUE(createManager({"gather_rows"}).run(network));
  EXPECT_EQ(network.layers().size(), 2U) << "indices and a gather";
}

TEST(GatherRows, NotAFewRowsOfAHugeTensor) {
  expectKept("gather_rows", R"(network "n" () {
  input %x : float32[1048577, 4]
  %a = slice(%x) {size=[1, 4], start=[7, 0], stride=[1, 1]}
  %b = slice(%x) {size=[1, 4], start=[5, 0], stride=[1, 1]}
  %y = concatenation(%a, %b) {axis=0}
  output "y" %y
})");
}

TEST(GatherRows, NotOfMoreElementsThanNumbersCount) {
  for (const char* dims : {"9223372036854775807, 1, 4", "4294967296, 4294967296, 4"}) {
    expectKept("gather_rows", "network \"n\" () {\n  input %x : float32[" + std::string(dims) + R"(]
  %y = concatenation(%x, %x) {axis=1}
  output "y" %y
})");
  }
}

TEST(GatherRows, NotSlicesAndShufflesAlone) {
  expectKept("gather_rows", R"(network "n" () {
  input %x : float32[4, 3, 4]
  %a = slice(%x) {size=[2, 3, 4], start=[1, 0, 0], stride=[2, 1, 1]}
  %b = shuffle(%a) {first_permutation=[1, 0, 2]}
  %y = slice(%b) {size=[2, 2, 4], start=[1, 0, 0], stride=[1, 1, 1]}
  output "y" %y
})");
}

}  // namespace
}  // namespace torchtrt::optimization::testing
