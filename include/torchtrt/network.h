// The network definition: tensors and layers, with TensorRT's vocabulary. It holds what is to be computed, never how:
// kernels, memory and devices are the builder's. Shapes and dtypes of outputs are inferred, symbolically, when they are
// asked for.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "torchtrt/error.h"
#include "torchtrt/export.h"
#include "torchtrt/types.h"

namespace torchtrt::network {

class Layer;
class Network;

enum class LayerType : uint8_t {
#define LAYER(ENUM, NAME, MIN, MAX, OUTPUTS, ATTRIBUTES, MEANING) k##ENUM,
#include "torchtrt/layer_table.def"
#undef LAYER
};

struct LayerInfo {
  LayerType type;
  const char* name;                         // text form and kernel family, e.g. "matrix_multiply"
  const char* enum_name;                    // "MATRIX_MULTIPLY"
  int min_operands, max_operands, outputs;  // -1: any
  const char* attributes;
  const char* meaning;
};
TORCHTRT_API const LayerInfo& layerInfo(LayerType type);
TORCHTRT_API const std::vector<LayerInfo>& layerTable();
TORCHTRT_API std::optional<LayerType> parseLayerType(std::string_view name);
TORCHTRT_API std::string layerTableMarkdown();  // docs/layers.md

// Data known at build time: row-major, shared, never changed after construction. 64-byte aligned when made by
// allocate().
struct TORCHTRT_API Weights {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;
  std::shared_ptr<const void> data;  // keeps the storage alive; null only when bytes() == 0

  size_t count() const;
  size_t bytes() const;
  static Weights allocate(DType dtype, std::vector<int64_t> dims, void** writable);
  static Weights copyOf(DType dtype, std::vector<int64_t> dims, const void* data);
  template <typename T>
  const T* as() const {
    return static_cast<const T*>(data.get());
  }
};

// A value of the network: a network input, or an output of a layer.
class TORCHTRT_API Tensor {
 public:
  int64_t id() const {  // unique in the network, from a counter of its own, never reused
    return id_;
  }
  const std::string& getName() const;
  void setName(const std::string& name);  // made unique in the network
  const Dims& getDimensions() const;      // inferred; throws CompileError when the producer is malformed
  DType getType() const;
  int rank() const {
    return getDimensions().rank();
  }
  Layer* producer() const {  // null for a network input
    return producer_;
  }
  int outputIndex() const {
    return output_index_;
  }
  bool isNetworkInput() const {
    return producer_ == nullptr;
  }
  bool isNetworkOutput() const;
  Network* network() const {
    return network_;
  }
  struct Use {
    Layer* layer;
    int index;
    bool operator==(const Use&) const TORCHTRT_DEFAULTED;
  };
  const std::vector<Use>& uses() const {  // in order of creation
    return uses_;
  }
  // Constant data behind this tensor, if its producer is a CONSTANT layer.
  const Weights* constant() const;
  // Returns the axes in the order of memory, outermost first; empty means row-major. For an input it is the callers'
  // usual order, which the builder counts on and engines do not need. The builder sets those of other tensors.
  const std::vector<uint8_t>& memoryOrder() const {
    return memory_order_;
  }
  void setMemoryOrder(std::vector<uint8_t> order) {
    memory_order_ = std::move(order);
  }

 private:
  friend class Network;
  friend class Layer;
  friend struct NetworkCorruption;  // tests break networks through it, to show that the verifier sees it
  Tensor() = default;
  bool hasKnownTypeOf(const Tensor& other) const;
  int64_t id_ = 0;
  std::string name_;
  DType dtype_ = DType::kFloat32;
  Dims dims_;
  Layer* producer_ = nullptr;
  int output_index_ = 0;
  Network* network_ = nullptr;
  std::vector<Use> uses_;
  std::vector<uint8_t> memory_order_;
};

// One operation. Attributes are those of layer_table.def; the typed setters below are TensorRT's names for them.
class TORCHTRT_API Layer {
 public:
  LayerType getType() const {
    return type_;
  }
  const LayerInfo& info() const {
    return layerInfo(type_);
  }
  int64_t id() const {  // unique in the network, from a counter, never reused
    return id_;
  }
  const std::string& getName() const {
    return name_;
  }
  void setName(const std::string& name);  // made unique in the network
  int getNbInputs() const {
    return static_cast<int>(inputs_.size());
  }
  Tensor* getInput(int i) const;         // null for an absent operand or one past the end
  void setInput(int i, Tensor* tensor);  // keeps use lists true; may extend by one, null clears
  int getNbOutputs() const {
    return static_cast<int>(outputs_.size());
  }
  Tensor* getOutput(int i) const;
  const Attributes& attributes() const {
    return attributes_;
  }
  void setAttribute(const std::string& name, AttributeValue value);
  void eraseAttribute(const std::string& name);
  const Weights* weights() const {  // CONSTANT only
    return weights_ ? &*weights_ : nullptr;
  }
  const Location& location() const {
    return location_;
  }
  void setLocation(Location location) {
    location_ = std::move(location);
  }
  Network* network() const {
    return network_;
  }

