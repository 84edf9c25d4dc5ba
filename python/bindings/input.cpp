#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include "bindings.h"
#include "torchtrt/options.h"

namespace py = pybind11;

namespace torchtrt::bindings {

namespace {

using Shape = Input::Shape;

// Enumerations cross as their numbers.
Input makeInput(Shape min, Shape opt, Shape max, int dtype, int format, Input::Domain domain,
                std::vector<std::string> dim_names) {
  Input input(std::move(min), std::move(opt), std::move(max), DataType(static_cast<DataType::Value>(dtype)),
              std::move(domain), TensorFormat(static_cast<TensorFormat::Value>(format)));
  input.dim_names = std::move(dim_names);
  return input;
}

Input makeOpenInput(Shape shape, int dtype, int format, Input::Domain domain, std::vector<std::string> dim_names) {
  Input input(std::move(shape), DataType(static_cast<DataType::Value>(dtype)), std::move(domain),
              TensorFormat(static_cast<TensorFormat::Value>(format)));
  input.dim_names = std::move(dim_names);
  return input;
}

}  // namespace

void addInput(py::module_& module) {
  py::class_<Input>(module, "Input")
      .def(py::init(&makeOpenInput), py::arg("shape"), py::arg("dtype"), py::arg("format"), py::arg("tensor_domain"),
           py::arg("dim_names"))
      .def(py::init(&makeInput), py::arg("min_shape"), py::arg("opt_shape"), py::arg("max_shape"), py::arg("dtype"),
           py::arg("format"), py::arg("tensor_domain"), py::arg("dim_names"))
      .def(py::init<at::Tensor>(), py::arg("tensor"))
      .def_readonly("min_shape", &Input::min_shape)
      .def_readonly("opt_shape", &Input::opt_shape)
      .def_readonly("max_shape", &Input::max_shape)
      .def_readonly("shape", &Input::shape)
      .def("__str__", [](const Input& input) { return c10::str(input); });
}

}  // namespace torchtrt::bindings
