// Errors become the classes of torchtrt._errors, with code, message and advice as attributes.
#include "torchtrt/error.h"

#include <cstring>
#include <exception>

#include "bindings.h"
#include "torchtrt/progress.h"

namespace py = pybind11;

namespace torchtrt::bindings {

namespace {

void raise(const char* name, const Error& error) {
  const py::object type = py::module_::import("torchtrt._errors").attr(name);
  // A message may quote a file or an archive, whose bytes need not be UTF-8.
  const auto text = py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(error.what(), static_cast<Py_ssize_t>(std::strlen(error.what())), "replace"));
  const py::object value = type(text);
  PyErr_SetObject(type.ptr(), value.ptr());
}

}  // namespace

void rethrow(const py::error_already_set& raised, ErrorCode code, const std::string& who) {
  if (!raised.matches(PyExc_Exception)) {
    throw Interruption{std::current_exception()};
  }
  throw CompileError(code, who + py::str(raised.type().attr("__name__")).cast<std::string>() + ": " +
                               py::str(raised.value()).cast<std::string>());
}

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
    } catch (const Interruption& interruption) {
      try {
        std::rethrow_exception(interruption.cause);
      } catch (py::error_already_set& raised) {
        raised.restore();
      }
    }
  });
}

}  // namespace torchtrt::bindings
