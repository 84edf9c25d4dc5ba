#include "optimization/attention_pieces.h"

#include <cmath>
#include <limits>

#include "optimization/passes.h"
#include "torchtrt/matchers.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;
using network::Layer;
using network::Tensor;

constexpr size_t kMostMasks = 2;  // that the kernel takes

bool isMinusInfinity(const Tensor& tensor) {
  const auto value = tensor.constant() ? m::uniformValue(tensor) : std::nullopt;
  return value && *value == -INFINITY;
}

// A product that nothing was fused into.
auto plainProduct() {
  return m::matrixMultiply()
      .noActivation()
      .attribute("transpose_a", false)
      .where("has a bias or a residual", [](const Layer& layer) { return !layer.getInput(2) && !layer.getInput(3); });
}

const Layer* scoresOf(const Tensor* tensor) {
  const Layer* producer = tensor->producer();
  return producer && m::match(*producer, plainProduct().oneUse()) ? producer : nullptr;
}

// q k^T, q k^T * scale or q k^T / scale
bool matchScaledScores(const Tensor* tensor, AttentionPieces& pieces) {
  const Layer* product = scoresOf(tensor);
  const Layer* producer = tensor->producer();
  pieces.scale = 1;
  if (!product && producer && m::countUses(*tensor) == 1) {
    Tensor *scores = nullptr, *factor = nullptr;
    const bool multiplied =
        m::match(*producer, m::elementwise("prod").input(0, m::tensor(&scores)).input(1, m::constant(&factor)));
    const bool divided =
        !multiplied &&
        m::match(*producer, m::elementwise("div").input(0, m::tensor(&scores)).input(1, m::constant(&factor)));
    const auto value = multiplied || divided ? m::uniformValue(*factor) : std::nullopt;
    if (!value || !(scores->getDimensions() == tensor->getDimensions()) || (divided && *value == 0)) {
      return false;
    }
    pieces.scale = multiplied ? *value : 1 / *value;
    product = scoresOf(scores);
  }
  if (!product || !isFloatScale(pieces.scale)) {
    return false;
  }
  pieces.q = product->getInput(0);
  pieces.k = product->getInput(1);
  pieces.transpose_k = product->attributes().getBool("transpose_b");
  return true;
}

// The dims that a mask of `mask`, which broadcasts to `from`, has where the axes before the last two are grouped into
// those of `to`. Within a group it has all elements or one; in the first it may also repeat.
std::optional<Dims> regrouped(const Dims& mask, const Dims& from, const Dims& to) {
  const auto axisOfMask = [&](int axis) {
    const int at = axis - (from.rank() - mask.rank());
    return at < 0 ? Dim(1) : mask[at];
  };
  if (to.rank() < 3 || from.rank() < 3 || !(from[from.rank() - 1] == to[to.rank() - 1]) ||
      !(from[from.rank() - 2] == to[to.rank() - 2])) {
    return std::nullopt;
  }
  std::vector<Dim> dims;
  int axis = 0;
  for (int i = 0; i < to.rank() - 2; ++i) {
    Dim group = 1, kept = 1;
    bool started = false, whole = true;
    while (!(group == to[i])) {
      if (axis == from.rank() - 2) {
        return std::nullopt;
      }
      const bool has = axisOfMask(axis) == from[axis];
      if (!has && started) {
        return std::nullopt;
      }
      started = started || (has && !(from[axis] == Dim(1)));
      whole = whole && has;
      kept = kept * axisOfMask(axis);
      group = group * from[axis++];
    }
    if (!whole && started && i > 0) {
      return std::nullopt;
    }
    dims.push_back(kept);
  }
  for (; axis < from.rank() - 2; ++axis) {
    if (!(from[axis] == Dim(1))) {
      return std::nullopt;
    }
  }
  dims.push_back(axisOfMask(from.rank() - 2));
  dims.push_back(axisOfMask(from.rank() - 1));
  return Dims(std::move(dims));
}

bool maskFits(const Dims& mask, const Dims& scores) {
  const int missing = scores.rank() - mask.rank();
  for (int i = 0; missing >= 0 && i < mask.rank(); ++i) {
    if (!(mask[i] == Dim(1)) && !(mask[i] == scores[i + missing])) {
      return false;
    }
  }
  return missing >= 0 && mask.rank() >= 2;
}

// One step from masked scores towards the product: scores + mask, or condition ? scores : -inf. Nothing for others.
const Tensor* unmasked(const Tensor* tensor, Tensor*& mask) {
  const Layer& layer = *tensor->producer();
  if (m::match(layer, m::elementwise("sum"))) {
    for (int i = 0; i < 2; ++i) {
      const Tensor* scores = layer.getInput(i);
      // The product is on one side; where both could be, the one that is no constant.
      if (scores->getDimensions() == tensor->getDimensions() && scores->producer() && !scores->constant() &&
          m::countUses(*scores) == 1 && maskFits(layer.getInput(1 - i)->getDimensions(), tensor->getDimensions())) {
        AttentionPieces ignored;
        if (layer.getInput(1 - i)->constant() || !matchScaledScores(layer.getInput(1 - i), ignored)) {
          mask = layer.getInput(1 - i);
          return scores;
        }
      }
    }
    return nullptr;
  }
  if (m::match(layer, m::layer(LayerType::kSELECT)) && isMinusInfinity(*layer.getInput(2)) &&
      layer.getInput(1)->getDimensions() == tensor->getDimensions() &&
      maskFits(layer.getInput(0)->getDimensions(), tensor->getDimensions())) {
    mask = layer.getInput(0);
    return layer.getInput(1);
  }
  return nullptr;
}

