#include "cpu/machine.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/limits.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Multiply-adds without a wait: more of them are under way than the product of latency and units (4 x 2) asks for.
constexpr int kChains = 12;

// Returns their number in floats; `sum` keeps the compiler from leaving them out.
double multiplyAdd(int64_t rounds, float* sum) {
  const D d;
  const V factor = hn::Set(d, 0.999F);
  const V addend = hn::Set(d, 0.001F);
  V chains[kChains];
#pragma GCC unroll 16
  for (int i = 0; i < kChains; ++i) {
    chains[i] = hn::Set(d, static_cast<float>(i));  // each its own: a compiler computes equal ones once
  }
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < kChains; ++i) {
      chains[i] = hn::MulAdd(chains[i], factor, addend);
    }
  }
  V all = chains[0];
#pragma GCC unroll 16
  for (int i = 1; i < kChains; ++i) {
    all = hn::Add(all, chains[i]);
  }
  *sum = hn::GetLane(hn::SumOfLanes(d, all));
  return static_cast<double>(rounds) * kChains * static_cast<double>(hn::Lanes(d));
}

}  // namespace
}  // namespace torchtrt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "cpu/simd/isa.h"
#include "cpu/threads/parallel.h"
#include "torchtrt/error.h"

namespace torchtrt::kernels {

HWY_EXPORT(multiplyAdd);

namespace {

// Runs of about a millisecond. Among so many, some are not interrupted by another process, which would halve the speed
// of a longer run. The first wake threads and touch memory.
constexpr int kRuns = 128;

// Returns the work per second that `run` reports in its best run. `run` gets the number of runs before it.
template <typename Run>
double best(const Run& run) {
  using Clock = std::chrono::steady_clock;
  double fastest = 0;
  for (int i = 0; i < kRuns; ++i) {
    const auto start = Clock::now();
    const double done = run(i);
    fastest = std::max(fastest, done / std::chrono::duration<double>(Clock::now() - start).count());
  }
  return fastest;
}

double measureFlops(int threads) {
  constexpr int64_t kRounds = 200'000;
  return best([&](int /*run*/) {
    std::atomic<double> products = 0;
    parallelFor(threads, 0, threads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        volatile float kept = 0;
        float sum = 0;
        products += HWY_DYNAMIC_DISPATCH(multiplyAdd)(kRounds, &sum);
        kept = sum;
        (void)kept;
      }
    });
    return 2 * products.load();
  });
}

double measureBytes(int threads) {
  constexpr int64_t kBytes = int64_t{64} << 20;
  constexpr int64_t kPiece = kBytes / 8;  // of a run: caches have let go of it when its turn comes again
  const auto from = hwy::AllocateAligned<uint8_t>(kBytes);
  const auto to = hwy::AllocateAligned<uint8_t>(kBytes);
  if (from == nullptr || to == nullptr) {
    throw EngineError(ErrorCode::kOutOfMemory, "no 128 MiB to measure the bandwidth of memory");
  }
  std::memset(from.get(), 1, kBytes);
  return best([&](int run) {
    const int64_t first = kPiece * (run % (kBytes / kPiece));
    parallelFor(threads, first, first + kPiece, kPiece / threads / 4,
                [&](int64_t begin, int64_t end) { std::memcpy(to.get() + begin, from.get() + begin, end - begin); });
    return 2.0 * kPiece;
  });
}

}  // namespace

Limits measureLimits(int threads) {
  isaCap();
  threads = std::max(threads, 1);
  const ThreadScope scope(threads);
  return {.flops = measureFlops(threads), .bytes = measureBytes(threads)};
}

}  // namespace torchtrt::kernels
#endif  // HWY_ONCE
