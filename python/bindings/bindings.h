// python/torchtrt needs this of the C++ library, one file per class. Plain data in, plain data out: defaults,
// conversions and documentation are the Python package's. It uses libtorch's own pybind11, so that it shares libtorch's
// classes.
#pragma once

#include <pybind11/pybind11.h>
#include <torch/script.h>

#include "torchtrt/error.h"
#include "torchtrt/rewriting.h"

namespace torchtrt::bindings {

void addErrors(pybind11::module_& module);
void addLogging(pybind11::module_& module);
void addInput(pybind11::module_& module);
void addCompileSpec(pybind11::module_& module);
void addReport(pybind11::module_& module);
void addProfile(pybind11::module_& module);
void addVerification(pybind11::module_& module);
void addPage(pybind11::module_& module);
void addFunctions(pybind11::module_& module);
void addNetwork(pybind11::module_& module);
void addRewriting(pybind11::module_& module);

// Shared by owners that may let it go without holding the interpreter.
std::shared_ptr<pybind11::object> held(pybind11::object object);

// Throws an error of that code for what a callback raised, or an Interruption for what ends or interrupts the program;
// `who` says whose callback, or nothing. Called by what handles `raised`.
[[noreturn]] void rethrow(const pybind11::error_already_set& raised, ErrorCode code, const std::string& who = "");

// Returns the arguments as the schema of the module's forward wants them.
torch::jit::Stack argumentsOf(const torch::jit::Module& script, const pybind11::tuple& arguments);

rewriting::NetworkRewriter pythonRewriter(const pybind11::function& body);

}  // namespace torchtrt::bindings
