#include "plan/onnx.h"

#include <map>
#include <set>
#include <utility>
#include <variant>

#include "base/check.h"
#include "plan/protobuf.h"

namespace torchtrt::plan {

namespace {

constexpr const char* kDomain = "torchtrt";
constexpr int64_t kIrVersion = 8;  // of onnx 1.10 and later

// Numbers of fields in onnx.proto.
enum Model : int { kModelIr = 1, kModelProducer = 2, kModelProducerVersion = 3, kModelGraph = 7, kModelOpset = 8 };
enum Opset : int { kOpsetDomain = 1, kOpsetVersion = 2 };
enum Graph : int {
  kGraphNode = 1,
  kGraphName = 2,
  kGraphInitializer = 5,
  kGraphInput = 11,
  kGraphOutput = 12,
  kGraphValue = 13
};
enum Node : int {
  kNodeInput = 1,
  kNodeOutput = 2,
  kNodeName = 3,
  kNodeOperator = 4,
  kNodeAttribute = 5,
  kNodeDoc = 6,
  kNodeDomain = 7
};
enum Attribute : int {
  kAttributeName = 1,
  kAttributeFloat = 2,
  kAttributeInt = 3,
  kAttributeText = 4,
  kAttributeFloats = 7,
  kAttributeInts = 8,
  kAttributeTexts = 9,
  kAttributeType = 20
};
enum AttributeType : int64_t { kFloat = 1, kInt = 2, kText = 3, kFloats = 6, kInts = 7, kTexts = 8 };
enum Value : int { kValueName = 1, kValueType = 2 };
enum Type : int { kTypeTensor = 1, kTensorElement = 1, kTensorShape = 2, kShapeDim = 1, kDimValue = 1, kDimName = 2 };
enum Initializer : int { kInitializerDims = 1, kInitializerType = 2, kInitializerName = 8, kInitializerRaw = 9 };

int64_t elementType(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return 1;
    case DType::kUInt8:
      return 2;
    case DType::kInt8:
      return 3;
    case DType::kInt32:
      return 6;
    case DType::kInt64:
      return 7;
    case DType::kBool:
      return 9;
    case DType::kFloat16:
      return 10;
    case DType::kFloat64:
      return 11;
    case DType::kBFloat16:
      return 16;
    case DType::kInt16:
      return 5;
  }
  TORCHTRT_CHECK(false, "ONNX has no number for " << toString(dtype));
}

ProtoMessage attribute(const std::string& name, AttributeType type) {
  ProtoMessage message;
  message.add(kAttributeName, name);
  message.add(kAttributeType, static_cast<int64_t>(type));
  return message;
}

ProtoMessage textAttribute(const std::string& name, const std::string& text) {
  ProtoMessage message = attribute(name, kText);
  message.add(kAttributeText, text);
  return message;
}

ProtoMessage textsAttribute(const std::string& name, const std::vector<std::string>& texts) {
  ProtoMessage message = attribute(name, kTexts);
  for (const std::string& text : texts) {
    message.add(kAttributeTexts, text);
  }
  return message;
}

// A value of a step as an attribute of ONNX, which has no booleans, dtypes and expressions.
struct AttributeWriter {
  const std::string& name;

  ProtoMessage operator()(bool value) const {
    return (*this)(static_cast<int64_t>(value));
  }
  ProtoMessage operator()(int64_t value) const {
    ProtoMessage message = attribute(name, kInt);
    message.add(kAttributeInt, value);
    return message;
  }
  ProtoMessage operator()(double value) const {
    ProtoMessage message = attribute(name, kFloat);
    message.add(kAttributeFloat, static_cast<float>(value));
    return message;
  }
  ProtoMessage operator()(const std::string& value) const {
    return textAttribute(name, value);
  }
  ProtoMessage operator()(DType value) const {
    return textAttribute(name, toString(value));
  }
  ProtoMessage operator()(const std::vector<int64_t>& values) const {
    ProtoMessage message = attribute(name, kInts);
    for (const int64_t value : values) {
      message.add(kAttributeInts, value);
    }
    return message;
  }
  ProtoMessage operator()(const std::vector<double>& values) const {
    ProtoMessage message = attribute(name, kFloats);
    for (const double value : values) {
      message.add(kAttributeFloats, static_cast<float>(value));
    }
    return message;
  }
  ProtoMessage operator()(const Dims& value) const {
    return textAttribute(name, value.toString());
  }
};

// Adds one plan to a graph.
class PartWriter {
 public:
  // Names that are taken in the graph are in `names`. `prefix` keeps plans apart.
  PartWriter(const OnnxPart& part, std::string prefix, bool has_weights, std::set<std::string>& names,
             ProtoMessage& graph)
      : part_(part),
        plan_(*part.plan),
        prefix_(std::move(prefix)),
        has_weights_(has_weights),
        names_(names),
        graph_(graph),
        tensor_names_(plan_.tensors.size()),
        is_made_(plan_.tensors.size()) {}

