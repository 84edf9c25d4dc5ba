#include <algorithm>
#include <limits>

#include "optimization/passes.h"
#include "torchtrt/matchers.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

// The elements that an explicit padding adds to each of the spatial axes.
struct SpatialPadding {
  std::vector<int64_t> pre, post;
};

// The spatial part of a padding with `value`; nothing if it pads batch or channels, crops, or is dynamic.
std::optional<SpatialPadding> spatialPadding(const Layer& layer, size_t spatial, double value) {
  if (layer.getType() != LayerType::kPADDING || layer.attributes().getString("mode", "constant") != "constant" ||
      layer.attributes().getDouble("value", 0.0) != value) {
    return std::nullopt;
  }
  SpatialPadding padding;
  const auto read = [&](const char* name, std::vector<int64_t>& to) {
    const Dims& dims = layer.attributes().getDims(name);
    for (int axis = 0; axis < dims.rank(); ++axis) {
      const auto amount = dims[axis].asConstant();
      const bool is_spatial = axis >= dims.rank() - static_cast<int>(spatial);
      if (!amount || *amount < 0 || (!is_spatial && *amount != 0)) {
        return false;
      }
      if (is_spatial) {
        to.push_back(*amount);
      }
    }
    return to.size() == spatial;
  };
  if (!read("pre", padding.pre) || !read("post", padding.post)) {
    return std::nullopt;
  }
  return padding;
}

std::vector<int64_t> added(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> sum = a;
  for (size_t i = 0; i < sum.size(); ++i) {
    sum[i] += b[i];
  }
  return sum;
}

bool allZero(const std::vector<int64_t>& values) {
  return std::all_of(values.begin(), values.end(), [](int64_t value) { return value == 0; });
}

void replaceWithPadded(Layer& layer, Attributes attributes, const SpatialPadding& padding, Rewriter& rewriter) {
  attributes.set("pre_padding", added(attributes.getInts("pre_padding"), padding.pre));
  attributes.set("post_padding", added(attributes.getInts("post_padding"), padding.post));
  std::vector<Tensor*> inputs = {layer.getInput(0)->producer()->getInput(0)};
  for (int i = 1; i < layer.getNbInputs(); ++i) {
    inputs.push_back(layer.getInput(i));
  }
  Layer& padded = rewriter.create(layer.getType(), inputs, attributes);
  rewriter.replaceLayer(layer, {padded.getOutput(0)});
}

// convolution(padding(x, 0)) -> convolution(x) with that padding added to its own.
class FoldIntoConvolution : public PatternRewriter {
 public:
  FoldIntoConvolution() : PatternRewriter("fold_padding_into_convolution", {LayerType::kCONVOLUTION}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    const Layer* producer = layer.getInput(0)->producer();
    const size_t spatial = layer.attributes().getInts("stride").size();
    const auto padding = producer ? spatialPadding(*producer, spatial, 0.0) : std::nullopt;
    if (!padding) {
      return false;
    }
    replaceWithPadded(layer, layer.attributes(), *padding, rewriter);
    return true;
  }
};

// pooling(padding(x)) -> pooling(x): average counts the zeros that were explicit, max never sees -infinity. Not with
// ceil_mode, where the last window may start in explicit padding but not in the pooling's own, and not beyond half a
// window.
class FoldIntoPooling : public PatternRewriter {
 public:
  FoldIntoPooling() : PatternRewriter("fold_padding_into_pooling", {LayerType::kPOOLING}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    Attributes attributes = layer.attributes();
    const bool is_max = attributes.getString("op") == "max";
    const Layer* producer = layer.getInput(0)->producer();
    if (!producer || attributes.getBool("ceil_mode", false) || attributes.getBool("return_indices", false)) {
      return false;
    }
    const std::vector<int64_t>& window = attributes.getInts("window");
    const double value = is_max ? -std::numeric_limits<double>::infinity() : 0.0;
    const auto padding = spatialPadding(*producer, window.size(), value);
    if (!padding) {
      return false;
    }
    const auto fits = [&](const char* name, const std::vector<int64_t>& extra) {
      const std::vector<int64_t> total = added(attributes.getInts(name), extra);
      for (size_t i = 0; i < window.size(); ++i) {
        if (2 * total[i] > window[i]) {
          return false;
        }
      }
      return true;
    };
    if (!fits("pre_padding", padding->pre) || !fits("post_padding", padding->post)) {
      return false;
    }
    if (!is_max && !attributes.getBool("count_include_pad", true)) {
      if (!allZero(attributes.getInts("pre_padding")) || !allZero(attributes.getInts("post_padding"))) {
        return false;
      }
      attributes.set("count_include_pad", true);
    }
    replaceWithPadded(layer, attributes, *padding, rewriter);
    return true;
  }
};

}  // namespace

PassPtr createFoldPadding(const Options&) {
  auto pass = std::make_unique<PatternPass>("fold_padding");
  pass->add<FoldIntoConvolution>().add<FoldIntoPooling>();
  return pass;
}

}  // namespace torchtrt::optimization
