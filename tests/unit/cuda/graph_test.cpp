// Recordings by themselves: parts with launches of this backend, and with other work.
#include "cuda/device/graph.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "cuda/compile/program.h"
#include "cuda/emulation.h"
#include "kernels/backend.h"
#include "torchtrt/error.h"

namespace torchtrt::cuda {
namespace {

const device::Device& gpu() {
  return kernels::deviceNamed("cuda:0");
}

// A function of one pointer, which adds a number.
FunctionHandle add(int number) {
  Source source;
  source.define("NOTHING", "\nextern \"C\" __global__ void add(float* x) { *x += " + std::to_string(number) + "; }");
  return DeviceFunction(dynamic_cast<const CudaDevice&>(gpu()), source, "add").get();
}

FunctionHandle addOne() {
  return add(1);
}

class Numbers {
 public:
  Numbers() : memory_(gpu().allocate(2 * sizeof(float), "numbers of a test")) {
    add(1), add(2);  // compiles and loads them, outside of recordings
    const float zeros[2] = {0, 0};
    gpu().copyIn(memory_.data(), zeros, sizeof(zeros), {});
  }
  float* at(size_t index) const {
    return static_cast<float*>(memory_.data()) + index;
  }
  std::pair<float, float> values() const {
    float values[2];
    gpu().copyOut(values, memory_.data(), sizeof(values), {});
    return {values[0], values[1]};
  }

