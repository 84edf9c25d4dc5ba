#include "engine/calls/loaded_engine.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <mutex>
#include <new>

#include "base/align.h"
#include "base/check.h"
#include "cpu/threads/parallel.h"
#include "device/all_streams.h"
#include "engine/calls/bound_call.h"
#include "engine/calls/discarded_outputs.h"
#include "engine/calls/empty_inputs.h"
#include "engine/schedule/row_major_inputs.h"
#include "engine/schedule/shapes.h"
#include "kernels/backend.h"
#include "kernels/real_time.h"
#include "torchtrt/plugin.h"

namespace torchtrt::engine {

namespace {

std::atomic<int64_t> living_engines = 0;

int resolveThreads(int threads, const device::Device& device) {
  return device.threadsOf(threads > 0 ? threads : std::max(kernels::currentThreads(), 1));
}

// Weights are given back in the order of the default stream, which knows nothing of work in others. Waits for that
// work. Where that is not possible, as while somebody records a stream, they stay until an engine goes for which it is.
void releaseBehindAllWork(std::shared_ptr<const Model> model) {
  static auto* const mutex = new std::mutex;
  static auto* const kept = new std::vector<std::shared_ptr<const Model>>;
  std::vector<std::shared_ptr<const Model>> released;
  try {
    if (const auto* const streams = dynamic_cast<const device::AllStreams*>(model->device)) {
      streams->waitForAll();
    }
  } catch (const EngineError&) {
    const std::lock_guard lock(*mutex);
    kept->push_back(std::move(model));
    return;
  }
  const std::lock_guard lock(*mutex);
  const auto others =
      std::partition(kept->begin(), kept->end(), [&](const auto& each) { return each->device != model->device; });
  released.assign(std::make_move_iterator(others), std::make_move_iterator(kept->end()));
  kept->erase(others, kept->end());
}

std::string describeRefusedMemory(const Model& model, size_t index, const OutputShape& shape, bool misaligned) {
  const std::string output = "output '" + model.plan.outputs[index].name + "'";
  if (misaligned) {
    return output + ": the memory given for it does not start at a multiple of " + std::to_string(kAlignment) +
           " bytes";
  }
  return output + ": no memory for " + std::to_string(shape.bytes) + " bytes " + dimsText(shape.dims);
}

}  // namespace

LoadedEngine::LoadedEngine(std::shared_ptr<const Model> model, const LoadOptions& options)
    : model_(std::move(model)), memory_(options.memory), cache_(options.shape_cache_bytes), faults_(*model_) {
  ++living_engines;
}

LoadedEngine::~LoadedEngine() {
  if (has_other_streams_) {
    releaseBehindAllWork(model_);  // contexts and schedules, which read it, are still there
  }
  if (--living_engines == 0) {
    releaseIdleWorkspace();
  }
}

std::string LoadedEngine::device() const {
  return kernels::nameOf(*model_->device);
}

std::shared_ptr<const Schedule> LoadedEngine::scheduleFor(std::span<const TensorView> inputs, int threads) const {
  return cache_.get(*model_, inputs, resolveThreads(threads, *model_->device));
}

LoadedEngine::Way LoadedEngine::wayOf(const CallOptions& options) const {
  const device::Stream stream{options.stream};
  return {resolveThreads(options.threads, *model_->device), stream, model_->device->isCapturing(stream)};
}

ContextLease LoadedEngine::lease(std::span<const TensorView> inputs, Way way) const {
  return ContextLease(pool_, *model_->device, inputs, way, memory_);
}

void LoadedEngine::prepare(int threads) const {
  try {
    const RowMajorInputs inputs(model_->inputs, &BindingInfo::opt);
    const Way way{resolveThreads(threads, *model_->device), {}};
    bool waits = false;
    {
      ContextLease lease = this->lease(inputs.views(), way);
      bind(lease, inputs.views(), way.threads);
      reserveWorkspace(lease);
      lease.workspace().touch(lease.context().bound()->workspace_bytes);
      waits = lease.context().bound()->waits;
    }
    if (!model_->device->isHost() && !waits) {  // steps on the host may be plugins, which see the caller's data alone
      rehearse(threads);
    }
  } catch (const EngineError&) {
  }
}

void LoadedEngine::rehearse(int threads) const {
  size_t bytes = 0;
  for (const BindingInfo& input : model_->inputs) {
    bytes = std::max(bytes, plan::checkedBytes(input.opt, input.dtype));
  }
  const device::Memory zeros = model_->device->allocate(bytes, "inputs of zeros");
  model_->device->zero(zeros.data(), bytes, {});
  const RowMajorInputs inputs(model_->inputs, &BindingInfo::opt, zeros.data());
  DiscardedOutputs outputs(*model_->device);
  try {
    for (int call = 0; call <= Replay::kCallsBefore; ++call) {
      enqueue(inputs.views(), outputs, {threads, nullptr});
    }
  } catch (const EngineError&) {  // of made-up data; a later call tells its own
  }
  discardFaults(nullptr);
}

void LoadedEngine::bind(ContextLease& lease, std::span<const TensorView> inputs, int threads) const {
  Context& context = lease.context();
  if (context.bound() == nullptr || !context.bound()->matches(inputs, threads)) {
    context.bind(cache_.get(*model_, inputs, threads));
  }
}

void LoadedEngine::reserveWorkspace(ContextLease& lease) const {
  Context& context = lease.context();
  if (const size_t bytes = context.bound()->workspace_bytes; bytes != 0) {
    context.setWorkspace(lease.workspace().reserve(bytes));
  }
}

void LoadedEngine::checkCapture(const Schedule& shapes) const {
  std::string why;
  if (!shapes.cuts.empty()) {
    why = "how large output '" + model_->plan.outputs[shapes.cuts.front().output].name + "' is depends on data";
  }
  for (const Action& action : shapes.actions) {
    if (why.empty() && action.step >= 0 && !action.prepared->isRecordable()) {
      why = "its step '" + model_->plan.steps[static_cast<size_t>(action.step)].name + "' runs on the host";
    }
  }
  if (!why.empty()) {
    throw EngineError(ErrorCode::kInputDevice, "engine '" + name() + "' cannot be captured in a CUDA graph: " + why, {},
                      "capture the calls before and behind it, or compile without what waits");
  }
}

void LoadedEngine::begin(ContextLease& lease, std::span<const TensorView> inputs, OutputAllocator& outputs,
                         Way way) const {
  bind(lease, inputs, way.threads);
  Context& context = lease.context();
  const Schedule& shapes = *context.bound();
  if (way.is_captured) {
    checkCapture(shapes);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].data == nullptr && shapes.input_bytes[i] != 0) {
      throw EngineError(ErrorCode::kInputDevice, "input '" + model_->plan.inputs[i].name + "' has no memory", {},
                        "pass a tensor with storage on the device " + device());
    }
  }
  reserveWorkspace(lease);
  std::vector<void*>& pointers = context.outputPointers();
  for (size_t i = 0; i < shapes.outputs.size(); ++i) {
    pointers[i] = shapes.outputs[i].is_cut ? nullptr : placeFor(outputs, i, shapes.outputs[i]);
  }
  context.setCallPointers(inputs, pointers);
}

