// The verifier: the network as a whole, then every layer against its rules.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "network/counted.h"
#include "network/network_impl.h"
#include "network/rules/rules.h"

namespace torchtrt::network {
namespace {

class Verifier {
 public:
  explicit Verifier(const Network& network) : network_(network), layers_(network.layers()) {
    for (size_t i = 0; i < layers_.size(); ++i) {
      position_[layers_[i]] = i;
    }
    for (int i = 0; i < network.getNbInputs(); ++i) {
      tensors_.insert(network.getInput(i));
    }
    for (const Layer* layer : layers_) {
      for (int i = 0; i < layer->getNbOutputs(); ++i) {
        tensors_.insert(layer->getOutput(i));
      }
    }
  }

  void run() {
    for (const Layer* layer : layers_) {
      verifyOperands(*layer);
      verifyIdentity(*layer);
    }
    for (const Tensor* tensor : tensors_) {
      verifyName(*tensor);
      verifyUses(*tensor);
      verifyCounted(*tensor);
    }
    verifyInputs();
    for (const Layer* layer : layers_) {
      verifySymbols(*layer);
      checkRules(LayerContext(*layer));
      verifyTypes(*layer);
      verifyCounts(*layer);
    }
    for (const Tensor* tensor : tensors_) {
      verifyMemoryOrder(*tensor);
    }
    verifyOutputs();
  }

 private:
  struct ByName {  // an order that is the same in every run
    bool operator()(const Tensor* x, const Tensor* y) const {
      return x->getName() != y->getName() ? x->getName() < y->getName() : x < y;
    }
  };

  [[noreturn]] void fail(const char* rule, const std::string& subject, const std::string& problem,
                         const Location& location = {}) const {
    throw CompileError(ErrorCode::kInvalidNetwork, subject + " breaks rule \"" + rule + "\": " + problem, location);
  }

  static std::string named(const Layer& layer) {
    return "layer \"" + layer.getName() + "\" (" + layer.info().name + ")";
  }

  static std::string named(const Tensor& tensor) {
    return "tensor \"" + tensor.getName() + "\"";
  }

  // Operands belong to the network, come from layers in front, and know of this use.
  void verifyOperands(const Layer& layer) const {
    for (int i = 0; i < layer.getNbInputs(); ++i) {
      const Tensor* operand = layer.getInput(i);
      if (operand == nullptr) {
        continue;
      }
      if (tensors_.count(operand) == 0) {
        fail("membership", named(layer),
             "expected tensors of this network, got operand " + std::to_string(i) + " from elsewhere",
             layer.location());
      }
      const Layer* producer = operand->producer();
      if (producer != nullptr && position_.at(producer) >= position_.at(&layer)) {
        fail("order", named(layer),
             "expected operands from layers in front of it, got \"" + operand->getName() + "\" of " + named(*producer) +
                 "; sortTopologically() puts layers in order",
             layer.location());
      }
      const auto uses =
          std::count(operand->uses().begin(), operand->uses().end(), Tensor::Use{const_cast<Layer*>(&layer), i});
      if (uses != 1) {
        fail("uses", named(*operand),
             "expected one entry for operand " + std::to_string(i) + " of " + named(layer) + ", got " +
                 std::to_string(uses),
             layer.location());
      }
    }
  }

  void verifyIdentity(const Layer& layer) {
    if (!ids_.insert(layer.id()).second) {
      fail("ids", named(layer), "expected an id of its own, got " + std::to_string(layer.id()), layer.location());
    }
    if (network_.findLayer(layer.getName()) != &layer) {
      fail("names", named(layer), "expected a name of its own, got one that means another layer", layer.location());
    }
  }

  void verifyName(const Tensor& tensor) const {
    if (network_.findTensor(tensor.getName()) != &tensor) {
      fail("names", named(tensor), "expected a name of its own, got one that means another tensor");
    }
  }

  void verifyUses(const Tensor& tensor) const {
    for (const Tensor::Use& use : tensor.uses()) {
      const bool is_member = position_.count(use.layer) != 0;
      if (!is_member || use.layer->getInput(use.index) != &tensor) {
        fail("uses", named(tensor),
             "expected entries that are true, got operand " + std::to_string(use.index) + " of " +
                 (is_member ? named(*use.layer) : "a layer of another network"));
      }
    }
  }

  void verifyCounted(const Tensor& tensor) const {
    if (!tensor.uses().empty() && isCounted(tensor)) {
      fail("counted", named(tensor),
           "expected no layer to read it, whose length shows when it has been computed, got " +
               named(*tensor.uses().front().layer));
    }
  }

