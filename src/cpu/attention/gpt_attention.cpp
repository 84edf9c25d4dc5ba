#include "cpu/attention/gpt_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "cpu/attention/attend.h"
#include "cpu/storage/convert.h"
#include "cpu/threads/parallel.h"
#include "kernels/attention/gpt_fields.h"

namespace torchtrt::kernels::attention {
namespace {

using plugin::InputView;
using plugin::OutputView;

// One sequence of a call: where its tokens lie in qkv and how many came before them.
struct Sequence {
  int64_t row = 0;     // of its first token, among all rows [tokens, hidden]
  int64_t length = 0;  // tokens of this call
  int64_t past = 0;    // tokens in the cache
};

// cos and sin of every pair of a position: [positions][pairs][2]
std::vector<float> rotaryTable(const GptFields& fields, int64_t positions) {
  const int64_t pairs = fields.rotary_dim / 2;
  std::vector<float> table(static_cast<size_t>(positions * pairs * 2));
  for (int64_t position = 0; position < positions; ++position) {
    for (int64_t pair = 0; pair < pairs; ++pair) {
      const double frequency =
          std::pow(fields.rotary_base, -2.0 * static_cast<double>(pair) / static_cast<double>(fields.rotary_dim));
      const double angle = static_cast<double>(position) * frequency;
      float* entry = table.data() + (position * pairs + pair) * 2;
      entry[0] = static_cast<float>(std::cos(angle));
      entry[1] = static_cast<float>(std::sin(angle));
    }
  }
  return table;
}

class Call {
 public:
  Call(const GptFields& fields, std::span<const InputView> inputs, std::span<const OutputView> outputs)
      : fields_(fields),
        qkv_(inputs[0]),
        bias_(fields.find(inputs, "qkv_bias")),
        past_(fields.find(inputs, "past_key_value")),
        context_(outputs[0]),
        present_(outputs.size() > 1 ? &outputs[1] : nullptr),
        read_(qkv_.dtype),
        write_(qkv_.dtype) {
    readSequences(inputs);
    int64_t positions = 0;
    for (const Sequence& sequence : sequences_) {
      positions = std::max(positions, sequence.past + sequence.length);
    }
    if (fields_.rotary_dim > 0) {
      rotary_ = rotaryTable(fields_, positions);
    }
    if (bias_ != nullptr) {
      bias_values_.resize(static_cast<size_t>(fields_.qkvSize()));
      read_.read(bias_->data, 0, bias_->strides[0], fields_.qkvSize(), bias_values_.data());
    }
  }

  void run(int threads) const {
    const size_t element = sizeOf(context_.dtype);
    std::memset(context_.data, 0, static_cast<size_t>(qkv_.dims[0] * qkv_.dims[1] * fields_.contextSize()) * element);
    const auto heads = static_cast<int64_t>(sequences_.size()) * fields_.num_kv_heads;
    parallelFor(threads, 0, heads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        runHead(i / fields_.num_kv_heads, i % fields_.num_kv_heads);
      }
    });
  }

 private:
  std::vector<int64_t> lengthsOf(const InputView* lengths, int64_t batch, int64_t fallback) const {
    std::vector<int64_t> values(static_cast<size_t>(batch), fallback);
    if (lengths != nullptr) {
      Reader<int64_t>(lengths->dtype).read(lengths->data, 0, lengths->strides[0], batch, values.data());
    }
    return values;
  }

  void readSequences(std::span<const InputView> inputs) {
    const InputView* lengths = fields_.find(inputs, "context_lengths");
    const bool packed = qkv_.dims[0] == 1;
    const int64_t batch = lengths != nullptr ? lengths->dims[0] : qkv_.dims[0];
    const std::vector<int64_t> length = lengthsOf(lengths, batch, qkv_.dims[1]);
    const std::vector<int64_t> past = lengthsOf(fields_.find(inputs, "past_lengths"), batch, 0);
    const int64_t room = present_ != nullptr ? present_->dims[3] : -1;
    int64_t row = 0;
    for (int64_t b = 0; b < batch; ++b) {
      const auto i = static_cast<size_t>(b);
      const Sequence sequence = {packed ? row : b * qkv_.dims[1], length[i], past[i]};
      row += length[i];
      checkRange("context_lengths", b, length[i], packed ? qkv_.dims[1] - sequence.row : qkv_.dims[1]);
      checkRange("past_lengths", b, past[i], room < 0 ? 0 : room - length[i]);
      sequences_.push_back(sequence);
    }
  }

