#include "engine/fusion/composed_maps.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/fusion/joined_drafts.h"
#include "kernels/fusion.h"

namespace torchtrt::engine {
namespace {

// The arguments of a kernel, and its registers, are limited.
constexpr size_t kMostSteps = 24, kMostInputs = 8, kMostOutputs = 4;

const kernels::ComposesMaps* mapOf(const Draft& draft) {
  const auto* const map = dynamic_cast<const kernels::ComposesMaps*>(draft.prepared.get());
  return map != nullptr && map->mayBeComposed() && draft.step >= 0 && draft.outputs.size() == 1 ? map : nullptr;
}

class Composer {
 public:
  Composer(const Model& model, std::vector<Place>& places, std::vector<Draft>& drafts)
      : model_(model), places_(places), drafts_(drafts) {}

  void run() {
    joinDrafts(
        places_, drafts_, [&](size_t begin) { return endOf(begin); },
        [&](size_t begin, size_t end) { return composed(begin, end); });
  }

 private:
  // Behind the longest chain that begins here, whose last step reads another one of it.
  size_t endOf(size_t begin) const {
    const kernels::ComposesMaps* const first = mapOf(drafts_[begin]);
    size_t longest = begin + 1;
    for (size_t end = begin + 1; first != nullptr && end < drafts_.size() && end - begin < kMostSteps; ++end) {
      const kernels::ComposesMaps* const map = mapOf(drafts_[end]);
      if (map == nullptr || map->dims() != first->dims() || readsOtherwise(begin, end)) {
        break;
      }
      if (readsResult(begin, end) && fits(begin, end + 1)) {
        longest = end + 1;
      }
    }
    return longest;
  }

  // The step of the chain [begin, reader) whose result that is, or `reader`.
  size_t makerOf(int32_t tensor, size_t begin, size_t reader) const {
    size_t maker = begin;
    while (maker < reader && drafts_[maker].outputs[0] != tensor) {
      ++maker;
    }
    return maker;
  }
  bool readsResult(size_t begin, size_t reader) const {
    const std::vector<int32_t>& inputs = drafts_[reader].inputs;
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](int32_t input) { return makerOf(input, begin, reader) != reader; });
  }
  // True if a step reads the memory of a result of the chain as another tensor.
  bool readsOtherwise(size_t begin, size_t reader) const {
    const std::vector<int32_t>& inputs = drafts_[reader].inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](int32_t input) {
      if (input < 0) {
        return true;  // absent: no pointwise layer has such an operand
      }
      bool found = false;
      for (size_t i = begin; i < reader; ++i) {
        const int32_t result = drafts_[i].outputs[0];
        found = found || (input != result && rootOf(places_, input) == rootOf(places_, result));
      }
      return found;
    });
  }

  bool isWritten(size_t index, size_t begin, size_t end) const {
    const int32_t result = drafts_[index].outputs[0];
    return index + 1 == end ||
           !isReadWithin(drafts_, begin, end, result, model_.candidates.reads[static_cast<size_t>(result)]);
  }

  bool fits(size_t begin, size_t end) const {
    std::vector<int32_t> inputs;
    size_t outputs = 0;
    for (size_t i = begin; i < end; ++i) {
      outputs += isWritten(i, begin, end) ? 1 : 0;
      for (const int32_t input : drafts_[i].inputs) {
        if (makerOf(input, begin, i) == i && std::find(inputs.begin(), inputs.end(), input) == inputs.end()) {
          inputs.push_back(input);
        }
      }
    }
    return inputs.size() <= kMostInputs && outputs <= kMostOutputs;
  }

  Draft composed(size_t begin, size_t end) {
    Draft group;
    group.rule = Rule::kPointwiseGroup;
    group.step = drafts_[end - 1].step;
    group.unit_sizes = {static_cast<uint32_t>(end - begin)};
    std::map<int32_t, int32_t> numbers;  // of inputs, by tensor
    std::vector<kernels::ComposesMaps::Layer> layers;
    for (size_t i = begin; i < end; ++i) {
      const Draft& draft = drafts_[i];
      if (i + 1 < end) {
        group.fused.push_back(draft.step);
      }
      kernels::ComposesMaps::Layer& layer = layers.emplace_back();
      layer.kernel = mapOf(draft);
      layer.is_written = isWritten(i, begin, end);
      for (const int32_t input : draft.inputs) {
        const size_t maker = makerOf(input, begin, i);
        if (maker != i) {
          layer.operands.push_back(-1 - static_cast<int32_t>(maker - begin));
          continue;
        }
        const auto [found, is_new] = numbers.try_emplace(input, static_cast<int32_t>(group.inputs.size()));
        if (is_new) {
          group.inputs.push_back(input);
        }
        layer.operands.push_back(found->second);
      }
      if (layer.is_written) {
        group.outputs.push_back(draft.outputs[0]);
      } else {
        places_[static_cast<size_t>(draft.outputs[0])].written_by = kNever;
      }
    }
    group.prepared = layers.back().kernel->compose(layers);
    return group;
  }

  const Model& model_;
  std::vector<Place>& places_;
  std::vector<Draft>& drafts_;
};

}  // namespace

void composeMaps(const Model& model, std::vector<Place>& places, std::vector<Draft>& drafts) {
  if (model.rules.has(Rule::kPointwiseGroup)) {
    Composer(model, places, drafts).run();
  }
}

}  // namespace torchtrt::engine
