#include "builder/layout.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace torchtrt::builder {

namespace {

using network::Layer;
using network::LayerType;
using network::Network;
using network::Tensor;

// Channels-last leaves most of each vector empty where a convolution computes fewer outputs than half a vector holds.
// One that gets row-major images writes row-major too, and its vectors run along lines, if these are long enough.
constexpr int64_t kFewOutputs = 8;
constexpr int64_t kLongLine = 16;
constexpr int64_t kFewLines = 64;  // of the input, for one line of the output

// float16 and bfloat16 run as float32 does, with conversions around.
bool runsInFloat32(const Tensor& tensor) {
  return isFloating(tensor.getType()) && tensor.getType() != DType::kFloat64;
}

// Says what a kind of layer does with memory orders.
enum class Behaviour {
  kSpatial,   // runs channels-last
  kFollows,   // one output of the operands' shape or rank: takes their order
  kReadsAny,  // reads any order, writes row-major
  kRowMajor,
};

bool isSpatialWindow(const Layer& layer, const char* attribute) {
  const int rank = layer.getInput(0)->rank();
  const AttributeValue* value = layer.attributes().find(attribute);
  const auto* ints = std::get_if<std::vector<int64_t>>(value);
  const auto* dims = std::get_if<Dims>(value);
  const int window = ints != nullptr ? static_cast<int>(ints->size()) : dims->rank();
  return rank == window + 2;
}

// True if a normalization is of the last axes, rather than of channels.
bool isOverRows(const Layer& layer) {
  const std::string& mode = layer.attributes().getString("mode");
  return mode == "layer" || mode == "rms";
}

Behaviour behaviourOf(const Layer& layer) {
  switch (layer.getType()) {
    case LayerType::kCONVOLUTION:
    case LayerType::kQUANTIZED_CONVOLUTION:
    case LayerType::kDECONVOLUTION:
      return Behaviour::kSpatial;
    case LayerType::kPOOLING:
      return isSpatialWindow(layer, "window") ? Behaviour::kFollows : Behaviour::kRowMajor;
    case LayerType::kADAPTIVE_POOLING:
      return isSpatialWindow(layer, "output_size") ? Behaviour::kSpatial : Behaviour::kRowMajor;
    case LayerType::kRESIZE:
      return isSpatialWindow(layer, "size") ? Behaviour::kFollows : Behaviour::kRowMajor;
    case LayerType::kNORMALIZATION:
      return isOverRows(layer) ? Behaviour::kRowMajor : Behaviour::kFollows;
    case LayerType::kREDUCE:
      return layer.attributes().getBool("keep_dims") ? Behaviour::kFollows : Behaviour::kReadsAny;
    case LayerType::kACTIVATION:
    case LayerType::kPARAMETRIC_RELU:
    case LayerType::kUNARY:
    case LayerType::kELEMENTWISE:
    case LayerType::kSELECT:
    case LayerType::kCAST:
    case LayerType::kQUANTIZE:
    case LayerType::kDEQUANTIZE:
    case LayerType::kCONCATENATION:
    case LayerType::kSLICE:
    case LayerType::kPADDING:
    case LayerType::kIDENTITY:
      return Behaviour::kFollows;
    default:
      return Behaviour::kRowMajor;
  }
}

class LayoutPass {
 public:
  explicit LayoutPass(Network& network) : network_(network) {}

  void run(const std::vector<Order>& input_orders) {
    for (size_t i = 0; i < input_orders.size(); ++i) {
      comesIn(input_orders[i], *network_.getInput(static_cast<int>(i)));
    }
    for (Layer* layer : network_.layers()) {
      if (layer->getType() != LayerType::kCONSTANT) {
        visit(*layer);
      }
    }
    for (int i = 0; i < network_.getNbOutputs(); ++i) {
      Tensor* output = network_.getOutput(i);
      if (Tensor* row_major = inOrder(*output, {}, nullptr); row_major != output) {
        network_.replaceOutput(i, *row_major);
      }
    }
  }

