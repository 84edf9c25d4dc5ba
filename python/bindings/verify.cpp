#include "torchtrt/verify.h"

#include <pybind11/stl.h>
#include <torch/csrc/jit/python/pybind_utils.h>

#include "bindings.h"

namespace py = pybind11;

namespace torchtrt::bindings {

void addVerification(py::module_& module) {
  py::class_<Verification> verification(module, "Verification");
  py::class_<Verification::Deviation>(verification, "Deviation")
      .def_readonly("relative", &Verification::Deviation::relative)
      .def_readonly("ulps", &Verification::Deviation::ulps)
      .def_readonly("allowed", &Verification::Deviation::allowed)
      .def_readonly("difference", &Verification::Deviation::difference);
  py::class_<Verification::Segment>(verification, "Segment")
      .def_readonly("name", &Verification::Segment::name)
      .def_readonly("location", &Verification::Segment::location)
      .def_readonly("nodes", &Verification::Segment::nodes)
      .def_readonly("calls", &Verification::Segment::calls)
      .def_readonly("was_compared", &Verification::Segment::was_compared)
      .def_readonly("deviation", &Verification::Segment::deviation)
      .def_readonly("engine_milliseconds", &Verification::Segment::engine_milliseconds)
      .def_readonly("torch_milliseconds", &Verification::Segment::torch_milliseconds)
      .def_readonly("culprit", &Verification::Segment::culprit)
      .def_readonly("note", &Verification::Segment::note);
  verification.def_readonly("threads", &Verification::threads)
      .def_readonly("calls", &Verification::calls)
      .def_readonly("torch_milliseconds", &Verification::torch_milliseconds)
      .def_readonly("engine_milliseconds", &Verification::engine_milliseconds)
      .def_readonly("outputs", &Verification::outputs)
      .def_readonly("segments", &Verification::segments)
      .def_property_readonly("agrees", &Verification::agrees)
      .def_property_readonly("first", &Verification::first)
      .def_property_readonly("worst", &Verification::worst)
      .def_property_readonly("verdict", &Verification::verdict)
      .def("to_json", &Verification::toJson)
      .def("__repr__", [](const Verification& self) { return "<torchtrt.Verification: " + self.verdict() + ">"; })
      .def("__str__", &Verification::toText);
  module.def(
      "verify_module",
      [](const torch::jit::Module& script, const torch::jit::Module& compiled, const py::tuple& arguments, int calls) {
        const torch::jit::Stack inputs = argumentsOf(script, arguments);
        const py::gil_scoped_release release;
        return ts::verify(script, compiled, inputs, calls);
      },
      py::arg("module"), py::arg("compiled"), py::arg("inputs"), py::arg("calls"));
}

}  // namespace torchtrt::bindings
