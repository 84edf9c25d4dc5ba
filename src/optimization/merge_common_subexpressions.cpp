#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

#include "base/hash.h"
#include "optimization/passes.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

constexpr size_t kSampledBytes = 256;  // of a constant, for its hash; candidates are then compared in full

uint64_t mix(uint64_t seed, uint64_t value) {
  return (seed ^ value) * 0x9e3779b97f4a7c15ull + (seed >> 29);
}

// Equal for layers that compute the same. Only a filter: it decides nothing, so it may use addresses.
uint64_t hashOf(const Layer& layer) {
  uint64_t hash = static_cast<uint64_t>(layer.getType());
  for (int i = 0; i < layer.getNbInputs(); ++i) {
    hash = mix(hash, reinterpret_cast<uintptr_t>(layer.getInput(i)));
  }
  for (const auto& [name, value] : layer.attributes().values()) {
    const auto* text = std::get_if<std::string>(&value);
    hash = mix(hash, std::hash<std::string>()(text ? *text : name));
  }
  if (const Weights* weights = layer.weights()) {
    hash = mix(hash, static_cast<uint64_t>(weights->dtype));
    for (const int64_t dim : weights->dims) {
      hash = mix(hash, static_cast<uint64_t>(dim));
    }
    hash = mix(hash, hashBytes(weights->data.get(), std::min(weights->bytes(), kSampledBytes)).low);
  }
  return hash;
}

// Doubles by their bits: 0.0 and -0.0 are equal and not the same.
bool sameAttribute(const AttributeValue& a, const AttributeValue& b) {
  const double* x = std::get_if<double>(&a);
  const double* y = std::get_if<double>(&b);
  return x && y ? std::bit_cast<uint64_t>(*x) == std::bit_cast<uint64_t>(*y) : a == b;
}

bool sameAttributes(const Layer& a, const Layer& b) {
  const Attributes::Map& x = a.attributes().values();
  const Attributes::Map& y = b.attributes().values();
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto& one, const auto& other) {
    return one.first == other.first && sameAttribute(one.second, other.second);
  });
}

bool sameConstant(const Layer& a, const Layer& b) {
  const Weights* x = a.weights();
  const Weights* y = b.weights();
  if (!x || !y) {
    return !x && !y;
  }
  return x->dtype == y->dtype && x->dims == y->dims &&
         (x->data == y->data || std::memcmp(x->data.get(), y->data.get(), x->bytes()) == 0);
}

bool computesTheSame(const Layer& a, const Layer& b) {
  if (a.getType() != b.getType() || a.getNbInputs() != b.getNbInputs() || a.getNbOutputs() != b.getNbOutputs()) {
    return false;
  }
  for (int i = 0; i < a.getNbInputs(); ++i) {
    if (a.getInput(i) != b.getInput(i)) {
      return false;
    }
  }
  return sameAttributes(a, b) && sameConstant(a, b);
}

bool mergeCommonSubexpressions(Network& network) {
  Rewriter rewriter(network);
  bool changed = false;
  std::unordered_map<uint64_t, std::vector<Layer*>> seen;
  for (Layer* layer : network.layers()) {
    if (layer->getType() == LayerType::kPLUGIN_V2) {
      continue;  // it may have effects or draw random numbers
    }
    std::vector<Layer*>& candidates = seen[hashOf(*layer)];
    const auto same = std::find_if(candidates.begin(), candidates.end(),
                                   [&](const Layer* candidate) { return computesTheSame(*candidate, *layer); });
    if (same == candidates.end()) {
      candidates.push_back(layer);
      continue;
    }
    for (int i = 0; i < layer->getNbOutputs(); ++i) {
      rewriter.replaceAllUses(*layer->getOutput(i), *(*same)->getOutput(i));
    }
    rewriter.removeLayer(*layer);
    changed = true;
  }
  return changed;
}

}  // namespace

PassPtr createMergeCommonSubexpressions(const Options&) {
  return std::make_unique<FunctionPass>("merge_common_subexpressions", mergeCommonSubexpressions);
}

}  // namespace torchtrt::optimization
