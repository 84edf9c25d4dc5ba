// Text -> network. More is understood than is printed: symbols, attributes and the types of layers may be left out.
#include "network/attribute_spec.h"
#include "network/network_impl.h"
#include "network/text/cursor.h"
#include "network/text/location.h"
#include "network/text/notation.h"
#include "network/text/numbers.h"

namespace torchtrt::network {
namespace {

class Parser {
 public:
  Parser(std::string_view text, const WeightStore& weights) : cursor_(text), weights_(weights) {}

  std::unique_ptr<Network> parse() {
    try {
      parseNetwork();
    } catch (const CompileError& error) {
      // A refusal of the network itself has no place: it gets the place where the last token began.
      if (!error.location().empty()) {
        throw;
      }
      throw CompileError(error.code(), error.message(), cursor_.here(), error.advice());
    }
    return std::move(network_);
  }

 private:
  struct WrittenType {
    TensorType type;
    std::vector<uint8_t> order;
  };

  void parseNetwork() {
    cursor_.expect("network");
    network_->setName(cursor_.quotedText());
    symbols();
    cursor_.expect("{");
    while (!cursor_.take("}")) {
      if (cursor_.takeWord("input")) {
        input();
      } else if (cursor_.takeWord("output")) {
        output();
      } else {
        layer();
      }
    }
    if (!cursor_.atEnd()) {
      cursor_.fail("expected nothing behind the network");
    }
  }

  void symbols() {
    if (!cursor_.take("(")) {
      return;
    }
    for (bool first = true; !cursor_.take(")"); first = false) {
      if (!first) {
        cursor_.expect(",");
      }
      const std::string name = cursor_.scalar();
      cursor_.expect("in");
      const std::vector<int64_t> range = ints(cursor_.list());
      if (range.size() != 3) {
        cursor_.fail("expected the range [min, opt, max] of " + name);
      }
      network_->addSymbol({name, range[0], range[1], range[2]});
    }
  }

  void input() {
    cursor_.expect("%");
    const std::string name = newName();
    cursor_.expect(":");
    const WrittenType written = type();
    network_->addInput(name, written.type.dtype, written.type.dims)->setMemoryOrder(written.order);
  }

  void output() {
    const std::string name = cursor_.quotedText();
    network_->markOutput(*operand(), name);
    if (network_->getOutputName(network_->getNbOutputs() - 1) != name) {
      cursor_.fail("expected a new name for an output, got \"" + name + "\" again");
    }
  }

  void layer() {
    std::vector<std::string> names;
    do {
      cursor_.expect("%");
      names.push_back(newName());
    } while (cursor_.take(","));
    cursor_.expect("=");
    const std::string kind = cursor_.word();
    const std::optional<LayerType> type_of_layer = parseLayerType(kind);
    if (!type_of_layer) {
      cursor_.fail("expected a kind of the layer table, got \"" + kind + "\"");
    }
    layer_start_ = cursor_.here();
    const std::vector<Tensor*> inputs = operands();
    Attributes given = attributes(*type_of_layer);
    std::vector<WrittenType> types;
    if (cursor_.take(":")) {
      do {
        types.push_back(type());
      } while (cursor_.take(","));
    }
    Layer* added = *type_of_layer == LayerType::kCONSTANT ? network_->addConstant(data(types))
                                                          : addLayer(*type_of_layer, inputs, std::move(given));
    nameLayer(*added, names);
    check(*added, types);
    if (const std::string comment = cursor_.commentOfLine(); !comment.empty()) {
      added->setLocation(parseLocation(comment));
    }
  }

  Layer* addLayer(LayerType layer_type, const std::vector<Tensor*>& inputs, Attributes given) {
    try {
      return network_->addLayer(layer_type, inputs, std::move(given));
    } catch (const CompileError& error) {
      throw CompileError(error.code(), error.message(), layer_start_, error.advice());
    }
  }

  // An error of the layer as a whole: its place is where its kind stands.
  [[noreturn]] void failLayer(const std::string& message) const {
    throw CompileError(ErrorCode::kInvalidNetwork, message, layer_start_);
  }

