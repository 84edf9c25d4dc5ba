// Puts the engine class and its operators into libtorch when the library is loaded. libtorch ends the process when a
// name is registered twice, so both are looked up first and a clash becomes an error that is told on first use.
#include <sstream>

#include <torch/library.h>

#include "base/hash.h"
#include "base/logging.h"
#include "runtime/apart.h"
#include "runtime/base64.h"
#include "runtime/delegate.h"
#include "runtime/engine_class.h"
#include "runtime/execute.h"
#include "runtime/masks.h"
#include "runtime/preparation.h"
#include "runtime/recording/recorder.h"
#include "runtime/threads.h"
#include "runtime/torch_device.h"
#include "runtime/weight_set.h"
#include "torchtrt/load.h"
#include "torchtrt/runtime.h"
#include "torchtrt/version.h"

namespace torchtrt::runtime {

namespace {

constexpr const char* kClass = "__torch__.torch.classes.tensorrt.Engine";
constexpr const char* kWeightSetClass = "__torch__.torch.classes.tensorrt.WeightSet";
constexpr const char* kSchema =
    "execute_engine(Tensor[] inputs, __torch__.torch.classes.tensorrt.Engine engine) -> Tensor[]";

constexpr const char* kKeptConstantsSchema =
    "kept_constants(__torch__.torch.classes.tensorrt.Engine engine) -> Tensor[]";

// It writes to its inputs, so libtorch must neither move nor drop it.
constexpr const char* kUpdateByEngineSchema =
    "update_by_engine(Tensor[] inputs, __torch__.torch.classes.tensorrt.Engine engine, int[] outputs, int[] updated) "
    "-> Tensor[]";

constexpr const char* kCheckModule = "tensorrt::check_module";
constexpr const char* kCheckModuleSchema = "check_module(str path) -> ()";
constexpr const char* kCheckModuleBytes = "tensorrt::check_module_bytes";
constexpr const char* kCheckModuleBytesSchema = "check_module_bytes(Tensor bytes) -> ()";

constexpr const char* kLoadFor = "tensorrt::load_for";
constexpr const char* kLoadForSchema = "load_for(str device) -> ()";

constexpr const char* kCounters = "tensorrt::counters";
constexpr const char* kCountersSchema = "counters() -> ((str, int, int, int, int, float)[])";

constexpr const char* kPrepare = "tensorrt::prepare";
constexpr const char* kPrepareSchema = "prepare(Any module) -> (int, Tensor[])";

using Holder = c10::intrusive_ptr<Engine>;

std::vector<BindingTuple> bindings(const std::vector<engine::BindingInfo>& infos) {
  std::vector<BindingTuple> tuples;
  tuples.reserve(infos.size());
  for (const engine::BindingInfo& info : infos) {
    tuples.emplace_back(info.name, torchtrt::toString(info.dtype), info.dims, info.min, info.opt, info.max);
  }
  return tuples;
}

// The archive that an engine keeps, as a text: its hash, a colon, and its bytes.
std::string textOf(const std::string& archive) {
  return hashText(archive) + ":" + encodeBase64(archive);
}

// Files of old have no hash.
std::string archiveOf(const std::string& text, const std::string& engine) {
  const size_t colon = text.find(':');
  const size_t begin = colon == std::string::npos ? 0 : colon + 1;
  const std::optional<std::string> bytes = decodeBase64(std::string_view(text).substr(begin));
  if (!bytes || (begin != 0 && text.substr(0, colon) != hashText(*bytes))) {
    throw EngineError(ErrorCode::kPlanCorrupt,
                      "the kept segment of engine \"" + engine + "\" is not what its " +
                          (bytes ? "hash says" : "form should be, base64"),
                      {}, "the file is damaged: copy it again, or save the module again");
  }
  return *bytes;
}

PickledEngine pickled(const Engine& engine) {
  auto [strings, weights] = engine.stateToSave();
  const KeptSegment* kept = engine.kept();
  return {std::move(strings), std::move(weights), kept ? textOf(kept->archive()) : "",
          kept ? kept->constants() : std::vector<at::Tensor>()};
}

Holder unpickled(PickledEngine state) {
  auto& [strings, weights, archive, constants] = state;
  std::vector<bool> exclusive = EngineWeights::exclusive(weights, constants);
  Holder engine = Engine::fromState({std::move(strings), std::move(weights)}, std::move(exclusive), &constants);
  if (!archive.empty()) {
    engine->keep({archiveOf(archive, engine->name()), std::move(constants)});
  }
  return engine;
}

torch::class_<Engine> registerClass() {
  torch::class_<Engine> engine("tensorrt", "Engine");
  engine
      .def(torch::init([](const std::vector<std::string>& strings) {
        return atBorder([&] { return Engine::fromStrings(strings); });
      }))
      .def_pickle([](const Holder& self) { return atBorder([&] { return pickled(*self); }); },
                  [](PickledEngine state) { return atBorder([&] { return unpickled(std::move(state)); }); })
      .def("name", [](const Holder& self) { return self->name(); })
      .def("device", [](const Holder& self) { return self->device(); })
      .def("device_info", [](const Holder& self) { return self->deviceInfo(); })
      .def("inputs", [](const Holder& self) { return bindings(self->engine().inputs()); })
      .def("outputs", [](const Holder& self) { return bindings(self->engine().outputs()); })
      .def("inspect", [](const Holder& self) { return self->engine().inspect(); })
      .def("profile", [](const Holder& self, std::vector<at::Tensor> inputs,
                         int64_t calls) { return profileEngine(std::move(inputs), *self, calls); })
      .def("schedule",
           [](const Holder& self, std::vector<at::Tensor> inputs) {
             return atBorder([&] { return scheduleText(std::move(inputs), *self); });
           })
      .def("memory_bytes", [](const Holder& self) { return static_cast<int64_t>(self->engine().memoryBytes()); })
      .def("shared_bytes", [](const Holder& self) { return static_cast<int64_t>(self->engine().sharedBytes()); })
      .def("workspace_bytes",
           [](const Holder& self, std::vector<at::Tensor> inputs) { return workspaceBytes(std::move(inputs), *self); });
  return engine;
}

torch::class_<WeightSet> registerWeightSet() {
  using Set = c10::intrusive_ptr<WeightSet>;
  torch::class_<WeightSet> set("tensorrt", "WeightSet");
  set.def_pickle([](const Set& self) { return self->pickled(); },
                 [](WeightSet::Pickled state) {
                   return atBorder([&] { return c10::make_intrusive<WeightSet>(std::move(state)); });
                 })
      .def(WeightSet::kCurrent, [](const Set& self) { return self->current(); });
  return set;
}

void prepareValue(const c10::OperatorHandle&, torch::jit::Stack* stack) {
  const c10::IValue value = torch::jit::pop(*stack);
  TORCH_CHECK_TYPE(value.isModule(), "tensorrt::prepare expected a ScriptModule, got ", value.tagKind());
  Preparation done = prepareModule(value.toModule());
  torch::jit::push(*stack, done.methods, std::move(done.arguments));
}

// For TorchScript: name, calls, fallbacks, errors, new shapes, seconds.
using CountersTuple = std::tuple<std::string, int64_t, int64_t, int64_t, int64_t, double>;

void countersValue(const c10::OperatorHandle&, torch::jit::Stack* stack) {
  std::vector<CountersTuple> tuples;
  for (const EngineCounters& each : counters()) {
    const auto number = [](uint64_t count) { return static_cast<int64_t>(count); };
    tuples.emplace_back(each.engine, number(each.calls), number(each.fallbacks), number(each.errors),
                        number(each.new_shapes), each.seconds);
  }
  torch::jit::push(*stack, std::move(tuples));
}

void checkModuleAt(const std::string& path) {
  atBorder([&] { checkModule(path); });
}

void checkModuleBytes(const at::Tensor& bytes) {
  TORCH_CHECK_VALUE(bytes.is_cpu() && bytes.scalar_type() == at::kByte && bytes.is_contiguous(),
                    "tensorrt::check_module_bytes expected bytes in one piece on the CPU");
  std::istringstream stream(std::string(static_cast<const char*>(bytes.const_data_ptr()), bytes.nbytes()));
  atBorder([&] { checkModule(stream); });
}

std::string clash() {
  std::string taken;
  for (const char* name : {kClass, kWeightSetClass}) {
    if (torch::getCustomClass(name)) {
      taken += (taken.empty() ? "" : " and ") + std::string(name);
    }
  }
  for (const char* name : {kExecuteEngine, "trt::execute_engine", kUpdateByEngine, kKeptConstants, kIndexByMask,
                           kLieApart, kPrepare, kCheckModule, kCheckModuleBytes, kLoadFor, kCounters}) {
    if (c10::Dispatcher::singleton().findSchema({name, ""})) {
      taken += (taken.empty() ? "" : " and ") + std::string(name);
    }
  }
  if (taken.empty()) {
    return {};
  }
  return "[" + std::string(torchtrt::toString(ErrorCode::kPlanVersion)) + "] " + taken +
         " is already registered by another library, so torchtrt " + kVersion +
         " cannot run its engines in this process\n  load either torchtrt or Torch-TensorRT, and only one copy of it";
}

void defineExecuteEngine(torch::Library& library) {
  library.def(kSchema);
  library.impl("execute_engine", torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, executeEngine));
  library.impl("execute_engine", torch::dispatch(c10::DispatchKey::Meta, executeEngineMeta));
  // Results never require grad, so autograd has nothing to record and no warning to give.
  library.impl("execute_engine", torch::dispatch(c10::DispatchKey::Autograd, torch::CppFunction::makeFallthrough()));
}

class Registration {
 public:
  Registration() : problem_(clash()) {
    if (!problem_.empty()) {
      TORCHTRT_LOG(kERROR, problem_);
      return;
    }
    class_.emplace(registerClass());
    weight_set_.emplace(registerWeightSet());
    registerDelegate();
    defineExecuteEngine(definitions_.emplace(torch::Library::FRAGMENT, "tensorrt", std::nullopt, __FILE__, __LINE__));
    defineExecuteEngine(others_.emplace(torch::Library::FRAGMENT, "trt", std::nullopt, __FILE__, __LINE__));
    definitions_->def(torch::schema(kUpdateByEngineSchema, c10::AliasAnalysisKind::CONSERVATIVE));
    definitions_->impl("update_by_engine",
                       torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, updateByEngine));
    definitions_->impl("update_by_engine",
                       torch::dispatch(c10::DispatchKey::Autograd, torch::CppFunction::makeFallthrough()));
    definitions_->def(kLieApartSchema);
    definitions_->impl("lie_apart", torch::dispatch(c10::DispatchKey::CompositeImplicitAutograd, lieApart));
    definitions_->def(kKeptConstantsSchema);
    definitions_->impl("kept_constants", torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, keptConstants));
    definitions_->def(kIndexByMaskSchema);
    definitions_->impl("index_by_mask", torch::dispatch(c10::DispatchKey::CompositeImplicitAutograd, indexByMask));
    definitions_->def(kPrepareSchema);
    definitions_->impl("prepare", torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd,
                                                  torch::CppFunction::makeFromBoxedFunction<&prepareValue>()));
    definitions_->def(kCountersSchema);
    definitions_->impl("counters", torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd,
                                                   torch::CppFunction::makeFromBoxedFunction<&countersValue>()));
    definitions_->def(kCheckModuleSchema);
    definitions_->impl("check_module", torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, checkModuleAt));
    definitions_->def(kLoadForSchema);
    definitions_->impl("load_for", torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, loadFor));
    definitions_->def(kCheckModuleBytesSchema);
    definitions_->impl("check_module_bytes",
                       torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, checkModuleBytes));
    watchForks();
    watchForksOfDevices();
    recording::startFromEnvironment();
  }

  const std::string& problem() const {
    return problem_;
  }

 private:
  std::string problem_;
  std::optional<torch::class_<Engine>> class_;
  std::optional<torch::class_<WeightSet>> weight_set_;
  std::optional<torch::Library> definitions_;
  std::optional<torch::Library> others_;  // document 004 has the operator as trt::execute_engine
};

const Registration registration;

}  // namespace

void checkRegistered() {
  if (!registration.problem().empty()) {
    throw TorchEngineError(ErrorCode::kPlanVersion, registration.problem());
  }
}

}  // namespace torchtrt::runtime

extern "C" const char* torchtrt_runtime_problem() {
  const std::string& problem = torchtrt::runtime::registration.problem();
  return problem.empty() ? nullptr : problem.c_str();
}
