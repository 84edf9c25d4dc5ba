#include "network_refs.h"

#include <pybind11/stl.h>

#include "bindings.h"
#include "builder/builder.h"
#include "plan/plan.h"
#include "torchtrt/plugin.h"

namespace py = pybind11;

namespace torchtrt::bindings {

using network::Layer;
using network::LayerType;
using network::Network;
using network::Tensor;
using network::Weights;

DType dtypeNamed(const std::string& name) {
  const std::optional<DType> dtype = parseDType(name);
  if (!dtype) {
    throw CompileError(ErrorCode::kInvalidInputSpec, "there is no dtype '" + name + "'");
  }
  return *dtype;
}

namespace {

Dim dimOf(const py::handle& object) {
  if (py::isinstance<py::str>(object)) {
    const auto text = object.cast<std::string>();
    const std::optional<Dim> dim = Dim::parse(text);
    if (!dim) {
      throw CompileError(ErrorCode::kInvalidInputSpec, "'" + text + "' is no dimension", {},
                         "give a number, or an expression over symbols like \"2*n+1\"");
    }
    return *dim;
  }
  return object.cast<int64_t>();
}

py::object dimToPython(const Dim& dim) {
  return dim.isConstant() ? py::object(py::int_(dim.constant())) : py::object(py::str(dim.toString()));
}

py::tuple dimsToPython(const Dims& dims) {
  py::tuple tuple(dims.rank());
  for (int i = 0; i < dims.rank(); ++i) {
    tuple[static_cast<size_t>(i)] = dimToPython(dims[i]);
  }
  return tuple;
}

bool isSequence(const py::handle& object) {
  return py::isinstance<py::tuple>(object) || py::isinstance<py::list>(object);
}

AttributeValue sequenceAttribute(const py::handle& sequence, bool dims) {
  bool doubles = false;
  for (const py::handle& element : sequence) {
    dims = dims || py::isinstance<py::str>(element);
    doubles = doubles || py::isinstance<py::float_>(element);
  }
  if (dims) {
    return dimsOf(sequence);
  }
  return doubles ? AttributeValue(sequence.cast<std::vector<double>>())
                 : AttributeValue(sequence.cast<std::vector<int64_t>>());
}

Attributes attributesOf(LayerType type, const py::dict& values) {
  const std::string declared = network::layerInfo(type).attributes;
  Attributes attributes;
  for (const auto& [key, value] : values) {
    const auto name = key.cast<std::string>();
    attributes.set(name, attributeOf(value, name, declared));
  }
  return attributes;
}

LayerRef addLayer(const BoxPtr& box, int type_number, const py::list& operands, const py::dict& attributes,
                  const std::string& file, int line) {
  const auto type = static_cast<LayerType>(type_number);
  Network& network = box->edit();
  std::vector<Tensor*> inputs;
  for (const py::handle& operand : operands) {
    inputs.push_back(operand.is_none() ? nullptr : tensorOf(box, operand));
  }
  network.setCurrentLocation({file, line, 0, "", ""});
  Layer* layer = nullptr;
  try {
    Attributes completed = attributesOf(type, attributes);
    layer = withRewriter(
        network, [&](rewriting::Rewriter& rewriter) { return &rewriter.create(type, inputs, std::move(completed)); });
    for (int i = 0; i < layer->getNbOutputs(); ++i) {
      layer->getOutput(i)->getType();  // what the layer does not take is an error here, not later
    }
  } catch (...) {
    network.setCurrentLocation({});
    if (layer != nullptr) {
      withRewriter(network, [&](rewriting::Rewriter& rewriter) { rewriter.removeLayer(*layer); });
    }
    throw;
  }
  network.setCurrentLocation({});
  return LayerRef::of(box, *layer);
}

TensorRef addConstant(const BoxPtr& box, const std::string& dtype, const std::vector<int64_t>& dims,
                      const py::bytes& data) {
  const std::string_view bytes = data;
  void* writable = nullptr;
  Weights weights = Weights::allocate(dtypeNamed(dtype), dims, &writable);
  if (weights.bytes() != bytes.size()) {
    throw CompileError(ErrorCode::kInvalidInputSpec, "a constant of " + std::to_string(weights.bytes()) +
                                                         " bytes was given " + std::to_string(bytes.size()));
  }
  std::copy(bytes.begin(), bytes.end(), static_cast<char*>(writable));
  return withRewriter(
      box->edit(), [&](rewriting::Rewriter& rewriter) { return TensorRef::of(box, rewriter.createConstant(weights)); });
}

TensorRef addNetworkInput(const BoxPtr& box, const std::string& name, const std::string& dtype,
                          const py::object& dims) {
  return withRewriter(box->edit(), [&](rewriting::Rewriter& rewriter) {
    return TensorRef::of(box, rewriter.createInput(name, dtypeNamed(dtype), dimsOf(dims)));
  });
}

std::vector<TensorRef> inputsOf(const BoxPtr& box) {
  std::vector<TensorRef> inputs;
  for (int i = 0; i < box->get().getNbInputs(); ++i) {
    inputs.push_back(TensorRef::of(box, *box->get().getInput(i)));
  }
  return inputs;
}

std::vector<std::pair<std::string, TensorRef>> outputsOf(const BoxPtr& box) {
  std::vector<std::pair<std::string, TensorRef>> outputs;
  for (int i = 0; i < box->get().getNbOutputs(); ++i) {
    outputs.emplace_back(box->get().getOutputName(i), TensorRef::of(box, *box->get().getOutput(i)));
  }
  return outputs;
}

std::vector<LayerRef> layersOf(const BoxPtr& box) {
  std::vector<LayerRef> layers;
  for (const Layer* layer : box->get().layers()) {
    layers.push_back(LayerRef::of(box, *layer));
  }
  return layers;
}

void unmarkOutput(const BoxPtr& box, const std::string& name) {
  for (int i = 0; i < box->get().getNbOutputs(); ++i) {
    if (box->get().getOutputName(i) == name) {
      box->edit().unmarkOutput(i);
      return;
    }
  }
  throw CompileError(ErrorCode::kInvalidNetwork, "the network has no output '" + name + "'");
}

py::bytes build(const BoxPtr& box) {
  std::string bytes;
  {
    const py::gil_scoped_release release;
    bytes = plan::serialize(builder::optimizeAndBuild(box->get()));
  }
  return bytes;
}

std::vector<py::object> operandsOf(const LayerRef& ref) {
  std::vector<py::object> operands;
  const Layer& layer = ref.get();
  for (int i = 0; i < layer.getNbInputs(); ++i) {
    operands.push_back(layer.getInput(i) == nullptr ? py::object(py::none())
                                                    : py::cast(TensorRef::of(ref.box, *layer.getInput(i))));
  }
  return operands;
}

std::vector<TensorRef> resultsOf(const LayerRef& ref) {
  std::vector<TensorRef> results;
  for (int i = 0; i < ref.get().getNbOutputs(); ++i) {
    results.push_back(TensorRef::of(ref.box, *ref.get().getOutput(i)));
  }
  return results;
}

py::dict attributesOfLayer(const LayerRef& ref) {
  py::dict values;
  for (const auto& [name, value] : ref.get().attributes().values()) {
    values[py::str(name)] = toPython(value);
  }
  return values;
}

py::object constantOf(const TensorRef& ref) {
  const Weights* weights = ref.get().constant();
  if (weights == nullptr) {
    return py::none();
  }
  return py::make_tuple(toString(weights->dtype), weights->dims,
                        py::bytes(static_cast<const char*>(weights->data.get()), weights->bytes()));
}

void addTensorRef(py::module_& module) {
  py::class_<TensorRef>(module, "TensorRef")
      .def_property_readonly("key", [](const TensorRef& ref) { return std::pair(ref.box.get(), ref.id); })
      .def_property_readonly("id", [](const TensorRef& ref) { return ref.id; })
      .def_property_readonly("network", [](const TensorRef& ref) { return ref.box; })
      .def_property(
          "name", [](const TensorRef& ref) { return ref.get().getName(); },
          [](const TensorRef& ref, const std::string& name) {
            ref.box->edit();
            ref.get().setName(name);
          })
      .def_property_readonly("shape", [](const TensorRef& ref) { return dimsToPython(ref.get().getDimensions()); })
      .def_property_readonly("dtype", [](const TensorRef& ref) { return toString(ref.get().getType()); })
      .def_property_readonly("producer",
                             [](const TensorRef& ref) -> py::object {
                               const Layer* producer = ref.get().producer();
                               return producer == nullptr ? py::object(py::none())
                                                          : py::cast(LayerRef::of(ref.box, *producer));
                             })
      .def_property_readonly("output_index", [](const TensorRef& ref) { return ref.get().outputIndex(); })
      .def_property_readonly("uses",
                             [](const TensorRef& ref) {
                               std::vector<std::pair<LayerRef, int>> uses;
                               for (const Tensor::Use& use : ref.get().uses()) {
                                 uses.emplace_back(LayerRef::of(ref.box, *use.layer), use.index);
                               }
                               return uses;
                             })
      .def_property_readonly("is_network_input", [](const TensorRef& ref) { return ref.get().isNetworkInput(); })
      .def_property_readonly("is_network_output", [](const TensorRef& ref) { return ref.get().isNetworkOutput(); })
      .def_property_readonly("constant", &constantOf)
      .def("replace_all_uses_with", [](const TensorRef& ref, const TensorRef& other) {
        Tensor* to = tensorOf(ref.box, py::cast(other));
        rewire(ref.box->edit(), [&](rewriting::Rewriter& rewriter) { rewriter.replaceAllUses(ref.get(), *to); });
      });
}

void addLayerRef(py::module_& module) {
  py::class_<LayerRef>(module, "LayerRef")
      .def_property_readonly("id", [](const LayerRef& ref) { return ref.id; })
      .def_property_readonly("network", [](const LayerRef& ref) { return ref.box; })
      .def_property(
          "name", [](const LayerRef& ref) { return ref.get().getName(); },
          [](const LayerRef& ref, const std::string& name) {
            ref.box->edit();
            ref.get().setName(name);
          })
      .def_property_readonly("type", [](const LayerRef& ref) { return static_cast<int>(ref.get().getType()); })
      .def_property_readonly("location", [](const LayerRef& ref) { return toString(ref.get().location()); })
      .def_property_readonly("inputs", &operandsOf)
      .def_property_readonly("outputs", &resultsOf)
      .def_property_readonly("attributes", &attributesOfLayer)
      .def_property_readonly("is_removed",
                             [](const LayerRef& ref) { return ref.box->get().layerById(ref.id) == nullptr; })
      .def("set_attribute",
           [](const LayerRef& ref, const std::string& name, const py::object& value) {
             Layer& layer = ref.get();
             AttributeValue converted = attributeOf(value, name, layer.info().attributes);
             withRewriter(ref.box->edit(), [&](rewriting::Rewriter& rewriter) {
               rewriter.setAttribute(layer, name, std::move(converted));
             });
           })
      .def("set_input",
           [](const LayerRef& ref, int index, const py::object& tensor) {
             Tensor* operand = tensor.is_none() ? nullptr : tensorOf(ref.box, tensor);
             rewire(ref.box->edit(),
                    [&](rewriting::Rewriter& rewriter) { rewriter.setInput(ref.get(), index, operand); });
           })
      .def("mark_as_removed", [](const LayerRef& ref) {
        Layer& layer = ref.get();
        if (rewriting::Rewriter* running = rewriting::NetGuard::rewriterOf(ref.box->edit())) {
          running->markAsRemoved(layer);
          return;
        }
        rewriting::Rewriter(ref.box->get()).removeIfDead(layer);
      });
}

}  // namespace

Dims dimsOf(const py::handle& sequence) {
  std::vector<Dim> dims;
  for (const py::handle& element : sequence) {
    dims.push_back(dimOf(element));
  }
  return Dims(std::move(dims));
}

Tensor* tensorOf(const BoxPtr& box, const py::handle& object) {
  const auto& ref = object.cast<const TensorRef&>();
  if (ref.box != box) {
    throw CompileError(ErrorCode::kInvalidNetwork, "a tensor of network '" + ref.box->get().name() +
                                                       "' is used in network '" + box->get().name() + "'");
  }
  return &ref.get();
}

// `declared`: the attribute column of the layer table, which says where a word is a dtype and a list dims.
AttributeValue attributeOf(const py::handle& object, const std::string& name, const std::string& declared) {
  if (py::isinstance<py::bool_>(object)) {
    return object.cast<bool>();
  }
  if (py::isinstance<py::int_>(object)) {
    return object.cast<int64_t>();
  }
  if (py::isinstance<py::float_>(object)) {
    return object.cast<double>();
  }
  if (py::isinstance<py::str>(object)) {
    const auto text = object.cast<std::string>();
    const bool is_dtype = (" " + declared).find(" " + name + ":dtype") != std::string::npos;
    return is_dtype ? AttributeValue(dtypeNamed(text)) : AttributeValue(text);
  }
  if (isSequence(object)) {
    return sequenceAttribute(object, (" " + declared).find(" " + name + ":dims") != std::string::npos);
  }
  throw CompileError(ErrorCode::kInvalidOption, "attribute '" + name + "' cannot be a " +
                                                    py::str(py::type::handle_of(object)).cast<std::string>());
}

py::object toPython(const AttributeValue& value) {
  return std::visit(
      [](const auto& held) -> py::object {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, Dims>) {
          return dimsToPython(held);
        } else if constexpr (std::is_same_v<T, DType>) {
          return py::str(toString(held));
        } else {
          return py::cast(held);
        }
      },
      value);
}

