// Graph rewriting: patterns that change a network, patterns that only look at one, and the managers that apply them.
// Patterns match layer by layer; every edit goes through a Rewriter, which keeps uses, network outputs, names and
// locations true. Matchers that describe a pattern's shape are in matchers.h; the optimizer's own folds are patterns of
// this kind.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "torchtrt/error.h"
#include "torchtrt/export.h"
#include "torchtrt/network.h"
#include "torchtrt/types.h"

namespace torchtrt::rewriting {

using network::Layer;
using network::LayerType;
using network::Network;
using network::Tensor;
using network::Weights;

// Arguments that a caller hands to patterns, e.g. args().getInt("batch_size"); reading a missing one throws.
using Arguments = Attributes;

// Told of every edit. The driver keeps its worklist this way; whatever else describes layers (records of the functions
// they came from, statistics, traces) is kept in step the same way. Listeners must not edit the network.
class TORCHTRT_API RewriteListener {
 public:
  virtual ~RewriteListener() = default;
  virtual void layerCreated(Layer& layer) {
    (void)layer;
  }
  virtual void layerChanged(Layer& layer) {  // an attribute or an operand
    (void)layer;
  }
  // After the uses moved: they are the last `moved` uses of `to`.
  virtual void usesReplaced(Tensor& from, Tensor& to, size_t moved) {
    (void)from, (void)to, (void)moved;
  }
  virtual void layerMarkedAsRemoved(Layer& layer) {
    (void)layer;
  }
  virtual void layerRemoved(Layer& layer) {  // just before it goes
    (void)layer;
  }
};

// The only hand that changes a network while patterns run. New layers stand in front of the root (or the layer of
// setInsertionPoint), so whatever dominates the root may be their operand. A created tensor takes the name of the value
// it replaces. When the pattern is done, its new layers get the merged location of the root and of all layers that went
// away.
class TORCHTRT_API Rewriter {
 public:
  explicit Rewriter(Network& network) : network_(network) {}
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  void addListener(RewriteListener& listener);
  const Network& network() const {
    return network_;
  }

  // Called around one application of a pattern.
  void begin(Layer& root);
  void end();
  void setInsertionPoint(Layer& before);

  Layer& create(LayerType type, const std::vector<Tensor*>& inputs, Attributes attributes = {});
  Tensor& createConstant(const Weights& weights);
  // A network input. It takes the place and name of the input of that name if nothing reads that one any more when the
  // pattern is done.
  Tensor& createInput(const std::string& name, DType dtype, const Dims& dims);

  // The producer of the tensor must stand before the layer.
  void setInput(Layer& layer, int index, Tensor* tensor);
  void setAttribute(Layer& layer, const std::string& name, AttributeValue value);
  void eraseAttribute(Layer& layer, const std::string& name);

  // Every use of `from`, network outputs included, becomes a use of `to`.
  void replaceAllUses(Tensor& from, Tensor& to);
  // The same for a tensor of another shape or dtype, which every reader of `from` must take: CompileError if one does
  // not.
  void replaceAllUsesByOtherType(Tensor& from, Tensor& to);
  // Output i of the layer becomes outputs[i] (null: keep the old one); the layer and what only it needed go away.
  void replaceLayer(Layer& layer, const std::vector<Tensor*>& outputs);
  // The layer is never offered to a pattern again, and goes away when the pattern is done if nothing uses it then.
  void markAsRemoved(Layer& layer);
  // The layer must be dead: no uses, no network outputs.
  void removeLayer(Layer& layer);
  // Removes the layer if it is dead, and then what only it needed. True if it is gone.
  bool removeIfDead(Layer& layer);

  static bool isDead(const Layer& layer);

 private:
  Layer& adopt(Layer* layer);
  void moveUses(Tensor& from, Tensor& to);
  void replaceInputs();

  Network& network_;
  Layer* insertion_point_ = nullptr;  // null: the end of the network
  bool position_lost_ = false;        // the layer there was removed
  std::vector<RewriteListener*> listeners_;
  std::vector<Layer*> created_;                                  // by the application in progress
  std::vector<std::pair<std::string, int64_t>> created_inputs_;  // wanted name, id
  std::vector<Layer*> marked_;
  std::vector<Location> merged_;  // of other layers removed by it, users before their producers
  Location root_location_;
  Layer* root_ = nullptr;
};

// Distinct locations become one: the first names the source line, scopes are joined with " + ".
TORCHTRT_API Location mergeLocations(const std::vector<Location>& locations);

// The base of rewriters and analyzers.
class TORCHTRT_API Pattern {
 public:
  // root_layers: the kinds offered to it; empty means all. Higher benefit is tried first, ties in order of addition.
  Pattern(std::string name, std::vector<LayerType> root_layers, int benefit = 0);
  virtual ~Pattern() = default;