// Scores with masks and with reshapes between them that only cut the axes in front differently. `uses`: by how many
// layers of the pattern the last of them is read.
bool matchMaskedScores(const Tensor* tensor, size_t uses, AttentionPieces& pieces) {
  const Dims& dims = tensor->getDimensions();
  while (!matchScaledScores(tensor, pieces)) {
    const Layer* producer = tensor->producer();
    if (!producer || m::countUses(*tensor) != uses) {
      return false;
    }
    uses = 1;
    if (producer->getType() == LayerType::kSHUFFLE) {
      const Tensor* input = producer->getInput(0);
      if (!producer->attributes().getInts("first_permutation", {}).empty() ||
          !producer->attributes().getInts("second_permutation", {}).empty()) {
        return false;
      }
      tensor = input;
      continue;
    }
    Tensor* mask = nullptr;
    const Tensor* scores = unmasked(tensor, mask);
    if (!scores || pieces.masks.size() == kMostMasks) {
      return false;
    }
    const auto mask_dims = tensor->getDimensions() == dims
                               ? std::optional(mask->getDimensions())
                               : regrouped(mask->getDimensions(), tensor->getDimensions(), dims);
    if (!mask_dims) {
      return false;
    }
    pieces.masks.insert(pieces.masks.begin(), mask);
    pieces.mask_dims.insert(pieces.mask_dims.begin(), *mask_dims);
    tensor = scores;
  }
  return tensor->getDimensions() == dims;
}

// softmax(x), or softmax(x) with 0 for rows of nothing but minus infinity. Nothing if it is read elsewhere.
const Layer* matchWeights(const Layer& layer, AttentionPieces& pieces) {
  const Layer* softmax = nullptr;
  const auto plain = m::layer(LayerType::kSOFTMAX).attribute("log", false).oneUse().capture(&softmax);
  if (m::match(layer, plain)) {
    return softmax;
  }
  const Layer* greatest = nullptr;
  Tensor* bound = nullptr;
  const auto empty = m::elementwise("equal").oneUse().input(
      0, m::layer(LayerType::kREDUCE).op("max").attribute("keep_dims", true).oneUse().capture(&greatest));
  if (!m::match(layer,
                m::layer(LayerType::kSELECT).oneUse().input(0, empty).input(1, m::constant(&bound)).input(2, plain)) ||
      m::uniformValue(*bound) != 0.0 || !isMinusInfinity(*layer.getInput(0)->producer()->getInput(1)) ||
      greatest->getInput(0) != softmax->getInput(0) ||
      greatest->attributes().getInts("axes") != std::vector<int64_t>{softmax->attributes().getInt("axis")}) {
    return nullptr;
  }
  pieces.safe = true;
  return softmax;
}

bool sameLeadingDims(const Tensor& a, const Tensor& b) {
  if (a.rank() != b.rank()) {
    return false;
  }
  for (int i = 0; i < a.rank() - 2; ++i) {
    if (!(a.getDimensions()[i] == b.getDimensions()[i])) {
      return false;
    }
  }
  return true;
}

// The kernel asks for equal sizes, where a matrix multiplication also takes such as are equal for every call.
bool sizesAgree(const AttentionPieces& pieces) {
  const Dims &q = pieces.q->getDimensions(), &k = pieces.k->getDimensions(), &v = pieces.v->getDimensions();
  const int last = q.rank() - 1;
  return k[pieces.transpose_k ? last : last - 1] == q[last] && k[pieces.transpose_k ? last - 1 : last] == v[last - 1];
}

}  // namespace

bool isFloatScale(double scale) {
  const double size = std::abs(scale);
  return size == 0 || (size >= std::numeric_limits<float>::min() && size <= std::numeric_limits<float>::max());
}

std::optional<AttentionPieces> findAttention(const network::Layer& layer) {
  if (!m::match(layer, plainProduct().attribute("transpose_b", false)) || !layer.getInput(0)->producer()) {
    return std::nullopt;
  }
  AttentionPieces pieces;
  const Layer* softmax = matchWeights(*layer.getInput(0)->producer(), pieces);
  if (!softmax) {
    return std::nullopt;
  }
  pieces.v = layer.getInput(1);
  const Tensor& scores = *softmax->getInput(0);
  pieces.scores = &scores;
  if (scores.rank() < 3 || softmax->attributes().getInt("axis") != scores.rank() - 1 ||
      !matchMaskedScores(&scores, pieces.safe ? 2 : 1, pieces) || !sameLeadingDims(*pieces.q, *pieces.k) ||
      !sameLeadingDims(*pieces.q, *pieces.v) || !sizesAgree(pieces)) {
    return std::nullopt;
  }
  return pieces;
}

}  // namespace torchtrt::optimization