void* LoadedEngine::placeFor(OutputAllocator& outputs, size_t index, const OutputShape& shape) const {
  void* const memory = shape.updates < 0 ? nullptr : outputs.allocateOver(static_cast<int>(index), shape.updates);
  return memory != nullptr ? memory : allocate(outputs, index, shape);
}

void* LoadedEngine::allocate(OutputAllocator& outputs, size_t index, const OutputShape& shape) const {
  void* memory = outputs.allocate(static_cast<int>(index), shape.dtype, shape.dims);
  const bool misaligned = reinterpret_cast<uintptr_t>(memory) % kAlignment != 0;
  if (shape.bytes != 0 && (memory == nullptr || misaligned)) {
    throw EngineError(ErrorCode::kOutOfMemory, describeRefusedMemory(*model_, index, shape, misaligned));
  }
  return memory;
}

void LoadedEngine::run(Context& context, Way way) const {
  if (StepWatch* const watch = stepWatch(); watch != nullptr) {
    runWatched(context, way, *watch);
    return;
  }
  if (way.is_captured || !context.bound()->is_replayed) {
    runLocated(*model_, context, way.threads, way.stream);
    return;
  }
  context.replay().run(
      *model_->device, way.stream, *context.bound(), context.pointers(),
      [&](size_t action, device::Stream stream) { runLocated(*model_, context, action, way.threads, stream); });
}

