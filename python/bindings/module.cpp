#include "bindings.h"

PYBIND11_MODULE(_torchtrt, module) {
  using namespace torchtrt::bindings;  // NOLINT(google-build-using-namespace)
  addErrors(module);
  addLogging(module);
  addInput(module);
  addCompileSpec(module);
  addReport(module);
  addProfile(module);
  addVerification(module);
  addFunctions(module);
  addNetwork(module);
  addRewriting(module);
}
