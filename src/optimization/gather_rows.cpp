#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/saturating.h"
#include "optimization/passes.h"
#include "optimization/shuffle_form.h"
#include "torchtrt/matchers.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

constexpr int64_t kMostRows = int64_t{1} << 20;  // of a tensor: indices that a plan, and compiling it, is worth
constexpr int64_t kLeastRowBytes = 16;           // moved one by one, shorter rows take longer than the copies saved

// A tensor made of rows (lines along its last axis) of another one, row i being that one's row rows[i].
struct Rows {
  Tensor* base = nullptr;
  std::vector<int64_t> rows;
};

bool keepsLast(const Permutation& permutation) {
  return permutation.empty() || permutation.back() == static_cast<int64_t>(permutation.size()) - 1;
}

Dim lastOf(const Tensor& tensor) {
  return tensor.getDimensions()[tensor.rank() - 1];
}

// Counts the elements of static dims; the largest int64 if there are more.
int64_t elementsOf(const Dims& dims) {
  const std::vector<int64_t> sizes = dims.constants();
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, saturatingMul);
}

// Slices, concatenations and shuffles that leave rows whole.
bool movesRows(const Layer& layer) {
  if (layer.getType() != LayerType::kSHUFFLE && layer.getType() != LayerType::kSLICE &&
      layer.getType() != LayerType::kCONCATENATION) {
    return false;
  }
  const Tensor& output = *layer.getOutput(0);
  const int rank = output.rank();
  if (rank < 2 || !output.getDimensions().isStatic()) {
    return false;
  }
  for (int i = 0; i < layer.getNbInputs(); ++i) {
    if (layer.getInput(i)->rank() < 2 || !layer.getInput(i)->getDimensions().isStatic()) {
      return false;
    }
  }
  switch (layer.getType()) {
    case LayerType::kSHUFFLE: {
      const auto form = ShuffleForm::of(layer);
      return form && keepsLast(form->first) && keepsLast(form->second) && lastOf(output) == lastOf(*layer.getInput(0));
    }
    case LayerType::kSLICE:
      return lastOf(output) == lastOf(*layer.getInput(0)) && layer.attributes().getInts("stride").back() == 1 &&
             layer.attributes().getDims("start").isStatic();
    default:
      return layer.attributes().getInt("axis") != rank - 1;
  }
}

// The rows of [dims] of which element i of axis a is first[a] + i * step[a], counted in `counts` of them.
std::vector<int64_t> pick(const std::vector<int64_t>& rows, const std::vector<int64_t>& counts,
                          const std::vector<int64_t>& first, const std::vector<int64_t>& step) {
  std::vector<int64_t> picked;
  std::vector<int64_t> at(counts.size(), 0);
  const int64_t count = std::accumulate(counts.begin(), counts.end(), int64_t{1}, saturatingMul);
  const int64_t offset = std::accumulate(first.begin(), first.end(), int64_t{0});
  for (int64_t i = 0; i < count; ++i) {
    int64_t row = offset;
    for (size_t axis = 0; axis < at.size(); ++axis) {
      row += at[axis] * step[axis];
    }
    picked.push_back(rows[static_cast<size_t>(row)]);
    for (size_t axis = at.size(); axis-- > 0 && ++at[axis] == counts[axis];) {
      at[axis] = 0;
    }
  }
  return picked;
}

// Sizes and, in rows, strides of all axes but the last.
struct Lattice {
  std::vector<int64_t> sizes, strides;

  explicit Lattice(const Dims& dims) : sizes(dims.constants()), strides(sizes.size() - 1, 1) {
    sizes.pop_back();
    for (size_t i = sizes.size(); i-- > 1;) {
      strides[i - 1] = saturatingMul(strides[i], sizes[i]);
    }
  }
};

void permute(std::vector<int64_t>& rows, const Dims& dims, const Permutation& permutation) {
  if (permutation.empty()) {
    return;
  }
  const Lattice lattice(dims);
  std::vector<int64_t> counts, step;
  for (size_t i = 0; i + 1 < permutation.size(); ++i) {
    counts.push_back(lattice.sizes[static_cast<size_t>(permutation[i])]);
    step.push_back(lattice.strides[static_cast<size_t>(permutation[i])]);
  }
  rows = pick(rows, counts, std::vector<int64_t>(counts.size(), 0), step);
}

class Trace {
 public:
  // Returns the rows that `tensor` is made of, and keeps the layers on the way. Nothing for parts of different tensors,
  // or of long ones.
  std::optional<Rows> of(Tensor& tensor) {
    if (const auto known = traced_.find(&tensor); known != traced_.end()) {
      return known->second;
    }
    auto rows = rowCount(tensor) > kMostRows ? std::nullopt : trace(tensor);
    if (tensor.uses().size() > 1) {  // a chain of rolls would be traced twice as often with each
      traced_.emplace(&tensor, rows);
    }
    return rows;
  }
  // True if nobody else reads the layers between, and there is more than one copy to save.
  bool isWorthIt(const Layer& root) const {
    bool joins = false;
    for (const Layer* layer : layers_) {
      joins = joins || layer->getType() == LayerType::kCONCATENATION;
      const Tensor& output = *layer->getOutput(0);
      if (layer != &root && (output.isNetworkOutput() ||
                             !std::all_of(output.uses().begin(), output.uses().end(),
                                          [&](const Tensor::Use& use) { return layers_.contains(use.layer); }))) {
        return false;
      }
    }
    return joins && layers_.size() > 2;
  }

