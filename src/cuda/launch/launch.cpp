#include "cuda/launch/launch.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/align.h"
#include "base/check.h"
#include "cuda/device/graph.h"
#include "device/faults.h"

namespace torchtrt::cuda {

namespace {

constexpr int64_t kThreads = 256;
constexpr int64_t kMostBlocks = 65535;

// Only a kernel directly behind another may begin before that has ended. Zeroes the first byte of an output, which the
// call behind the fence writes.
void addFence(const kernels::RunArgs& args) {
  check(driver().fillBytes(reinterpret_cast<DevicePointer>(args.outputs[0]), 0, 1, args.stream.handle),
        "zeroing memory of the GPU");
}

}  // namespace

Geometry geometryFor(int64_t count) {
  return blocksFor((count + kThreads - 1) / kThreads, kThreads);
}

Geometry blocksFor(int64_t count, unsigned threads) {
  Geometry geometry;
  geometry.grid[0] = static_cast<unsigned>(std::clamp<int64_t>(count, 1, kMostBlocks));
  geometry.block[0] = threads;
  return geometry;
}

size_t workspaceBytes(size_t bytes) {
  return bytes == 0 ? 0 : bytes + kWorkspaceAlignment - kAlignment;
}

void* workspaceAt(DevicePointer reserved, size_t bytes) {
  return bytes == 0 ? nullptr : reinterpret_cast<void*>(roundUp(reserved, kWorkspaceAlignment));
}

Arguments& Arguments::input(size_t index, int64_t bytes) {
  arguments_.push_back({Kind::kInput, index, bytes});
  return *this;
}

Arguments& Arguments::output(size_t index, int64_t bytes) {
  arguments_.push_back({Kind::kOutput, index, bytes});
  return *this;
}

Arguments& Arguments::scratch(int64_t bytes) {
  arguments_.push_back({Kind::kScratch, 0, bytes});
  return *this;
}

Arguments& Arguments::fault() {
  arguments_.push_back({Kind::kFault, 0, 0});
  return *this;
}

Arguments& Arguments::fixed(DevicePointer address) {
  arguments_.push_back({Kind::kFixed, 0, static_cast<int64_t>(address)});
  return *this;
}

Arguments& Arguments::through(TensorMap map) {
  arguments_.back().map = static_cast<int>(maps_.size());
  maps_.push_back(std::move(map));
  return *this;
}

Arguments& Arguments::bytes(const void* data, size_t size) {
  constexpr size_t kUnit = 16;
  const size_t at = roundUp(values_.size(), kUnit);
  values_.resize(at + size);
  std::copy_n(static_cast<const std::byte*>(data), size, values_.data() + at);
  arguments_.push_back({Kind::kValue, at, 0});
  return *this;
}

void Launches::add(const Source& source, const char* function, const Geometry& geometry, Arguments arguments) {
  TORCHTRT_CHECK(arguments.arguments_.size() <= kMostArguments && arguments.maps_.size() <= kMostMaps,
                 function << " has too many arguments");
  Step step{std::move(arguments), DeviceFunction(device_, source, function, geometry.shared_bytes), function, geometry,
            nullptr};
  constexpr int kOldestThatOverlaps = 90;
  step.begins_early = source.waitsForInputs() && device_.capability() >= kOldestThatOverlaps;
  steps_.push_back(std::move(step));
}

void Launches::add(std::shared_ptr<const StreamCall> call, Arguments arguments) {
  TORCHTRT_CHECK(arguments.arguments_.size() <= kMostArguments, "a call of a library has too many arguments");
  Step step{std::move(arguments), std::nullopt, "", {}, std::move(call)};
  // The engine fences what the first call reads of other kernels' results; scratch memory is written by launches
  // before.
  step.is_fenced = !steps_.empty() && step.readsAhead(Arguments::Kind::kScratch, 0);
  steps_.push_back(std::move(step));
}

bool Launches::Step::readsAhead(Arguments::Kind kind, size_t index) const {
  const std::vector<Arguments::Argument>& all = arguments.arguments_;
  for (size_t i = 0; i < all.size() && call != nullptr; ++i) {
    if (all[i].kind == kind && all[i].index == index && call->readsAhead(i)) {
      return true;
    }
  }
  return false;
}

// Launches of this backend read their inputs when the work in front of them has ended.
bool Launches::readsAhead(size_t input) const {
  return !steps_.empty() && steps_.front().readsAhead(Arguments::Kind::kInput, input);
}

int64_t Launches::reserve(size_t bytes) {
  const size_t at = scratch_;
  scratch_ += alignUp(bytes);
  return static_cast<int64_t>(at);
}

void Launches::complete() const {
  std::call_once(is_complete_, [this] {
    std::vector<FunctionHandle> functions;
    for (const Step& step : steps_) {
      functions.push_back(step.function ? step.function->get() : nullptr);
    }
    functions_ = std::move(functions);
  });
}

void Launches::run(const kernels::RunArgs& args) const {
  complete();
  const ContextScope scope(device_);
  const void* const word = device::FaultScope::current();
  const void* const fault = word != nullptr ? word : reinterpret_cast<const void*>(device_.faultWord());
  std::array<DevicePointer, kMostArguments> pointers;
  std::array<void*, kMostArguments> list;
  alignas(64) std::array<TensorMap::Encoded, kMostMaps> maps;
  for (const Step& step : steps_) {
    const std::vector<Arguments::Argument>& arguments = step.arguments.arguments_;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Arguments::Argument& each = arguments[i];
      const void* base = nullptr;
      switch (each.kind) {
        case Arguments::Kind::kInput:
          base = args.inputs[each.index];
          break;
        case Arguments::Kind::kOutput:
          base = args.outputs[each.index];
          break;
        case Arguments::Kind::kScratch:
          base = args.scratch;
          break;
        case Arguments::Kind::kFault:
          base = fault;
          break;
        case Arguments::Kind::kFixed:
          base = reinterpret_cast<const void*>(each.offset);
          break;
        case Arguments::Kind::kValue:
          list[i] = const_cast<std::byte*>(step.arguments.values_.data() + each.index);
          continue;
      }
      const int64_t offset = each.kind == Arguments::Kind::kFixed ? 0 : each.offset;
      pointers[i] = base == nullptr ? 0 : reinterpret_cast<DevicePointer>(base) + static_cast<DevicePointer>(offset);
      list[i] = &pointers[i];
      if (each.map >= 0) {
        list[i] = maps[static_cast<size_t>(each.map)].data();
        step.arguments.maps_[static_cast<size_t>(each.map)].encode(pointers[i], list[i]);
      }
    }
    if (step.call != nullptr) {
      if (step.is_fenced || (args.is_fenced && &step == &steps_.front())) {
        addFence(args);
      }
      step.call->run(pointers.data(), args.stream.handle);
      continue;
    }
    FunctionHandle const function = functions_[static_cast<size_t>(&step - steps_.data())];
    const Geometry& g = step.geometry;
    if (Capture::take(function, g.grid, g.block, g.shared_bytes, list.data())) {
      continue;
    }
    LaunchAttribute early;
    early.id = kLaunchBeginsEarly;
    early.is_set = 1;
    LaunchConfiguration launch;
    std::copy_n(g.grid, 3, launch.grid);
    std::copy_n(g.block, 3, launch.block);
    launch.shared_bytes = g.shared_bytes;
    launch.stream = args.stream.handle;
    launch.attributes = &early;
    launch.attribute_count = step.begins_early ? 1 : 0;
    if (const Result result = driver().launch(&launch, function, list.data(), nullptr); result != kSuccess) {
      check(result, "launching " + step.name);
    }
  }
}

const CudaDevice& deviceOf(const device::Device* device) {
  const auto* const cuda = dynamic_cast<const CudaDevice*>(device);
  TORCHTRT_CHECK(cuda != nullptr, "a kernel of CUDA for another device");
  return *cuda;
}

}  // namespace torchtrt::cuda
