#include "kernels/attention/attention.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "kernels/attention/attend.h"
#include "kernels/attention/attention_fields.h"
#include "kernels/parallel.h"

namespace torchtrt::kernels::attention {
namespace {

using plugin::InputView;
using plugin::OutputView;

// Arithmetic below which a loop is not worth another thread: about a microsecond.
constexpr int64_t kMinChunkFlops = 200'000;

// A tensor whose last two axes are matrices.
struct Matrices {
  const void* data;
  std::vector<int64_t> dims, strides;

  static Matrices of(const InputView& view) {
    return {view.data, {view.dims.begin(), view.dims.end()}, {view.strides.begin(), view.strides.end()}};
  }
  // The heads in the channels of a tensor [B, S, channels], as [B, heads, S, size].
  static Matrices ofHeads(const InputView& view, int64_t heads, int64_t size, int64_t channel, bool sequence_first) {
    const size_t batch = sequence_first ? 1 : 0, sequence = 1 - batch;
    const int64_t step = view.strides[2];
    return {static_cast<const float*>(view.data) + channel * step,
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
  // Of matrix `index` of `batch_dims`, in elements. Masks may lack leading axes, and repeat along those that are
  // shorter.
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
                   std::vector<T>& buffer) {
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

// One call.
class Call {
 public:
  Call(const AttentionFields& fields, std::span<const InputView> inputs, const OutputView& output)
      : fields_(fields), out_(static_cast<float*>(output.data)) {
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
      chooses_.push_back(mask.dtype == DType::kBool);
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
    out_row_stride_ = heads == 0 ? out_size_ : heads * out_size_ * (fields.sequence_first ? q_.dims[0] : 1);
  }

  void run(int threads) {
    if (batch_ * rows_ * out_size_ == 0) {
      return;
    }
    // Few heads are cut, though every part packs the keys and values it needs.
    const int64_t blocks = (rows_ + kBlockRows - 1) / kBlockRows;
    const bool is_even = batch_ % threads == 0 || batch_ >= 4 * threads;
    parts_ = is_even ? 1 : std::min<int64_t>((4 * threads + batch_ - 1) / batch_, blocks);
    const int64_t flops = 2 * (rows_ + parts_ - 1) / parts_ * keys_ * (size_ + out_size_);
    const int64_t grain = std::max<int64_t>(1, kMinChunkFlops / std::max<int64_t>(1, flops));
    parallelFor(threads, 0, batch_ * parts_, grain, [&](int64_t begin, int64_t end) {
      Head head;
      for (int64_t unit = begin; unit < end; ++unit) {
        if (unit == begin || unit % parts_ == 0) {
          packHead(head, unit / parts_);
        }
        const int64_t part = unit % parts_;
        const int64_t first = rows_ * part / parts_;
        attend(head, unit / parts_, first, rows_ * (part + 1) / parts_ - first);
      }
    });
  }

 private:
  void packHead(Head& head, int64_t index) const {
    int64_t key_stride = k_.rowStride(), key_step = k_.columnStride();
    if (!fields_.transpose_k) {
      std::swap(key_stride, key_step);
    }
    const auto* keys = static_cast<const float*>(k_.data) + k_.offsetOf(batch_dims_, index);
    const auto* values = static_cast<const float*>(v_.data) + v_.offsetOf(batch_dims_, index);
    head.pack({keys, key_stride, key_step, size_}, {values, v_.rowStride(), v_.columnStride(), out_size_}, keys_);
  }

  void attend(Head& head, int64_t index, int64_t first, int64_t count) const {
    std::vector<float> query_buffer;
    Head::Queries queries = {};
    queries.data =
        denseRows(static_cast<const float*>(q_.data) + q_.offsetOf(batch_dims_, index) + first * q_.rowStride(), q_,
                  count, size_, queries.stride, query_buffer);
    queries.count = count;
    queries.out = out_ + outOffset(index) + first * out_row_stride_;
    queries.out_stride = out_row_stride_;
    queries.scale = static_cast<float>(fields_.scale);
    queries.first_limit = keys_;
    queries.safe = fields_.safe;
    std::array<Mask, Head::kMostMasks> masks = {};
    std::array<std::vector<float>, Head::kMostMasks> added_buffers;
    std::array<std::vector<uint8_t>, Head::kMostMasks> chosen_buffers;
    for (size_t i = 0; i < masks_.size(); ++i) {
      const int64_t offset = masks_[i].offsetOf(batch_dims_, index) + first * masks_[i].rowStride();
      if (chooses_[i]) {
        masks[i].chosen = denseRows(static_cast<const uint8_t*>(masks_[i].data) + offset, masks_[i], count, keys_,
                                    masks[i].stride, chosen_buffers[i]);
      } else {
        masks[i].added = denseRows(static_cast<const float*>(masks_[i].data) + offset, masks_[i], count, keys_,
                                   masks[i].stride, added_buffers[i]);
      }
    }
    queries.masks = std::span(masks).first(masks_.size());
    head.attend(queries);
  }

  int64_t outOffset(int64_t index) const {
    if (fields_.heads == 0) {
      return index * rows_ * out_size_;
    }
    const int64_t b = index / fields_.heads, width = fields_.heads * out_size_;
    return b * (fields_.sequence_first ? width : rows_ * width) + index % fields_.heads * out_size_;
  }

  const AttentionFields& fields_;
  float* out_;
  Matrices q_, k_, v_;
  std::vector<Matrices> masks_;
  std::vector<bool> chooses_;
  std::span<const int64_t> batch_dims_;
  int64_t batch_ = 1, rows_ = 0, size_ = 0, keys_ = 0, out_size_ = 0, out_row_stride_ = 0, parts_ = 1;
};

class Attention final : public plugin::Plugin {
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
