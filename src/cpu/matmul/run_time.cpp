// Matrix multiplication of operands that both come with a call: b is packed into panels every time. In float64, which
// oneDNN has not, and for small products of float32, where oneDNN's call costs more than the product.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/align.h"
#include "cpu/gemm/packed_gemm.h"
#include "cpu/loops/fallback.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/matmul/choice.h"
#include "cpu/matmul/config.h"
#include "cpu/matmul/fast.h"
#include "cpu/matmul/matmul.h"
#include "cpu/simd/row_reductions.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels::matmul {
namespace {

constexpr int64_t kGrain = 16384;  // elements that are worth a thread to copy

int64_t product(std::span<const int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// The last two dims of an operand as they are multiplied.
struct Matrix {
  int64_t rows;
  int64_t columns;

  Matrix(const TensorDesc& desc, bool transpose)
      : rows(desc.dims[desc.dims.size() - (transpose ? 1 : 2)]),
        columns(desc.dims[desc.dims.size() - (transpose ? 2 : 1)]) {}
};

std::span<const int64_t> batchesOf(const TensorDesc& desc) {
  return {desc.dims.data(), desc.dims.size() - 2};
}

// Returns, for each matrix of the output, the number of the dense operand's matrix that it is made of.
std::vector<int64_t> matricesOf(const TensorDesc& operand, std::span<const int64_t> output) {
  TensorDesc batches{DType::kInt64, {batchesOf(operand).begin(), batchesOf(operand).end()}, {}};
  batches.strides = denseStrides(batches.dims);
  const std::vector<int64_t> dims(output.begin(), output.end());
  const std::vector<int64_t> strides = broadcastStrides(batches, dims);
  std::vector<int64_t> matrices;
  for (int64_t batch = 0; batch < product(dims); ++batch) {
    matrices.push_back(offsetAt(batch, dims, strides, dims.size()));
  }
  return matrices;
}

template <typename T>
struct RunTimeConfig {
  Config matmul;
  gemm::EpilogueOf<T> epilogue;
  ActivationRowsOf<T> activation;  // the same where sums are not in registers
  gemm::RowOrder order;
};

template <typename T>
class RunTimeMatmul final : public Prepared {
 public:
  static bool accepts(const RunTimeConfig<T>& config, const ShapeSet& shapes) {
    const Matrix a(shapes.inputs[0], config.matmul.transpose_a);
    const Matrix b(shapes.inputs[1], config.matmul.transpose_b);
    const int64_t rows = isOneProduct(config.matmul, shapes) ? a.rows * product(batchesOf(shapes.inputs[0])) : a.rows;
    const bool has_enough_rows = rows >= kFewRows || config.order == gemm::RowOrder::kSame;
    return std::all_of(shapes.inputs.begin(), shapes.inputs.end(),
                       [](const TensorDesc& desc) { return isRowMajor(desc); }) &&
           isRowMajor(shapes.outputs[0]) && product(shapes.outputs[0].dims) != 0 && a.columns != 0 && has_enough_rows &&
           b.columns != 0;
  }

  RunTimeMatmul(const RunTimeConfig<T>& config, const ShapeSet& shapes)
      : config_(config),
        functions_(gemm::functions<T>(config.order)),
        a_(shapes.inputs[0], config.matmul.transpose_a),
        b_(shapes.inputs[1], config.matmul.transpose_b),
        a_count_(product(batchesOf(shapes.inputs[0]))),
        b_count_(product(batchesOf(shapes.inputs[1]))) {
    if (isOneProduct(config.matmul, shapes)) {
      a_.rows *= a_count_;
      a_count_ = 1;
      a_matrices_ = b_matrices_ = {0};
    } else {
      a_matrices_ = matricesOf(shapes.inputs[0], batchesOf(shapes.outputs[0]));
      b_matrices_ = matricesOf(shapes.inputs[1], batchesOf(shapes.outputs[0]));
    }
    layout_ = gemm::panelsFor<T>(nullptr, b_.rows, b_.columns);
    lanes_ = gemm::panelShape<T>().lanes;
    b_size_ = roundUp(b_.columns, lanes_) * b_.rows;
    const auto panels = static_cast<int64_t>(layout_.size());
    blocking_ = gemm::chooseBlocking(panels, b_size_ / panels * static_cast<int64_t>(sizeof(T)),
                                     2 * b_.rows * b_.columns, a_.rows, shapes.threads);
  }

  size_t scratchBytes() const override {
    return panelBytes() + static_cast<size_t>(b_count_ * b_size_ +
                                              (config_.matmul.transpose_a ? a_count_ * a_.rows * a_.columns : 0)) *
                              sizeof(T);
  }

  void run(const RunArgs& args) const override {
    auto* panels = static_cast<Panel*>(args.scratch);
    auto* packed = reinterpret_cast<T*>(static_cast<std::byte*>(args.scratch) + panelBytes());
    const auto* a = static_cast<const T*>(args.inputs[0]);
    if (config_.matmul.transpose_a) {
      T* const rows = packed + b_count_ * b_size_;
      transpose(args.threads, a, rows);
      a = rows;
    }
    pack(args.threads, static_cast<const T*>(args.inputs[1]), packed, panels);
    multiply(args, a, panels);
  }

 private:
  using Panel = gemm::PanelOf<T>;

  // Returns the scratch bytes of the panels: whole cache lines, so that the vectors behind begin at one.
  size_t panelBytes() const {
    return alignUp(static_cast<size_t>(b_count_) * layout_.size() * sizeof(Panel));
  }

  // One b for all batches: their rows are those of one product.
  static bool isOneProduct(const Config& config, const ShapeSet& shapes) {
    return !config.transpose_a && product(batchesOf(shapes.inputs[1])) == 1 &&
           product(batchesOf(shapes.inputs[0])) == product(batchesOf(shapes.outputs[0]));
  }

  void transpose(int threads, const T* from, T* to) const {
    constexpr int64_t kLine = 8;  // values of a cache line
    const int64_t blocks = (a_.rows + kLine - 1) / kLine;
    parallelFor(threads, 0, a_count_ * blocks, std::max<int64_t>(1, kGrain / (kLine * a_.columns)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t block = begin; block < end; ++block) {
                    const int64_t matrix = block / blocks * a_.rows * a_.columns;
                    const int64_t first = block % blocks * kLine;
                    const int64_t rows = std::min(kLine, a_.rows - first);
                    for (int64_t k = 0; k < a_.columns; ++k) {
                      const T* line = from + matrix + k * a_.rows + first;
                      for (int64_t r = 0; r < rows; ++r) {
                        to[matrix + (first + r) * a_.columns + k] = line[r];
                      }
                    }
                  }
                });
  }

  void pack(int threads, const T* b, T* packed, Panel* panels) const {
    const auto count = static_cast<int64_t>(layout_.size());
    const bool transposed = config_.matmul.transpose_b;
    parallelFor(threads, 0, b_count_ * count, std::max<int64_t>(1, kGrain * count / b_size_),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    const int64_t matrix = i / count;
                    const T* values = b + matrix * b_.rows * b_.columns;
                    Panel panel = layout_[static_cast<size_t>(i % count)];
                    T* to = packed + matrix * b_size_ + panel.column * b_.rows;
                    panel.data = to;
                    panels[i] = panel;
                    gemm::packPanel(
                        panel, lanes_, b_.rows, transposed ? b_.rows : 1,
                        [&](int64_t k) { return values + (transposed ? k : k * b_.columns); }, to);
                  }
                });
  }

  void multiply(const RunArgs& args, const T* a, const Panel* panels) const {
    const auto batches = static_cast<int64_t>(a_matrices_.size());
    const int64_t units = blocking_.units();
    gemm::SlabOf<T> slab{};
    slab.rows = a_.rows;
    slab.run = a_.columns;
    slab.a_stride = a_.columns;
    slab.out_stride = b_.columns;
    slab.bias = config_.matmul.has_bias ? static_cast<const T*>(args.inputs[2]) : nullptr;
    slab.epilogue = &config_.epilogue;
    parallelFor(args.threads, 0, batches * units, blocking_.grain, [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const auto batch = static_cast<size_t>(begin / units);
        const int64_t first = begin % units;
        const int64_t count = std::min(units - first, end - begin);
        const int64_t out = static_cast<int64_t>(batch) * a_.rows * b_.columns;
        gemm::SlabOf<T> part = slab;
        part.a = a + a_matrices_[batch] * a_.rows * a_.columns;
        part.out = static_cast<T*>(args.outputs[0]) + out;
        part.residual = config_.matmul.has_residual ? static_cast<const T*>(args.inputs[3]) + out : nullptr;
        const Panel* b = panels + b_matrices_[batch] * static_cast<int64_t>(layout_.size());
        gemm::runUnits<T>({b, layout_.size()}, blocking_, functions_, part, first, first + count);
        begin += count;
      }
    });
  }

  RunTimeConfig<T> config_;
  gemm::FunctionsOf<T> functions_;
  Matrix a_, b_;
  int64_t a_count_, b_count_;  // matrices
  std::vector<int64_t> a_matrices_, b_matrices_;
  std::vector<Panel> layout_;  // of one b that lies at 0
  int64_t lanes_ = 0;
  int64_t b_size_ = 0;  // elements of a packed b
  gemm::Blocking blocking_;
};