 private:
  static int64_t rowCount(const Tensor& tensor) {
    const std::vector<int64_t> sizes = Lattice(tensor.getDimensions()).sizes;
    return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, saturatingMul);
  }

  std::optional<Rows> trace(Tensor& tensor) {
    const Layer* layer = tensor.producer();
    if (layer == nullptr || !movesRows(*layer)) {
      Rows all{&tensor, std::vector<int64_t>(static_cast<size_t>(rowCount(tensor)))};
      std::iota(all.rows.begin(), all.rows.end(), int64_t{0});
      return all;
    }
    layers_.insert(layer);
    switch (layer->getType()) {
      case LayerType::kSHUFFLE:
        return ofShuffle(*layer);
      case LayerType::kSLICE:
        return ofSlice(*layer);
      default:
        return ofConcatenation(*layer);
    }
  }

  std::optional<Rows> ofShuffle(const Layer& layer) {
    auto traced = of(*layer.getInput(0));
    if (traced) {
      const auto form = ShuffleForm::of(layer);
      const Dims& dims = layer.getInput(0)->getDimensions();
      permute(traced->rows, dims, form->first);
      permute(traced->rows, form->reshape ? *form->reshape : optimization::permute(dims, form->first), form->second);
    }
    return traced;
  }

  std::optional<Rows> ofSlice(const Layer& layer) {
    auto traced = of(*layer.getInput(0));
    if (traced) {
      const Lattice lattice(layer.getInput(0)->getDimensions());
      std::vector<int64_t> counts = layer.getOutput(0)->getDimensions().constants(), first, step;
      counts.pop_back();
      const std::vector<int64_t> start = layer.attributes().getDims("start").constants();
      for (size_t i = 0; i < counts.size(); ++i) {
        first.push_back(start[i] * lattice.strides[i]);
        step.push_back(layer.attributes().getInts("stride")[i] * lattice.strides[i]);
      }
      traced->rows = pick(traced->rows, counts, first, step);
    }
    return traced;
  }

  std::optional<Rows> ofConcatenation(const Layer& layer) {
    const auto axis = static_cast<size_t>(layer.attributes().getInt("axis"));
    const Lattice whole(layer.getOutput(0)->getDimensions());
    const int64_t length = whole.sizes[axis] * whole.strides[axis];
    Rows joined;
    joined.rows.resize(static_cast<size_t>(rowCount(*layer.getOutput(0))));
    int64_t offset = 0;
    for (int i = 0; i < layer.getNbInputs(); ++i) {
      const auto part = of(*layer.getInput(i));
      if (!part || (joined.base != nullptr && joined.base != part->base)) {
        return std::nullopt;
      }
      joined.base = part->base;
      const int64_t size = Lattice(layer.getInput(i)->getDimensions()).sizes[axis] * whole.strides[axis];
      for (size_t j = 0; j < part->rows.size(); ++j) {
        const auto at = static_cast<int64_t>(j);
        joined.rows[static_cast<size_t>(at / size * length + offset + at % size)] = part->rows[j];
      }
      offset += size;
    }
    return joined;
  }

  std::unordered_set<const Layer*> layers_;                        // looked up and asked of all: in no order that shows
  std::unordered_map<const Tensor*, std::optional<Rows>> traced_;  // of tensors read more than once
};

// Slices of a tensor that are put together again in another order, as rolling it does, and the shuffles before and
// after that: one gather of rows.
class GatherRows : public PatternRewriter {
 public:
  GatherRows() : PatternRewriter("gather_rows", {LayerType::kCONCATENATION, LayerType::kSHUFFLE, LayerType::kSLICE}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    Tensor& output = *layer.getOutput(0);
    if (!movesRows(layer) || isPassedOn(output)) {
      return false;
    }
    const int64_t elements = elementsOf(output.getDimensions());
    const int64_t row_bytes = saturatingMul(lastOf(output).constant(), static_cast<int64_t>(sizeOf(output.getType())));
    if (elements == 0 || elements == kInt64Max || row_bytes < kLeastRowBytes) {
      return false;
    }
    Trace trace;
    const auto traced = trace.of(output);
    if (!traced || !trace.isWorthIt(layer) || elementsOf(traced->base->getDimensions()) == kInt64Max) {
      return false;
    }
    Tensor& base = *traced->base;
    const Dim columns = lastOf(base);
    const auto reshaped = [&](Tensor& tensor, const Dims& dims) {
      if (tensor.getDimensions() == dims) {
        return &tensor;
      }
      Attributes attributes;
      attributes.set("reshape_dims", dims);
      return rewriter.create(LayerType::kSHUFFLE, {&tensor}, attributes).getOutput(0);
    };
    const auto count = static_cast<int64_t>(traced->rows.size());
    const Dim base_rows = Dim::floorDiv(base.getDimensions().numel(), columns);
    Tensor& indices = rewriter.createConstant(network::Weights::copyOf(DType::kInt64, {count}, traced->rows.data()));
    Attributes attributes;
    attributes.set("axis", int64_t{0});
    Layer& gather = rewriter.create(LayerType::kGATHER, {reshaped(base, {base_rows, columns}), &indices}, attributes);
    rewriter.replaceLayer(layer, {reshaped(*gather.getOutput(0), output.getDimensions())});
    return true;
  }

 private:
  // True if only rows are read of it again: the search then starts at the last of the layers.
  static bool isPassedOn(const Tensor& tensor) {
    return !tensor.isNetworkOutput() && !tensor.uses().empty() &&
           std::all_of(tensor.uses().begin(), tensor.uses().end(),
                       [](const Tensor::Use& use) { return movesRows(*use.layer); });
  }
};

}  // namespace

PassPtr createGatherRows(const Options&) {
  auto pass = std::make_unique<PatternPass>("gather_rows");
  pass->add<GatherRows>();
  return pass;
}

}  // namespace torchtrt::optimization