void LoadedEngine::runWatched(const Context& context, Way way, StepWatch& watch) const {
  struct End {
    StepWatch& watch;
    ~End() {
      watch.end();
    }
  };
  const std::vector<Action>& actions = context.bound()->actions;
  for (size_t i = 0; i < actions.size(); ++i) {
    watch.begin(runningStep(*model_, actions[i]));
    const End end{watch};
    runLocated(*model_, context, i, way.threads, way.stream);
  }
}

void LoadedEngine::giveCuts(const Context& context, OutputAllocator& outputs, device::Stream stream) const {
  const Schedule& shapes = *context.bound();
  for (const Cut& cut : shapes.cuts) {
    OutputShape shape = shapes.outputs[cut.output];
    int64_t count = 0;
    model_->device->copyOut(&count, context.slotPointer(cut.count), sizeof(count), stream);
    if (count < 0 || count > shape.dims[0]) {
      throw EngineError(ErrorCode::kPlugin,
                        "output '" + model_->plan.outputs[cut.output].name + "': its step counts " +
                            std::to_string(count) + " rows where there is room for " + std::to_string(shape.dims[0]),
                        {}, "the fault is in the plugin that computes it");
    }
    shape.bytes =
        shape.dims[0] == 0 ? 0 : shape.bytes / static_cast<size_t>(shape.dims[0]) * static_cast<size_t>(count);
    shape.dims[0] = count;
    void* const memory = allocate(outputs, cut.output, shape);
    if (shape.bytes != 0) {
      model_->device->copyWithin(memory, context.slotPointer(cut.rows), shape.bytes, stream);
    }
  }
}

void LoadedEngine::enqueue(std::span<const TensorView> inputs, OutputAllocator& outputs,
                           const CallOptions& options) const {
  const Way way = wayOf(options);
  model_->device->checkFaults();
  if (way.stream.handle != nullptr && !model_->device->isHost()) {
    has_other_streams_.store(true, std::memory_order_relaxed);
  }
  try {
    auto words = faults_.wordsOf(way.stream, way.is_captured);
    faults_.check(words.get());
    const FilledInputs filled(*model_, inputs, way.stream);
    ContextLease lease = this->lease(filled.span(), way);
    lease.context().setFaults(std::move(words));
    begin(lease, filled.span(), outputs, way);
    const kernels::ThreadScope scope(way.threads);
    run(lease.context(), way);
    giveCuts(lease.context(), outputs, way.stream);
    if (lease.context().bound()->waits) {
      faults_.check(lease.context().faults());
    }
  } catch (const std::bad_alloc&) {
    throw EngineError(ErrorCode::kOutOfMemory,
                      "engine '" + name() + "': no memory for what a call needs beside its tensors", {},
                      "free some memory, or use smaller inputs or a smaller batch");
  }
}

bool LoadedEngine::isRealTime() const {
  return std::none_of(model_->steps.begin(), model_->steps.end(),
                      [](const LoadedStep& step) { return kernels::mayAllocate(*step.kernel); });
}

std::unique_ptr<BoundCall> LoadedEngine::bind(std::span<const TensorView> inputs, std::span<void* const> outputs,
                                              int threads) const {
  return bindCall(model_, cache_, inputs, outputs, resolveThreads(threads, *model_->device));
}

