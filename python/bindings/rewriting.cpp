#include "torchtrt/rewriting.h"

#include <pybind11/stl.h>

#include "bindings.h"
#include "network_refs.h"
#include "torchtrt/flayer_info.h"
#include "torchtrt/progress.h"

namespace py = pybind11;

namespace torchtrt::bindings {

namespace {

using network::Layer;
using network::LayerType;
using network::Network;
using network::Tensor;
using rewriting::FInputs;
using rewriting::FLayerInfo;
using rewriting::FLayerInfoMemo;
using rewriting::FValue;
using rewriting::RewritePatternManager;
using rewriting::SignatureRecorder;

// A pattern whose body is Python.
class PythonPattern final : public rewriting::PatternRewriter {
 public:
  PythonPattern(const std::string& name, std::vector<LayerType> roots, int benefit, py::function body)
      : PatternRewriter(name, std::move(roots), benefit), body_(std::move(body)) {}
  ~PythonPattern() override {
    const py::gil_scoped_acquire acquire;
    body_ = py::function();
  }
  PythonPattern(const PythonPattern&) = delete;
  PythonPattern& operator=(const PythonPattern&) = delete;

  bool matchAndRewrite(Layer& layer, rewriting::Rewriter&) override {
    const py::gil_scoped_acquire acquire;
    try {
      return body_(LayerRef::of(box_, layer)).cast<bool>();
    } catch (const py::error_already_set& error) {
      rethrow(error, ErrorCode::kConversionFailed);
    }
  }
  void setBox(BoxPtr box) {
    box_ = std::move(box);
  }

 private:
  py::function body_;
  BoxPtr box_;
};

class PythonManager {
 public:
  void add(const std::string& label, const std::string& name, const std::vector<int>& roots, int benefit,
           py::function body) {
    std::vector<LayerType> types;
    for (const int root : roots) {
      types.push_back(static_cast<LayerType>(root));
    }
    auto pattern = std::make_unique<PythonPattern>(name, std::move(types), benefit, std::move(body));
    patterns_.push_back(pattern.get());
    manager_.add(label, std::move(pattern), benefit);
  }

  // Rewrites the network, or leaves it as it was and throws.
  std::vector<std::pair<std::string, size_t>> rewrite(const BoxPtr& box, size_t max_rewrites, bool verify) {
    for (PythonPattern* pattern : patterns_) {
      pattern->setBox(box);
    }
    std::unique_ptr<Network> backup = box->isOwned() ? box->edit().clone() : nullptr;
    rewriting::RewriteOptions options;
    options.max_rewrites = max_rewrites;
    options.verify = verify;
    const auto undo = [&] {
      if (backup) {
        box->replace(std::move(backup));
      } else {
        box->fail(std::current_exception());
      }
    };
    try {
      std::vector<std::pair<std::string, size_t>> done = manager_.rewrite(box->get(), {}, options).by_label;
      network::verify(box->get());
      return done;
    } catch (const Interruption& interruption) {  // goes on as Python's own
      undo();
      std::rethrow_exception(interruption.cause);
    } catch (...) {
      undo();
      throw;
    }
  }

