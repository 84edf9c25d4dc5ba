#include "cuda/convolution/plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <utility>

#include "base/check.h"
#include "base/logging.h"

namespace torchtrt::cuda {

namespace {

enum : int64_t { kX, kWeights, kY, kBias, kResidual, kWorkspace, kFirstVirtual = 100 };

constexpr int64_t kMostWorkspace = int64_t{256} << 20;
constexpr int64_t kMostEngines = 64;  // of one answer of the heuristics

int typeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return dnn::kFloat64;
    case DType::kFloat16:
      return dnn::kFloat16;
    case DType::kBFloat16:
      return dnn::kBFloat16;
    default:
      TORCHTRT_CHECK(dtype == DType::kFloat32, "a convolution of " << toString(dtype) << " by cuDNN");
      return dnn::kFloat32;
  }
}

}  // namespace

std::string DnnProblem::text() const {
  std::ostringstream text;
  const auto add = [&](const Ints& values) {
    for (const int64_t value : values) {
      text << value << ' ';
    }
    text << ';';
  };
  for (const DnnTensor* const each : {&x, &weights, &y}) {
    text << toString(each->dtype) << ' ';
    add(each->dims);
    add(each->strides);
  }
  for (const Ints* const each : {&stride, &pre_padding, &post_padding, &dilation}) {
    add(*each);
  }
  text << is_transposed << adds_bias << adds_residual;
  if (activation) {
    text << ' ' << activation->mode << ' ' << activation->slope << ' ' << activation->most.value_or(-1);
  }
  return text.str();
}

// Builds a plan. The first thing that the library refuses ends it.
class DnnGraph {
 public:
  DnnGraph(DnnPlan::Library& library, const DnnProblem& problem)
      : library_(library),
        api_(library.api),
        problem_(problem),
        precision_(problem.x.dtype == DType::kFloat64 ? dnn::kFloat64 : dnn::kFloat32),
        plan_(new DnnPlan(library)) {}

  std::shared_ptr<const DnnPlan> build() {
    describe();
    if (!is_right_) {
      return nullptr;
    }
    for (const int mode : {dnn::kHeuristicsA, dnn::kHeuristicsFallback}) {
      if (tryEnginesOf(mode)) {
        return plan_;
      }
    }
    return nullptr;
  }

 private:
  using Owned = std::unique_ptr<void, dnn::Status (*)(void*)>;

  Owned create(dnn::Kind kind) {
    dnn::Object object = nullptr;
    note(api_.createObject(kind, &object));
    return {object, api_.destroyObject};
  }
  void note(dnn::Status status) {
    if (status != dnn::kSuccess && is_right_) {
      is_right_ = false;
      logLastError();
    }
  }
  void logLastError() const {
    char text[512] = "";
    api_.lastError(text, sizeof(text));
    TORCHTRT_LOG(kDEBUG, "cuDNN refuses a convolution: " << text);
  }
  template <typename T>
  void set(dnn::Object object, dnn::Attribute attribute, dnn::Type type, const T& value) {
    note(api_.set(object, attribute, type, 1, &value));
  }
  void set(dnn::Object object, dnn::Attribute attribute, const Ints& values) {
    note(api_.set(object, attribute, dnn::kInt64, static_cast<int64_t>(values.size()), values.data()));
  }
  // Keeps it as long as the plan.
  dnn::Object finished(Owned object) {
    if (is_right_) {
      note(api_.finalize(object.get()));
    }
    plan_->objects_.push_back(std::move(object));
    return plan_->objects_.back().get();
  }

