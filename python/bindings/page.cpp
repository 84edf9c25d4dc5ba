#include "torchtrt/page.h"

#include <pybind11/stl.h>
#include <torch/csrc/jit/python/pybind_utils.h>

#include "base/safe_file.h"
#include "bindings.h"

namespace py = pybind11;

namespace torchtrt::bindings {

namespace {

// A report that was loaded has no object of C++: its module carries it.
std::string html(const torch::jit::Module& module, const Report* report, const Profile* profile,
                 const Verification* verification) {
  PageOptions options;
  options.report = report;
  options.profile = profile;
  options.verification = verification;
  return page(module, options);
}

}  // namespace

void addPage(py::module_& module) {
  module.def(
      "write_page",
      [](const std::string& path, const torch::jit::Module& script, const Report* report, const Profile* profile,
         const Verification* verification) {
        const py::gil_scoped_release release;
        if (const std::error_code problem = replaceFile(path, html(script, report, profile, verification))) {
          throw CompileError(ErrorCode::kOutput, "cannot write \"" + path + "\": " + problem.message(), {},
                             "name a file in a folder that exists and that you may write to");
        }
      },
      py::arg("path"), py::arg("module"), py::arg("report"), py::arg("profile"), py::arg("verification"));
  module.def(
      "page",
      [](const torch::jit::Module& script, const Report* report) {
        return py::bytes(html(script, report, nullptr, nullptr));  // a name need not be UTF-8
      },
      py::arg("module"), py::arg("report"));
}

}  // namespace torchtrt::bindings
