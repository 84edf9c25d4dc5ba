// Matrix multiplication with a constant b that is packed once: fully connected layers, above all with few rows, where
// they are bound by reading b and by the cost of a call.
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "cpu/gemm/packed_gemm.h"
#include "cpu/gemm/runs.h"
#include "cpu/gemm/unpack.h"
#include "cpu/matmul/config.h"
#include "cpu/matmul/fast.h"
#include "cpu/threads/parallel.h"
#include "kernels/restores.h"

namespace torchtrt::kernels::matmul {
namespace {

template <typename T>
struct Packed {
  Config config;
  gemm::PackedBOf<T> b;
  std::vector<int64_t> runs;  // where each part of the depth begins that is summed for itself
  gemm::EpilogueOf<T> epilogue;
  gemm::FunctionsOf<T> functions;
};

template <typename T>
class PackedGemmMatmul final : public Prepared {
 public:
  PackedGemmMatmul(std::shared_ptr<const Packed<T>> packed, const ShapeSet& shapes) : packed_(std::move(packed)) {
    const std::vector<int64_t>& dims = shapes.outputs[0].dims;
    rows_ = std::accumulate(dims.begin(), dims.end() - 1, int64_t{1}, std::multiplies<>());
    blocking_ = gemm::chooseBlocking(packed_->b, rows_, shapes.threads);
    blocking_.shareRows(rows_ * packed_->b.depth() * static_cast<int64_t>(sizeof(T)),
                        static_cast<int64_t>(packed_->b.bytes()), shapes.threads);
  }

  void run(const RunArgs& args) const override {
    const Config& config = packed_->config;
    gemm::SlabOf<T> slab{};
    slab.rows = rows_;
    slab.taps = static_cast<int64_t>(packed_->runs.size());
    slab.tap_offsets = packed_->runs.data();
    slab.run = packed_->b.depth() / slab.taps;
    slab.a = static_cast<const T*>(args.inputs[0]);
    slab.a_stride = packed_->b.depth();
    slab.out = static_cast<T*>(args.outputs[0]);
    slab.out_stride = packed_->b.columns();
    slab.residual = config.has_residual ? static_cast<const T*>(args.inputs[3]) : nullptr;
    slab.bias = config.has_bias ? static_cast<const T*>(args.inputs[2]) : nullptr;
    slab.epilogue = &packed_->epilogue;
    parallelFor(args.threads, 0, blocking_.units(), blocking_.grain, [&](int64_t begin, int64_t end) {
      gemm::runUnits(packed_->b, blocking_, packed_->functions, slab, begin, end);
    });
  }

 private:
  std::shared_ptr<const Packed<T>> packed_;
  int64_t rows_ = 0;
  gemm::Blocking blocking_;
};

template <typename T>
class PackedGemmMatmulKernel final : public Kernel, public RestoresConstants {
 public:
  explicit PackedGemmMatmulKernel(std::shared_ptr<const Packed<T>> packed) : packed_(std::move(packed)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<PackedGemmMatmul<T>>(packed_, shapes);
  }
  bool needsConstant(int input) const override {
    return input != 1;
  }
  size_t packedBytes() const override {
    return packed_->b.bytes();
  }
  bool restores(int input) const override {
    return input == 1;
  }
  void restore(int, void* to, int threads) const override {
    auto* values = static_cast<T*>(to);
    const bool transposed = packed_->config.transpose_b;
    const int64_t depth = packed_->b.depth();
    const int64_t columns = packed_->b.columns();
    gemm::unpack(
        packed_->b, transposed ? depth : 1, [&](int64_t k) { return values + (transposed ? k : k * columns); },
        threads);
  }

 private:
  std::shared_ptr<const Packed<T>> packed_;
};

template <typename T>
std::unique_ptr<Kernel> pack(const Problem& problem, const Config& config, int64_t depth, int64_t columns) {
  auto packed = std::make_shared<Packed<T>>();
  packed->config = config;
  const auto* values = static_cast<const T*>(problem.inputs[1].constant);
  packed->b = gemm::PackedBOf<T>(
      depth, columns, config.transpose_b ? depth : 1,
      [&](int64_t k) { return values + (config.transpose_b ? k : k * columns); }, problem.threads);
  packed->epilogue = gemm::makeEpilogue<T>(config.activation, config.alpha, config.beta);
  packed->runs = gemm::runsOf(depth);
  packed->functions = gemm::functions<T>(gemm::rowOrder(problem.batch_invariant));
  if (packed->runs.size() > 1) {
    packed->functions.slab = packed->functions.slab_of_short_sums;
  }
  return std::make_unique<PackedGemmMatmulKernel<T>>(std::move(packed));
}

}  // namespace

CreateResult createPackedGemm(const Problem& problem) {
  const bool is_double = problem.outputs[0].dtype == DType::kFloat64;
  if (std::optional<Refusal> refusal = commonRefusal(problem, is_double ? DType::kFloat64 : DType::kFloat32)) {
    return *refusal;
  }
  const Config config = configOf(problem);
  const Operand& b = problem.inputs[1];
  if (b.constant == nullptr) {
    return Refusal{"dynamic-weights", "packs b when it is loaded and needs it constant"};
  }
  const size_t rank = b.dims.size();
  if (std::any_of(b.dims.begin(), b.dims.end() - 2, [](int64_t size) { return size != 1; }) ||
      (rank > problem.inputs[0].dims.size())) {
    return Refusal{"batch", "multiplies with one matrix b only"};
  }
  if (config.transpose_a) {
    return Refusal{"transpose", "reads a in rows only"};
  }
  const int64_t depth = b.dims[config.transpose_b ? rank - 1 : rank - 2];
  const int64_t columns = b.dims[config.transpose_b ? rank - 2 : rank - 1];
  if (depth == 0 || columns == 0) {
    return Refusal{"empty", "has nothing to pack"};
  }
  if (config.has_bias && (!isRow(problem.inputs[2].dims) || problem.inputs[2].dims.back() != columns)) {
    return Refusal{"bias-shape", "adds a bias of one value per column only"};
  }
  return is_double ? pack<double>(problem, config, depth, columns) : pack<float>(problem, config, depth, columns);
}

}  // namespace torchtrt::kernels::matmul