  // TensorRT's spelling of common attributes.
  void setReshapeDimensions(const Dims& dims);  // SHUFFLE; 0 copies the input's dim, one -1 is inferred
  void setFirstTranspose(const std::vector<int64_t>& permutation);  // SHUFFLE
  void setSecondTranspose(const std::vector<int64_t>& permutation);
  void setStrideNd(const std::vector<int64_t>& stride);
  void setPaddingNd(const std::vector<int64_t>& padding);  // pre and post alike
  void setPrePadding(const std::vector<int64_t>& padding);
  void setPostPadding(const std::vector<int64_t>& padding);
  void setDilationNd(const std::vector<int64_t>& dilation);
  void setNbGroups(int64_t groups);
  void setAlpha(double alpha);
  void setBeta(double beta);
  void setAxis(int64_t axis);

 private:
  friend class Network;
  friend class Tensor;
  friend struct NetworkCorruption;
  Layer() = default;
  LayerType type_ = LayerType::kIDENTITY;
  int64_t id_ = 0;
  std::string name_;
  std::vector<Tensor*> inputs_;
  std::vector<std::unique_ptr<Tensor>> outputs_;
  Attributes attributes_;
  std::optional<Weights> weights_;
  Location location_;
  Network* network_ = nullptr;
  std::list<std::unique_ptr<Layer>>::iterator position_;  // in the network's list
  bool stale_ = true;  // outputs not inferred since the last change; then all layers behind this one are stale too
};

// Something that describes the layers of a network and follows every edit of it, e.g. the records of the functions they
// came from. It must not edit.
class TORCHTRT_API NetworkObserver {
 public:
  virtual ~NetworkObserver() = default;
  virtual void layerAdded(Layer& layer) = 0;
  virtual void layerRemoved(Layer& layer) = 0;  // just before it goes
  virtual void operandChanged(Layer& layer, Tensor* from, Tensor* to) = 0;
  virtual void usesReplaced(Tensor& from, Tensor& to) = 0;  // after the uses moved
  virtual void tensorRemoved(Tensor& tensor) = 0;           // just before it goes
  virtual std::shared_ptr<NetworkObserver> cloneFor(const Network& copy) const = 0;
};

// Owns layers and tensors. Layers keep a topological order: a layer is created after the producers of its inputs, and
// moves only through sortTopologically().
class TORCHTRT_API Network {
 public:
  Network();
  ~Network();
  Network(const Network&) = delete;  // layers and tensors point back: pass it by reference or unique_ptr
  Network& operator=(const Network&) = delete;
  std::unique_ptr<Network> clone() const;  // same names, ids and order; weights shared

  const std::string& name() const;
  void setName(const std::string& name);

  // Symbols (ranges of dynamic dimensions), in order of declaration.
  void addSymbol(const Symbol& symbol);
  const Symbol* findSymbol(const std::string& name) const;
  const std::vector<Symbol>& symbols() const;

  Tensor* addInput(const std::string& name, DType dtype, const Dims& dims);
  void markOutput(Tensor& tensor, const std::string& name = "");  // a tensor may be marked several times
  void unmarkOutput(int index);
  void replaceOutput(int index, Tensor& tensor);  // keeps the output's name
  void removeInput(Tensor& tensor);               // must have no uses
  void moveInput(Tensor& tensor, int index);      // the order of inputs is that of the engine's bindings
  int getNbInputs() const;
  int getNbOutputs() const;
  Tensor* getInput(int i) const;
  Tensor* getOutput(int i) const;
  const std::string& getOutputName(int i) const;

