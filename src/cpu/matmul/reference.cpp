#include <algorithm>
#include <array>

#include "base/check.h"
#include "cpu/loops/accumulate.h"
#include "cpu/loops/activation.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/matmul/matmul.h"
#include "cpu/storage/dense.h"

namespace torchtrt::kernels {
namespace {

struct MatmulConfig {
  bool transpose_a = false, transpose_b = false;
  bool has_bias = false, has_residual = false;
  ActivationSpec activation;
};

constexpr int64_t kRows = 4;  // a block of the output: kRows x kColumns sums, which stay in the first-level cache
constexpr int64_t kColumns = 256;

TensorDesc transposedIf(bool transpose, TensorDesc desc) {
  const size_t rank = desc.dims.size();
  TORCHTRT_CHECK(rank >= 2, "an operand of rank " << rank << " in a matrix multiplication");
  if (transpose) {
    std::swap(desc.dims[rank - 1], desc.dims[rank - 2]);
    std::swap(desc.strides[rank - 1], desc.strides[rank - 2]);
  }
  return desc;
}

// Per batch of the output: which matrix of a dense operand belongs to it.
std::vector<int64_t> matrixOfBatch(const TensorDesc& operand, const std::vector<int64_t>& out_dims) {
  TensorDesc batches{DType::kInt64, {operand.dims.begin(), operand.dims.end() - 2}, {}};
  batches.strides = denseStrides(batches.dims);
  const std::vector<int64_t> dims(out_dims.begin(), out_dims.end() - 2);
  FlatCursor cursor(dims, broadcastStrides(batches, dims));
  std::vector<int64_t> matrices(static_cast<size_t>(countOf(dims)));
  for (int64_t& matrix : matrices) {
    matrix = cursor.offset();
    cursor.advance(1);
  }
  return matrices;
}

// Something added to the output: bias or residual.
struct Addend {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> strides;  // along the output's axes; empty when absent
};

Addend addend(bool present, const ShapeSet& shapes, size_t input) {
  if (!present) {
    return {};
  }
  return {shapes.inputs.at(input).dtype, broadcastStrides(shapes.inputs[input], shapes.outputs[0].dims)};
}

class MatmulPrepared final : public Prepared {
 public:
  MatmulPrepared(const MatmulConfig& config, const ShapeSet& shapes)
      : config_(config),
        out_(shapes.outputs.at(0)),
        a_(transposedIf(config.transpose_a, shapes.inputs.at(0))),
        b_(transposedIf(config.transpose_b, shapes.inputs.at(1))),
        bias_(addend(config.has_bias, shapes, 2)),
        residual_(addend(config.has_residual, shapes, 3)) {
    const TensorDesc a = transposedIf(config.transpose_a, shapes.inputs[0]);
    const TensorDesc b = transposedIf(config.transpose_b, shapes.inputs[1]);
    m_ = a.dims[a.dims.size() - 2];
    k_ = a.dims.back();
    n_ = b.dims.back();
    TORCHTRT_CHECK(b.dims[b.dims.size() - 2] == k_, "inner dimensions " << k_ << " and " << b.dims[b.dims.size() - 2]);
    a_matrices_ = matrixOfBatch(a, out_.dims);
    b_matrices_ = matrixOfBatch(b, out_.dims);
  }

  size_t scratchBytes() const override {
    return a_.scratchBytes() + b_.scratchBytes();
  }

  void run(const RunArgs& args) const override {
    visitComputeType(out_.dtype, [&](auto type) { runAs<typename decltype(type)::type>(args); });
  }

 private:
  template <typename T>
  struct Operands {
    const T* a;
    const T* b;
    Activation<T> activation;
  };

  template <typename T>
  void runAs(const RunArgs& args) const {
    auto* scratch = static_cast<std::byte*>(args.scratch);
    const Operands<T> operands{a_.dense<T>(args.threads, args.inputs[0], scratch),
                               b_.dense<T>(args.threads, args.inputs[1], scratch + a_.scratchBytes()),
                               Activation<T>(config_.activation, out_.dtype)};
    const int64_t row_blocks = (m_ + kRows - 1) / kRows;
    const int64_t column_blocks = (n_ + kColumns - 1) / kColumns;
    const auto batches = static_cast<int64_t>(a_matrices_.size());
    parallelFor(args.threads, 0, batches * row_blocks * column_blocks,
                grainFor(kRows * std::min(n_, kColumns) * (k_ + 1)), [&](int64_t begin, int64_t end) {
                  for (int64_t block = begin; block < end; ++block) {
                    const int64_t column = block % column_blocks * kColumns;
                    const int64_t row = block / column_blocks % row_blocks * kRows;
                    multiplyBlock(args, operands, block / column_blocks / row_blocks, row, column);
                  }
                });
  }