  static void checkRange(const char* operand, int64_t index, int64_t value, int64_t greatest) {
    if (value < 0 || value > greatest) {
      throw EngineError(ErrorCode::kIndexOutOfRange,
                        "GPTAttention: " + std::string(operand) + "[" + std::to_string(index) + "] is " +
                            std::to_string(value) + ", expected 0 to " + std::to_string(greatest),
                        {}, "give as many tokens as qkv has rows for, and a cache that holds all of them");
    }
  }

  // Row `row` of qkv from channel `channel` on, as float, with the bias.
  void readToken(int64_t row, int64_t channel, float* out) const {
    const int64_t offset = (row / qkv_.dims[1]) * qkv_.strides[0] + (row % qkv_.dims[1]) * qkv_.strides[1];
    read_.read(qkv_.data, offset + channel * qkv_.strides[2], qkv_.strides[2], fields_.head_size, out);
    if (bias_ != nullptr) {
      for (int64_t d = 0; d < fields_.head_size; ++d) {
        out[d] += bias_values_[static_cast<size_t>(channel + d)];
      }
    }
  }

  void rotate(float* values, int64_t position) const {
    const int64_t pairs = fields_.rotary_dim / 2;
    const float* table = rotary_.data() + position * pairs * 2;
    for (int64_t pair = 0; pair < pairs; ++pair) {
      float& a = values[fields_.rotary_interleaved ? 2 * pair : pair];
      float& b = values[fields_.rotary_interleaved ? 2 * pair + 1 : pair + pairs];
      const float x = a, y = b, cosine = table[2 * pair], sine = table[2 * pair + 1];
      a = x * cosine - y * sine;
      b = y * cosine + x * sine;
    }
  }

  // Element offset of the cache's row for a position: [batch, 2, kv_heads, capacity, head_size].
  template <typename View>
  static int64_t cacheOffset(const View& cache, int64_t b, int64_t which, int64_t head, int64_t position) {
    return b * cache.strides[0] + which * cache.strides[1] + head * cache.strides[2] + position * cache.strides[3];
  }

  // Keys and values of a head, oldest first: from the cache, then of this call; and the cache with both.
  void gather(int64_t b, int64_t head, const Sequence& sequence, float* keys, float* values) const {
    const int64_t size = fields_.head_size;
    float* const targets[] = {keys, values};
    for (int64_t which = 0; which < 2; ++which) {
      for (int64_t position = 0; position < sequence.past; ++position) {
        float* const target = targets[which] + position * size;
        if (past_ == nullptr) {
          std::fill_n(target, size, 0.0F);
          continue;
        }
        read_.read(past_->data, cacheOffset(*past_, b, which, head, position), past_->strides[4], size, target);
      }
      for (int64_t token = 0; token < sequence.length; ++token) {
        float* const target = targets[which] + (sequence.past + token) * size;
        readToken(sequence.row + token, (fields_.num_heads + which * fields_.num_kv_heads + head) * size, target);
        if (which == 0 && fields_.rotary_dim > 0) {
          rotate(target, sequence.past + token);
        }
      }
      if (present_ != nullptr) {
        writeCache(b, which, head, sequence, targets[which]);
      }
    }
  }

