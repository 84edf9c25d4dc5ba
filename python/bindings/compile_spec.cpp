#include <pybind11/stl.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/pybind.h>

#include "bindings.h"
#include "torchtrt/error.h"
#include "torchtrt/options.h"
#include "torchtrt/progress.h"
#include "torchtrt/ptq.h"

namespace py = pybind11;

namespace torchtrt::bindings {

namespace {

using ts::CompileSpec;

c10::IValue nestedDictionary(const py::dict& object);

// Inputs, tensors, numbers, texts, None, and tuples, lists and dictionaries of them, as TorchScript values of the same
// nesting.
c10::IValue nested(const py::handle& object) {
  if (py::isinstance<Input>(object)) {
    return c10::IValue(c10::make_intrusive<Input>(object.cast<Input>()));
  }
  if (THPVariable_Check(object.ptr())) {
    return object.cast<at::Tensor>();
  }
  if (object.is_none()) {
    return {};
  }
  if (py::isinstance<py::bool_>(object)) {
    return object.cast<bool>();
  }
  if (py::isinstance<py::int_>(object)) {
    return object.cast<int64_t>();
  }
  if (py::isinstance<py::float_>(object)) {
    return object.cast<double>();
  }
  if (py::isinstance<py::str>(object)) {
    return object.cast<std::string>();
  }
  if (py::isinstance<py::dict>(object)) {
    return nestedDictionary(py::reinterpret_borrow<py::dict>(object));
  }
  std::vector<c10::IValue> elements;
  if (py::isinstance<py::tuple>(object) || py::isinstance<py::list>(object)) {
    for (const py::handle& element : object) {
      elements.push_back(nested(element));
    }
  } else {
    throw CompileError(ErrorCode::kInvalidInputSpec,
                       "expected an Input, a tensor, a number, a text, None or a collection of them, got " +
                           py::str(py::type::handle_of(object)).cast<std::string>());
  }
  if (py::isinstance<py::tuple>(object)) {
    return c10::ivalue::Tuple::create(std::move(elements));
  }
  c10::impl::GenericList list(c10::AnyType::get());
  for (c10::IValue& element : elements) {
    list.push_back(std::move(element));
  }
  return list;
}

c10::IValue nestedDictionary(const py::dict& object) {
  const bool has_texts = !object.empty() && py::isinstance<py::str>(object.begin()->first);
  const c10::TypePtr key_type = has_texts ? c10::TypePtr(c10::StringType::get()) : c10::TypePtr(c10::IntType::get());
  c10::impl::GenericDict dictionary(key_type, c10::AnyType::get());
  for (const auto& [key, value] : object) {
    const c10::IValue typed_key = nested(key);
    if (has_texts ? !typed_key.isString() : !typed_key.isInt()) {
      throw CompileError(
          ErrorCode::kInvalidInputSpec,
          "the keys of a dictionary are all texts or all whole numbers, got " + py::repr(key).cast<std::string>());
    }
    dictionary.insert(typed_key, nested(value));
  }
  return dictionary;
}

std::vector<int> precisions(const CompileSpec& spec) {
  return {spec.enabled_precisions.begin(), spec.enabled_precisions.end()};
}

void setPrecisions(CompileSpec& spec, const std::vector<int>& values) {
  spec.enabled_precisions.clear();
  for (const int value : values) {
    spec.enabled_precisions.insert(DataType(static_cast<DataType::Value>(value)));
  }
}

// `body` with the interpreter held, by threads that do not hold it.
template <typename Body>
auto inPython(Body&& body) {
  const py::gil_scoped_acquire acquire;
  try {
    return body();
  } catch (const py::error_already_set& error) {
    rethrow(error, ErrorCode::kInvalidInputSpec, "the calibrator raised ");
  }
}

// `begin` begins a pass and gives a function, which gives a tuple of arguments or, after the last, None.
std::function<ptq::Calibrator::NextBatch()> batchesOf(const py::object& begin) {
  return [begin = held(begin)]() -> ptq::Calibrator::NextBatch {
    return inPython([&]() -> ptq::Calibrator::NextBatch {
      return [next = held((*begin)())]() {
        return inPython([&]() -> std::optional<ptq::Calibrator::Arguments> {
          const py::object batch = (*next)();
          return batch.is_none() ? std::nullopt : std::optional(nested(batch).toTupleRef().elements().vec());
        });
      };
    });
  };
}

void setCalibrator(CompileSpec& spec, const py::object& begin, int algo, double percentile, bool symmetric,
                   const std::string& cache_file, bool use_cache) {
  auto calibrator = std::make_shared<ptq::Calibrator>();
  calibrator->algo = static_cast<ptq::CalibrationAlgo>(algo);
  calibrator->percentile = percentile;
  calibrator->symmetric = symmetric;
  if (!begin.is_none()) {
    calibrator->batches = batchesOf(begin);
  }
  calibrator->cache_file = cache_file;
  calibrator->use_cache = use_cache;
  spec.ptq_calibrator = std::move(calibrator);
}

// Signals end a compile: Python's handlers run here, and Ctrl-C raises. `told`: a function of a CompileProgress, or
// None.
CompileWatcher watcherOf(const py::object& told, bool shows_line) {
  const CompileWatcher line = shows_line ? progressLine() : nullptr;
  return [told = held(told), line](const CompileProgress& progress) {
    if (line) {
      line(progress);
    }
    const py::gil_scoped_acquire acquire;
    if (!progress.is_done && PyErr_CheckSignals() != 0) {
      throw py::error_already_set();
    }
    if (!told->is_none()) {
      (*told)(progress);
    }
  };
}

void addProgress(py::module_& module) {
  py::class_<CompileProgress>(module, "CompileProgress")
      .def_readonly("phase", &CompileProgress::phase)
      .def_readonly("engine", &CompileProgress::engine)
      .def_readonly("engines", &CompileProgress::engines)
      .def_readonly("seconds", &CompileProgress::seconds)
      .def_readonly("is_done", &CompileProgress::is_done)
      .def("__repr__", [](const CompileProgress& progress) {
        return py::str("CompileProgress(phase={!r}, engine={}, engines={}, seconds={:.3f}, is_done={})")
            .format(progress.phase, progress.engine, progress.engines, progress.seconds, progress.is_done);
      });
}

}  // namespace

void addCompileSpec(py::module_& module) {
  addProgress(module);
  py::class_<CompileSpec>(module, "CompileSpec")
      .def(py::init<std::vector<Input>>(), py::arg("inputs"))
      .def_static("from_signature", [](const py::object& signature) { return CompileSpec(nested(signature)); })
      .def_property("enabled_precisions", &precisions, &setPrecisions)
      .def("add_precision_pin",
           [](CompileSpec& spec, const std::string& pattern, int value) {
             spec.precision.push_back({pattern, DataType(static_cast<DataType::Value>(value))});
           })
      .def_property(
          "op_precision", [](const CompileSpec& spec) { return static_cast<int>(spec.op_precision); },
          [](CompileSpec& spec, int value) { spec.op_precision = DataType(static_cast<DataType::Value>(value)); })
      .def_property(
          "capability", [](const CompileSpec& spec) { return static_cast<int>(spec.capability); },
          [](CompileSpec& spec, int value) { spec.capability = static_cast<EngineCapability>(value); })
      .def("set_device",
           [](CompileSpec& spec, int type, int64_t gpu_id, int64_t dla_core, bool allow_gpu_fallback) {
             spec.device = {static_cast<Device::DeviceType::Value>(type), gpu_id, dla_core, allow_gpu_fallback};
           })
      .def("set_sample_inputs",
           [](CompileSpec& spec, const py::tuple& samples) {
             spec.sample_inputs = nested(samples).toTupleRef().elements().vec();
           })
      .def("set_calibrator", &setCalibrator, py::arg("begin"), py::arg("algo"), py::arg("percentile"),
           py::arg("symmetric"), py::arg("cache_file"), py::arg("use_cache"))
      .def_readwrite("accuracy_target", &CompileSpec::accuracy_target)
      .def_readwrite("weight_precision", &CompileSpec::weight_precision)
      .def_readwrite("group_size", &CompileSpec::group_size)
      .def_readwrite("weight_zero_points", &CompileSpec::weight_zero_points)
      .def("add_rewriter",
           [](CompileSpec& spec, const py::function& body) { spec.rewriters.push_back(pythonRewriter(body)); })
      .def("set_watcher", [](CompileSpec& spec, const py::object& told,
                             bool shows_line) { spec.watcher = watcherOf(told, shows_line); })
      .def_readwrite("disable_tf32", &CompileSpec::disable_tf32)
      .def_readwrite("sparse_weights", &CompileSpec::sparse_weights)
      .def_readwrite("refit", &CompileSpec::refit)
      .def_readwrite("debug", &CompileSpec::debug)
      .def_readwrite("truncate_long_and_double", &CompileSpec::truncate_long_and_double)
      .def_readwrite("allow_shape_tensors", &CompileSpec::allow_shape_tensors)
      .def_readwrite("num_avg_timing_iters", &CompileSpec::num_avg_timing_iters)
      .def_readwrite("workspace_size", &CompileSpec::workspace_size)
      .def_readwrite("dla_sram_size", &CompileSpec::dla_sram_size)
      .def_readwrite("dla_local_dram_size", &CompileSpec::dla_local_dram_size)
      .def_readwrite("dla_global_dram_size", &CompileSpec::dla_global_dram_size)
      .def_readwrite("require_full_compilation", &CompileSpec::require_full_compilation)
      .def_readwrite("tune", &CompileSpec::tune)
      .def_readwrite("keep_methods", &CompileSpec::keep_methods)
      .def_readwrite("batch_invariant", &CompileSpec::batch_invariant)
      .def_readwrite("check_results", &CompileSpec::check_results)
      .def_readwrite("timing_cache", &CompileSpec::timing_cache)
      .def_readwrite("target", &CompileSpec::target)
      .def_readwrite("tuning_seconds", &CompileSpec::tuning_seconds)
      .def_property(
          "min_block_size", [](const CompileSpec& spec) { return static_cast<uint64_t>(spec.min_block_size); },
          [](CompileSpec& spec, uint64_t size) { spec.min_block_size = size; })
      .def_readwrite("torch_executed_ops", &CompileSpec::torch_executed_ops)
      .def_readwrite("torch_executed_modules", &CompileSpec::torch_executed_modules)
      .def_readwrite("optional_weights", &CompileSpec::optional_weights);
}

}  // namespace torchtrt::bindings