  dnn::Object tensor(int64_t id, int type, const Ints& dims, const Ints& strides) {
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
  dnn::Object tensor(int64_t id, const DnnTensor& of) {
    return tensor(id, typeOf(of.dtype), of.dims, of.strides);
  }
  // The result of an operation: y if it is the last one.
  dnn::Object result() {
    --left_;
    return left_ == 0 ? tensor(kY, problem_.y)
                      : tensor(kFirstVirtual + left_, precision_, problem_.y.dims, problem_.y.strides);
  }

  void describe() {
    left_ = 1 + (problem_.adds_bias ? 1 : 0) + (problem_.adds_residual ? 1 : 0) + (problem_.activation ? 1 : 0);
    dnn::Object value = convolution();
    if (problem_.adds_residual) {
      value = sum(value, tensor(kResidual, problem_.y));
    }
    if (problem_.adds_bias) {
      // One element for each channel.
      const int64_t channels = problem_.y.dims[1];
      Ints dims(problem_.y.dims.size(), 1), strides(problem_.y.dims.size(), channels);
      dims[1] = channels;
      strides[1] = 1;
      value = sum(value, tensor(kBias, typeOf(problem_.x.dtype), dims, strides));
    }
    if (problem_.activation) {
      activate(value);
    }
    Owned graph = create(dnn::kGraph);
    set(graph.get(), dnn::kGraphHandle, dnn::kHandle, library_.handle);
    note(api_.set(graph.get(), dnn::kGraphOperations, dnn::kObject, static_cast<int64_t>(operations_.size()),
                  operations_.data()));
    graph_ = finished(std::move(graph));
  }

  void setFactor(dnn::Object object, dnn::Attribute attribute, float factor) {
    if (precision_ == dnn::kFloat64) {
      set(object, attribute, dnn::kDouble, static_cast<double>(factor));
    } else {
      set(object, attribute, dnn::kFloat, factor);
    }
  }

  dnn::Object convolution() {
    Owned description = create(dnn::kConvolution);
    dnn::Object object = description.get();
    set(object, dnn::kConvolutionPrecision, dnn::kDataType, precision_);
    set(object, dnn::kConvolutionModeIs, dnn::kConvolutionMode, dnn::kCrossCorrelation);
    set(object, dnn::kConvolutionDims, dnn::kInt64, static_cast<int64_t>(problem_.stride.size()));
    set(object, dnn::kConvolutionStrides, problem_.stride);
    set(object, dnn::kConvolutionDilations, problem_.dilation);
    set(object, dnn::kConvolutionPrePaddings, problem_.pre_padding);
    set(object, dnn::kConvolutionPostPaddings, problem_.post_padding);
    object = finished(std::move(description));
    const bool back = problem_.is_transposed;
    Owned operation = create(back ? dnn::kBackward : dnn::kForward);
    const dnn::Object made = operation.get();
    set(made, back ? dnn::kBackwardConvolution : dnn::kForwardConvolution, dnn::kObject, object);
    set(made, back ? dnn::kBackwardY : dnn::kForwardX, dnn::kObject, tensor(kX, problem_.x));
    set(made, back ? dnn::kBackwardWeights : dnn::kForwardWeights, dnn::kObject, tensor(kWeights, problem_.weights));
    const dnn::Object to = result();
    set(made, back ? dnn::kBackwardX : dnn::kForwardY, dnn::kObject, to);
    setFactor(made, back ? dnn::kBackwardAlpha : dnn::kForwardAlpha, 1);
    setFactor(made, back ? dnn::kBackwardBeta : dnn::kForwardBeta, 0);
    operations_.push_back(finished(std::move(operation)));
    return to;
  }

  dnn::Object pointwise(dnn::Object description, dnn::Object x, dnn::Object b) {
    Owned operation = create(dnn::kPointwiseOperation);
    set(operation.get(), dnn::kPointwiseDescription, dnn::kObject, description);
    set(operation.get(), dnn::kPointwiseX, dnn::kObject, x);
    if (b != nullptr) {
      set(operation.get(), dnn::kPointwiseB, dnn::kObject, b);
    }
    const dnn::Object to = result();
    set(operation.get(), dnn::kPointwiseY, dnn::kObject, to);
    operations_.push_back(finished(std::move(operation)));
    return to;
  }

  Owned pointwiseDescription(int mode) {
    Owned description = create(dnn::kPointwise);
    set(description.get(), dnn::kPointwiseModeIs, dnn::kPointwiseMode, mode);
    set(description.get(), dnn::kPointwisePrecision, dnn::kDataType, precision_);
    return description;
  }

  dnn::Object sum(dnn::Object x, dnn::Object b) {
    return pointwise(finished(pointwiseDescription(dnn::kAdd)), x, b);
  }

  void activate(dnn::Object x) {
    const DnnActivation& activation = *problem_.activation;
    Owned description = pointwiseDescription(activation.mode);
    if (activation.mode == dnn::kRelu) {
      // Newer versions always hand NaN on and may not know the attribute.
      api_.set(description.get(), dnn::kPointwiseNan, dnn::kNanPropagation, 1, &dnn::kPropagateNan);
      if (activation.most) {
        set(description.get(), dnn::kPointwiseUpperClip, dnn::kDouble, *activation.most);
      }
      if (activation.slope != 0) {
        set(description.get(), dnn::kPointwiseSlope, dnn::kDouble, activation.slope);
      }
    }
    pointwise(finished(std::move(description)), x, nullptr);
  }

  // Best first, as the library's heuristics order them.
  std::vector<Owned> configurations(int mode) {
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

  // Whether an engine gives the same bits each time, and computes in full precision.
  bool isExact(dnn::Object configuration) {
    Owned engine = create(dnn::kEngine);
    dnn::Object object = engine.get();
    int64_t count = 0;
    std::array<int, dnn::kNotes> notes{};
    if (api_.get(configuration, dnn::kConfigurationEngine, dnn::kObject, 1, &count, &object) != dnn::kSuccess ||
        api_.get(object, dnn::kEngineNotes, dnn::kNumericalNote, dnn::kNotes, &count, notes.data()) != dnn::kSuccess) {
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
    return problem_.x.dtype != DType::kFloat32 || !has(dnn::kTensorCore);  // that would be TF32
  }

  bool tryEnginesOf(int mode) {
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

  DnnPlan::Library& library_;
  const Cudnn& api_;
  const DnnProblem& problem_;
  int precision_;
  std::shared_ptr<DnnPlan> plan_;
  bool is_right_ = true;
  int left_ = 0;  // operations whose results are not described yet
  std::vector<dnn::Object> operations_;
  dnn::Object graph_ = nullptr;
};

DnnPlan::Library* DnnPlan::libraryOf(const CudaDevice& device, const Cudnn& api) {
  static auto* const mutex = new std::mutex;
  static auto* const libraries = new std::map<std::pair<const Cudnn*, ContextHandle>, std::unique_ptr<Library>>;
  const std::lock_guard lock(*mutex);
  std::unique_ptr<Library>& library = (*libraries)[{&api, device.context()}];
  if (library == nullptr) {
    library.reset(new Library{api, nullptr, {}});
    if (const dnn::Status status = api.create(&library->handle); status != dnn::kSuccess) {
      library->handle = nullptr;
      TORCHTRT_LOG(kWARNING, "cuDNN does not start (" << api.statusText(status)
                                                      << "): convolutions on the GPU are slower without it");
    }
  }
  return library->handle == nullptr ? nullptr : library.get();
}

std::shared_ptr<const DnnPlan> DnnPlan::make(const CudaDevice& device, const Cudnn& api, const DnnProblem& problem) {
  const ContextScope scope(device);
  Library* const library = libraryOf(device, api);
  if (library == nullptr) {
    return nullptr;
  }
  static auto* const plans = new std::map<std::pair<const Library*, std::string>, std::weak_ptr<const DnnPlan>>;
  static auto* const mutex = new std::mutex;
  const std::lock_guard lock(*mutex);
  std::weak_ptr<const DnnPlan>& known = (*plans)[{library, problem.text()}];
  std::shared_ptr<const DnnPlan> plan = known.lock();
  if (plan == nullptr) {
    const std::lock_guard library_lock(library->mutex);
    plan = DnnGraph(*library, problem).build();
    known = plan;
  }
  return plan;
}

void DnnPlan::run(const DevicePointer* pointers, StreamHandle stream) const {
  const Cudnn& api = library_.api;
  constexpr const char* kPurpose = "a convolution on the GPU";
  std::vector<void*> data;
  for (const int64_t id : ids_) {
    data.push_back(reinterpret_cast<void*>(pointers[id]));
  }
  const void* const workspace = workspaceAt(pointers[kWorkspace], workspace_);
  const std::lock_guard lock(library_.mutex);
  dnn::Object made = nullptr;
  check(api, api.createObject(dnn::kPointers, &made), kPurpose);
  const std::unique_ptr<void, dnn::Status (*)(void*)> pack(made, api.destroyObject);
  const auto count = static_cast<int64_t>(ids_.size());
  check(api, api.set(made, dnn::kPointersIds, dnn::kInt64, count, ids_.data()), kPurpose);
  check(api, api.set(made, dnn::kPointersData, dnn::kPointer, count, data.data()), kPurpose);
  check(api, api.set(made, dnn::kPointersWorkspace, dnn::kPointer, 1, &workspace), kPurpose);
  check(api, api.finalize(made), kPurpose);
  check(api, api.setStream(library_.handle, stream), kPurpose);
  check(api, api.execute(library_.handle, plan_, made), kPurpose);
}

}  // namespace torchtrt::cuda
