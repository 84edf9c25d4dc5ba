// Kernels get tensor maps instead of pointers: of the memory that a call names, in recordings, too.
#include "cuda/launch/tensor_map.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "cuda/launch/launch.h"
#include "kernels/backend.h"
#include "torchtrt/error.h"

namespace torchtrt::cuda {
namespace {

constexpr int kLine = 64, kLines = 6, kBoxLines = 4;

const device::Device& gpu() {
  return kernels::deviceNamed("cuda:0");
}

TensorMap mapOf(uint32_t lines) {
  TensorMap map;
  map.dims = {kLine, kLines};
  map.strides = {kLine};
  map.box = {kLine, lines};
  return map;
}

// Copies a box that begins at line `y` of the input to the first lines of the output.
std::unique_ptr<Launches> moving(const TensorMap& in, int y) {
  Source source;
  source.define("SHARED_BYTES", int64_t{2048}).define("SHARED_ALIGNMENT", int64_t{1024});
  source.include("text/block_memory.cuh").include("text/barriers.cuh").include("text/tensor_maps.cuh");
  source.define("NOTHING", R"(
extern "C" __global__ void move(const __grid_constant__ TensorMap in, const __grid_constant__ TensorMap out, int y, int bytes) {
  Barrier* const barrier = blockMemory<Barrier>(1024);
  makeBarrier(barrier, 1);
  showBarriers();
  arriveExpecting(barrier, bytes);
  copyBox(blockMemory<unsigned char>(), in, barrier, 0, y);
  waitForPhase(barrier, 0);
  showWrites();
  writeBox(out, blockMemory<unsigned char>(), 0, 0);
  endBoxes();
  waitForBoxes();
})");
  Arguments arguments;
  arguments.input(0).through(in).output(0).through(mapOf(kBoxLines)).value(y).value(kBoxLines * kLine);
  Geometry geometry;
  geometry.shared_bytes = 2048;
  auto launches = std::make_unique<Launches>(dynamic_cast<const CudaDevice&>(gpu()));
  launches->add(source, "move", geometry, std::move(arguments));
  return launches;
}

class Bytes {
 public:
  explicit Bytes(unsigned char first)
      : memory_(gpu().allocate(kLine * kLines, "bytes of a test")), values_(kLine * kLines) {
    std::iota(values_.begin(), values_.end(), first);
    gpu().copyIn(memory_.data(), values_.data(), values_.size(), {});
  }
  void* data() const {
    return memory_.data();
  }
  std::vector<unsigned char> lines(int first, int count) const {
    std::vector<unsigned char> all(values_.size());
    gpu().copyOut(all.data(), memory_.data(), all.size(), {});
    return {all.begin() + first * kLine, all.begin() + (first + count) * kLine};
  }

 private:
  device::Memory memory_;
  std::vector<unsigned char> values_;
};

void run(const Launches& launches, const Bytes& in, const Bytes& out, device::Stream stream = {}, int offset = 0) {
  const void* inputs[] = {static_cast<const std::byte*>(in.data()) + offset};
  void* outputs[] = {out.data()};
  kernels::RunArgs args;
  args.inputs = inputs;
  args.outputs = outputs;
  args.stream = stream;
  launches.run(args);
}

TEST(TensorMaps, CopyBoxesAndZerosBesideTheTensor) {
  const Bytes in(3), out(100);
  run(*moving(mapOf(kBoxLines), 1), in, out);
  EXPECT_EQ(out.lines(0, kBoxLines), in.lines(1, kBoxLines));
  EXPECT_EQ(out.lines(kBoxLines, 2), Bytes(100).lines(kBoxLines, 2)) << "nothing else is written";
  run(*moving(mapOf(kBoxLines), kLines - 1), in, out);
  EXPECT_EQ(out.lines(0, 1), in.lines(kLines - 1, 1));
  EXPECT_EQ(out.lines(1, kBoxLines - 1), std::vector<unsigned char>(kLine * (kBoxLines - 1), 0));
}

TEST(TensorMaps, TakeEverySecondPlaceIfTheStepIsTwo) {
  const Bytes in(3), out(100);
  TensorMap map = mapOf(2 * kBoxLines - 1);
  map.steps = {1, 2};
  run(*moving(map, 0), in, out);
  for (int line = 0; line < 3; ++line) {
    EXPECT_EQ(out.lines(line, 1), in.lines(2 * line, 1)) << line;
  }
  EXPECT_EQ(out.lines(3, 1), std::vector<unsigned char>(kLine, 0));
}

TEST(TensorMaps, FollowThePointersOfARecording) {
  const Bytes first(3), second(77), out(0);
  const auto launches = moving(mapOf(kBoxLines), 2);
  const Bytes* in = &first;
  const device::PartBody body = [&](size_t, device::Stream stream) { run(*launches, *in, out, stream); };
  launches->complete();
  const auto recording = dynamic_cast<const device::Recorder&>(gpu()).recordParts(1, body);
  ASSERT_NE(recording, nullptr);
  recording->replay({});
  EXPECT_EQ(out.lines(0, kBoxLines), first.lines(2, kBoxLines));
  in = &second;
  ASSERT_TRUE(recording->renew({0}, body));
  recording->replay({});
  EXPECT_EQ(out.lines(0, kBoxLines), second.lines(2, kBoxLines));
}

TEST(TensorMaps, OfMemoryThatIsNotAlignedAreAnError) {
  const Bytes in(3), out(100);
  const auto launches = moving(mapOf(kBoxLines), 0);
  EXPECT_THROW(run(*launches, in, out, {}, 8), EngineError);
}

}  // namespace
}  // namespace torchtrt::cuda
