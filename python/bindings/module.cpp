#include "bindings.h"

namespace torchtrt::bindings {

std::shared_ptr<pybind11::object> held(pybind11::object object) {
  return {new pybind11::object(std::move(object)), [](pybind11::object* last) {
            const pybind11::gil_scoped_acquire acquire;
            delete last;
          }};
}

}  // namespace torchtrt::bindings

PYBIND11_MODULE(_torchtrt, module) {
  using namespace torchtrt::bindings;  // NOLINT(google-build-using-namespace)
  addErrors(module);
  addLogging(module);
  addInput(module);
  addCompileSpec(module);
  addReport(module);
  addProfile(module);
  addVerification(module);
  addPage(module);
  addFunctions(module);
  addNetwork(module);
  addRewriting(module);
}