std::vector<std::vector<int64_t>> LoadedEngine::outputShapes(std::span<const TensorView> inputs) const {
  const FilledInputs filled(*model_, inputs);
  const std::vector<int64_t> registers = evaluateShapes(model_->plan, filled.span());
  std::vector<std::vector<int64_t>> shapes;
  for (const plan::Binding& output : model_->plan.outputs) {
    if (model_->countOf(output.tensor) >= 0) {
      throw EngineError(ErrorCode::kInputDevice, "how large output '" + output.name + "' is depends on data", {},
                        "call the engine with tensors that have data");
    }
    shapes.push_back(dimsOf(model_->plan.tensors[static_cast<size_t>(output.tensor)].dims, registers));
  }
  return shapes;
}

std::vector<std::string> LoadedEngine::implementations() const {
  std::vector<std::string> names;
  for (const LoadedStep& step : model_->steps) {
    names.emplace_back(step.implementation);
  }
  return names;
}

std::string LoadedEngine::inspect() const {
  std::vector<std::string> notes = implementations();
  for (std::string& note : notes) {
    note = "[" + note + "]";
  }
  return plan::print(model_->plan, notes);
}

std::string LoadedEngine::schedule(std::span<const TensorView> inputs, int threads) const {
  const FilledInputs filled(*model_, inputs);
  return print(*model_, *scheduleFor(filled.span(), threads), filled.span());
}

size_t LoadedEngine::workspaceBytes(std::span<const TensorView> inputs) const {
  const FilledInputs filled(*model_, inputs);
  return scheduleFor(filled.span(), 0)->workspace_bytes;
}

bool LoadedEngine::restoresWeight(size_t index) const {
  return index < model_->sources.size() && (model_->sources[index].kernel != nullptr || model_->sources[index].is_copy);
}

void LoadedEngine::restoreWeight(size_t index, std::span<std::byte> to, int threads) const {
  TORCHTRT_CHECK(restoresWeight(index) && to.size() == model_->plan.weights[index].bytes,
                 "weight " << index << " cannot be restored to " << to.size() << " bytes");
  threads = resolveThreads(threads, device::cpu());
  const kernels::ThreadScope scope(threads);
  const WeightSource& source = model_->sources[index];
  if (source.is_copy) {
    std::memcpy(to.data(), model_->weights[index].get(), to.size());
  } else {
    source.kernel->restore(source.input, to.data(), threads);
  }
}

std::shared_ptr<const LoadedEngine> loadOn(const device::Device& device, std::span<const std::byte> plan,
                                           std::shared_ptr<const void> owner, std::vector<ExternalWeight> external,
                                           const LoadOptions& options) {
  std::vector<plan::Weight> weights(external.size());
  const bool apart = !external.empty();
  bool owned = apart || owner != nullptr;
  for (size_t i = 0; i < external.size(); ++i) {
    weights[i].bytes = external[i].bytes;
    weights[i].data = std::shared_ptr<const void>(external[i].owner, external[i].data);
    owned = owned && (external[i].owner != nullptr || external[i].bytes == 0);
  }
  plan::Plan parsed = plan::parse(plan, std::move(owner), weights);
  for (size_t i = 0; i < parsed.weights.size(); ++i) {
    if (parsed.weights[i].data == nullptr && parsed.weights[i].bytes != 0) {
      throw EngineError(ErrorCode::kPlanCorrupt, "the plan's " + std::to_string(parsed.weights.size()) +
                                                     " weights lie outside of it and were not given");
    }
  }
  external.clear();
  weights.clear();
  const Ownership ownership = !owned ? Ownership::kNone : apart ? Ownership::kApart : Ownership::kTogether;
  auto engine = std::make_shared<LoadedEngine>(loadModel(std::move(parsed), ownership, options, device), options);
  if (options.prepare) {
    engine->prepare(options.threads);
  }
  return engine;
}

DeviceDescription describeDevice(const std::string& device) {
  const device::Properties& properties = kernels::deviceNamed(device).properties();
  return {properties.name, properties.isa};
}

std::shared_ptr<const Engine> Engine::load(std::span<const std::byte> plan, std::shared_ptr<const void> owner,
                                           std::vector<ExternalWeight> external, const LoadOptions& options) {
  plugin::registerBuiltinPlugins();
  return loadOn(kernels::deviceNamed(options.device), plan, std::move(owner), std::move(external), options);
}

}  // namespace torchtrt::engine