  void write() {
    nameTensors();
    for (const Binding& input : plan_.inputs) {
      is_made_[index(input.tensor)] = true;
      graph_.add(kGraphInput, value(tensor_names_[index(input.tensor)], input.tensor));
    }
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      writeStep(i);
    }
    for (const auto& [tensor, name] : outputs_) {
      make(tensor);
      if (name != tensor_names_[index(tensor)]) {
        writeNode("output", name, {tensor_names_[index(tensor)]}, {name}, {}, "");
      }
      graph_.add(kGraphOutput, value(name, tensor));
    }
  }

 private:
  static size_t index(int32_t tensor) {
    return static_cast<size_t>(tensor);
  }

  std::string uniqueName(const std::string& wanted) {
    const std::string name = prefix_ + (wanted.empty() ? "unnamed" : wanted);
    std::string unique = name;
    for (int number = 2; !names_.insert(unique).second; ++number) {
      unique = name + "_" + std::to_string(number);
    }
    return unique;
  }

  // Inputs and outputs have the names of bindings where they are tensors of their own, other tensors what they are
  // called in the plan.
  void nameTensors() {
    std::set<int32_t> inputs;
    for (const Binding& input : plan_.inputs) {
      tensor_names_[index(input.tensor)] = uniqueName(input.name);
      inputs.insert(input.tensor);
    }
    for (const Binding& output : plan_.outputs) {
      std::string& name = tensor_names_[index(output.tensor)];
      const std::string unique = uniqueName(output.name);
      if (name.empty() && plan_.tensors[index(output.tensor)].weight < 0) {
        name = unique;
      }
      outputs_.emplace_back(output.tensor, unique);
    }
    for (size_t i = 0; i < plan_.tensors.size(); ++i) {
      if (tensor_names_[i].empty()) {
        tensor_names_[i] = uniqueName(plan_.tensors[i].name);
      }
    }
  }

  ProtoMessage value(const std::string& name, int32_t tensor) const {
    ProtoMessage shape;
    for (const Register each : plan_.tensors[index(tensor)].dims) {
      ProtoMessage dim;
      if (plan_.program[each].op == Op::kConstant) {
        dim.add(kDimValue, plan_.program[each].immediate);
      } else {
        dim.add(kDimName, printRegister(plan_, each));
      }
      shape.add(kShapeDim, dim);
    }
    ProtoMessage tensor_type;
    tensor_type.add(kTensorElement, elementType(plan_.tensors[index(tensor)].dtype));
    tensor_type.add(kTensorShape, shape);
    ProtoMessage type;
    type.add(kTypeTensor, tensor_type);
    ProtoMessage message;
    message.add(kValueName, name);
    message.add(kValueType, type);
    return message;
  }

  // Weights, and views of other tensors' memory, come into the graph when a step reads them first.
  void make(int32_t tensor) {
    if (tensor < 0 || is_made_[index(tensor)]) {
      return;
    }
    is_made_[index(tensor)] = true;
    const Tensor& made = plan_.tensors[index(tensor)];
    if (made.weight >= 0) {
      writeWeight(tensor, plan_.weights[index(made.weight)]);
    } else if (made.view_of >= 0) {
      make(made.view_of);
      writeNode("view", tensor_names_[index(tensor)], {tensor_names_[index(made.view_of)]},
                {tensor_names_[index(tensor)]}, {}, "");
      graph_.add(kGraphValue, value(tensor_names_[index(tensor)], tensor));
    }
  }