  void nameLayer(Layer& layer, const std::vector<std::string>& names) {
    if (static_cast<int>(names.size()) != layer.getNbOutputs()) {
      failLayer("expected " + std::to_string(layer.getNbOutputs()) + " results of " + layer.info().name + ", got " +
                std::to_string(names.size()));
    }
    const std::string suffix = names.size() == 1 ? "" : ".0";
    const bool has_suffix = names[0].size() > suffix.size() && names[0].ends_with(suffix);
    layer.setName(cursor_.take("name=") ? cursor_.quotedText()
                                        : names[0].substr(0, names[0].size() - (has_suffix ? suffix.size() : 0)));
    for (int i = 0; i < layer.getNbOutputs(); ++i) {
      layer.getOutput(i)->setName(names[static_cast<size_t>(i)]);
    }
  }

  // The types that are written are those that follow from the operands. A broken rule is reported with its place in the
  // text.
  void check(Layer& layer, const std::vector<WrittenType>& types) {
    if (!types.empty() && static_cast<int>(types.size()) != layer.getNbOutputs()) {
      failLayer("expected " + std::to_string(layer.getNbOutputs()) + " types, got " + std::to_string(types.size()));
    }
    for (int i = 0; i < layer.getNbOutputs(); ++i) {
      Tensor& output = *layer.getOutput(i);
      TensorType inferred;
      try {
        inferred = {output.getType(), output.getDimensions()};
      } catch (const CompileError& error) {
        throw CompileError(error.code(), error.message(), layer_start_, error.advice());
      }
      if (types.empty()) {
        continue;
      }
      const auto& [written, order] = types[static_cast<size_t>(i)];
      if (written != inferred) {
        failLayer("expected type " + (toString(inferred.dtype) + inferred.dims.toString()) + " of %" +
                  output.getName() + ", got " + toString(written.dtype) + written.dims.toString());
      }
      output.setMemoryOrder(order);
    }
  }

  std::string newName() {
    std::string name = cursor_.name();
    if (network_->findTensor(name) != nullptr) {
      cursor_.fail("expected a new name, got %" + name + " again");
    }
    return name;
  }

  Tensor* operand() {
    cursor_.expect("%");
    const std::string name = cursor_.name();
    Tensor* tensor = network_->findTensor(name);
    if (tensor == nullptr) {
      cursor_.fail("expected a tensor that is defined above, got %" + name);
    }
    return tensor;
  }

  std::vector<Tensor*> operands() {
    std::vector<Tensor*> tensors;
    cursor_.expect("(");
    while (!cursor_.take(")")) {
      if (!tensors.empty()) {
        cursor_.expect(",");
      }
      tensors.push_back(cursor_.takeWord("null") ? nullptr : operand());
    }
    return tensors;
  }

  WrittenType type() {
    const std::string word = cursor_.word();
    const std::optional<DType> dtype = parseDType(word);
    if (!dtype) {
      cursor_.fail("expected a dtype, got \"" + word + "\"");
    }
    WrittenType written{{*dtype, dims(cursor_.list())}, {}};
    if (cursor_.take("order=")) {
      for (const int64_t axis : ints(cursor_.list())) {
        if (axis < 0 || axis >= written.type.dims.rank()) {
          cursor_.fail("expected axes of " + written.type.dims.toString() + " in order, got " + std::to_string(axis));
        }
        written.order.push_back(static_cast<uint8_t>(axis));
      }
    }
    return written;
  }

  Attributes attributes(LayerType layer_type) {
    Attributes attributes;
    if (!cursor_.take("{")) {
      return attributes;
    }
    for (bool first = true; !cursor_.take("}"); first = false) {
      if (!first) {
        cursor_.expect(",");
      }
      const std::string name = cursor_.word();
      cursor_.expect("=");
      const AttributeSpec* spec = attributeSpecs(layer_type).find(name);
      attributes.set(name, value(spec == nullptr ? "" : spec->type));
    }
    return attributes;
  }

