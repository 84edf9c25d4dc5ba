#include <algorithm>

#include "optimization/passes.h"
#include "torchtrt/matchers.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

// Images and volumes only: the mean over the last axis of a sequence is no pooling.
bool hasPlanes(const Dims& dims) {
  return dims.rank() == 4 || dims.rank() == 5;
}

// The mean of nothing is NaN, which adaptive pooling does not promise.
bool spatialDimsArePositive(const network::Network& network, const Dims& dims) {
  const auto symbol_of = [&](const std::string& name) { return *network.findSymbol(name); };
  return std::all_of(dims.begin() + 2, dims.end(), [&](const Dim& dim) { return dim.range(symbol_of).first > 0; });
}

Layer& createGlobalPooling(Rewriter& rewriter, Tensor* input) {
  Attributes attributes;
  attributes.set("op", std::string("average"));
  attributes.set("output_size", Dims(std::vector<Dim>(static_cast<size_t>(input->rank()) - 2, Dim(1))));
  return rewriter.create(LayerType::kADAPTIVE_POOLING, {input}, attributes);
}

// reduce(avg over all spatial axes) -> adaptive_pooling to 1x1, then a reshape where the axes were dropped.
class PoolingFromReduce : public PatternRewriter {
 public:
  PoolingFromReduce() : PatternRewriter("pooling_from_reduce", {LayerType::kREDUCE}) {}

  bool match(const Layer& layer) const override {
    const Tensor& input = *layer.getInput(0);
    const Dims& dims = input.getDimensions();
    if (layer.attributes().getString("op") != "avg" || !isFloating(input.getType()) || !hasPlanes(dims) ||
        !spatialDimsArePositive(*layer.network(), dims)) {
      return false;
    }
    std::vector<int64_t> spatial;
    for (int axis = 2; axis < dims.rank(); ++axis) {
      spatial.push_back(axis);
    }
    return layer.attributes().getInts("axes") == spatial;
  }

  void rewrite(Layer& layer, Rewriter& rewriter) override {
    Layer& pooling = createGlobalPooling(rewriter, layer.getInput(0));
    Tensor* result = pooling.getOutput(0);
    if (!layer.attributes().getBool("keep_dims")) {
      Attributes attributes;
      attributes.set("reshape_dims", layer.getOutput(0)->getDimensions());
      result = rewriter.create(LayerType::kSHUFFLE, {result}, attributes).getOutput(0);
    }
    rewriter.replaceLayer(layer, {result});
  }
};

// average pooling with one window, the whole plane -> adaptive_pooling to 1x1.
class PoolingFromWindow : public PatternRewriter {
 public:
  PoolingFromWindow() : PatternRewriter("pooling_from_window", {LayerType::kPOOLING}) {}

  bool match(const Layer& layer) const override {
    const Attributes& attributes = layer.attributes();
    const Dims& dims = layer.getInput(0)->getDimensions();
    const std::vector<int64_t>& window = attributes.getInts("window");
    if (attributes.getString("op") != "average" || !isFloating(layer.getInput(0)->getType()) || !hasPlanes(dims) ||
        attributes.getInt("divisor", 0) != 0 || static_cast<int>(window.size()) != dims.rank() - 2) {
      return false;
    }
    const auto all = [&](const char* name, int64_t value) {
      const std::vector<int64_t> values = attributes.getInts(name, {});
      return std::all_of(values.begin(), values.end(), [value](int64_t v) { return v == value; });
    };
    for (size_t i = 0; i < window.size(); ++i) {
      const int axis = static_cast<int>(i) + 2;
      if (!(dims[axis] == Dim(window[i])) || !(layer.getOutput(0)->getDimensions()[axis] == Dim(1))) {
        return false;
      }
    }
    return all("pre_padding", 0) && all("post_padding", 0) && all("dilation", 1);
  }

  void rewrite(Layer& layer, Rewriter& rewriter) override {
    rewriter.replaceLayer(layer, {createGlobalPooling(rewriter, layer.getInput(0)).getOutput(0)});
  }
};

}  // namespace

PassPtr createRecognizeGlobalPooling(const Options&) {
  auto pass = std::make_unique<PatternPass>("recognize_global_pooling");
  pass->add<PoolingFromReduce>().add<PoolingFromWindow>();
  return pass;
}

}  // namespace torchtrt::optimization
