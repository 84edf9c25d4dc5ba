// Kernels that begin while the one in front still runs, and programs that are compiled side by side.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

#include "cuda/against_reference.h"
#include "cuda/compile/program.h"
#include "cuda/counted_driver.h"
#include "cuda/device_call.h"
#include "cuda/emulation.h"

namespace torchtrt::cuda::testing {
namespace {

using kernels::testing::Case;
using kernels::testing::makeAttributes;
using kernels::testing::makeTensor;
using kernels::testing::Values;

// The launches of a run, and how many of them may begin early.
std::pair<int, int> launchesOf(const Case& layer) {
  const CountedDriver driver;
  kernels::testing::run(layer);
  return {CountedDriver::counts().launches, CountedDriver::counts().early};
}

TEST(Overlap, IsForKernelsThatWaitForTheirInputs) {
  const Case waits = {"activation",
                      makeAttributes({{"op", std::string("relu")}}),
                      {makeTensor(DType::kFloat32, {4}, {-1, 2, -3, 4})},
                      {{DType::kFloat32, {4}}}};
  EXPECT_EQ(launchesOf(waits), (std::pair(1, 1)));
  const Case does_not = {"cumulative",
                         makeAttributes({{"op", std::string("sum")}, {"axis", int64_t{0}}}),
                         {makeTensor(DType::kFloat32, {4}, {1, 2, 3, 4})},
                         {{DType::kFloat32, {4}}}};
  const auto [launches, early] = launchesOf(does_not);
  EXPECT_GE(launches, 1);
  EXPECT_EQ(early, 0);
}

// Compiles by the host's compiler when two programs have come, or after ten seconds.
class Meeting {
 public:
  static Meeting& now() {
    static Meeting meeting;
    return meeting;
  }
  static std::string compile(const std::string& text, const std::string& architecture) {
    now().meet();
    return compileByHost(text, architecture);
  }
  bool hasMet() const {
    return has_met_;
  }

 private:
  void meet() {
    std::unique_lock lock(mutex_);
    has_met_ = ++came_ == 2 || has_met_;
    came_two_.notify_all();
    came_two_.wait_for(lock, std::chrono::seconds(10), [this] { return has_met_; });
  }

  std::mutex mutex_;
  std::condition_variable came_two_;
  int came_ = 0;
  bool has_met_ = false;
};

TEST(Overlap, ProgramsAreCompiledSideBySide) {
  if (!isEmulated() || device::cpu().properties().cores < 2) {
    GTEST_SKIP() << "needs the emulation and two cores";
  }
  useCompiler(Meeting::compile);
  const auto& device = dynamic_cast<const CudaDevice&>(gpu());
  const auto begin = [&](const char* number) {
    Source source;
    source.define("NUMBER", std::string(number) + "\nextern \"C\" __global__ void put(float* x) { *x = NUMBER; }");
    return DeviceFunction(device, source, "put");
  };
  const DeviceFunction one = begin("1"), two = begin("2");
  EXPECT_NE(one.get(), nullptr);
  EXPECT_NE(two.get(), one.get());
  EXPECT_TRUE(Meeting::now().hasMet());
  useCompiler(compileByHost);
}

}  // namespace
}  // namespace torchtrt::cuda::testing