  AttributeValue value(const std::string& declared) {
    for (const char* type : {"ints", "doubles", "dims"}) {
      if (cursor_.takeWord(type)) {
        return listValue(type);
      }
    }
    if (cursor_.sees("[")) {
      return listValue(declared == "doubles" || declared == "dims" ? declared : "ints");
    }
    if (cursor_.sees("\"")) {
      return cursor_.quotedText();
    }
    const std::string text = cursor_.scalar();
    if (text == "true" || text == "false") {
      return text == "true";
    }
    if (const auto dtype = parseDType(text)) {
      return *dtype;
    }
    if (const auto number = parseInt(text)) {
      return *number;
    }
    if (const auto number = parseDouble(text)) {
      return *number;
    }
    cursor_.fail("expected a value, got \"" + text + "\"");
  }

  AttributeValue listValue(const std::string& type) {
    const std::vector<std::string> items = cursor_.list();
    if (type == "dims") {
      return dims(items);
    }
    if (type == "ints") {
      return ints(items);
    }
    std::vector<double> numbers;
    for (const std::string& item : items) {
      const std::optional<double> number = parseDouble(item);
      if (!number) {
        cursor_.fail("expected a number, got \"" + item + "\"");
      }
      numbers.push_back(*number);
    }
    return numbers;
  }

  Dims dims(const std::vector<std::string>& items) {
    std::vector<Dim> dims;
    for (const std::string& item : items) {
      const std::optional<Dim> dim = Dim::parse(item);
      if (!dim) {
        cursor_.fail("expected a dimension, got \"" + item + "\"");
      }
      dims.push_back(*dim);
    }
    return Dims(std::move(dims));
  }

  std::vector<int64_t> ints(const std::vector<std::string>& items) {
    std::vector<int64_t> numbers;
    for (const std::string& item : items) {
      const std::optional<int64_t> number = parseInt(item);
      if (!number) {
        cursor_.fail("expected a whole number, got \"" + item + "\"");
      }
      numbers.push_back(*number);
    }
    return numbers;
  }

  Weights data(const std::vector<WrittenType>& types) {
    if (types.size() != 1 || !types[0].type.dims.isStatic()) {
      failLayer("expected the static type of a constant");
    }
    const TensorType& type = types[0].type;
    const std::optional<int64_t> count = elementCount(type);
    if (!count) {
      failLayer("expected dims of a constant, got " + type.dims.toString());
    }
    cursor_.expect("data=");
    if (cursor_.take("@")) {
      return storedData(type);
    }
    const std::vector<std::string> items = cursor_.list();
    if (static_cast<int64_t>(items.size()) != *count) {
      cursor_.fail("expected " + std::to_string(*count) + " elements, got " + std::to_string(items.size()));
    }
    void* memory = nullptr;
    Weights weights = Weights::allocate(type.dtype, type.dims.constants(), &memory);
    auto* element = static_cast<unsigned char*>(memory);
    for (const std::string& item : items) {
      if (!parseElement(type.dtype, item, element)) {
        cursor_.fail(std::string("expected an element of ") + toString(type.dtype) + ", got \"" + item + "\"");
      }
      element += sizeOf(type.dtype);
    }
    return weights;
  }

  Weights storedData(const TensorType& type) {
    const std::string hash = cursor_.word();
    const auto stored = weights_.find(hash);
    if (stored == weights_.end()) {
      cursor_.fail("expected the data of constant @" + hash + " beside the text, got none");
    }
    Weights weights{type.dtype, type.dims.constants(), stored->second.data};
    if (weights.bytes() != stored->second.bytes()) {
      cursor_.fail("expected " + std::to_string(weights.bytes()) + " bytes of constant @" + hash + ", got " +
                   std::to_string(stored->second.bytes()));
    }
    return weights;
  }

  // Nothing for negative dims and for sizes that no machine has.
  static std::optional<int64_t> elementCount(const TensorType& type) {
    int64_t bytes = static_cast<int64_t>(sizeOf(type.dtype));
    for (const Dim& dim : type.dims) {
      if (dim.constant() < 0 || __builtin_mul_overflow(bytes, dim.constant(), &bytes)) {
        return std::nullopt;
      }
    }
    return bytes / static_cast<int64_t>(sizeOf(type.dtype));
  }

  Cursor cursor_;
  const WeightStore& weights_;
  Location layer_start_;
  std::unique_ptr<Network> network_ = std::make_unique<Network>();
};

}  // namespace

std::unique_ptr<Network> parse(std::string_view text, const WeightStore& weights) {
  return Parser(text, weights).parse();
}

}  // namespace torchtrt::network