void addNetwork(py::module_& module) {
  plugin::registerBuiltinPlugins();
  addTensorRef(module);
  addLayerRef(module);
  py::class_<NetworkBox, BoxPtr>(module, "NetworkBox")
      .def(py::init([] { return std::make_shared<NetworkBox>(std::make_unique<Network>()); }))
      .def_static("parse", [](const std::string& text) { return std::make_shared<NetworkBox>(network::parse(text)); })
      .def_property(
          "name", [](const NetworkBox& box) { return box.get().name(); },
          [](const NetworkBox& box, const std::string& name) { box.edit().setName(name); })
      .def("text",
           [](const NetworkBox& box, bool locations) { return network::print(box.get(), {.locations = locations}); })
      .def_property("read_only", &NetworkBox::readOnly, &NetworkBox::setReadOnly)
      .def("verify", [](const NetworkBox& box) { network::verify(box.get()); })
      .def("clone", [](const NetworkBox& box) { return std::make_shared<NetworkBox>(box.get().clone()); })
      .def("add_symbol",
           [](const NetworkBox& box, const std::string& name, int64_t min, int64_t opt, int64_t max) {
             box.edit().addSymbol({name, min, opt, max});
           })
      .def("add_input", &addNetworkInput)
      .def("add_constant", &addConstant)
      .def("add_layer", &addLayer)
      .def("mark_output",
           [](const BoxPtr& box, const TensorRef& tensor, const std::string& name) {
             box->edit().markOutput(*tensorOf(box, py::cast(tensor)), name);
           })
      .def("unmark_output", &unmarkOutput)
      .def("remove_input", [](const BoxPtr& box, const TensorRef& tensor) { box->edit().removeInput(tensor.get()); })
      .def_property_readonly("inputs", &inputsOf)
      .def_property_readonly("outputs", &outputsOf)
      .def_property_readonly("layers", &layersOf)
      .def_property_readonly("num_layers", [](const NetworkBox& box) { return box.get().getNbLayers(); })
      .def("find_layer",
           [](const BoxPtr& box, const std::string& name) -> py::object {
             const Layer* layer = box->get().findLayer(name);
             return layer == nullptr ? py::object(py::none()) : py::cast(LayerRef::of(box, *layer));
           })
      .def("find_tensor",
           [](const BoxPtr& box, const std::string& name) -> py::object {
             const Tensor* tensor = box->get().findTensor(name);
             return tensor == nullptr ? py::object(py::none()) : py::cast(TensorRef::of(box, *tensor));
           })
      .def("build", &build);
  module.def("layer_types", [] {
    std::vector<std::pair<std::string, int>> types;
    for (const network::LayerInfo& info : network::layerTable()) {
      types.emplace_back(info.enum_name, static_cast<int>(info.type));
    }
    return types;
  });
  module.def("load_plugin_library", &plugin::loadLibrary);
  module.def("plugin_names", [] { return plugin::PluginRegistry::global().names(); });
}

}  // namespace torchtrt::bindings
