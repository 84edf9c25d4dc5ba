// The order of the list: oneDNN in bfloat16 where the CPU multiplies it. Then packed_gemm for a constant b, which is
// packed once; run_time for a b that comes with the call, where oneDNN cannot multiply or its call costs more than the
// product; and oneDNN for the rest: many rows, and batches of matrices.
#include "cpu/matmul/choice.h"

#include <hwy/targets.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "cpu/matmul/config.h"

namespace torchtrt::kernels::matmul {
namespace {

// True if a product of float32 is so small that the cost of oneDNN's call outweighs its speed, and if packing b takes
// little of it: 34x34x16 0.6 us against 1.0, 34x34x34 1.3 against 1.9, but 10x300x10 with a b of 3,000 elements 2.6
// against 1.6.
bool isSmall(const Problem& problem, const Config& config) {
  constexpr int64_t kSmallFlops = 80'000;
  constexpr int64_t kSmallB = 2048;
  for (const std::vector<Operand>* operands : {&problem.inputs, &problem.outputs}) {
    for (const Operand& operand : *operands) {
      if (operand.present && std::find(operand.dims.begin(), operand.dims.end(), -1) != operand.dims.end()) {
        return false;
      }
    }
  }
  const std::vector<int64_t>& a = problem.inputs[0].dims;
  const int64_t depth = a[a.size() - (config.transpose_a ? 2 : 1)];
  const int64_t rows = a[a.size() - (config.transpose_a ? 1 : 2)];
  return problem.inputs[1].constant == nullptr && rows >= kFewRows && countOf(problem.inputs[1].dims) <= kSmallB &&
         2 * countOf(problem.outputs[0].dims) * depth <= kSmallFlops;
}

}  // namespace

// Below, the cost of oneDNN's call outweighs what bfloat16 saves: 2.7 us against 0.6 at 20,000, 3.2 against 4.3 at
// 138,000 (AVX-512 BF16).
std::optional<Refusal> leaveOneDnnBFloat16(const Problem& problem) {
  constexpr int64_t kFewFlops = 100'000;
  if (commonRefusal(problem, DType::kBFloat16)) {
    return std::nullopt;
  }
  const std::vector<int64_t>& a = problem.inputs[0].opt_dims;
  const int64_t depth = a[a.size() - (configOf(problem).transpose_a ? 2 : 1)];
  const std::vector<int64_t>& output = problem.outputs[0].opt_dims;
  const int64_t results = problem.batch_invariant ? output.back() : countOf(output);
  if (2 * results * depth < kFewFlops) {
    return Refusal{"slower", "is slower than float32 for so little arithmetic"};
  }
  return std::nullopt;
}

// With AVX-512, oneDNN's blocking over the depth wins by up to 5 % where many rows amortize it. For fewer, b comes from
// memory in every call, and is fetched here meanwhile: 2 to 6 % faster with half-wide multipliers (Zen 4), up to 30 %
// with whole ones (Xeon). With AVX2 its products with many columns take twice as long as these (128x768x3072 13.5 ms of
// a core, 6.8 ms here). It has no float64.
std::optional<Refusal> leavePackedGemm(const Problem& problem) {
#ifdef TORCHTRT_NO_ONEDNN
  (void)problem;
#else
  constexpr int64_t kManyRows = 256;
  constexpr int64_t kDeep = 512;
  const bool has_avx512 = (hwy::SupportedTargets() & HWY_AVX3) != 0;
  // A row's bits must not depend on their number, as oneDNN's do.
  if (problem.batch_invariant || !has_avx512 || problem.inputs[1].constant == nullptr || commonRefusal(problem)) {
    return std::nullopt;
  }
  const std::vector<int64_t>& b = problem.inputs[1].dims;
  const int64_t depth = b[b.size() - (configOf(problem).transpose_b ? 1 : 2)];
  const std::vector<int64_t>& output = problem.outputs[0].opt_dims;
  const int64_t rows = std::accumulate(output.begin(), output.end() - 1, int64_t{1}, std::multiplies<>());
  if (depth >= kDeep && rows >= kManyRows) {
    return Refusal{"slower", "is slower than onednn for a matrix multiplication of this size"};
  }
#endif
  return std::nullopt;
}

std::optional<Refusal> leaveRunTime(const Problem& problem) {
  if (problem.batch_invariant || commonRefusal(problem) || isSmall(problem, configOf(problem))) {
    return std::nullopt;
  }
  return Refusal{
      "slower",
      "is slower than others in float32, except for small matrix multiplications of operands that calls bring"};
}

}  // namespace torchtrt::kernels::matmul
