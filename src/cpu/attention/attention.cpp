#include "cpu/attention/attention.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "cpu/attention/attend.h"
#include "cpu/attention/attention_fields.h"
#include "cpu/plugin/built_in.h"
#include "cpu/storage/half_rows.h"
#include "cpu/threads/parallel.h"
#include "cpu/threads/thread_memory.h"

namespace torchtrt::kernels::attention {
namespace {

using plugin::InputView;
using plugin::OutputView;

// Arithmetic below which a loop is not worth another thread: about a microsecond.
constexpr int64_t kMinChunkFlops = 200'000;

// A tensor whose last two axes are matrices.
struct Matrices {
  const void* data;
  DType dtype;
  ThreadVector<int64_t> dims, strides;

  static Matrices of(const InputView& view) {
    return {view.data, view.dtype, {view.dims.begin(), view.dims.end()}, {view.strides.begin(), view.strides.end()}};
  }
  // The heads in the channels of a tensor [B, S, channels], as [B, heads, S, size].
  static Matrices ofHeads(const InputView& view, int64_t heads, int64_t size, int64_t channel, bool sequence_first) {
    const size_t batch = sequence_first ? 1 : 0, sequence = 1 - batch;
    const int64_t step = view.strides[2];
    return {static_cast<const std::byte*>(view.data) + channel * step * static_cast<int64_t>(sizeOf(view.dtype)),
            view.dtype,
            {view.dims[batch], heads, view.dims[sequence], size},
            {view.strides[batch], size * step, view.strides[sequence], step}};
  }

  // 0 for an axis that has one element: whatever a caller does with it then, memory is not left.
  int64_t stride(size_t axis) const {
    return dims[axis] == 1 ? 0 : strides[axis];
  }
  int64_t rowStride() const {
    return stride(dims.size() - 2);
  }
  int64_t columnStride() const {
    return stride(dims.size() - 1);
  }
  // Returns the offset of matrix `index` of `batch_dims`, in elements. Masks may lack leading axes, and repeat along
  // shorter ones.
  int64_t offsetOf(std::span<const int64_t> batch_dims, int64_t index) const {
    const size_t missing = batch_dims.size() - (dims.size() - 2);
    int64_t offset = 0;
    for (size_t i = batch_dims.size(); i-- > 0;) {
      const int64_t at = index % batch_dims[i];
      index /= batch_dims[i];
      if (i >= missing) {
        offset += at % dims[i - missing] * strides[i - missing];
      }
    }
    return offset;
  }
};

// Rows of `columns` elements without gaps: where they lie, or copied to `buffer`.
template <typename T>
const T* denseRows(const T* data, const Matrices& matrices, int64_t rows, int64_t columns, int64_t& row_stride,
                   ThreadVector<T>& buffer) {
  row_stride = matrices.rowStride();
  if (matrices.columnStride() == 1 || columns == 1) {
    return data;
  }
  buffer.resize(static_cast<size_t>(rows * columns));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      buffer[static_cast<size_t>(row * columns + column)] = data[row * row_stride + column * matrices.columnStride()];
    }
  }
  row_stride = columns;
  return buffer.data();
}

// Scratch memory that a thread keeps between parts of a call: the packed head, and rows of 16-bit numbers as float32.
struct Scratch {
  Head head;
  ThreadVector<uint16_t> line;
  ThreadVector<float> keys, values, queries, out;
  std::array<ThreadVector<float>, Head::kMostMasks> added;
  std::array<ThreadVector<uint8_t>, Head::kMostMasks> chosen;
};

// One call. Numbers of 16 bits are widened head by head, computed in float32, and rounded once.
class Call {
 public:
  Call(const AttentionFields& fields, std::span<const InputView> inputs, const OutputView& output)
      : fields_(fields), dtype_(inputs[0].dtype), out_(static_cast<std::byte*>(output.data)) {
    if (isHalf(dtype_)) {
      halves_ = halfRows(dtype_);
    }
    const int64_t heads = fields.heads;
    const auto seen = [&](size_t i, int64_t size, int64_t channel) {
      return heads == 0 ? Matrices::of(inputs[i])
                        : Matrices::ofHeads(inputs[i], heads, size, channel, fields.sequence_first);
    };
    q_ = seen(0, fields.head_size, fields.q_channel);
    k_ = seen(1, fields.head_size, fields.k_channel);
    v_ = seen(2, fields.value_size, fields.v_channel);
    for (const InputView& mask : inputs.subspan(3)) {
      masks_.push_back(Matrices::of(mask));
    }
    const size_t rank = q_.dims.size();
    batch_dims_ = std::span(q_.dims).first(rank - 2);
    for (const int64_t dim : batch_dims_) {
      batch_ *= dim;
    }
    rows_ = q_.dims[rank - 2];
    size_ = q_.dims[rank - 1];
    keys_ = v_.dims[rank - 2];
    out_size_ = v_.dims[rank - 1];
    constexpr int64_t kManyKeys = 32;  // fewer are packed, so that results keep the bits of earlier versions
    is_few_ = rows_ <= Head::kFewQueries && keys_ >= kManyKeys && (isHalf(dtype_) ? fields.transpose_k : liesInRows());
    out_row_stride_ = heads == 0 ? out_size_ : heads * out_size_ * (fields.sequence_first ? q_.dims[0] : 1);
  }

