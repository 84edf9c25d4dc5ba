// Errors become the classes of torchtrt._errors, with code, message and advice as attributes.
#include "torchtrt/error.h"

#include <exception>

#include "bindings.h"

namespace py = pybind11;

namespace torchtrt::bindings {

namespace {

void raise(const char* name, const Error& error) {
  const py::object type = py::module_::import("torchtrt._errors").attr(name);
  const py::object value = type(py::str(error.what()));
  PyErr_SetObject(type.ptr(), value.ptr());
}

}  // namespace

void addErrors(py::module_&) {
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) {
        std::rethrow_exception(pointer);
      }
    } catch (const CompileError& error) {
      raise("CompileError", error);
    } catch (const EngineError& error) {
      raise("EngineError", error);
    } catch (const InternalError& error) {
      raise("InternalError", error);
    }
  });
}

}  // namespace torchtrt::bindings
