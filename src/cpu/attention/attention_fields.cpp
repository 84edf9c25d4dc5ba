#include "cpu/attention/attention_fields.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "cpu/attention/attend.h"
#include "cpu/storage/half_rows.h"

namespace torchtrt::kernels::attention {
namespace {

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();  // of a field: sums and products of two cannot overflow

[[noreturn]] void fail(const std::string& problem) {
  throw EngineError(ErrorCode::kPlugin, "Attention: " + problem);
}

bool divides(const Dim& part, const Dim& whole) {
  return !(part == Dim(0)) && Dim::floorDiv(whole, part) * part == whole;
}

void checkMask(const Dims& mask, const Dims& scores) {
  const int missing = scores.rank() - mask.rank();
  bool fits = missing >= 0 && mask.rank() >= 2;
  for (int i = 0; fits && i < mask.rank(); ++i) {
    const Dim& wanted = scores[i + missing];
    const bool repeats = i == 0 && missing == 0 && scores.rank() > 2 && divides(mask[i], wanted);
    fits = mask[i] == Dim(1) || mask[i] == wanted || repeats;
  }
  if (!fits) {
    fail("a mask of " + mask.toString() + " does not broadcast to the scores " + scores.toString());
  }
}

}  // namespace

AttentionFields AttentionFields::of(const Attributes& fields) {
  if (!fields.has("scale") || !fields.has("transpose_k")) {
    fail("fields scale and transpose_k are needed");
  }
  AttentionFields result;
  result.scale = fields.getDouble("scale");
  result.transpose_k = fields.getBool("transpose_k");
  result.safe = fields.getBool("safe", false);
  result.heads = fields.getInt("heads", 0);
  if (result.heads != 0) {
    result.head_size = fields.getInt("head_size");
    result.value_size = fields.getInt("value_size");
    result.q_channel = fields.getInt("q_channel");
    result.k_channel = fields.getInt("k_channel");
    result.v_channel = fields.getInt("v_channel");
    result.sequence_first = fields.getBool("sequence_first", false);
    const auto within = [](int64_t least, std::initializer_list<int64_t> values) {
      return std::min(values) >= least && std::max(values) <= kMost;
    };
    if (!within(1, {result.heads, result.head_size, result.value_size}) ||
        !within(0, {result.q_channel, result.k_channel, result.v_channel}) || !result.transpose_k) {
      fail("heads in channels need sizes from 1 and channels from 0 to " + std::to_string(kMost) + ", and transpose_k");
    }
  }
  return result;
}

bool AttentionFields::supports(std::span<const DType> inputs) {
  if (inputs.size() < 3 || inputs.size() > 3 + Head::kMostMasks) {
    return false;
  }
  const DType dtype = inputs[0];
  const auto masks = inputs.subspan(3);
  return (dtype == DType::kFloat32 || isHalf(dtype)) && inputs[1] == dtype && inputs[2] == dtype &&
         std::all_of(masks.begin(), masks.end(),
                     [&](DType mask) { return mask == dtype || mask == DType::kFloat32 || mask == DType::kBool; });
}

Dims AttentionFields::scoresOfMatrices(std::span<const TensorType> inputs) const {
  const Dims &q = inputs[0].dims, &k = inputs[1].dims, &v = inputs[2].dims;
  const int rank = q.rank();
  if (rank < 2 || k.rank() != rank || v.rank() != rank) {
    fail("expected q, k and v of one rank of at least 2, got " + q.toString() + ", " + k.toString() + " and " +
         v.toString());
  }
  const Dim keys = k[transpose_k ? rank - 2 : rank - 1];
  const Dim size = k[transpose_k ? rank - 1 : rank - 2];
  bool fits = size == q[rank - 1] && keys == v[rank - 2];
  for (int i = 0; i < rank - 2; ++i) {
    fits = fits && q[i] == k[i] && q[i] == v[i];
  }
  if (!fits) {
    fail("q " + q.toString() + ", k " + k.toString() + " and v " + v.toString() + " do not fit each other");
  }
  std::vector<Dim> dims = q.vec();
  dims.back() = keys;
  return Dims(std::move(dims));
}

Dims AttentionFields::scoresOfChannels(std::span<const TensorType> inputs) const {
  const Dims &q = inputs[0].dims, &k = inputs[1].dims, &v = inputs[2].dims;
  if (q.rank() != 3 || k.rank() != 3 || v.rank() != 3) {
    fail("expected q, k and v of rank 3, got " + q.toString() + ", " + k.toString() + " and " + v.toString());
  }
  const int batch = sequence_first ? 1 : 0, sequence = 1 - batch;
  const auto holds = [&](const Dims& dims, int64_t first, int64_t size) {
    const auto channels = dims[2].asConstant();
    return channels && first + heads * size <= *channels;
  };
  if (!(q[batch] == k[batch]) || !(q[batch] == v[batch]) || !(k[sequence] == v[sequence]) ||
      !holds(q, q_channel, head_size) || !holds(k, k_channel, head_size) || !holds(v, v_channel, value_size)) {
    fail("q " + q.toString() + ", k " + k.toString() + " and v " + v.toString() + " do not hold " +
         std::to_string(heads) + " heads that fit each other");
  }
  return {q[batch], heads, q[sequence], k[sequence]};
}

std::vector<TensorType> AttentionFields::inferOutputs(std::span<const TensorType> inputs) const {
  const Dims scores = heads == 0 ? scoresOfMatrices(inputs) : scoresOfChannels(inputs);
  for (const TensorType& mask : inputs.subspan(3)) {
    checkMask(mask.dims, scores);
  }
  std::vector<Dim> dims = inputs[0].dims.vec();
  dims.back() = heads == 0 ? inputs[2].dims[scores.rank() - 1] : Dim(heads * value_size);
  return {{inputs[0].dtype, Dims(std::move(dims))}};
}

}  // namespace torchtrt::kernels::attention