  void writeWeight(int32_t tensor, const Weight& weight) {
    ProtoMessage message;
    for (const int64_t dim : weight.dims) {
      message.add(kInitializerDims, dim);
    }
    message.add(kInitializerType, elementType(weight.dtype));
    message.add(kInitializerName, tensor_names_[index(tensor)]);
    if (has_weights_ || (weight.bytes <= kSmallWeight && weight.data != nullptr)) {
      TORCHTRT_CHECK(weight.data != nullptr || weight.bytes == 0, "weight " << weight.hash << " has no data");
      if (weight.bytes != 0) {
        message.add(kInitializerRaw, {static_cast<const char*>(weight.data.get()), weight.bytes});
      }
    }
    graph_.add(kGraphInitializer, message);
  }

  void writeStep(size_t number) {
    const Step& step = plan_.steps[number];
    std::vector<std::string> inputs;
    for (const int32_t input : step.inputs) {
      make(input);
      inputs.push_back(input < 0 ? "" : tensor_names_[index(input)]);
    }
    std::vector<std::string> outputs;
    for (const int32_t output : step.outputs) {
      is_made_[index(output)] = true;
      outputs.push_back(tensor_names_[index(output)]);
    }
    std::vector<ProtoMessage> attributes;
    for (const auto& [name, value] : step.attributes.values()) {
      attributes.push_back(std::visit(AttributeWriter{name}, value));
    }
    for (const auto& [name, registers] : step.dims) {
      std::vector<std::string> texts;
      for (const Register each : registers) {
        texts.push_back(printRegister(plan_, each));
      }
      attributes.push_back(textsAttribute(name, texts));
    }
    if (number < part_.implementations.size()) {
      attributes.push_back(textAttribute("implementation", part_.implementations[number]));
    }
    writeNode(step.family, step.name, inputs, outputs, attributes, toString(step.location));
    for (const int32_t output : step.outputs) {
      if (!isOutput(output)) {
        graph_.add(kGraphValue, value(tensor_names_[index(output)], output));
      }
    }
  }

  bool isOutput(int32_t tensor) const {
    for (const auto& [output, name] : outputs_) {
      if (output == tensor && name == tensor_names_[index(tensor)]) {
        return true;
      }
    }
    return false;
  }

  void writeNode(const std::string& family, const std::string& name, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs, const std::vector<ProtoMessage>& attributes,
                 const std::string& doc) {
    ProtoMessage node;
    for (const std::string& input : inputs) {
      node.add(kNodeInput, input);
    }
    for (const std::string& output : outputs) {
      node.add(kNodeOutput, output);
    }
    node.add(kNodeName, name);
    node.add(kNodeOperator, family);
    node.add(kNodeDomain, std::string_view(kDomain));
    for (const ProtoMessage& each : attributes) {
      node.add(kNodeAttribute, each);
    }
    if (!doc.empty()) {
      node.add(kNodeDoc, doc);
    }
    graph_.add(kGraphNode, node);
  }

  const OnnxPart& part_;
  const Plan& plan_;
  std::string prefix_;
  bool has_weights_;
  std::set<std::string>& names_;
  ProtoMessage& graph_;
  std::vector<std::string> tensor_names_;
  std::vector<bool> is_made_;
  std::vector<std::pair<int32_t, std::string>> outputs_;  // tensors, and their names as outputs
};

ProtoMessage opset(const char* domain, int64_t version) {
  ProtoMessage message;
  message.add(kOpsetDomain, std::string_view(domain));
  message.add(kOpsetVersion, version);
  return message;
}

}  // namespace

std::string onnxOf(const std::string& name, std::span<const OnnxPart> parts, bool has_weights) {
  std::set<std::string> names = {""};
  ProtoMessage graph;
  for (const OnnxPart& part : parts) {
    PartWriter(part, parts.size() == 1 ? "" : part.plan->name + "/", has_weights, names, graph).write();
  }
  graph.add(kGraphName, name);
  ProtoMessage model;
  model.add(kModelIr, kIrVersion);
  model.add(kModelProducer, std::string_view("torchtrt"));
  if (!parts.empty()) {
    model.add(kModelProducerVersion, parts.front().plan->producer);
  }
  model.add(kModelGraph, graph);
  model.add(kModelOpset, opset("", 13));
  model.add(kModelOpset, opset(kDomain, kMajorVersion));
  return model.bytes();
}

}  // namespace torchtrt::plan