 private:
  device::Memory memory_;
};

// A library's launch is one that nobody tells the recording of.
void giveForeign(float* to, device::Stream stream, int number = 1) {
  void* arguments[] = {static_cast<void*>(&to)};
  const ContextScope scope(dynamic_cast<const CudaDevice&>(gpu()));
  LaunchConfiguration launch;
  launch.stream = stream.handle;
  check(driver().launch(&launch, add(number), arguments, nullptr), "a test's launch");
}

void giveOwn(float* to, device::Stream stream) {
  const unsigned one[3] = {1, 1, 1};
  void* arguments[] = {static_cast<void*>(&to)};
  if (!Capture::take(addOne(), one, one, 0, arguments)) {
    giveForeign(to, stream);
  }
}

const device::Recorder& recorder() {
  return dynamic_cast<const device::Recorder&>(gpu());
}

TEST(Recordings, WorkOfLibrariesIsRenewedByCapturingItAgain) {
  const Numbers numbers;
  float* to = numbers.at(0);
  const device::PartBody body = [&](size_t part, device::Stream stream) {
    if (part == 0) {
      giveForeign(to, stream);
      giveForeign(to, stream);
    } else {
      giveOwn(to, stream);
    }
  };
  const auto recording = recorder().recordParts(2, body);
  ASSERT_NE(recording, nullptr);
  EXPECT_EQ(numbers.values(), std::pair(0.0F, 0.0F)) << "recording runs nothing";
  recording->replay({});
  EXPECT_EQ(numbers.values(), std::pair(3.0F, 0.0F));
  to = numbers.at(1);
  ASSERT_TRUE(recording->renew({0}, body));
  EXPECT_EQ(numbers.values(), std::pair(3.0F, 0.0F)) << "renewing runs nothing";
  recording->replay({});
  EXPECT_EQ(numbers.values(), std::pair(4.0F, 2.0F)) << "part 1 was not renewed";
  ASSERT_TRUE(recording->renew({0, 1}, body));
  recording->replay({});
  EXPECT_EQ(numbers.values(), std::pair(4.0F, 5.0F));
}

TEST(Recordings, MemoryThatIsZeroedIsRenewedAndCopiesAreNot) {
  const Numbers numbers;
  size_t at = 0;
  const device::PartBody body = [&](size_t, device::Stream stream) {
    gpu().zero(numbers.at(at), sizeof(float), stream);
    giveForeign(numbers.at(at), stream);
  };
  const auto recording = recorder().recordParts(1, body);
  ASSERT_NE(recording, nullptr);
  recording->replay({});
  recording->replay({});
  EXPECT_EQ(numbers.values(), std::pair(1.0F, 0.0F));
  giveForeign(numbers.at(1), {}, 2);
  at = 1;
  ASSERT_TRUE(recording->renew({0}, body));
  recording->replay({});
  EXPECT_EQ(numbers.values(), std::pair(1.0F, 1.0F));
  const auto copies = recorder().recordParts(
      1, [&](size_t, device::Stream stream) { gpu().copyWithin(numbers.at(0), numbers.at(1), sizeof(float), stream); });
  EXPECT_FALSE(copies->renew({0}, [&](size_t, device::Stream stream) {
    gpu().copyWithin(numbers.at(1), numbers.at(0), sizeof(float), stream);
  }));
}

// The node would keep attributes of the function that was recorded.
TEST(Recordings, ALibraryThatTakesAnotherFunctionIsNotRenewed) {
  const Numbers numbers;
  int number = 1;
  const device::PartBody body = [&](size_t, device::Stream stream) { giveForeign(numbers.at(0), stream, number); };
  const auto recording = recorder().recordParts(1, body);
  ASSERT_NE(recording, nullptr);
  EXPECT_TRUE(recording->renew({0}, body));
  number = 2;
  EXPECT_FALSE(recording->renew({0}, body));
}

TEST(Recordings, OfADeviceAreWholes) {
  const Numbers numbers;
  const auto recording = gpu().record([&](device::Stream stream) {
    giveForeign(numbers.at(0), stream);
    giveOwn(numbers.at(1), stream);
  });
  ASSERT_NE(recording, nullptr);
  EXPECT_EQ(numbers.values(), std::pair(0.0F, 0.0F));
  recording->replay({});
  recording->replay({});
  EXPECT_EQ(numbers.values(), std::pair(2.0F, 2.0F));
}

// A step may call a library for some pointers and launch for others: then it runs as it is.
TEST(Recordings, APartThatDoesSomethingElseIsNotRenewedAndRunsNothing) {
  const Numbers numbers;
  for (const bool own_first : {true, false}) {
    int count = 1;
    bool own = own_first;
    const device::PartBody body = [&](size_t, device::Stream stream) {
      for (int i = 0; i < count; ++i) {
        own ? giveOwn(numbers.at(0), stream) : giveForeign(numbers.at(0), stream);
      }
    };
    const auto recording = recorder().recordParts(1, body);
    ASSERT_NE(recording, nullptr);
    for (const int other : {0, 2}) {
      count = other;
      EXPECT_FALSE(recording->renew({0}, body));
    }
    if (own_first) {
      count = 1;
      own = false;
      EXPECT_FALSE(recording->renew({0}, body));
    }
    const device::PartBody copies = [&](size_t, device::Stream stream) {
      gpu().zero(numbers.at(0), sizeof(float), stream);
    };
    EXPECT_FALSE(recording->renew({0}, copies));
  }
  EXPECT_EQ(numbers.values(), std::pair(0.0F, 0.0F));
}

TEST(Recordings, AnErrorOfTheBodyLeavesNothingBehind) {
  const size_t before = testing::livingGraphs();
  const Numbers numbers;
  const device::PartBody body = [&](size_t part, device::Stream stream) {
    giveOwn(numbers.at(0), stream);
    if (part == 1) {
      throw InternalError("a test's fault");
    }
  };
  EXPECT_THROW(recorder().recordParts(2, body), InternalError);
  const device::PartBody waits = [&](size_t, device::Stream stream) { gpu().wait(stream); };
  EXPECT_EQ(recorder().recordParts(1, waits), nullptr);
  EXPECT_EQ(testing::livingGraphs(), before);
  giveOwn(numbers.at(1), {});
  EXPECT_EQ(numbers.values(), std::pair(0.0F, 1.0F)) << "this thread's launches run again";
}

}  // namespace
}  // namespace torchtrt::cuda