  void writeCache(int64_t b, int64_t which, int64_t head, const Sequence& sequence, const float* rows) const {
    const int64_t size = fields_.head_size;
    const std::vector<float> zeros(static_cast<size_t>(size), 0.0F);
    const int64_t filled = sequence.past + sequence.length;
    for (int64_t position = 0; position < present_->dims[3]; ++position) {
      const bool is_filled = position < filled;
      std::vector<float> kept;
      const float* row = is_filled ? rows + position * size : zeros.data();
      if (!is_filled && past_ != nullptr) {  // what lies behind stays as it was
        kept.resize(static_cast<size_t>(size));
        read_.read(past_->data, cacheOffset(*past_, b, which, head, position), past_->strides[4], size, kept.data());
        row = kept.data();
      }
      write_.write(row, size, present_->data, cacheOffset(*present_, b, which, head, position), 1);
    }
  }

  void runHead(int64_t b, int64_t kv_head) const {
    const Sequence& sequence = sequences_[static_cast<size_t>(b)];
    const int64_t size = fields_.head_size;
    const int64_t count = sequence.past + sequence.length;
    std::vector<float> keys(static_cast<size_t>(count * size)), values(keys.size());
    gather(b, kv_head, sequence, keys.data(), values.data());
    if (sequence.length == 0) {
      return;
    }
    Head head;
    head.pack({keys.data(), size, 1, size}, {values.data(), size, 1, size}, count);
    std::vector<float> queries(static_cast<size_t>(sequence.length * size)), out(queries.size());
    const int64_t group = fields_.num_heads / fields_.num_kv_heads;
    for (int64_t query_head = kv_head * group; query_head < (kv_head + 1) * group; ++query_head) {
      for (int64_t token = 0; token < sequence.length; ++token) {
        float* const query = queries.data() + token * size;
        readToken(sequence.row + token, query_head * size, query);
        if (fields_.rotary_dim > 0) {
          rotate(query, sequence.past + token);
        }
      }
      const int64_t first_limit = fields_.causal ? sequence.past + 1 : count;
      head.attend({queries.data(),
                   size,
                   sequence.length,
                   out.data(),
                   size,
                   static_cast<float>(fields_.scale()),
                   first_limit,
                   {},
                   false});
      for (int64_t token = 0; token < sequence.length; ++token) {
        write_.write(out.data() + token * size, size, context_.data,
                     (sequence.row + token) * fields_.contextSize() + query_head * size, 1);
      }
    }
  }

  const GptFields& fields_;
  const InputView& qkv_;
  const InputView* bias_;
  const InputView* past_;
  const OutputView& context_;
  const OutputView* present_;
  Reader<float> read_;
  Writer<float> write_;
  std::vector<Sequence> sequences_;
  std::vector<float> rotary_, bias_values_;
};

class GptAttention final : public plugin::Plugin {
 public:
  explicit GptAttention(GptFields fields) : fields_(std::move(fields)) {}

  int outputCount() const override {
    return fields_.hasCache() ? 2 : 1;
  }
  bool supports(std::span<const DType> inputs) const override {
    return fields_.supports(inputs);
  }
  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    return fields_.inferOutputs(inputs);
  }
  void enqueue(std::span<const InputView> inputs, std::span<const OutputView> outputs, void*,
               int threads) const override {
    if (qkvIsEmpty(inputs[0])) {
      return;
    }
    Call(fields_, inputs, outputs).run(threads);
  }

 private:
  bool qkvIsEmpty(const InputView& qkv) const {
    return !fields_.hasCache() && (qkv.dims[0] == 0 || qkv.dims[1] == 0);
  }

  GptFields fields_;
};

class Creator final : public plugin::PluginCreator {
 public:
  std::string pluginNamespace() const override {
    return "tensorrt_llm";
  }
  std::string type() const override {
    return "GPTAttention";
  }
  std::unique_ptr<plugin::Plugin> create(const Attributes& fields) const override {
    return std::make_unique<GptAttention>(GptFields::of(fields));
  }
};

}  // namespace

std::shared_ptr<const plugin::PluginCreator> createGptAttentionCreator() {
  return std::make_shared<Creator>();
}

}  // namespace torchtrt::kernels::attention
