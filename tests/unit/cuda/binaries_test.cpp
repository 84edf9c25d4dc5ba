// Machine code that a plan brings along: made without a GPU, used where there is no compiler, and passed over where it
// does not fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "cuda/compile/program.h"
#include "cuda/device/stand_in.h"
#include "cuda/device_call.h"
#include "cuda/driver/cublaslt.h"
#include "cuda/driver/cudnn.h"
#include "cuda/emulation.h"
#include "cuda/fake_cublaslt.h"
#include "cuda/fake_cudnn.h"
#include "cuda/small_network.h"
#include "engine/schedule/precompile.h"
#include "plan/families.h"

namespace torchtrt::cuda::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using torchtrt::testing::errorOf;

plan::Plan planOf(PlanMaker make) {
  plan::fillDefaults(make.plan());
  return make.plan();
}

plan::Plan withBinaries(plan::Plan plan, const std::string& architecture = "sm_90") {
  plan.binaries = engine::precompiled(plan, architecture);
  return plan;
}

std::shared_ptr<const engine::LoadedEngine> loadPlan(const plan::Plan& plan) {
  return engine::loadBytes(plan::serialize(plan), {}, gpu());
}

std::vector<std::string> keysOf(const plan::Plan& plan) {
  std::vector<std::string> keys;
  for (const plan::Binary& binary : plan.binaries) {
    keys.push_back(binary.key);
  }
  return keys;
}

// A convolution with bias and relu of a channels-last image, and a product with a bias: NVIDIA's libraries compute
// them, in one step or in two, or kernels of this project do.
PlanMaker librariesNetwork(DType dtype) {
  PlanMaker make("libraries");
  const auto halves = [&](const char* name, const std::vector<int64_t>& dims) {
    const auto count = static_cast<size_t>(kernels::countOf(dims));
    return make.weight<uint16_t>(name, dims, std::vector<uint16_t>(count, dtype == DType::kFloat16 ? 0x3000 : 0x3e00),
                                 dtype);
  };
  const plan::Register n = make.symbol("n", 1, 2, 4);
  const int32_t x = make.input("x", {n, make.number(3), make.number(5), make.number(5)}, dtype);
  const int32_t image = make.step("reformat", {x}, make.at(x).dims, {}, dtype);
  make.at(image).order = {0, 2, 3, 1};
  const int32_t y = make.step("convolution", {image, halves("k", {4, 3, 3, 3}), halves("b", {4})},
                              {n, make.number(4), make.number(3), make.number(3)},
                              {{"stride", std::vector<int64_t>{1, 1}},
                               {"pre_padding", std::vector<int64_t>{0, 0}},
                               {"post_padding", std::vector<int64_t>{0, 0}},
                               {"dilation", std::vector<int64_t>{1, 1}},
                               {"activation", std::string("relu")}},
                              dtype);
  make.at(y).order = {0, 2, 3, 1};
  const int32_t rows = make.step("reformat", {y}, make.at(y).dims, {}, dtype);
  const int32_t flat = make.view("flat", rows, {n, make.number(36)});
  const int32_t product =
      make.step("matrix_multiply", {flat, halves("m", {5, 36}), halves("c", {5})}, {n, make.number(5)},
                {{"transpose_b", true}, {"activation", std::string("tanh")}}, dtype);
  make.output("p", product);
  return make;
}

class Binaries : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!isEmulated()) {
      GTEST_SKIP() << "takes the compiler away";
    }
  }
  static void expectRuns(const plan::Plan& plan, int64_t rows = 4) {
    const HostTensor tensor = tensorOf(rows, 3);
    expectEqual(callOnDevice(*loadPlan(plan), {tensor}), tensor);
  }
  static std::string failure(const plan::Plan& plan) {
    return errorOf([&] { callOnDevice(*loadPlan(plan), {tensorOf(4, 3)}); });
  }
};