 private:
  // All read the copy in that order, or the input itself where they need it row-major.
  void comesIn(const Order& order, Tensor& input) {
    if (sameMemory(input.getDimensions(), order, {})) {
      return;
    }
    const std::vector<Tensor::Use> uses = input.uses();
    Tensor* const copy = inOrder(input, order, network_.getNbLayers() == 0 ? nullptr : network_.getLayer(0));
    for (const Tensor::Use& use : uses) {
      use.layer->setInput(use.index, copy);
    }
    copyOf(*copy, {}) = &input;
  }

  void visit(Layer& layer) {
    if (layer.getType() == LayerType::kSHUFFLE) {
      visitShuffle(layer);
      return;
    }
    const Behaviour behaviour = behaviourOf(layer);
    const bool channels_last = (behaviour == Behaviour::kSpatial && !isBestRowMajor(layer)) ||
                               (behaviour == Behaviour::kFollows && mostlyChannelsLast(layer));
    if (behaviour == Behaviour::kReadsAny) {
      return;
    }
    for (int i = 0; i < layer.getNbInputs(); ++i) {
      Tensor* input = layer.getInput(i);
      if (input != nullptr && (isData(layer, i) || !readsBroadcast(layer))) {
        const bool follows = channels_last && isData(layer, i) && !(i == 0 && readsPlanes(layer));
        putInOrder(layer, i, follows ? channelsLast(input->rank()) : Order());
      }
    }
    for (int i = 0; i < layer.getNbOutputs() && channels_last; ++i) {
      layer.getOutput(i)->setMemoryOrder(channelsLast(layer.getOutput(i)->rank()));
    }
  }

  // A shuffle is free where it leaves the elements in place. Where channels-last comes in, the input is moved so that
  // the result is channels-last without another copy: what grouped channels do between two convolutions.
  void visitShuffle(Layer& layer) {
    Tensor& input = *layer.getInput(0);
    Tensor& output = *layer.getOutput(0);
    const Shuffle shuffle = shuffleOf(layer);
    std::optional<Order> in_place = shuffledOrder(input.getDimensions(), input.memoryOrder(), shuffle);
    if (in_place && isExpected(*in_place, output)) {
      output.setMemoryOrder(std::move(*in_place));
      return;
    }
    const bool moved = !sameMemory(input.getDimensions(), input.memoryOrder(), {});
    const bool reshapes = layer.attributes().has("reshape_dims");
    if (moved && reshapes && output.rank() >= 4 && !endsInLastAxis(input)) {
      const Order wanted = channelsLast(output.rank());
      if (const auto order = shuffledOrder(output.getDimensions(), wanted, inverse(input.getDimensions(), shuffle))) {
        putInOrder(layer, 0, *order);
        output.setMemoryOrder(wanted);
        return;
      }
    }
    if (reshapes) {  // a mere transposition reads any order
      putInOrder(layer, 0, {});
    }
  }

  // True if lines along the last axis lie in one piece though the tensor is not row-major, as those of an image cut
  // into windows do. A tensor that becomes row-major is moved line by line then.
  static bool endsInLastAxis(const Tensor& tensor) {
    const Order& order = tensor.memoryOrder();
    const auto isLong = [&](auto axis) { return !(tensor.getDimensions()[static_cast<int>(axis)] == Dim(1)); };
    const auto last = std::find_if(order.rbegin(), order.rend(), isLong);
    return last == order.rend() || static_cast<int>(*last) == tensor.rank() - 1;
  }

  // True if readers expect the order, which is then spelled as they do: [1, C, H, W] has several names for one memory.
  // Shuffles take any, so that two in a row can be one move.
  static bool isExpected(Order& order, const Tensor& tensor) {
    for (const Order& known : {Order(), tensor.rank() >= 3 ? channelsLast(tensor.rank()) : Order()}) {
      if (sameMemory(tensor.getDimensions(), order, known)) {
        order = known;
        return true;
      }
    }
    return !tensor.isNetworkOutput() && !tensor.uses().empty() &&
           std::all_of(tensor.uses().begin(), tensor.uses().end(),
                       [](const Tensor::Use& use) { return use.layer->getType() == LayerType::kSHUFFLE; });
  }

