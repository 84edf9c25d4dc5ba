#include "torchtrt/profile.h"

#include <pybind11/stl.h>
#include <torch/csrc/jit/python/pybind_utils.h>

#include "bindings.h"

namespace py = pybind11;

namespace torchtrt::bindings {

torch::jit::Stack argumentsOf(const torch::jit::Module& script, const py::tuple& arguments) {
  torch::jit::Stack inputs =
      torch::jit::createStackForSchema(script.get_method("forward").function().getSchema(),
                                       torch::jit::tuple_slice(arguments), py::kwargs(), script._ivalue());
  inputs.erase(inputs.begin());  // the module
  return inputs;
}

void addProfile(py::module_& module) {
  py::class_<Profile> profile(module, "Profile");
  py::class_<Profile::Step>(profile, "Step")
      .def_readonly("name", &Profile::Step::name)
      .def_readonly("family", &Profile::Step::family)
      .def_readonly("implementation", &Profile::Step::implementation)
      .def_readonly("location", &Profile::Step::location)
      .def_readonly("microseconds", &Profile::Step::microseconds)
      .def_readonly("flops", &Profile::Step::flops)
      .def_readonly("bytes", &Profile::Step::bytes)
      .def_readonly("factors", &Profile::Step::factors);
  py::class_<Profile::Engine>(profile, "Engine")
      .def_readonly("name", &Profile::Engine::name)
      .def_readonly("calls", &Profile::Engine::calls)
      .def_readonly("milliseconds", &Profile::Engine::milliseconds)
      .def_readonly("steps", &Profile::Engine::steps)
      .def_readonly("note", &Profile::Engine::note);
  py::class_<Profile::Operator>(profile, "Operator")
      .def_readonly("name", &Profile::Operator::name)
      .def_readonly("calls", &Profile::Operator::calls)
      .def_readonly("milliseconds", &Profile::Operator::milliseconds);
  profile.def_readonly("threads", &Profile::threads)
      .def_readonly("forwards", &Profile::forwards)
      .def_readonly("milliseconds", &Profile::milliseconds)
      .def_readonly("flops_per_second", &Profile::flops_per_second)
      .def_readonly("tensor_flops_per_second", &Profile::tensor_flops_per_second)
      .def_readonly("bytes_per_second", &Profile::bytes_per_second)
      .def_readonly("engines", &Profile::engines)
      .def_readonly("operators", &Profile::operators)
      .def("peak_of", &Profile::peakOf, py::arg("step"))
      .def("share_of_peak", &Profile::shareOfPeak, py::arg("step"))
      .def("share_of_bandwidth", &Profile::shareOfBandwidth, py::arg("step"))
      .def("to_text", &Profile::toText, py::arg("most") = 20)
      .def("to_json", &Profile::toJson)
      .def("to_trace", &Profile::toTrace)
      .def("__repr__",
           [](const Profile& self) {
             std::ostringstream text;
             text << "<torchtrt.Profile: " << self.milliseconds << " ms a call, " << self.engines.size() << " engines, "
                  << self.operators.size() << " operators in PyTorch, " << self.threads << " threads>";
             return text.str();
           })
      .def("__str__", [](const Profile& self) { return self.toText(); });
  module.def(
      "profile_module",
      [](const torch::jit::Module& script, const py::tuple& arguments, int calls) {
        const torch::jit::Stack inputs = argumentsOf(script, arguments);
        const py::gil_scoped_release release;
        return ts::profile(script, inputs, calls);
      },
      py::arg("module"), py::arg("inputs"), py::arg("calls"));
}

}  // namespace torchtrt::bindings
