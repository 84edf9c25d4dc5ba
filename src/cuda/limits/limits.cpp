#include "cuda/limits/limits.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include "cuda/launch/launch.h"
#include "cuda/matmul/lt_product.h"

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

Source text() {
  Source source;
  source.include("limits/limits.cuh");
  return source;
}

double measureFlops(const CudaDevice& device) {
  constexpr unsigned kThreads = 256;
  constexpr double kChains = 16;
  constexpr double kLongEnough = 1e-3;  // seconds; what a launch costs does not count then
  constexpr int64_t kMostRounds = int64_t{1} << 22;
  const Source source = text();
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

// Seconds of d = a b by cuBLASLt, square matrices of float16; 0 if the library computes none.
double secondsOfProduct(const CudaDevice& device, const CublasLt& api, int64_t size) {
  constexpr const char* kPurpose = "measuring tensor cores";
  constexpr int kRuns = 5;
  LtProblem problem;
  problem.in = problem.out = DType::kFloat16;
  problem.transpose_a = true;
  problem.a = problem.b = problem.c = problem.d = {size, size, size, 0};
  const std::shared_ptr<LtProduct> product = LtProduct::make(device, api, problem);
  if (product == nullptr) {
    return 0;
  }
  const int64_t count = size * size;
  const device::Memory factors = device.allocate(static_cast<size_t>(count) * 2, kPurpose);
  const device::Memory results = device.allocate(static_cast<size_t>(count) * 2, kPurpose);
  const device::Memory workspace = device.allocate(std::max<size_t>(product->workspaceBytes(), 1), kPurpose);
  const auto at = [](const device::Memory& memory) { return reinterpret_cast<DevicePointer>(memory.data()); };
  Launches fill(device);
  Arguments filled;
  filled.value(static_cast<long long>(count)).fixed(at(factors));
  fill.add(text(), "fill", blocksFor(count, 256), std::move(filled));
  Launches multiply(device);
  Arguments operands;
  operands.fixed(at(factors)).fixed(at(factors)).fixed(at(results)).fixed(at(results)).absent().fixed(at(workspace));
  multiply.add(product, std::move(operands));
  fill.run({nullptr, nullptr, nullptr, 1});
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kRuns; ++run) {
    best = std::min(best, secondsOf(device, [&] { multiply.run({nullptr, nullptr, nullptr, 1}); }));
  }
  return best;
}

// By the library's product of matrices that are large enough; 0 without the library.
double measureTensorFlops(const CudaDevice& device) {
  constexpr int64_t kLeast = 128, kMost = 8192;
  constexpr double kLongEnough = 1e-4;
  std::string reason;
  const CublasLt* const api = findCublasLt(reason);
  double best = 0;
  for (int64_t size = kLeast; api != nullptr && size <= kMost; size *= 2) {
    const double seconds = secondsOfProduct(device, *api, size);
    const auto edge = static_cast<double>(size);
    best = seconds > 0 ? std::max(best, 2 * edge * edge * edge / seconds) : best;
    if (seconds >= kLongEnough) {
      break;
    }
  }
  return best;
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
  return {measureFlops(device), measureBytes(device), measureTensorFlops(device)};
}

}  // namespace torchtrt::cuda
