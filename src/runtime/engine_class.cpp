#include "runtime/engine_class.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <span>

#include "device/constants.h"
#include "runtime/base64.h"
#include "runtime/device_info.h"
#include "runtime/dtypes.h"
#include "runtime/host_copies.h"
#include "runtime/torch_device.h"
#include "torchtrt/runtime.h"

namespace torchtrt::runtime {

namespace {

constexpr size_t kStrings = 4;
enum StringIndex : size_t { kAbi = 0, kName = 1, kDevice = 2, kPlan = 3 };
constexpr size_t kAlignment = 64;

std::span<const std::byte> bytesOf(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

bool isAligned(const void* data) {
  return reinterpret_cast<uintptr_t>(data) % kAlignment == 0;
}

void checkStrings(const std::vector<std::string>& strings) {
  if (strings.empty() || strings[kAbi] != kAbiVersion) {
    throw EngineError(ErrorCode::kPlanVersion,
                      "the engine has the ABI version \"" + (strings.empty() ? "" : strings[kAbi].substr(0, 32)) +
                          "\", expected \"" + kAbiVersion + "\"",
                      {},
                      "load it with the version of torchtrt that saved it, or compile the module anew with this one");
  }
  if (strings.size() != kStrings) {
    throw EngineError(ErrorCode::kPlanCorrupt, "a serialized engine has " + std::to_string(kStrings) +
                                                   " strings (ABI version, name, device, plan), got " +
                                                   std::to_string(strings.size()));
  }
  checkDeviceInfo(strings[kDevice]);
}

[[noreturn]] void throwNoData(size_t index) {
  throw EngineError(ErrorCode::kInputDevice, "weight " + std::to_string(index) + " of the engine holds no data", {},
                    "load the module with map_location=\"cpu\"");
}

// Weights may come back from a file on another device (map_location) or as an unaligned view of a mapped file.
at::Tensor usableWeight(const at::Tensor& tensor, size_t index) {
  if (!tensor.defined() || tensor.is_meta() || tensor.layout() != at::kStrided) {
    throwNoData(index);
  }
  at::Tensor usable = tensor.detach().to(at::kCPU).contiguous();
  return isAligned(usable.const_data_ptr()) ? usable : usable.clone();
}

std::string infoOf(const Placement& placement) {
  return placement.info.empty() ? deviceInfoOf(placement.device) : placement.info;
}

// Copies tensors to the host that a file gave elsewhere than on the CPU (map_location). Engines and kept segments copy
// from there.
void bringToHost(std::vector<at::Tensor>& weights, std::vector<at::Tensor>* kept) {
  HostCopies copies;
  const auto bring = [&copies](at::Tensor& tensor) { tensor = copies.of(tensor); };
  std::for_each(weights.begin(), weights.end(), bring);
  if (kept != nullptr) {
    std::for_each(kept->begin(), kept->end(), bring);
  }
}

// The last tensor of the state of an engine for a GPU.
std::optional<at::Tensor> takeMarker(const std::string& info, std::vector<at::Tensor>& tensors) {
  if (!isForGpu(info)) {
    return std::nullopt;
  }
  if (tensors.empty() || !tensors.back().defined() || tensors.back().numel() != 0) {
    throw EngineError(ErrorCode::kPlanCorrupt, "the state of an engine for a GPU does not say where it is to run", {},
                      "the file is damaged: save the module again");
  }
  at::Tensor marker = std::move(tensors.back());
  tensors.pop_back();
  return marker;
}

engine::ExternalWeight externalWeight(const at::Tensor& tensor) {
  return {tensor.const_data_ptr(), tensor.nbytes(), std::make_shared<at::Tensor>(tensor)};
}

// The plan's data as a tensor, without a copy where it is aligned.
at::Tensor weightTensor(const plan::Weight& weight) {
  const auto options = at::TensorOptions().dtype(scalarTypeOf(weight.dtype));
  if (weight.bytes == 0) {
    return at::empty(weight.dims, options);
  }
  if (weight.data == nullptr) {
    throw EngineError(ErrorCode::kPlanCorrupt, "the plan holds no weights, and none were given beside it", {},
                      "give a plan that convert_method_to_trt_engine made, or the whole state of an engine");
  }
  void* data = const_cast<void*>(weight.data.get());
  at::Tensor view = at::from_blob(
      data, weight.dims, [owner = weight.data](void*) {}, options);
  return isAligned(data) ? view : view.clone();
}

// Gives the storage memory of its own, apart from packed weights. All tensors that share the storage see it.
void moveOut(const c10::Storage& storage) {
  auto memory = std::make_unique<std::shared_ptr<void>>(
      device::allocateConstant(storage.nbytes(), "what an engine keeps of the weights it was made of"));
  void* data = memory->get();
  std::memcpy(data, storage.data(), storage.nbytes());
  const auto let_go = [](void* holder) { delete static_cast<std::shared_ptr<void>*>(holder); };
  storage.set_data_ptr_noswap(c10::DataPtr(data, memory.release(), let_go, c10::kCPU));
}

std::shared_ptr<const LoadedEngine> load(const std::string& plan_bytes, std::string plan_text,
                                         std::vector<at::Tensor> weights, Originals originals, const at::Device& device,
                                         std::vector<bool> borrowed = {}, std::vector<bool> exclusive = {}) {
  needDevice(device);
  // An engine is loaded, and called on zeros, in the default stream. The workspace comes from PyTorch, whose memory may
  // still be in use in any other stream.
  const DeviceScope scope(device, DeviceScope::Stream::kDefault);
  auto bytes = std::make_shared<const std::string>(plan_bytes);
  std::vector<engine::ExternalWeight> external;
  external.reserve(weights.size());
  std::transform(weights.begin(), weights.end(), std::back_inserter(external), externalWeight);
  engine::LoadOptions options;
  options.threads = callThreads();
  options.device = device.str();
  options.memory = memorySource(device);
  borrowed.resize(weights.size());
  options.lasting = [&](size_t index) -> std::shared_ptr<const void> {
    if (borrowed[index]) {
      moveOut(weights[index].storage());
      borrowed[index] = false;
    }
    return {std::make_shared<at::Tensor>(weights[index]), weights[index].const_data_ptr()};
  };
  exclusive.resize(weights.size());
  options.packed = [&](size_t index) {
    if (exclusive[index]) {
      EngineWeights::giveAway(weights[index]);
    }
  };
  auto engine = engine::Engine::load(bytesOf(*bytes), bytes, std::move(external), options);
  for (size_t i = 0; i < weights.size(); ++i) {
    if (borrowed[i] && !(originals == Originals::kLetGo && engine->restoresWeight(i))) {
      moveOut(weights[i].storage());
    }
  }
  device::trimConstants();
  auto held = std::make_shared<const EngineWeights>(std::move(weights), engine, originals);
  return std::make_shared<const LoadedEngine>(
      LoadedEngine{std::move(plan_text), std::move(held), std::move(engine), engine::kernelSwitches(), device});
}

plan::Plan parseCopy(std::string_view bytes) {
  // The plan lies in memory of its own, aligned as the weights in it have to be.
  const at::Tensor aligned = at::empty({static_cast<int64_t>(bytes.size())}, at::kByte);
  if (!bytes.empty()) {
    std::memcpy(aligned.mutable_data_ptr(), bytes.data(), bytes.size());
  }
  const auto* data = static_cast<const std::byte*>(aligned.const_data_ptr());
  return plan::parse({data, bytes.size()}, std::make_shared<at::Tensor>(aligned));
}

// Engines alive in this process, so that a deep copy shares the one that is packed already.
class LoadedEngines {
 public:
  std::shared_ptr<const LoadedEngine> find(const std::string& plan, const std::vector<at::Tensor>& weights,
                                           const at::Device& device) {
    const std::string switches = engine::kernelSwitches();
    for (std::shared_ptr<const LoadedEngine>& engine : alive()) {
      if (engine->plan == plan && engine->switches == switches && engine->device == device &&
          engine->weights->areSame(weights)) {
        return std::move(engine);
      }
    }
    return nullptr;
  }

  void add(const std::shared_ptr<const LoadedEngine>& engine) {
    const std::lock_guard lock(mutex_);
    std::erase_if(engines_, [](const auto& candidate) { return candidate.expired(); });
    engines_.push_back(engine);
  }

 private:
  // Outlive the lock: the last reference to one runs the code of whoever owns its weights.
  std::vector<std::shared_ptr<const LoadedEngine>> alive() {
    std::vector<std::shared_ptr<const LoadedEngine>> engines;
    const std::lock_guard lock(mutex_);
    for (const std::weak_ptr<const LoadedEngine>& candidate : engines_) {
      if (auto engine = candidate.lock()) {
        engines.push_back(std::move(engine));
      }
    }
    return engines;
  }

  std::mutex mutex_;
  std::vector<std::weak_ptr<const LoadedEngine>> engines_;
};

LoadedEngines& loadedEngines() {
  static LoadedEngines engines;
  return engines;
}

}  // namespace

std::vector<at::Tensor> Engine::weightsOf(const plan::Plan& plan) {
  std::vector<at::Tensor> weights;
  weights.reserve(plan.weights.size());
  std::transform(plan.weights.begin(), plan.weights.end(), std::back_inserter(weights), weightTensor);
  return weights;
}

c10::intrusive_ptr<Engine> Engine::fromPlan(const plan::Plan& plan, const Placement& placement) {
  return fromPlan(plan, weightsOf(plan), Originals::kLetGo, {}, {}, placement);
}

c10::intrusive_ptr<Engine> Engine::fromPlan(const plan::Plan& plan, std::vector<at::Tensor> weights,
                                            Originals originals, std::vector<bool> borrowed,
                                            std::vector<bool> exclusive, const Placement& placement) {
  const at::Device device = withIndex(placement.device);
  const std::string bytes = plan::serializeWithoutWeights(plan);
  auto loaded = load(bytes, encodeBase64(bytes), std::move(weights), originals, device, std::move(borrowed),
                     std::move(exclusive));
  loadedEngines().add(loaded);
  return c10::make_intrusive<Engine>(plan.name, infoOf({device, placement.info}), std::move(loaded));
}

c10::intrusive_ptr<Engine> Engine::fromState(EngineState state, std::vector<bool> exclusive,
                                             std::vector<at::Tensor>* kept) {
  auto& [strings, tensors] = state;
  checkStrings(strings);
  const std::optional<at::Tensor> marker = takeMarker(strings[kDevice], tensors);
  Placement placement = placementOf(strings[kDevice], marker, tensors);
  placement.device = withIndex(placement.device);
  bringToHost(tensors, kept);
  std::vector<at::Tensor> weights;
  weights.reserve(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    weights.push_back(usableWeight(tensors[i], i));
  }
  auto loaded = loadedEngines().find(strings[kPlan], weights, placement.device);
  if (!loaded) {
    if (const auto gone = std::find_if(weights.begin(), weights.end(), EngineWeights::isGivenAway);
        gone != weights.end()) {
      throwNoData(static_cast<size_t>(gone - weights.begin()));
    }
    const std::optional<std::string> bytes = decodeBase64(strings[kPlan]);
    if (!bytes) {
      throw EngineError(ErrorCode::kPlanCorrupt, "the plan of engine \"" + strings[kName] + "\" is not base64", {},
                        "the file is damaged: save the module again");
    }
    loaded = load(*bytes, std::move(strings[kPlan]), std::move(weights), Originals::kLetGo, placement.device, {},
                  std::move(exclusive));
    loadedEngines().add(loaded);
  }
  return c10::make_intrusive<Engine>(std::move(strings[kName]), infoOf(placement), std::move(loaded));
}

c10::intrusive_ptr<Engine> Engine::fromBytes(std::string_view bytes, const Placement& placement) {
  return fromPlan(parseCopy(bytes), placement);
}

c10::intrusive_ptr<Engine> Engine::fromStrings(const std::vector<std::string>& strings) {
  checkStrings(strings);
  const std::optional<std::string> decoded = decodeBase64(strings[kPlan]);
  plan::Plan plan = parseCopy(decoded ? *decoded : strings[kPlan]);
  plan.name = strings[kName];
  return fromPlan(plan, placementOf(strings[kDevice], std::nullopt, {}));
}

EngineState Engine::stateWith(std::vector<at::Tensor> weights) const {
  if (isForGpu(device_info_)) {
    weights.push_back(markerOf({device(), device_info_}));
  }
  return {{kAbiVersion, name_, device_info_, loaded_->plan}, std::move(weights)};
}

plan::Plan Engine::plan(uint64_t largest_weight) const {
  plan::Plan plan = parseCopy(decodeBase64(loaded_->plan).value());
  for (size_t i = 0; i < plan.weights.size(); ++i) {
    if (plan.weights[i].bytes <= largest_weight) {
      auto tensor = std::make_shared<at::Tensor>(loaded_->weights->at(i));
      plan.weights[i].data = {tensor, tensor->const_data_ptr()};
    }
  }
  plan.name = name_;
  return plan;
}

EngineState Engine::state() const {
  return stateWith(weights());
}

EngineState Engine::stateToSave() const {
  return stateWith(loaded_->weights->toSave());
}

}  // namespace torchtrt::runtime