TEST_F(Binaries, RunWhereThereIsNoCompiler) {
  const plan::Plan plan = withBinaries(planOf(network()));
  EXPECT_GE(plan.binaries.size(), 3U);
  for (const plan::Binary& binary : plan.binaries) {
    EXPECT_EQ(binary.architecture, "sm_90");
    EXPECT_EQ(binary.bytes, binary.code->size());
  }
  const WithoutCompiler none;
  expectRuns(plan);
  expectRuns(plan, 1);   // the least
  expectRuns(plan, 64);  // and the greatest of the range
}

TEST_F(Binaries, AreTheSameForEveryCompile) {
  const plan::Plan a = withBinaries(planOf(network())), b = withBinaries(planOf(network()));
  EXPECT_EQ(plan::serialize(a), plan::serialize(b));
  EXPECT_TRUE(
      std::is_sorted(a.binaries.begin(), a.binaries.end(), [](const auto& x, const auto& y) { return x.key < y.key; }));
  EXPECT_NE(keysOf(a), keysOf(withBinaries(planOf(network()), "sm_80")));
}

TEST_F(Binaries, WithoutThemTheMissingKernelHasAName) {
  const plan::Plan plan = planOf(network());
  const WithoutCompiler none;
  EXPECT_THAT(failure(plan), HasSubstr("[E006] the kernel map was not compiled for sm_90 before: NVRTC is missing"));
}

TEST_F(Binaries, CanOnlyBeMadeWithACompiler) {
  const WithoutCompiler none;
  EXPECT_EQ(errorOf([] { withBinaries(planOf(network())); }), "[E006] NVRTC is missing");
}

TEST_F(Binaries, OfAnotherArchitectureAreNotUsed) {
  const plan::Plan plan = withBinaries(planOf(network()), "sm_80");
  expectRuns(plan);
  const WithoutCompiler none;
  EXPECT_THAT(failure(plan), HasSubstr("was not compiled for sm_90 before"));
}

// The architecture is part of the key.
TEST_F(Binaries, OfAnotherArchitectureUnderThisOnesNameAreNotUsed) {
  plan::Plan plan = withBinaries(planOf(network()), "sm_80");
  for (plan::Binary& binary : plan.binaries) {
    binary.architecture = "sm_90";
    binary.hash = plan::contentHash(binary);
  }
  const WithoutCompiler none;
  EXPECT_THAT(failure(plan), HasSubstr("was not compiled for sm_90 before"));
}

TEST_F(Binaries, ThatAreDamagedAreNotUsed) {
  plan::Plan plan = withBinaries(planOf(network()));
  for (plan::Binary& binary : plan.binaries) {
    std::string damaged = *binary.code;
    damaged[damaged.size() / 2] ^= 1;
    binary.code = std::make_shared<const std::string>(damaged);
  }
  ::testing::internal::CaptureStderr();
  expectRuns(plan);
  const std::string count = std::to_string(plan.binaries.size());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("plan \"net\": " + count + " of its " + count + " binaries are damaged and not used"));
  const WithoutCompiler none;
  EXPECT_THAT(failure(plan), HasSubstr("was not compiled for sm_90 before"));
}

TEST_F(Binaries, ThatTheDriverRefusesAreCompiledAnew) {
  plan::Plan plan = withBinaries(planOf(network()));
  for (plan::Binary& binary : plan.binaries) {
    binary.code = std::make_shared<const std::string>("no machine code");
    binary.hash = plan::contentHash(binary);
  }
  useCompiler(compileByHost);  // forgets what was loaded
  expectRuns(plan);
}

// Programs have kernels of the same name.
TEST_F(Binaries, ThatChangedPlacesAreNotUsed) {
  plan::Plan plan = withBinaries(planOf(network()));
  for (size_t i = 0; i + 1 < plan.binaries.size(); ++i) {
    std::swap(plan.binaries[i].key, plan.binaries[i + 1].key);
  }
  useCompiler(compileByHost);
  expectRuns(plan);
}