// Few rows of a times the rows of a transposed b, which are read once each: one sum of products for every output.
template <typename T>
class RunTimeRows final : public Prepared {
 public:
  static bool accepts(const RunTimeConfig<T>& config, const ShapeSet& shapes) {
    return std::all_of(shapes.inputs.begin(), shapes.inputs.end(),
                       [](const TensorDesc& desc) { return isRowMajor(desc); }) &&
           isRowMajor(shapes.outputs[0]) && !config.matmul.transpose_a && config.matmul.transpose_b &&
           product(batchesOf(shapes.outputs[0])) == 1;
  }

  RunTimeRows(const RunTimeConfig<T>& config, const ShapeSet& shapes)
      : config_(config), a_(shapes.inputs[0], false), columns_(shapes.outputs[0].dims.back()) {}

  void run(const RunArgs& args) const override {
    const auto dot = rowReductions<T>().dot;
    const auto* a = static_cast<const T*>(args.inputs[0]);
    const auto* b = static_cast<const T*>(args.inputs[1]);
    const auto* bias = config_.matmul.has_bias ? static_cast<const T*>(args.inputs[2]) : nullptr;
    const auto* residual = config_.matmul.has_residual ? static_cast<const T*>(args.inputs[3]) : nullptr;
    auto* out = static_cast<T*>(args.outputs[0]);
    parallelFor(
        args.threads, 0, columns_, std::max<int64_t>(1, kGrain / (a_.columns + 1)), [&](int64_t begin, int64_t end) {
          for (int64_t row = 0; row < a_.rows; ++row) {
            T* to = out + row * columns_;
            for (int64_t n = begin; n < end; ++n) {
              to[n] = dot(a + row * a_.columns, b + n * a_.columns, a_.columns) + (bias != nullptr ? bias[n] : T{0}) +
                      (residual != nullptr ? residual[row * columns_ + n] : T{0});
            }
            if (config_.activation) {
              config_.activation(to + begin, to + begin, end - begin);
            }
          }
        });
  }

