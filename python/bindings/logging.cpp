#include "torchtrt/logging.h"

#include "bindings.h"

namespace py = pybind11;

namespace torchtrt::bindings {

void addLogging(py::module_& module) {
  // Levels cross as numbers; the Python package has the enumeration.
  module.def("log", [](int level, const std::string& text) { logging::log(static_cast<logging::Level>(level), text); });
  module.def("get_logging_prefix", &logging::get_logging_prefix);
  module.def("set_logging_prefix", &logging::set_logging_prefix);
  module.def("get_reportable_log_level", [] { return static_cast<int>(logging::get_reportable_log_level()); });
  module.def("set_reportable_log_level",
             [](int level) { logging::set_reportable_log_level(static_cast<logging::Level>(level)); });
  module.def("get_is_colored_output_on", &logging::get_is_colored_output_on);
  module.def("set_is_colored_output_on", &logging::set_is_colored_output_on);
}

}  // namespace torchtrt::bindings
