#include "optimization/heads_view.h"

#include <algorithm>
#include <cmath>

#include "optimization/shuffle_form.h"
#include "torchtrt/matchers.h"

namespace torchtrt::optimization {

namespace {

namespace m = rewriting::m;
using network::Layer;
using network::LayerType;
using network::Tensor;

// A run of elements at even distances; an axis is made of nested ones, the outermost first. None: an axis of size 1.
struct Run {
  Dim size, stride;
};
using Axis = std::vector<Run>;

struct StridedView {
  Dim offset = 0;
  std::vector<Axis> axes;
};

// whole / part where that is exact for every value of the symbols.
std::optional<Dim> exactQuotient(const Dim& whole, const Dim& part) {
  if (whole == Dim(0) || part == Dim(0)) {
    return std::nullopt;
  }
  const Dim quotient = Dim::floorDiv(whole, part);
  return quotient * part == whole ? std::optional(quotient) : std::nullopt;
}

Axis joined(const Axis& axis) {
  Axis result;
  for (const Run& run : axis) {
    if (!result.empty() && result.back().stride == run.size * run.stride) {
      result.back() = {result.back().size * run.size, run.stride};
    } else {
      result.push_back(run);
    }
  }
  return result;
}

StridedView viewOfAll(const Tensor& tensor) {
  StridedView view;
  Dim stride = 1;
  for (int i = tensor.rank(); i-- > 0;) {
    const Dim& size = tensor.getDimensions()[i];
    view.axes.push_back(size == Dim(1) ? Axis() : Axis{{size, stride}});
    stride = stride * size;
  }
  std::reverse(view.axes.begin(), view.axes.end());
  return view;
}

void permute(StridedView& view, const Permutation& permutation) {
  if (permutation.empty()) {
    return;
  }
  std::vector<Axis> axes;
  for (const int64_t axis : permutation) {
    axes.push_back(view.axes[static_cast<size_t>(axis)]);
  }
  view.axes = std::move(axes);
}

bool reshape(StridedView& view, const Dims& dims) {
  std::vector<Run> runs;
  for (const Axis& axis : view.axes) {
    runs.insert(runs.end(), axis.begin(), axis.end());
  }
  std::reverse(runs.begin(), runs.end());  // taken from the back, outermost first
  std::vector<Axis> axes;
  for (const Dim& dim : dims) {
    Axis axis;
    Dim wanted = dim;
    while (!(wanted == Dim(1))) {
      if (runs.empty()) {
        return false;
      }
      Run& run = runs.back();
      if (const auto rest = exactQuotient(wanted, run.size)) {
        axis.push_back(run);
        runs.pop_back();
        wanted = *rest;
      } else if (const auto inner = exactQuotient(run.size, wanted)) {
        axis.push_back({wanted, run.stride * *inner});
        run.size = *inner;
        wanted = 1;
      } else {
        return false;
      }
    }
    axes.push_back(joined(axis));
  }
  view.axes = std::move(axes);
  return runs.empty();
}

bool slice(StridedView& view, const Layer& layer) {
  const Dims &start = layer.attributes().getDims("start"), &size = layer.attributes().getDims("size");
  const std::vector<int64_t>& stride = layer.attributes().getInts("stride");
  for (size_t i = 0; i < view.axes.size(); ++i) {
    const int axis = static_cast<int>(i);
    if (layer.getInput(0)->getDimensions()[axis] == size[axis] && start[axis] == Dim(0) && stride[i] == 1) {
      continue;
    }
    Axis& runs = view.axes[i];
    if (runs.size() != 1 || stride[i] < 1) {
      return false;
    }
    view.offset = view.offset + start[axis] * runs[0].stride;
    runs[0] = {size[axis], runs[0].stride * stride[i]};
    if (size[axis] == Dim(1)) {
      runs.clear();
    }
  }
  return true;
}

bool canSeeThrough(const Layer& layer) {
  return layer.getType() == LayerType::kSHUFFLE || layer.getType() == LayerType::kSLICE || factorOf(layer);
}

bool apply(StridedView& view, const Layer& layer, double& scale) {
  if (layer.getType() == LayerType::kSLICE) {
    return slice(view, layer);
  }
  if (layer.getType() == LayerType::kSHUFFLE) {
    const auto form = ShuffleForm::of(layer);
    if (!form) {
      return false;
    }
    permute(view, form->first);
    if (form->reshape && !reshape(view, *form->reshape)) {
      return false;
    }
    permute(view, form->second);
    return true;
  }
  scale *= *factorOf(layer);
  return true;
}

// The matrices that `view` describes as heads in channels, if that is what they are.
bool describe(const StridedView& view, bool transposed, HeadsView& heads) {
  const size_t rank = view.axes.size();
  Axis rows = view.axes[rank - 2], elements = view.axes[rank - 1];
  if (transposed) {
    std::swap(rows, elements);
  }
  const Axis unit = {{1, 0}};
  Axis batch, head;
  if (rank == 4) {
    batch = view.axes[0];
    head = view.axes[1];
  } else if (view.axes[0].size() == 2) {
    batch = {view.axes[0][0]};
    head = {view.axes[0][1]};
  } else {
    head = view.axes[0];
  }
  for (Axis* axis : {&batch, &head, &rows, &elements}) {
    if (axis->empty()) {
      *axis = unit;
    }
    if (axis->size() != 1) {
      return false;
    }
  }
  const auto size = elements[0].size.asConstant(), count = head[0].size.asConstant(), offset = view.offset.asConstant();
  if (!size || !count || !offset || *size < 1 || *count < 1 || (*size > 1 && !(elements[0].stride == Dim(1))) ||
      (*count > 1 && !(head[0].stride == Dim(*size)))) {
    return false;
  }
  heads.batch = batch[0].size;
  heads.sequence = rows[0].size;
  heads.heads = *count;
  heads.size = *size;
  heads.channel = *offset;
  const auto channels = exactQuotient(heads.base->getDimensions().numel(), heads.batch * heads.sequence);
  if (!channels || !channels->isConstant()) {
    return false;
  }
  heads.channels = channels->constant();
  const auto lies = [](const Axis& axis, const Dim& stride) {
    return axis[0].size == Dim(1) || axis[0].stride == stride;
  };
  heads.batch_first = lies(rows, *channels) && lies(batch, heads.sequence * *channels);
  heads.sequence_first = lies(batch, *channels) && lies(rows, heads.batch * *channels);
  return (heads.batch_first || heads.sequence_first) && *offset + *count * *size <= heads.channels;
}

}  // namespace

std::optional<double> factorOf(const Layer& layer) {
  Tensor *x = nullptr, *factor = nullptr;
  if (!m::match(layer, m::elementwise("prod").input(0, m::tensor(&x)).input(1, m::constant(&factor))) ||
      !(x->getDimensions() == layer.getOutput(0)->getDimensions())) {
    return std::nullopt;
  }
  const auto value = m::uniformValue(*factor);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::vector<HeadsView> findHeads(Tensor& tensor, bool transposed) {
  if (tensor.rank() < 3 || tensor.rank() > 4) {
    return {};
  }
  std::vector<Tensor*> bases = {&tensor};
  while (bases.back()->producer() && canSeeThrough(*bases.back()->producer())) {
    bases.push_back(bases.back()->producer()->getInput(0));
  }
  std::vector<HeadsView> found;
  for (size_t i = bases.size(); i-- > 0;) {
    StridedView view = viewOfAll(*bases[i]);
    HeadsView heads;
    heads.base = bases[i];
    bool applied = true;
    for (size_t j = i; applied && j-- > 0;) {
      applied = apply(view, *bases[j]->producer(), heads.scale);
    }
    if (applied && describe(view, transposed, heads)) {
      found.push_back(heads);
    }
  }
  return found;
}

}  // namespace torchtrt::optimization