 private:
  RunTimeConfig<T> config_;
  Matrix a_;
  int64_t columns_;
};

template <typename T>
std::unique_ptr<Prepared> choose(const RunTimeConfig<T>& config, const ShapeSet& shapes) {
  if (RunTimeMatmul<T>::accepts(config, shapes)) {
    return std::make_unique<RunTimeMatmul<T>>(config, shapes);
  }
  return RunTimeRows<T>::accepts(config, shapes) ? std::make_unique<RunTimeRows<T>>(config, shapes) : nullptr;
}

template <typename T>
CreateResult create(const Problem& problem, const Config& config) {
  return makeKernelWithFallback<RunTimeConfig<T>>(
      RunTimeConfig<T>{config, gemm::makeEpilogue<T>(config.activation, config.alpha, config.beta),
                       activationRows<T>(config.activation, config.alpha, config.beta),
                       gemm::rowOrder(problem.batch_invariant)},
      choose<T>, createMatrixMultiplyReference(problem));
}

}  // namespace

CreateResult createRunTime(const Problem& problem) {
  const bool is_float32 = problem.outputs[0].dtype == DType::kFloat32;
  if (std::optional<Refusal> refusal = commonRefusal(problem, is_float32 ? DType::kFloat32 : DType::kFloat64)) {
    return *refusal;
  }
  const Config config = configOf(problem);
  const Operand& output = problem.outputs[0];
  if (config.has_bias && (!isRow(problem.inputs[2].dims) || problem.inputs[2].dims.back() != output.dims.back() ||
                          output.dims.back() < 0)) {
    return Refusal{"bias-shape", "adds a bias of one value per column only"};
  }
  if (config.has_residual && problem.inputs[3].dims != output.dims) {
    return Refusal{"residual-shape", "adds a residual of the output's shape only"};
  }
  return is_float32 ? create<float>(problem, config) : create<double>(problem, config);
}

}  // namespace torchtrt::kernels::matmul
