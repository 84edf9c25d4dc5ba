#include "cuda/limits/limits.h"

#include <algorithm>

#include "cuda/launch/launch.h"

namespace torchtrt::cuda {

namespace {

constexpr double kMicro = 1e-6;

template <typename Work>
double secondsOf(const CudaDevice& device, const Work& work) {
  const std::unique_ptr<device::Timer> timer = device.timer();
  timer->start({});
  work();
  timer->stop({});
  return std::max(timer->microseconds(), 1e-3) * kMicro;
}

double measureFlops(const CudaDevice& device) {
  constexpr unsigned kThreads = 256;
  constexpr double kChains = 16;
  constexpr double kLongEnough = 1e-3;  // seconds; what a launch costs does not count then
  constexpr int64_t kMostRounds = int64_t{1} << 22;
  Source source;
  source.include("limits/limits.cuh");
  const int64_t blocks = int64_t{8} * device.processors();
  for (int64_t rounds = 1;; rounds *= 4) {
    Launches launches(device);
    Arguments arguments;
    arguments.value(static_cast<long long>(rounds)).value(1.0000001F).absent();
    launches.add(source, "multiply_add", blocksFor(blocks, kThreads), std::move(arguments));
    launches.complete();  // compiling is not a part of the time
    const double seconds = secondsOf(device, [&] { launches.run({nullptr, nullptr, nullptr, 1}); });
    if (seconds >= kLongEnough || rounds >= kMostRounds) {
      return 2 * kChains * static_cast<double>(rounds) * static_cast<double>(blocks) * kThreads / seconds;
    }
  }
}

double measureBytes(const CudaDevice& device) {
  constexpr size_t kBytes = size_t{256} << 20;  // more than caches hold
  constexpr int kRuns = 5;
  const device::Memory from = device.allocate(kBytes, "measuring the bandwidth of memory");
  const device::Memory to = device.allocate(kBytes, "measuring the bandwidth of memory");
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    const double seconds = secondsOf(device, [&] { device.copyWithin(to.data(), from.data(), kBytes, {}); });
    best = std::max(best, 2.0 * static_cast<double>(kBytes) / seconds);
  }
  return best;
}

}  // namespace

kernels::Limits measureLimits(const CudaDevice& device) {
  return {measureFlops(device), measureBytes(device)};
}

}  // namespace torchtrt::cuda