  int getNbLayers() const;
  Layer* getLayer(int i) const;        // in topological order; after an edit the first call walks all layers
  std::vector<Layer*> layers() const;  // a snapshot in topological order
  Layer* findLayer(std::string_view name) const;
  Tensor* findTensor(std::string_view name) const;
  Layer* layerById(int64_t id) const;  // null once it is removed
  Tensor* tensorById(int64_t id) const;

  // Any layer. Operands may be null where the table allows; missing attributes take their defaults. `before` inserts in
  // front of that layer instead of at the end. New layers take currentLocation(). Adding and removing take constant
  // time.
  Layer* addLayer(LayerType type, const std::vector<Tensor*>& inputs, Attributes attributes = {},
                  Layer* before = nullptr);
  void removeLayer(Layer& layer);  // its outputs must have no uses and not be network outputs
  void sortTopologically();
  // Every use of `from` (network outputs included) becomes a use of `to`.
  void replaceAllUses(Tensor& from, Tensor& to);

  // Sets the one observer; copies of the network get a copy of it.
  void setObserver(std::shared_ptr<NetworkObserver> observer);
  const std::shared_ptr<NetworkObserver>& observer() const;

  void setCurrentLocation(Location location);
  const Location& currentLocation() const;

  // TensorRT's spelling.
  Layer* addConstant(const Weights& weights, Layer* before = nullptr);
  Layer* addConvolutionNd(Tensor& input, const Weights& kernel, const Weights* bias);
  Layer* addDeconvolutionNd(Tensor& input, const Weights& kernel, const Weights* bias);
  Layer* addPoolingNd(Tensor& input, const std::string& op, const std::vector<int64_t>& window);
  Layer* addActivation(Tensor& input, const std::string& op, double alpha = 0, double beta = 0);
  Layer* addUnary(Tensor& input, const std::string& op);
  Layer* addElementWise(Tensor& a, Tensor& b, const std::string& op);
  Layer* addMatrixMultiply(Tensor& a, bool transpose_a, Tensor& b, bool transpose_b);
  Layer* addSoftMax(Tensor& input, int64_t axis, bool log = false);
  Layer* addReduce(Tensor& input, const std::string& op, const std::vector<int64_t>& axes, bool keep_dims);
  Layer* addShuffle(Tensor& input);
  Layer* addSlice(Tensor& input, const Dims& start, const Dims& size, const std::vector<int64_t>& stride);
  Layer* addConcatenation(const std::vector<Tensor*>& inputs, int64_t axis);
  Layer* addGather(Tensor& data, Tensor& indices, int64_t axis, const std::string& mode = "default");
  Layer* addSelect(Tensor& condition, Tensor& a, Tensor& b);
  Layer* addCast(Tensor& input, DType to);
  Layer* addIdentity(Tensor& input);
  Layer* addTopK(Tensor& input, const Dim& k, int64_t axis, bool largest = true, bool sorted = true);

 private:
  friend class Layer;
  friend class Tensor;
  static void invalidate(Layer& layer);
  static void infer(Layer& layer);
  void setOutputCount(Layer& layer, int count);
  void numberInputs();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Text form. print(parse(text)) == text for text made by print. Locations are printed on request. Large constants are
// printed by content hash and, with `weights`, looked up there when parsed; small ones (at most 32 elements) inline.
// The parser also takes text without symbols, attributes or the types of layers where those are not needed.
//
//   network "lenet" (s0 in [1, 4, 8]) {
//     input %x : float32[s0, 1, 32, 32]
//     %w = constant() {} : float32[6, 1, 3, 3] data=@9f3c...
//     %conv1 = convolution(%x, %w, null) {stride=[1, 1], ...} : float32[s0, 6, 30, 30]  # model.py:12:4 (feat.conv1)
//     output "logits" %conv1
//   }
struct PrintOptions {
  bool locations = false;
  bool memory_orders = false;
};
using WeightStore = std::unordered_map<std::string, Weights>;  // by content hash
TORCHTRT_API std::string print(const Network& network, const PrintOptions& options = {});
TORCHTRT_API std::unique_ptr<Network> parse(std::string_view text, const WeightStore& weights = {});
TORCHTRT_API WeightStore collectWeights(const Network& network);

// Checks every rule of the table, use lists, order, names; throws CompileError(kInvalidNetwork) naming layer and rule.
TORCHTRT_API void verify(const Network& network);

}  // namespace torchtrt::network
