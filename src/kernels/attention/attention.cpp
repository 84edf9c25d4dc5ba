#include "kernels/attention/attention.h"

#include <algorithm>
#include <vector>

#include "kernels/attention/attend.h"
#include "kernels/parallel.h"

namespace torchtrt::kernels::attention {
namespace {

using plugin::InputView;
using plugin::OutputView;

[[noreturn]] void fail(const std::string& problem) {
  throw EngineError(ErrorCode::kPlugin, "Attention: " + problem);
}

// One matrix of a batch of them: the last two axes of an operand.
struct Matrix {
  const float* data;
  int64_t row_stride;
  int64_t column_stride;
};

Matrix matrixAt(const InputView& operand, std::span<const int64_t> batch_dims, int64_t index) {
  const size_t rank = operand.dims.size();
  const size_t batch_rank = rank - 2;
  int64_t offset = 0;
  // The mask may lack leading axes, and repeats along those of size 1.
  for (size_t i = batch_dims.size(); i-- > 0;) {
    const int64_t at = index % batch_dims[i];
    index /= batch_dims[i];
    const size_t missing = batch_dims.size() - batch_rank;
    if (i >= missing && operand.dims[i - missing] != 1) {
      offset += at * operand.strides[i - missing];
    }
  }
  const auto stride = [&](size_t axis) { return operand.dims[axis] == 1 ? 0 : operand.strides[axis]; };
  return {static_cast<const float*>(operand.data) + offset, stride(rank - 2), stride(rank - 1)};
}

// Rows of `columns` floats without gaps: where they lie, or copied to `buffer`.
const float* denseRows(const Matrix& matrix, int64_t rows, int64_t columns, int64_t& row_stride,
                       std::vector<float>& buffer) {
  if (matrix.column_stride == 1 || columns == 1) {
    row_stride = matrix.row_stride;
    return matrix.data;
  }
  buffer.resize(static_cast<size_t>(rows * columns));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      buffer[static_cast<size_t>(row * columns + column)] =
          matrix.data[row * matrix.row_stride + column * matrix.column_stride];
    }
  }
  row_stride = columns;
  return buffer.data();
}

class Attention final : public plugin::Plugin {
 public:
  explicit Attention(const Attributes& fields)
      : scale_(fields.getDouble("scale")), transpose_k_(fields.getBool("transpose_k")) {}

  bool supports(std::span<const DType> inputs) const override {
    return (inputs.size() == 3 || inputs.size() == 4) &&
           std::all_of(inputs.begin(), inputs.end(), [](DType dtype) { return dtype == DType::kFloat32; });
  }

  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    const Dims &q = inputs[0].dims, &k = inputs[1].dims, &v = inputs[2].dims;
    const int rank = q.rank();
    if (rank < 2 || k.rank() != rank || v.rank() != rank) {
      fail("expected q, k and v of one rank of at least 2, got " + q.toString() + ", " + k.toString() + " and " +
           v.toString());
    }
    const Dim keys = k[transpose_k_ ? rank - 2 : rank - 1];
    const Dim size = k[transpose_k_ ? rank - 1 : rank - 2];
    bool fits = size == q[rank - 1] && keys == v[rank - 2];
    for (int i = 0; i < rank - 2; ++i) {
      fits = fits && q[i] == k[i] && q[i] == v[i];
    }
    if (!fits) {
      fail("q " + q.toString() + ", k " + k.toString() + " and v " + v.toString() + " do not fit each other");
    }
    std::vector<Dim> dims = q.vec();
    dims.back() = keys;
    checkMask(inputs, Dims(dims));
    dims.back() = v[rank - 1];
    return {{DType::kFloat32, Dims(dims)}};
  }

  void enqueue(std::span<const InputView> inputs, std::span<const OutputView> outputs, void*,
               int threads) const override {
    const InputView &q = inputs[0], &k = inputs[1], &v = inputs[2];
    const size_t rank = q.dims.size();
    const auto batch_dims = q.dims.first(rank - 2);
    int64_t batch = 1;
    for (const int64_t dim : batch_dims) {
      batch *= dim;
    }
    const int64_t rows = q.dims[rank - 2], size = q.dims[rank - 1], keys = v.dims[rank - 2],
                  out_size = v.dims[rank - 1];
    if (batch * rows * out_size == 0) {
      return;
    }
    // Long sequences of few heads are cut, since every thread packs the keys and values it needs.
    const int64_t parts = std::clamp<int64_t>(threads / batch, 1, (rows + kBlockRows - 1) / kBlockRows);
    const int64_t part_rows = (rows + parts - 1) / parts;
    parallelFor(threads, 0, batch * parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t index = unit / parts, first = unit % parts * part_rows;
        const int64_t count = std::min(part_rows, rows - first);
        if (count <= 0) {
          continue;
        }
        Matrix key = matrixAt(k, batch_dims, index);
        if (!transpose_k_) {
          std::swap(key.row_stride, key.column_stride);
        }
        const Matrix value = matrixAt(v, batch_dims, index);
        const Head head({key.data, key.row_stride, key.column_stride, size},
                        {value.data, value.row_stride, value.column_stride, out_size}, keys);
        Matrix query = matrixAt(q, batch_dims, index);
        query.data += first * query.row_stride;
        std::vector<float> query_buffer, mask_buffer;
        Head::Queries queries = {};
        queries.data = denseRows(query, count, size, queries.stride, query_buffer);
        queries.count = count;
        queries.out = static_cast<float*>(outputs[0].data) + (index * rows + first) * out_size;
        queries.out_stride = out_size;
        queries.scale = static_cast<float>(scale_);
        queries.first_limit = keys;
        if (inputs.size() == 4) {
          Matrix mask = matrixAt(inputs[3], batch_dims, index);
          mask.data += first * mask.row_stride;
          queries.mask = denseRows(mask, count, keys, queries.mask_stride, mask_buffer);
        }
        std::vector<float> scores(static_cast<size_t>(head.scoreCount()));
        head.attend(queries, scores.data());
      }
    });
  }

 private:
  static void checkMask(std::span<const TensorType> inputs, const Dims& scores) {
    if (inputs.size() < 4) {
      return;
    }
    const Dims& mask = inputs[3].dims;
    const int missing = scores.rank() - mask.rank();
    bool fits = missing >= 0 && mask.rank() >= 2;
    for (int i = 0; fits && i < mask.rank(); ++i) {
      fits = mask[i] == Dim(1) || mask[i] == scores[i + missing];
    }
    if (!fits) {
      fail("a mask of " + mask.toString() + " does not broadcast to the scores " + scores.toString());
    }
  }

  double scale_;
  bool transpose_k_;
};

class Creator final : public plugin::PluginCreator {
 public:
  std::string pluginNamespace() const override {
    return "torchtrt";
  }
  std::string type() const override {
    return "Attention";
  }
  std::unique_ptr<plugin::Plugin> create(const Attributes& fields) const override {
    if (!fields.has("scale") || !fields.has("transpose_k")) {
      fail("fields scale and transpose_k are needed");
    }
    return std::make_unique<Attention>(fields);
  }
};

}  // namespace

std::shared_ptr<const plugin::PluginCreator> createAttentionCreator() {
  return std::make_shared<Creator>();
}

}  // namespace torchtrt::kernels::attention