  void run(int threads) {
    if (batch_ * rows_ * out_size_ == 0) {
      return;
    }
    // Few heads are cut, though every part packs the keys and values it needs.
    const int64_t blocks = (rows_ + kBlockRows - 1) / kBlockRows;
    const bool is_even = batch_ % threads == 0 || batch_ >= int64_t{4} * threads;
    parts_ = is_even ? 1 : std::min<int64_t>((int64_t{4} * threads + batch_ - 1) / batch_, blocks);
    const int64_t flops = 2 * (rows_ + parts_ - 1) / parts_ * keys_ * (size_ + out_size_);
    const int64_t grain = std::max<int64_t>(1, kMinChunkFlops / std::max<int64_t>(1, flops));
    parallelFor(threads, 0, batch_ * parts_, grain, [&](int64_t begin, int64_t end) {
      Scratch scratch;
      for (int64_t unit = begin; unit < end; ++unit) {
        if (!is_few_ && (unit == begin || unit % parts_ == 0)) {
          packHead(scratch, unit / parts_);
        }
        const int64_t part = unit % parts_;
        const int64_t first = rows_ * part / parts_;
        attend(scratch, unit / parts_, first, rows_ * (part + 1) / parts_ - first);
      }
    });
  }

 private:
  // True if the elements of a key lie side by side, and those of a value. 16-bit ones do when they are widened.
  bool liesInRows() const {
    const bool keys_do = (fields_.transpose_k ? k_.columnStride() : k_.rowStride()) == 1 || size_ == 1;
    return keys_do && (v_.columnStride() == 1 || out_size_ == 1);
  }

  // Rows from `offset` on as dense float32: where they lie, or in `buffer`.
  const float* floatRows(const Matrices& matrices, int64_t offset, int64_t rows, int64_t columns, int64_t& row_stride,
                         ThreadVector<float>& buffer, ThreadVector<uint16_t>& line) const {
    if (!isHalf(matrices.dtype)) {
      return denseRows(static_cast<const float*>(matrices.data) + offset, matrices, rows, columns, row_stride, buffer);
    }
    const auto* from = static_cast<const uint16_t*>(matrices.data) + offset;
    const int64_t step = matrices.columnStride();
    buffer.resize(static_cast<size_t>(rows * columns));
    row_stride = columns;
    if (step == 1 && matrices.rowStride() == columns) {  // as masks lie: short rows cost a call each
      halves_.widen(from, buffer.data(), rows * columns);
      return buffer.data();
    }
    line.resize(static_cast<size_t>(columns));
    for (int64_t row = 0; row < rows; ++row, from += matrices.rowStride()) {
      const uint16_t* dense = from;
      if (step != 1 && columns != 1) {
        for (int64_t column = 0; column < columns; ++column) {
          line[static_cast<size_t>(column)] = from[column * step];
        }
        dense = line.data();
      }
      halves_.widen(dense, buffer.data() + row * columns, columns);
    }
    return buffer.data();
  }

  // Strides of 16-bit matrices are those of their widened copies.
  Vectors vectorsOf(const Matrices& matrices, int64_t index, bool transposed, int64_t size, ThreadVector<float>& buffer,
                    ThreadVector<uint16_t>& line) const {
    const int64_t offset = matrices.offsetOf(batch_dims_, index);
    const auto* data = static_cast<const float*>(matrices.data) + offset;
    int64_t row_stride = matrices.rowStride(), column_stride = matrices.columnStride();
    if (isHalf(dtype_)) {
      const size_t rank = matrices.dims.size();
      data = floatRows(matrices, offset, matrices.dims[rank - 2], matrices.dims[rank - 1], row_stride, buffer, line);
      column_stride = 1;
    }
    return transposed ? Vectors{data, column_stride, row_stride, size} : Vectors{data, row_stride, column_stride, size};
  }