 private:
  RewritePatternManager manager_;
  std::vector<PythonPattern*> patterns_;
};

std::shared_ptr<void> opaque(const py::handle& object) {
  const auto owner = held(py::reinterpret_borrow<py::object>(object));
  return {owner, owner->ptr()};
}

FValue valueOf(const BoxPtr& box, const py::handle& object) {
  if (object.is_none()) {
    return std::monostate();
  }
  if (py::isinstance<TensorRef>(object)) {
    return tensorOf(box, object);
  }
  if (py::isinstance<py::list>(object) && py::len(object) > 0) {
    std::vector<Tensor*> tensors;
    for (const py::handle& element : object) {
      if (!py::isinstance<TensorRef>(element)) {
        return opaque(object);
      }
      tensors.push_back(tensorOf(box, element));
    }
    return tensors;
  }
  const bool is_plain = PyBool_Check(object.ptr()) || PyLong_CheckExact(object.ptr()) ||
                        PyFloat_CheckExact(object.ptr()) || PyUnicode_CheckExact(object.ptr());
  return is_plain ? FValue(attributeOf(object, "", "")) : FValue(opaque(object));
}

py::object tensorToPython(const BoxPtr& box, const Tensor* tensor) {
  return tensor == nullptr ? py::object(py::none()) : py::cast(TensorRef::of(box, *tensor));
}

py::object valueToPython(const BoxPtr& box, const FValue& value) {
  if (const auto* tensor = std::get_if<Tensor*>(&value)) {
    return tensorToPython(box, *tensor);
  }
  if (const auto* tensors = std::get_if<std::vector<Tensor*>>(&value)) {
    py::list list;
    for (const Tensor* tensor : *tensors) {
      list.append(tensorToPython(box, tensor));
    }
    return list;
  }
  if (const auto* attribute = std::get_if<AttributeValue>(&value)) {
    return toPython(*attribute);
  }
  if (const auto* object = std::get_if<std::shared_ptr<void>>(&value)) {
    return py::reinterpret_borrow<py::object>(static_cast<PyObject*>(object->get()));
  }
  return py::none();
}

FInputs inputsOf(const BoxPtr& box, const py::dict& values) {
  FInputs inputs;
  for (const auto& [name, value] : values) {
    inputs.set(name.cast<std::string>(), valueOf(box, value));
  }
  return inputs;
}

// Ends with close(), whatever frames a traceback keeps alive.
struct OpenRecord {
  std::unique_ptr<SignatureRecorder> recorder;
};

struct InfoRef {
  BoxPtr box;
  std::shared_ptr<FLayerInfo> info;
};

py::object infoOf(const BoxPtr& box, const std::string& layer) {
  std::shared_ptr<FLayerInfo> info = FLayerInfoMemo::of(box->get()).get(layer);
  return info ? py::cast(InfoRef{box, std::move(info)}) : py::object(py::none());
}

py::dict cloneInputs(const InfoRef& ref) {
  py::dict values;
  const FInputs inputs = ref.info->cloneInputs();
  for (const auto& [name, value] : inputs.values()) {
    values[py::str(name)] = valueToPython(ref.box, value);
  }
  return values;
}

void replaceOutputs(const InfoRef& ref, const std::vector<TensorRef>& replacements) {
  std::vector<Tensor*> tensors;
  for (const TensorRef& tensor : replacements) {
    tensors.push_back(tensorOf(ref.box, py::cast(tensor)));
  }
  ref.box->edit();
  ref.info->replaceOutputsUsesWith(tensors);
}

void addInfo(py::module_& module) {
  py::class_<InfoRef>(module, "FLayerInfoRef")
      .def_property_readonly("function", [](const InfoRef& ref) { return ref.info->function(); })
      .def_property_readonly("identity", [](const InfoRef& ref) { return reinterpret_cast<size_t>(ref.info.get()); })
      .def_property_readonly("outputs",
                             [](const InfoRef& ref) {
                               py::list outputs;
                               for (const Tensor* tensor : ref.info->outputs()) {
                                 outputs.append(tensorToPython(ref.box, tensor));
                               }
                               return outputs;
                             })
      .def_property_readonly("layers",
                             [](const InfoRef& ref) {
                               std::vector<LayerRef> layers;
                               for (const int64_t id : ref.info->layerIds()) {
                                 layers.push_back({ref.box, id});
                               }
                               return layers;
                             })
      .def("get_input", [](const InfoRef& ref,
                           const std::string& name) { return tensorToPython(ref.box, ref.info->getInput(name)); })
      .def("clone_inputs", &cloneInputs)
      .def("replace_input_with",
           [](const InfoRef& ref, const TensorRef& from, const TensorRef& to) {
             ref.box->edit();
             ref.info->replaceInputWith(from.get(), *tensorOf(ref.box, py::cast(to)));
           })
      .def("replace_output_uses_with",
           [](const InfoRef& ref, const TensorRef& from, const TensorRef& to) {
             ref.box->edit();
             ref.info->replaceOutputUsesWith(from.get(), *tensorOf(ref.box, py::cast(to)));
           })
      .def("replace_outputs_uses_with", &replaceOutputs);
  py::class_<OpenRecord>(module, "OpenRecord")
      .def(py::init([](const BoxPtr& box, const std::string& function, const py::dict& values) {
             return OpenRecord{std::make_unique<SignatureRecorder>(box->edit(), function, inputsOf(box, values))};
           }),
           py::keep_alive<1, 2>())
      .def("finish",
           [](OpenRecord& record, const std::vector<TensorRef>& outputs) {
             std::vector<Tensor*> tensors;
             for (const TensorRef& output : outputs) {
               tensors.push_back(&output.get());
             }
             record.recorder->finish(tensors);
           })
      .def("close", [](OpenRecord& record) { record.recorder.reset(); });
  module.def("flayer_info", &infoOf);
  module.def("flayer_info_count", [](const BoxPtr& box) { return FLayerInfoMemo::of(box->get()).size(); });
}

}  // namespace

void addRewriting(py::module_& module) {
  py::class_<PythonManager>(module, "RewriteManager")
      .def(py::init<>())
      .def("add", &PythonManager::add)
      .def("rewrite", &PythonManager::rewrite);
  addInfo(module);
}

// A Python callable as one of CompileSpec's rewriters; it sees the network only while it runs.
rewriting::NetworkRewriter pythonRewriter(const py::function& body) {
  return [body = held(body)](Network& network) {
    const py::gil_scoped_acquire acquire;
    const auto box = std::make_shared<NetworkBox>(network);
    struct Release {
      NetworkBox& box;
      ~Release() {
        box.release();
      }
    } const release{*box};
    try {
      (*body)(box);
    } catch (const py::error_already_set& error) {
      rethrow(error, ErrorCode::kConversionFailed);
    }
    box->rethrowFailure();  // that the rewriter caught and went on after
  };
}

}  // namespace torchtrt::bindings