  // Operands that have the output's rank and are no broadcast parameters lie as the output does.
  static bool isData(const Layer& layer, int index) {
    const Tensor& input = *layer.getInput(index);
    switch (layer.getType()) {
      case LayerType::kCONVOLUTION:
        return index == 0 || index == 3;
      case LayerType::kQUANTIZED_CONVOLUTION:
        return index == 0 || index == 4;
      case LayerType::kDECONVOLUTION:
      case LayerType::kNORMALIZATION:
        return index == 0;
      case LayerType::kELEMENTWISE:
      case LayerType::kSELECT:
      case LayerType::kPARAMETRIC_RELU:
        return input.getDimensions() == layer.getOutput(0)->getDimensions();
      default:
        return true;
    }
  }

  static bool readsBroadcast(const Layer& layer) {
    return layer.getType() == LayerType::kELEMENTWISE || layer.getType() == LayerType::kSELECT ||
           layer.getType() == LayerType::kPARAMETRIC_RELU;
  }

  // True if more elements arrive channels-last than would have to be moved there.
  bool mostlyChannelsLast(const Layer& layer) const {
    if (layer.getOutput(0)->rank() < 3) {
      return false;
    }
    double channels_last = 0;
    double row_major = 0;
    for (int i = 0; i < layer.getNbInputs(); ++i) {
      const Tensor* input = layer.getInput(i);
      if (input != nullptr && isData(layer, i)) {
        const bool moved = sameMemory(input->getDimensions(), input->memoryOrder(), {});
        (moved ? row_major : channels_last) += elements(*input);
      }
    }
    return channels_last > 0 && channels_last * 2 >= row_major;
  }

  // True if oneDNN moves the images of a convolution with computed weights to blocks and back by itself.
  static bool isGroupedAndComputed(const Layer& layer) {
    const Tensor& weights = *layer.getInput(1);
    return layer.attributes().getInt("groups", 1) != 1 &&
           (weights.producer() == nullptr || weights.producer()->getType() != LayerType::kCONSTANT);
  }

  bool isBestRowMajor(const Layer& layer) const {
    if (layer.getType() != LayerType::kCONVOLUTION || !runsInFloat32(*layer.getInput(0)) ||
        (layer.getNbInputs() > 3 && layer.getInput(3) != nullptr)) {
      return false;
    }
    const Tensor& input = *layer.getInput(0);
    if (layer.attributes().getInt("groups", 1) != 1) {
      return isGroupedAndComputed(layer) && sameMemory(input.getDimensions(), input.memoryOrder(), {});
    }
    const Dims& kernel = layer.getInput(1)->getDimensions();
    double lines = 1;
    for (int i = 1; i + 1 < kernel.rank(); ++i) {
      lines *= static_cast<double>(optimum(kernel[i]));
    }
    return sameMemory(input.getDimensions(), input.memoryOrder(), {}) && optimum(kernel[0]) <= kFewOutputs &&
           lines <= kFewLines && optimum(layer.getOutput(0)->getDimensions()[kernel.rank() - 1]) >= kLongLine;
  }

  // The product that reads few channels from row-major planes is no slower than one more reorder.
  static bool readsPlanes(const Layer& layer) {
    const Tensor& input = *layer.getInput(0);
    return layer.getType() == LayerType::kCONVOLUTION && input.producer() != nullptr && runsInFloat32(input) &&
           sameMemory(input.getDimensions(), input.memoryOrder(), {}) && layer.attributes().getInt("groups", 1) == 1 &&
           layer.attributes().getInts("dilation").back() == 1 && isAtMost(input.getDimensions()[1], kFewOutputs);
  }

