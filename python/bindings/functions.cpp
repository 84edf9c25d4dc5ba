#include <pybind11/stl.h>
#include <torch/csrc/jit/python/pybind_utils.h>

#include "bindings.h"
#include "torchtrt/compile.h"
#include "torchtrt/conversion.h"
#include "torchtrt/version.h"

namespace py = pybind11;

namespace torchtrt::bindings {

namespace {

using torch::jit::Graph;
using torch::jit::Module;

template <typename What>
std::pair<Module, Report> compile(const What& what, const ts::CompileSpec& spec) {
  Report report;
  const py::gil_scoped_release release;
  Module module = ts::compile(what, spec, &report);
  return {std::move(module), std::move(report)};
}

py::bytes convert(const Module& module, const std::string& method, const ts::CompileSpec& spec) {
  std::string engine;
  {
    const py::gil_scoped_release release;
    engine = ts::convert_method_to_trt_engine(module, method, spec);
  }
  return engine;
}

Module embed(const py::bytes& engine, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
             int type, int64_t gpu_id) {
  const std::string bytes = engine;
  Device device;
  device.device_type = static_cast<Device::DeviceType::Value>(type);
  device.gpu_id = gpu_id;
  const py::gil_scoped_release release;
  return ts::embed_engine_in_new_module(bytes, device, inputs, outputs);
}

}  // namespace

void addFunctions(py::module_& module) {
  module.def("compile_module", &compile<Module>, py::arg("module"), py::arg("spec"));
  module.def("compile_graph", &compile<std::shared_ptr<Graph>>, py::arg("graph"), py::arg("spec"));
  module.def("convert_method_to_trt_engine", &convert, py::arg("module"), py::arg("method_name"), py::arg("spec"));
  module.def("embed_engine_in_new_module", &embed, py::arg("engine"), py::arg("input_binding_names"),
             py::arg("output_binding_names"), py::arg("device_type"), py::arg("gpu_id"));
  module.def("update_weights", &ts::update_weights, py::arg("compiled"), py::arg("weights"), py::arg("strict"),
             py::call_guard<py::gil_scoped_release>());
  module.def("set_device", &set_device, py::arg("gpu_id"));
  module.def("to_backend_spec",
             [](const ts::CompileSpec& spec) { return torch::jit::toPyObject(ts::to_backend_spec(spec)); });
  module.def("check_method_operator_support", &ts::check_method_operator_support, py::arg("module"),
             py::arg("method_name"), py::call_guard<py::gil_scoped_release>());
  module.def("converter_schemas", [] { return conversion::NodeConverterRegistry::instance().schemas(); });
  module.def("get_build_info", &get_build_info);
  module.def("version", [] { return kVersion; });
}

}  // namespace torchtrt::bindings
