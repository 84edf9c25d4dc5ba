#include "cuda/launch/dnn.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/check.h"
#include "base/logging.h"

namespace torchtrt::cuda {

namespace {

constexpr int64_t kMostWorkspace = int64_t{256} << 20;
constexpr int64_t kMostEngines = 64;  // of one answer of the heuristics

}  // namespace

DnnLibrary* DnnLibrary::of(const CudaDevice& device, const Cudnn& api) {
  static auto* const mutex = new std::mutex;
  static auto* const libraries = new std::map<std::pair<const Cudnn*, ContextHandle>, std::unique_ptr<DnnLibrary>>;
  const std::lock_guard lock(*mutex);
  std::unique_ptr<DnnLibrary>& library = (*libraries)[{&api, device.context()}];
  if (library == nullptr) {
    library.reset(new DnnLibrary{api, nullptr, {}, {}, {}});
    if (const dnn::Status status = api.create(&library->handle); status != dnn::kSuccess) {
      library->handle = nullptr;
      TORCHTRT_LOG(kWARNING, "cuDNN does not start ("
                                 << api.statusText(status)
                                 << "): convolutions and attention on the GPU are slower without it");
    }
  }
  return library->handle == nullptr ? nullptr : library.get();
}

std::shared_ptr<const DnnPlan> DnnLibrary::plan(const std::string& text,
                                                const std::function<std::shared_ptr<const DnnPlan>()>& build) {
  constexpr size_t kMostRefused = 1024;
  const std::lock_guard lock(mutex);
  if (refused.count(text) != 0) {
    return nullptr;
  }
  if (const auto known = plans.find(text); known != plans.end()) {
    if (std::shared_ptr<const DnnPlan> plan = known->second.lock()) {
      return plan;
    }
  }
  std::shared_ptr<const DnnPlan> plan = build();
  if (plan == nullptr) {
    if (refused.size() == kMostRefused) {
      refused.clear();
    }
    refused.insert(text);
    return nullptr;
  }
  std::erase_if(plans, [](const auto& each) { return each.second.expired(); });
  plans[text] = plan;
  return plan;
}

void DnnPlan::run(const DevicePointer* pointers, StreamHandle stream) const {
  const Cudnn& api = library_.api;
  std::vector<void*> data;
  for (const int64_t id : ids_) {
    data.push_back(reinterpret_cast<void*>(pointers[id]));
  }
  std::vector<int64_t> ids = ids_;
  for (const auto& [id, value] : by_value_) {
    ids.push_back(id);
    data.push_back(const_cast<float*>(value));
  }
  const void* const workspace = workspaceAt(pointers[pointers_], workspace_);
  const std::lock_guard lock(library_.mutex);
  dnn::Object made = nullptr;
  check(api, api.createObject(dnn::kPointers, &made), purpose_);
  const std::unique_ptr<void, dnn::Status (*)(void*)> pack(made, api.destroyObject);
  const auto count = static_cast<int64_t>(ids.size());
  check(api, api.set(made, dnn::kPointersIds, dnn::kInt64, count, ids.data()), purpose_);
  check(api, api.set(made, dnn::kPointersData, dnn::kPointer, count, data.data()), purpose_);
  check(api, api.set(made, dnn::kPointersWorkspace, dnn::kPointer, 1, &workspace), purpose_);
  check(api, api.finalize(made), purpose_);
  check(api, api.setStream(library_.handle, stream), purpose_);
  check(api, api.execute(library_.handle, plan_, made), purpose_);
}

bool DnnPlan::readsAhead(size_t argument) const {
  return std::find(ahead_.begin(), ahead_.end(), static_cast<int64_t>(argument)) != ahead_.end();
}

DnnGraph::DnnGraph(DnnLibrary& library, const std::string& name, DType dtype, int64_t pointers, bool tf32)
    : library_(library),
      api_(library.api),
      dtype_(dtype),
      precision_(dtype == DType::kFloat64 ? dnn::kFloat64 : dnn::kFloat32),
      tf32_(tf32),
      plan_(new DnnPlan(library, name, pointers)) {}

int DnnGraph::typeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return dnn::kFloat64;
    case DType::kFloat16:
      return dnn::kFloat16;
    case DType::kBFloat16:
      return dnn::kBFloat16;
    default:
      TORCHTRT_CHECK(dtype == DType::kFloat32, "tensors of " << toString(dtype) << " for cuDNN");
      return dnn::kFloat32;
  }
}

DnnGraph::Owned DnnGraph::create(int kind) {
  dnn::Object object = nullptr;
  note(api_.createObject(kind, &object));
  return {object, api_.destroyObject};
}

void DnnGraph::note(dnn::Status status) {
  if (status != dnn::kSuccess && is_right_) {
    is_right_ = false;
    logLastError();
  }
}

void DnnGraph::logLastError() const {
  char text[512] = "";
  api_.lastError(text, sizeof(text));
  TORCHTRT_LOG(kDEBUG, "cuDNN refuses " << plan_->purpose_ << ": " << text);
}

void DnnGraph::set(dnn::Object object, int attribute, const Ints& values) {
  note(api_.set(object, attribute, dnn::kInt64, static_cast<int64_t>(values.size()), values.data()));
}

dnn::Object DnnGraph::finished(Owned object) {
  if (is_right_) {
    note(api_.finalize(object.get()));
  }
  plan_->objects_.push_back(std::move(object));
  return plan_->objects_.back().get();
}