  static bool isAtMost(const Dim& dim, int64_t limit) {
    return dim.isConstant() && dim.constant() <= limit;
  }

  double elements(const Tensor& tensor) const {
    double count = 1;
    for (const Dim& dim : tensor.getDimensions()) {
      count *= static_cast<double>(optimum(dim));
    }
    return count;
  }

  int64_t optimum(const Dim& dim) const {
    return dim.evaluate([&](const std::string& name) { return network_.findSymbol(name)->opt; });
  }

  void putInOrder(Layer& layer, int index, const Order& order) {
    Tensor* input = layer.getInput(index);
    if (Tensor* wanted = inOrder(*input, order, &layer); wanted != input) {
      layer.setInput(index, wanted);
    }
  }

  // The tensor in the order wanted: itself, or a copy that all readers share.
  Tensor* inOrder(Tensor& tensor, const Order& order, Layer* before) {
    if (tensor.memoryOrder() == order) {
      return &tensor;
    }
    Tensor*& copy = copyOf(tensor, order);
    if (copy == nullptr) {
      Layer* reformat = network_.addLayer(LayerType::kREFORMAT, {&tensor}, {}, before);
      if (const Layer* near = tensor.producer() != nullptr ? tensor.producer() : before) {
        reformat->setLocation(near->location());
      }
      copy = reformat->getOutput(0);
      copy->setMemoryOrder(order);
    }
    return copy;
  }

  Tensor*& copyOf(const Tensor& tensor, const Order& order) {
    return copies_[{copy_keys_.try_emplace(&tensor, copy_keys_.size()).first->second, order}];
  }

  Network& network_;
  std::unordered_map<const Tensor*, size_t> copy_keys_;  // looked up only: never walked through
  std::map<std::pair<size_t, Order>, Tensor*> copies_;
};

// A slice that a mere transposition alone reads is written in the order that leaves the transposition nothing to do.
void transposeSlices(Network& network) {
  for (Layer* layer : network.layers()) {
    if (layer->getType() != LayerType::kSLICE) {
      continue;
    }
    Tensor& cut = *layer->getOutput(0);
    if (cut.isNetworkOutput() || cut.uses().size() != 1 || !cut.memoryOrder().empty()) {
      continue;
    }
    const Layer& reader = *cut.uses()[0].layer;
    if (reader.getType() != LayerType::kSHUFFLE || reader.attributes().has("reshape_dims")) {
      continue;
    }
    const Tensor& result = *reader.getOutput(0);
    const Shuffle back = inverse(cut.getDimensions(), shuffleOf(reader));
    if (const auto order = shuffledOrder(result.getDimensions(), result.memoryOrder(), back)) {
      cut.setMemoryOrder(*order);
    }
  }
}

// Channels-last gains nothing where nothing convolves and all comes row-major.
bool isWorthIt(const Network& network, const std::vector<Order>& input_orders) {
  for (int i = 0; i < network.getNbLayers(); ++i) {
    const LayerType type = network.getLayer(i)->getType();
    if (type == LayerType::kCONVOLUTION || type == LayerType::kQUANTIZED_CONVOLUTION ||
        type == LayerType::kDECONVOLUTION) {
      return true;
    }
  }
  return std::any_of(input_orders.begin(), input_orders.end(), [](const Order& order) { return !order.empty(); });
}

}  // namespace

std::vector<Order> takeInputOrders(Network& network) {
  std::vector<Order> orders;
  for (int i = 0; i < network.getNbInputs(); ++i) {
    orders.push_back(network.getInput(i)->memoryOrder());
    network.getInput(i)->setMemoryOrder({});
  }
  return orders;
}

void chooseMemoryOrders(Network& network, const std::vector<Order>& input_orders) {
  if (isWorthIt(network, input_orders)) {
    LayoutPass(network).run(input_orders);
  }
  transposeSlices(network);
}

}  // namespace torchtrt::builder