  template <typename T>
  void multiplyBlock(const RunArgs& args, const Operands<T>& operands, int64_t batch, int64_t row,
                     int64_t column) const {
    using Sum = Accumulator<T>;
    const int64_t rows = std::min(kRows, m_ - row);
    const int64_t columns = std::min(kColumns, n_ - column);
    const T* a = operands.a + (a_matrices_[static_cast<size_t>(batch)] * m_ + row) * k_;
    const T* b = operands.b + b_matrices_[static_cast<size_t>(batch)] * k_ * n_ + column;
    alignas(64) std::array<std::array<Sum, kColumns>, kRows> sums{};
    for (int64_t k = 0; k < k_; ++k) {
      const T* b_row = b + k * n_;
      for (int64_t r = 0; r < rows; ++r) {
        const Sum factor = static_cast<Sum>(a[r * k_ + k]);
        Sum* sum = sums[static_cast<size_t>(r)].data();
        for (int64_t c = 0; c < columns; ++c) {
          sum[c] += factor * static_cast<Sum>(b_row[c]);
        }
      }
    }
    for (int64_t r = 0; r < rows; ++r) {
      finishRow(args, operands, sums[static_cast<size_t>(r)].data(), batch, row + r, column, columns);
    }
  }

  template <typename T>
  void finishRow(const RunArgs& args, const Operands<T>& operands, Accumulator<T>* sums, int64_t batch, int64_t row,
                 int64_t column, int64_t count) const {
    alignas(64) std::array<T, kColumns> values;
    const auto add = [&](const Addend& addend, const void* data) {
      if (addend.strides.empty()) {
        return;
      }
      const int64_t step = addend.strides.back();
      const int64_t offset = offsetOf(addend.strides, batch, row) + column * step;
      Reader<T>(addend.dtype).read(data, offset, step, count, values.data());
      for (int64_t c = 0; c < count; ++c) {
        sums[c] += static_cast<Accumulator<T>>(values[static_cast<size_t>(c)]);
      }
    };
    add(bias_, config_.has_bias ? args.inputs[2] : nullptr);
    add(residual_, config_.has_residual ? args.inputs[3] : nullptr);
    for (int64_t c = 0; c < count; ++c) {
      values[static_cast<size_t>(c)] = static_cast<T>(sums[c]);
    }
    operands.activation.apply(values.data(), count);
    const int64_t step = out_.strides.back();
    Writer<T>(out_.dtype)
        .write(values.data(), count, args.outputs[0], offsetOf(out_.strides, batch, row) + column * step, step);
  }

  // Returns the offset of row `row` of batch `batch` (row-major over the leading dimensions), in elements.
  int64_t offsetOf(const std::vector<int64_t>& strides, int64_t batch, int64_t row) const {
    const size_t lead = out_.dims.size() - 2;
    return row * strides[lead] + offsetAt(batch, out_.dims, strides, lead);
  }

  MatmulConfig config_;
  TensorDesc out_;
  DenseOperand a_, b_;
  Addend bias_, residual_;
  int64_t m_ = 0, k_ = 0, n_ = 0;
  std::vector<int64_t> a_matrices_, b_matrices_;
};

}  // namespace

CreateResult createMatrixMultiplyReference(const Problem& problem) {
  const Attributes& attributes = *problem.attributes;
  const auto present = [&](size_t i) { return i < problem.inputs.size() && problem.inputs[i].present; };
  MatmulConfig config = {attributes.getBool("transpose_a", false), attributes.getBool("transpose_b", false), present(2),
                         present(3), fusedActivation(attributes)};
  if (!isActivationDefined(config.activation, problem.outputs.at(0).dtype)) {
    return Refusal{
        "dtype", "activation '" + config.activation.op + "' is not defined for " + toString(problem.outputs[0].dtype)};
  }
  return makeKernel<MatmulPrepared>(std::move(config));
}

}  // namespace torchtrt::kernels