  Vectors keysOf(Scratch& scratch, int64_t index) const {
    return vectorsOf(k_, index, !fields_.transpose_k, size_, scratch.keys, scratch.line);
  }
  Vectors valuesOf(Scratch& scratch, int64_t index) const {
    return vectorsOf(v_, index, false, out_size_, scratch.values, scratch.line);
  }

  void packHead(Scratch& scratch, int64_t index) const {
    scratch.head.pack(keysOf(scratch, index), valuesOf(scratch, index), keys_);
  }

  void attend(Scratch& scratch, int64_t index, int64_t first, int64_t count) const {
    Head::Queries queries = {};
    queries.data = floatRows(q_, q_.offsetOf(batch_dims_, index) + first * q_.rowStride(), count, size_, queries.stride,
                             scratch.queries, scratch.line);
    queries.count = count;
    std::byte* const out = out_ + (outOffset(index) + first * out_row_stride_) * static_cast<int64_t>(sizeOf(dtype_));
    if (isHalf(dtype_)) {
      scratch.out.resize(static_cast<size_t>(count * out_size_));
      queries.out = scratch.out.data();
      queries.out_stride = out_size_;
    } else {
      queries.out = reinterpret_cast<float*>(out);
      queries.out_stride = out_row_stride_;
    }
    queries.scale = static_cast<float>(fields_.scale);
    queries.first_limit = keys_;
    queries.safe = fields_.safe;
    std::array<Mask, Head::kMostMasks> masks = {};
    for (size_t i = 0; i < masks_.size(); ++i) {
      const int64_t offset = masks_[i].offsetOf(batch_dims_, index) + first * masks_[i].rowStride();
      if (masks_[i].dtype == DType::kBool) {
        masks[i].chosen = denseRows(static_cast<const uint8_t*>(masks_[i].data) + offset, masks_[i], count, keys_,
                                    masks[i].stride, scratch.chosen[i]);
      } else {
        masks[i].added = floatRows(masks_[i], offset, count, keys_, masks[i].stride, scratch.added[i], scratch.line);
      }
    }
    queries.masks = std::span(masks).first(masks_.size());
    if (is_few_) {
      scratch.head.attendWhereTheyLie(keysOf(scratch, index), valuesOf(scratch, index), keys_, queries);
    } else {
      scratch.head.attend(queries);
    }
    for (int64_t row = 0; isHalf(dtype_) && row < count; ++row) {
      halves_.narrow(queries.out + row * out_size_, reinterpret_cast<uint16_t*>(out) + row * out_row_stride_,
                     out_size_);
    }
  }

  int64_t outOffset(int64_t index) const {
    if (fields_.heads == 0) {
      return index * rows_ * out_size_;
    }
    const int64_t b = index / fields_.heads, width = fields_.heads * out_size_;
    return b * (fields_.sequence_first ? width : rows_ * width) + index % fields_.heads * out_size_;
  }

  const AttentionFields& fields_;
  DType dtype_;
  HalfRows halves_ = {};
  std::byte* out_;
  Matrices q_, k_, v_;
  ThreadVector<Matrices> masks_;
  std::span<const int64_t> batch_dims_;
  bool is_few_ = false;  // queries: nothing is packed
  int64_t batch_ = 1, rows_ = 0, size_ = 0, keys_ = 0, out_size_ = 0, out_row_stride_ = 0, parts_ = 1;
};

class Attention final : public plugin::Plugin, public RunsInRealTime {
 public:
  explicit Attention(const AttentionFields& fields) : fields_(fields) {}

  bool supports(std::span<const DType> inputs) const override {
    return AttentionFields::supports(inputs);
  }
  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    return fields_.inferOutputs(inputs);
  }
  void enqueue(std::span<const InputView> inputs, std::span<const OutputView> outputs, void*,
               int threads) const override {
    Call(fields_, inputs, outputs[0]).run(threads);
  }

 private:
  AttentionFields fields_;
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
    return std::make_unique<Attention>(AttentionFields::of(fields));
  }
};

}  // namespace

std::shared_ptr<const plugin::PluginCreator> createAttentionCreator() {
  return std::make_shared<Creator>();
}

}  // namespace torchtrt::kernels::attention