dnn::Object DnnGraph::tensor(int64_t id, int type, const Ints& dims, const Ints& strides) {
  Owned made = create(dnn::kTensor);
  set(made.get(), dnn::kTensorType, dnn::kDataType, type);
  set(made.get(), dnn::kTensorDims, dims);
  set(made.get(), dnn::kTensorStrides, strides);
  set(made.get(), dnn::kTensorId, dnn::kInt64, id);
  set(made.get(), dnn::kTensorAlignment, dnn::kInt64, DnnPlan::kAlignment);
  const bool is_virtual = id >= kFirstVirtual;
  set(made.get(), dnn::kTensorIsVirtual, dnn::kBoolean, is_virtual);
  if (!is_virtual) {
    plan_->ids_.push_back(id);
  }
  return finished(std::move(made));
}

dnn::Object DnnGraph::number(int64_t id, float value, size_t rank) {
  Owned made = create(dnn::kTensor);
  const Ints ones(rank, 1);
  set(made.get(), dnn::kTensorType, dnn::kDataType, dnn::kFloat32);
  set(made.get(), dnn::kTensorDims, ones);
  set(made.get(), dnn::kTensorStrides, ones);
  set(made.get(), dnn::kTensorId, dnn::kInt64, id);
  set(made.get(), dnn::kTensorAlignment, dnn::kInt64, DnnPlan::kAlignment);
  set(made.get(), dnn::kTensorIsByValue, dnn::kBoolean, true);
  plan_->values_.push_back(value);
  plan_->by_value_.emplace_back(id, &plan_->values_.back());
  return finished(std::move(made));
}

std::shared_ptr<const DnnPlan> DnnGraph::plan(const std::vector<dnn::Object>& operations) {
  Owned graph = create(dnn::kGraph);
  set(graph.get(), dnn::kGraphHandle, dnn::kHandle, library_.handle);
  note(api_.set(graph.get(), dnn::kGraphOperations, dnn::kObject, static_cast<int64_t>(operations.size()),
                operations.data()));
  graph_ = finished(std::move(graph));
  const bool has_engine = is_right_ && (tryEnginesOf(dnn::kHeuristicsA) || tryEnginesOf(dnn::kHeuristicsFallback));
  return has_engine ? plan_ : nullptr;
}

// Best first.
std::vector<DnnGraph::Owned> DnnGraph::configurations(int mode) {
  std::vector<Owned> results;
  Owned heuristics = create(dnn::kHeuristics);
  set(heuristics.get(), dnn::kHeuristicsGraph, dnn::kObject, graph_);
  set(heuristics.get(), dnn::kHeuristicsMode, dnn::kHeuristicMode, mode);
  int64_t count = 0;
  if (!is_right_ || api_.finalize(heuristics.get()) != dnn::kSuccess ||
      api_.get(heuristics.get(), dnn::kHeuristicsResults, dnn::kObject, 0, &count, nullptr) != dnn::kSuccess) {
    logLastError();
    return results;
  }
  std::vector<dnn::Object> objects;
  for (int64_t i = 0; i < std::min(count, kMostEngines); ++i) {
    results.push_back(create(dnn::kConfiguration));
    objects.push_back(results.back().get());
  }
  const dnn::Status status = api_.get(heuristics.get(), dnn::kHeuristicsResults, dnn::kObject,
                                      static_cast<int64_t>(objects.size()), &count, objects.data());
  const int64_t filled = status == dnn::kSuccess ? std::clamp<int64_t>(count, 0, std::ssize(results)) : 0;
  results.erase(results.begin() + filled, results.end());
  plan_->objects_.push_back(std::move(heuristics));
  return results;
}

// True if an engine gives the same bits each time, and rounds factors no more than is allowed.
bool DnnGraph::isExact(dnn::Object configuration) {
  Owned engine = create(dnn::kEngine);
  dnn::Object object = engine.get();
  int64_t count = 0;
  std::array<int, dnn::kNotes> notes{};
  if (api_.get(configuration, dnn::kConfigurationEngine, dnn::kObject, 1, &count, &object) != dnn::kSuccess ||
      api_.get(object, dnn::kEngineNotes, dnn::kNumericalNote, dnn::kNotes, &count, notes.data()) != dnn::kSuccess ||
      count > std::ssize(notes)) {  // a library that has more notes than were asked for
    return false;
  }
  const auto has = [&](int note) {
    return std::find(notes.begin(), notes.begin() + count, note) != notes.begin() + count;
  };
  for (const int note : {dnn::kConvertsInputs, dnn::kReducesInHalf, dnn::kFourier, dnn::kNondeterministic,
                         dnn::kWinograd, dnn::kWinograd4, dnn::kWinograd6, dnn::kWinograd13}) {
    if (has(note)) {
      return false;
    }
  }
  return dtype_ != DType::kFloat32 || tf32_ || !has(dnn::kTensorCore);  // that would be TF32
}

bool DnnGraph::tryEnginesOf(int mode) {
  for (Owned& configuration : configurations(mode)) {
    if (!isExact(configuration.get())) {
      continue;
    }
    Owned plan = create(dnn::kPlan);
    set(plan.get(), dnn::kPlanHandle, dnn::kHandle, library_.handle);
    const dnn::Object chosen = configuration.get();
    set(plan.get(), dnn::kPlanConfiguration, dnn::kObject, chosen);
    int64_t workspace = 0, count = 0;
    if (api_.finalize(plan.get()) != dnn::kSuccess ||
        api_.get(plan.get(), dnn::kPlanWorkspace, dnn::kInt64, 1, &count, &workspace) != dnn::kSuccess ||
        workspace > kMostWorkspace) {
      continue;
    }
    plan_->plan_ = plan.get();
    plan_->workspace_ = static_cast<size_t>(workspace);
    plan_->objects_.push_back(std::move(configuration));
    plan_->objects_.push_back(std::move(plan));
    return true;
  }
  return false;
}

}  // namespace torchtrt::cuda