  const std::string& name() const {
    return name_;
  }
  const std::vector<LayerType>& rootLayers() const {
    return root_layers_;
  }
  int benefit() const {
    return benefit_;
  }
  const Arguments& args() const {  // of the manager's running rewrite() or analyze(); else empty
    return args_;
  }
  void setArgs(Arguments args) {
    args_ = std::move(args);
  }

 private:
  std::string name_;
  std::vector<LayerType> root_layers_;
  int benefit_;
  Arguments args_;
};

// Changes the network. Either match() and rewrite() are overridden, or matchAndRewrite() where what was matched must
// reach the rewrite; it must not edit before it is sure to return true.
class TORCHTRT_API PatternRewriter : public Pattern {
 public:
  using Pattern::Pattern;
  virtual bool match(const Layer& layer) const;
  virtual void rewrite(Layer& layer, Rewriter& rewriter);
  virtual bool matchAndRewrite(Layer& layer, Rewriter& rewriter);
};

// Gathers information and cannot edit. match() may add further layers of what it found to the subgraph, which starts
// with the root.
class TORCHTRT_API PatternAnalyzer : public Pattern {
 public:
  using Pattern::Pattern;
  using Subgraph = std::vector<const Layer*>;
  virtual bool match(const Layer& layer, Subgraph& subgraph) const = 0;
  virtual void analyze(const Subgraph& subgraph) = 0;
};

struct RewriteOptions {
  size_t max_rewrites = 0;                  // then CompileError(kRewriteBudget); 0: in proportion to the network
  bool verify = false;                      // the network, after every rewrite
  std::vector<RewriteListener*> listeners;  // beside the driver's own
};

struct RewriteSummary {
  size_t rewrites = 0;
  std::vector<std::pair<std::string, size_t>> by_label;  // in the order patterns are tried
  bool changed() const {
    return rewrites != 0;
  }
};

// Patterns under labels, in the order they are tried.
template <typename P>
class PatternManager {
 public:
  // Labels are unique: a second one is a CompileError(kInvalidOption). Without a benefit the pattern's own counts.
  P& add(const std::string& label, std::unique_ptr<P> pattern);
  P& add(const std::string& label, std::unique_ptr<P> pattern, int benefit);
  P* get(std::string_view label) const;  // null when there is none

 protected:
  struct Entry {
    std::string label;
    int benefit;
    std::unique_ptr<P> pattern;
  };
  std::vector<Entry> entries_;
};
extern template class TORCHTRT_API PatternManager<PatternRewriter>;
extern template class TORCHTRT_API PatternManager<PatternAnalyzer>;

class TORCHTRT_API RewritePatternManager : public PatternManager<PatternRewriter> {
 public:
  // Applies the patterns until none matches, inside a NetGuard of the network. An error thrown by a pattern names it
  // and the layer; to keep the network as it was, rewrite a copy and swap.
  RewriteSummary rewrite(Network& network, const Arguments& args = {}, const RewriteOptions& options = {});
};

class TORCHTRT_API AnalysisPatternManager : public PatternManager<PatternAnalyzer> {
 public:
  // Offers every layer once, in topological order, to every pattern.
  void analyze(const Network& network, const Arguments& args = {});
};

// CompileSpec::rewriters holds these: any function that changes a network but not its interface.
using NetworkRewriter = std::function<void(Network&)>;
TORCHTRT_API NetworkRewriter asNetworkRewriter(std::shared_ptr<RewritePatternManager> manager, Arguments args = {});

// Runs the rewriters in order, each inside a NetGuard and on a copy that takes the network's place when it is valid and
// still has the same inputs and outputs. After an error the network is as it was before that rewriter.
TORCHTRT_API void applyRewriters(std::unique_ptr<Network>& network, const std::vector<NetworkRewriter>& rewriters);

}  // namespace torchtrt::rewriting