TEST_F(Binaries, AreNotUsedWhereTheyAreSwitchedOff) {
  const plan::Plan plan = withBinaries(planOf(network()));
  const WithoutCompiler none;
  setenv("TORCHTRT_CUDA_BINARIES", "0", 1);
  EXPECT_THAT(failure(plan), HasSubstr("was not compiled for sm_90 before"));
  EXPECT_THAT(engine::kernelSwitches(), HasSubstr("no binaries"));
  unsetenv("TORCHTRT_CUDA_BINARIES");
  expectRuns(plan);
}

TEST_F(Binaries, ServeTheirEngineAsLongAsItLives) {
  const plan::Plan plan = withBinaries(planOf(network())), bare = planOf(network());
  auto engine = loadPlan(plan);
  {
    const WithoutCompiler none;
    expectRuns(bare);  // equal programs are found, whoever brought them
  }
  engine = nullptr;
  const WithoutCompiler none;
  EXPECT_THAT(failure(bare), HasSubstr("was not compiled for sm_90 before"));
}

TEST_F(Binaries, MeanNothingToTheCpu) {
  plan::Plan plan = withBinaries(planOf(network()));
  const auto engine = engine::loadBytes(plan::serialize(plan), {}, device::cpu());
  EXPECT_THAT(engine->inspect(), HasSubstr("binaries for \"sm_90\": " + std::to_string(plan.binaries.size()) + ", "));
}

// Only the GPU shows which way a library takes, so plans bring along the programs of all.
TEST_F(Binaries, ServeEveryWayOfTheLibraries) {
  struct Restore {
    ~Restore() {
      fakeCublasLt() = {};
      fakeCudnn() = {};
      useCublasLt(tableOfFakeCublasLt());
      useCudnn(tableOfFakeCudnn());
    }
  } restore;
  const std::function<void()> situations[] = {
      [] {},
      [] { fakeCublasLt().proposes_none = true; },
      [] { fakeCublasLt().proposes_no_epilogue = true; },
      [] { fakeCudnn().has_no_engines = true; },
      [] { fakeCudnn().fuses_nothing = true; },
      [] { fakeCudnn().fuses_nothing = fakeCudnn().widens_nothing = true; },
      [] { fakeCudnn().has_no_channels_last = true; },
      [] { fakeCudnn().fuses_nothing = fakeCudnn().has_no_channels_last = true; },
      [] {
        useCublasLt({}, "there is none");
        useCudnn({}, "there is none");
      },
  };
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const plan::Plan bare = planOf(librariesNetwork(dtype));
    const plan::Plan plan = withBinaries(bare);
    for (const auto& situation : situations) {
      fakeCublasLt() = {};
      fakeCudnn() = {};
      useCublasLt(tableOfFakeCublasLt());
      useCudnn(tableOfFakeCudnn());
      situation();
      EXPECT_EQ(keysOf(withBinaries(bare)), keysOf(plan));  // nor does it matter what the compiling machine has
      const WithoutCompiler none;
      const HostTensor image{{2, 3, 5, 5}, std::vector<float>(150, 0)};
      const DeviceInputs inputs({image});
      std::vector<engine::TensorView> views = inputs.views();
      views[0].dtype = dtype;
      DeviceOutputs outputs;
      EXPECT_EQ(errorOf([&] { loadPlan(plan)->enqueue(views, outputs, engine::CallOptions{}); }), "");
    }
  }
}

TEST(StandIn, HasTheArchitectureAndNoMemory) {
  const StandIn device("sm_120");
  EXPECT_FALSE(device.isHere());
  EXPECT_EQ(device.architecture(), "sm_120");
  EXPECT_EQ(device.capability(), 120);
  EXPECT_EQ(device.processors(), 188);
  EXPECT_NE(device.allocate(size_t{1} << 50, "a test").data(), nullptr);
  EXPECT_TRUE(device.make().empty());
}

}  // namespace
}  // namespace torchtrt::cuda::testing
