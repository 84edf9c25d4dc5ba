#include <pybind11/stl.h>

#include "bindings.h"
#include "torchtrt/compile.h"

namespace py = pybind11;

namespace torchtrt::bindings {

namespace {

// None where it was not.
std::optional<double> measured(double error) {
  return error < 0 ? std::nullopt : std::optional(error);
}

}  // namespace

void addReport(py::module_& module) {
  py::class_<Report> report(module, "Report", py::dynamic_attr());  // the Python side adds the module
  py::class_<Report::Phase>(report, "Phase")
      .def_readonly("name", &Report::Phase::name)
      .def_readonly("milliseconds", &Report::Phase::milliseconds);
  py::class_<Report::Step>(report, "Step")
      .def_readonly("name", &Report::Step::name)
      .def_readonly("family", &Report::Step::family)
      .def_readonly("location", &Report::Step::location);
  py::class_<Report::Timing>(report, "Timing")
      .def_readonly("step", &Report::Timing::step)
      .def_readonly("family", &Report::Timing::family)
      .def_readonly("implementation", &Report::Timing::implementation)
      .def_readonly("by_rule", &Report::Timing::by_rule)
      .def_readonly("microseconds", &Report::Timing::microseconds)
      .def_readonly("by_rule_microseconds", &Report::Timing::by_rule_microseconds)
      .def_readonly("is_cached", &Report::Timing::is_cached);
  py::class_<Report::Layer>(report, "Layer")
      .def_readonly("name", &Report::Layer::name)
      .def_readonly("kind", &Report::Layer::kind)
      .def_readonly("location", &Report::Layer::location)
      .def_readonly("is_quantized", &Report::Layer::is_quantized)
      .def_readonly("reason", &Report::Layer::reason)
      .def_property_readonly("error", [](const Report::Layer& layer) { return measured(layer.error); });
  py::class_<Report::Calibration>(report, "Calibration")
      .def_readonly("calls", &Report::Calibration::calls)
      .def_readonly("precision", &Report::Calibration::precision)
      .def_readonly("is_cached", &Report::Calibration::is_cached)
      .def_readonly("reason", &Report::Calibration::reason)
      .def_property_readonly("error", [](const Report::Calibration& self) { return measured(self.error); })
      .def_readonly("layers", &Report::Calibration::layers)
      .def_property_readonly("quantized_layers", &Report::Calibration::quantizedLayers);
  py::class_<Report::Segment>(report, "Segment")
      .def_readonly("index", &Report::Segment::index)
      .def_readonly("name", &Report::Segment::name)
      .def_readonly("target", &Report::Segment::target)
      .def_readonly("nodes", &Report::Segment::nodes)
      .def_readonly("reasons", &Report::Segment::reasons)
      .def_readonly("inputs", &Report::Segment::inputs)
      .def_readonly("outputs", &Report::Segment::outputs)
      .def_readonly("milliseconds", &Report::Segment::milliseconds)
      .def_readonly("memory_bytes", &Report::Segment::memory_bytes)
      .def_readonly("steps", &Report::Segment::steps)
      .def_readonly("timings", &Report::Segment::timings)
      .def_readonly("invariant", &Report::Segment::invariant)
      .def_readonly("calibration", &Report::Segment::calibration);
  py::class_<Report::Node>(report, "Node")
      .def_readonly("node", &Report::Node::node)
      .def_readonly("target", &Report::Node::target)
      .def_readonly("code", &Report::Node::code)
      .def_readonly("reason", &Report::Node::reason);
  py::class_<Report::Pin>(report, "Pin")
      .def_readonly("pattern", &Report::Pin::pattern)
      .def_readonly("dtype", &Report::Pin::dtype)
      .def_readonly("nodes", &Report::Pin::nodes);
  py::class_<Report::GuessedSize>(report, "GuessedSize")
      .def_readonly("places", &Report::GuessedSize::places)
      .def_readonly("reason", &Report::GuessedSize::reason);
  report.def_readonly("module", &Report::module)
      .def_readonly("precision", &Report::precision)
      .def_readonly("guessed_sizes", &Report::guessed_sizes)
      .def_readonly("shared_dims", &Report::shared_dims)
      .def_readonly("phases", &Report::phases)
      .def_readonly("share_of_time", &Report::share_of_time)
      .def_readonly("segments", &Report::segments)
      .def_readonly("nodes", &Report::nodes)
      .def_readonly("source_lines", &Report::source_lines)
      .def_property_readonly("milliseconds", &Report::milliseconds)
      .def_property_readonly("engine_segments", &Report::engineSegments)
      .def_property_readonly("torch_segments", &Report::torchSegments)
      .def_property_readonly("share_in_engines", &Report::shareInEngines)
      .def("summary", &Report::summary)
      .def("to_json", &Report::toJson)
      .def("__repr__", [](const Report& self) { return "<torchtrt.Report: " + self.summary() + ">"; })
      .def("__str__", &Report::toText);
  const py::module_ page = py::module_::import("torchtrt._page");
  report.attr("to_html") = page.attr("to_html");
  report.attr("_repr_html_") = page.attr("_repr_html_");
}

}  // namespace torchtrt::bindings
