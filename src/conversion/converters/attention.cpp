#include <cmath>
#include <limits>

#include "conversion/converters/call.h"
#include "conversion/converters/list.h"

// softmax(q k^T * scale + mask) v, in the layers that this is; the optimizer may put them together again.

namespace torchtrt::conversion::converters {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

Tensor& range(const Call& call, const Dim& count) {
  return call.add(LayerType::kFILL, {},
                  attributes({{"op", std::string("arange")},
                              {"dims", Dims{count}},
                              {"dtype", DType::kInt64},
                              {"int_value", int64_t{0}},
                              {"int_step", int64_t{1}}}));
}

// Row i sees columns 0 to i.
Tensor& maskCausal(const Call& call, Tensor& scores) {
  const Dim rows = scores.getDimensions()[scores.rank() - 2], columns = scores.getDimensions()[scores.rank() - 1];
  Tensor& row = call.reshape(range(call, rows), Dims{rows, 1});
  Tensor& visible = call.elementwise("less_equal", range(call, columns), row);
  return call.add(LayerType::kSELECT, {&visible, &scores, &call.constant(kMinusInfinity, scores.getType())});
}

// A bool mask says what is visible, any other is added.
Tensor& applyMask(const Call& call, Tensor& scores, Tensor& mask) {
  if (mask.getType() == DType::kBool) {
    return call.add(LayerType::kSELECT, {&mask, &scores, &call.constant(kMinusInfinity, scores.getType())});
  }
  return call.elementwise("sum", scores, call.cast(mask, scores.getType()));
}

// A row that sees nothing gets zeros, where a plain softmax would give NaN.
Tensor& safeSoftmax(const Call& call, Tensor& scores) {
  const int64_t axis = scores.rank() - 1;
  Tensor& greatest = call.reduce("max", scores, {axis}, true);
  Tensor& sees_nothing = call.elementwise("equal", greatest, call.constant(kMinusInfinity, scores.getType()));
  Tensor& weights = *call.net.addSoftMax(scores, axis)->getOutput(0);
  return call.add(LayerType::kSELECT, {&sees_nothing, &call.constant(0, scores.getType()), &weights});
}

// Every head of keys and values serves several heads (axis -3) of grouped queries in a row.
Tensor& repeatHeads(const Call& call, Tensor& tensor, const Tensor& query) {
  const int axis = tensor.rank() - 3;
  const Dim times = Dim::floorDiv(query.getDimensions()[query.rank() - 3], tensor.getDimensions()[axis]);
  std::vector<Dim> spread = tensor.getDimensions().vec(), result = spread;
  spread.insert(spread.begin() + axis + 1, times);
  result[static_cast<size_t>(axis)] = result[static_cast<size_t>(axis)] * times;
  return call.reshape(call.expand(call.unsqueeze(tensor, axis + 1), Dims(spread)), Dims(result));
}

// True if queries of all heads and places meet the same keys: the queries that share a head of keys may become rows of
// one head, and no keys are repeated.
bool isBlindToHeads(const Call& call) {
  const Tensor* const mask = call.tensorOrNull(3);
  const auto isOne = [&](int axis) {
    return mask->rank() < axis || mask->getDimensions()[mask->rank() - axis] == Dim(1);
  };
  return !call.flag(5) && (mask == nullptr || (isOne(2) && isOne(3)));
}

// [..., groups * times, rows, width] as [..., groups, times * rows, width].
Tensor& groupQueries(const Call& call, Tensor& query, const Tensor& key) {
  std::vector<Dim> dims = query.getDimensions().vec();
  const auto axis = dims.size() - 3;
  dims[axis + 1] = Dim::floorDiv(dims[axis] * dims[axis + 1], key.getDimensions()[static_cast<int>(axis)]);
  dims[axis] = key.getDimensions()[static_cast<int>(axis)];
  return call.reshape(query, Dims(std::move(dims)));
}

// query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa. PyTorch rounds only the result to 16 bits:
// scores may be beyond what 16-bit numbers hold, or differ by less than what these tell apart.
Tensor& attention(Call& call) {
  if (call.real(4) != 0) {
    call.refuse("random", "dropout_p has to be 0, got " + std::to_string(call.real(4)));
  }
  const DType given = call.tensor(0).getType();
  const DType wide = given == DType::kFloat64 ? given : DType::kFloat32;
  const auto operand = [&](size_t i) -> Tensor& { return call.cast(call.tensor(i), wide); };
  Tensor& asked = operand(0);
  const bool grouped = call.flag(7);
  const bool groups_rows =
      grouped && asked.rank() >= 3 && isBlindToHeads(call) &&
      call.tensor(1).getDimensions()[asked.rank() - 3] == call.tensor(2).getDimensions()[asked.rank() - 3];
  Tensor& query = groups_rows ? groupQueries(call, asked, call.tensor(1)) : asked;
  Tensor& key = grouped && !groups_rows ? repeatHeads(call, operand(1), query) : operand(1);
  Tensor& value = grouped && !groups_rows ? repeatHeads(call, operand(2), query) : operand(2);
  const Dim& width = query.getDimensions()[query.rank() - 1];
  const double scale =
      call.isNone(6) ? 1 / std::sqrt(static_cast<double>(call.number(width, "the width of a head"))) : call.real(6);
  Tensor& scaled = call.elementwise("prod", query, call.constant(scale, query.getType()));
  Tensor* scores = &call.add(LayerType::kMATRIX_MULTIPLY, {&scaled, &key}, attributes({{"transpose_b", true}}));
  if (call.flag(5)) {
    scores = &maskCausal(call, *scores);
  }
  if (Tensor* mask = call.tensorOrNull(3)) {
    scores = &safeSoftmax(call, applyMask(call, *scores, *mask));
  } else {
    scores = call.net.addSoftMax(*scores, scores->rank() - 1)->getOutput(0);
  }
  Tensor* context = &call.add(LayerType::kMATRIX_MULTIPLY, {scores, &value});
  if (groups_rows) {
    std::vector<Dim> dims = asked.getDimensions().vec();
    dims.back() = value.getDimensions()[value.rank() - 1];
    context = &call.reshape(*context, Dims(std::move(dims)));
  }
  return call.cast(*context, given);
}

}  // namespace

void addAttention(NodeConverterRegistry& registry) {
  registry.add(
      "aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "
      "dropout_p=0., bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
      one(attention));
}

}  // namespace torchtrt::conversion::converters