  // Asks the same as the readers of plans do of the step (plan/counted.h).
  void verifyCounts(const Layer& layer) const {
    const AttributeValue* field =
        layer.getType() == LayerType::kPLUGIN_V2 ? layer.attributes().find("counted") : nullptr;
    if (field == nullptr) {
      return;
    }
    const auto require = [&](bool holds, const std::string& expected, const std::string& got) {
      if (!holds) {
        fail("counted", named(layer), "expected " + expected + ", got " + got, layer.location());
      }
    };
    const auto* counted = std::get_if<std::vector<int64_t>>(field);
    require(counted != nullptr, "a list of outputs in its field counted", "a value of another type");
    const int last = layer.getNbOutputs() - 1;
    const Tensor& number = *layer.getOutput(last);
    require(number.getType() == DType::kInt64 && number.rank() == 0, "a last output that counts, int64[]",
            toString(number.getType()) + number.getDimensions().toString());
    for (const int64_t index : *counted) {
      require(index >= 0 && index < last,
              "its field counted to name outputs in front of the last one, number " + std::to_string(last),
              std::to_string(index));
      require(layer.getOutput(static_cast<int>(index))->rank() > 0, "rows to count in output " + std::to_string(index),
              "a tensor without dimensions");
    }
  }

  void verifyDeclared(const Dims& dims, const std::string& subject, const Location& location = {}) const {
    for (const Dim& dim : dims) {
      for (const std::string& name : dim.symbols()) {
        if (network_.findSymbol(name) == nullptr) {
          fail("symbols", subject,
               "expected declared symbols, got " + name + " in " + dims.toString() +
                   "; declare its range with addSymbol()",
               location);
        }
      }
    }
  }

  void verifyInputs() const {
    for (int i = 0; i < network_.getNbInputs(); ++i) {
      const Tensor& input = *network_.getInput(i);
      verifyDeclared(input.getDimensions(), named(input));
      for (const Dim& dim : input.getDimensions()) {
        const auto low = dim.range([this](const std::string& name) { return *network_.findSymbol(name); }).first;
        if (low < 0) {
          fail("inputs", named(input), "expected dims of at least 0, got " + input.getDimensions().toString());
        }
      }
    }
  }

  void verifySymbols(const Layer& layer) const {
    for (const auto& [name, value] : layer.attributes().values()) {
      if (const Dims* dims = std::get_if<Dims>(&value)) {
        verifyDeclared(*dims, named(layer), layer.location());
      }
    }
  }

  // Checks that the stored types are those that follow from the operands.
  void verifyTypes(const Layer& layer) const {
    const TensorTypes types = inferTypes(LayerContext(layer));
    for (int i = 0; i < layer.getNbOutputs(); ++i) {
      const Tensor& output = *layer.getOutput(i);
      const TensorType& type = types[static_cast<size_t>(i)];
      if (output.getType() != type.dtype || output.getDimensions() != type.dims) {
        fail("types", named(layer),
             "expected output " + std::to_string(i) + " to be " + toString(type.dtype) + type.dims.toString() +
                 ", got " + toString(output.getType()) + output.getDimensions().toString(),
             layer.location());
      }
    }
  }

  void verifyMemoryOrder(const Tensor& tensor) const {
    std::vector<uint8_t> order = tensor.memoryOrder();
    if (order.empty()) {
      return;
    }
    std::sort(order.begin(), order.end());
    bool is_permutation = static_cast<int>(order.size()) == tensor.rank();
    for (size_t i = 0; i < order.size(); ++i) {
      is_permutation &= order[i] == i;
    }
    if (!is_permutation) {
      fail("memory-order", named(tensor),
           "expected a permutation of " + std::to_string(tensor.rank()) + " axes, got " +
               Dims::of({tensor.memoryOrder().begin(), tensor.memoryOrder().end()}).toString());
    }
  }

  void verifyOutputs() const {
    if (network_.getNbOutputs() == 0) {
      fail("outputs", "network \"" + network_.name() + "\"",
           "expected at least one output, got none; use markOutput()");
    }
    for (int i = 0; i < network_.getNbOutputs(); ++i) {
      if (tensors_.count(network_.getOutput(i)) == 0) {
        fail("membership", "network output \"" + network_.getOutputName(i) + "\"",
             "expected a tensor of this network, got one from elsewhere");
      }
    }
  }

  const Network& network_;
  std::vector<Layer*> layers_;
  std::unordered_map<const Layer*, size_t> position_;
  std::set<const Tensor*, ByName> tensors_;
  std::set<int64_t> ids_;
};

}  // namespace

void verify(const Network& network) {
  Verifier(network).run();
}

}  // namespace torchtrt::network
