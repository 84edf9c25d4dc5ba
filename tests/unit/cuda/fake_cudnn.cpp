#include "cuda/fake_cudnn.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "cpu/storage/convert.h"
#include "cuda/emulated_graphs.h"
#include "cuda/launch/layout.h"

namespace torchtrt::cuda::testing {

namespace {

constexpr dnn::Status kBadParameter = 2000, kNotSupported = 3000;
constexpr int64_t kWorkspace = 320;  // bytes that every plan asks for, and writes

// The engines that heuristics propose, in this order.
enum Engine : int { kNondeterministic, kWithTensorCores, kWithoutPlan, kRight, kEngines };

struct Object {
  int kind = 0;
  bool is_final = false;
  std::map<int, std::vector<std::byte>> attributes;
  int engine = 0;                 // of an engine or a configuration
  const Object* graph = nullptr;  // of a configuration

  template <typename T>
  std::vector<T> all(int attribute) const {
    const auto found = attributes.find(attribute);
    std::vector<T> values(found == attributes.end() ? 0 : found->second.size() / sizeof(T));
    if (!values.empty()) {
      std::memcpy(values.data(), found->second.data(), found->second.size());
    }
    return values;
  }
  template <typename T>
  T one(int attribute, T missing = T()) const {
    const std::vector<T> values = all<T>(attribute);
    return values.empty() ? missing : values[0];
  }
  const Object* object(int attribute) const {
    return one<const Object*>(attribute);
  }
};

size_t sizeOfType(int type) {
  switch (type) {
    case dnn::kHandle:
    case dnn::kPointer:
    case dnn::kObject:
    case dnn::kInt64:
    case dnn::kDouble:
      return 8;
    case dnn::kBoolean:
      return 1;
    default:
      return 4;
  }
}

DType dtypeOf(const Object& tensor) {
  switch (tensor.one<int>(dnn::kTensorType, -1)) {
    case dnn::kFloat64:
      return DType::kFloat64;
    case dnn::kFloat16:
      return DType::kFloat16;
    case dnn::kBFloat16:
      return DType::kBFloat16;
    default:
      return DType::kFloat32;
  }
}

Ints dimsOf(const Object& tensor) {
  return tensor.all<int64_t>(dnn::kTensorDims);
}

bool isPacked(const Object& tensor, bool channels_last) {
  const Ints dims = dimsOf(tensor), strides = tensor.all<int64_t>(dnn::kTensorStrides);
  int64_t step = 1;
  std::vector<size_t> order;  // innermost first
  for (size_t axis = dims.size(); axis-- > 2;) {
    order.push_back(axis);
  }
  order.insert(channels_last ? order.begin() : order.end(), 1);
  order.push_back(0);
  for (const size_t axis : order) {
    if (strides[axis] != step) {
      return false;
    }
    step *= dims[axis];
  }
  return true;
}

const Object* convolutionOf(const Object& graph) {
  return graph.all<const Object*>(dnn::kGraphOperations).at(0);
}

bool isAttention(const Object& graph) {
  return convolutionOf(graph)->kind == dnn::kAttention;
}

// q, k, v and the result.
std::vector<const Object*> attentionTensors(const Object& operation) {
  return {operation.object(dnn::kAttentionQ), operation.object(dnn::kAttentionK), operation.object(dnn::kAttentionV),
          operation.object(dnn::kAttentionOut)};
}

struct Roles {
  const Object *description, *small, *weights, *large;  // the forward convolution goes from the large to the small one
};

Roles rolesOf(const Object& operation) {
  const bool back = operation.kind == dnn::kBackward;
  return {operation.object(back ? dnn::kBackwardConvolution : dnn::kForwardConvolution),
          operation.object(back ? dnn::kBackwardY : dnn::kForwardY),
          operation.object(back ? dnn::kBackwardWeights : dnn::kForwardWeights),
          operation.object(back ? dnn::kBackwardX : dnn::kForwardX)};
}

bool isRightConvolution(const Object& operation) {
  const Roles roles = rolesOf(operation);
  if (roles.description == nullptr || roles.small == nullptr || roles.weights == nullptr || roles.large == nullptr) {
    return false;
  }
  const Object& description = *roles.description;
  const Ints small = dimsOf(*roles.small), weights = dimsOf(*roles.weights), large = dimsOf(*roles.large);
  const auto places = static_cast<size_t>(description.one<int64_t>(dnn::kConvolutionDims));
  const Ints stride = description.all<int64_t>(dnn::kConvolutionStrides),
             dilation = description.all<int64_t>(dnn::kConvolutionDilations),
             pre = description.all<int64_t>(dnn::kConvolutionPrePaddings),
             post = description.all<int64_t>(dnn::kConvolutionPostPaddings);
  bool right = places >= 2 && stride.size() == places && dilation.size() == places && pre.size() == places &&
               post.size() == places && small.size() == places + 2 && weights.size() == places + 2 &&
               large.size() == places + 2 && weights[0] == small[1] && large[1] % weights[1] == 0 &&
               description.one<int>(dnn::kConvolutionModeIs) == dnn::kCrossCorrelation;
  for (size_t i = 0; right && i < places; ++i) {
    const int64_t reach = dilation[i] * (weights[i + 2] - 1) + 1;
    right = small[i + 2] == (large[i + 2] + pre[i] + post[i] - reach) / stride[i] + 1;
  }
  return right;
}

dnn::Status finalize(dnn::Object handle) {
  auto& object = *static_cast<Object*>(handle);
  bool right = !object.is_final;
  switch (object.kind) {
    case dnn::kTensor:
      right = right && dimsOf(object).size() == object.all<int64_t>(dnn::kTensorStrides).size() &&
              object.attributes.count(dnn::kTensorId) != 0 && object.one<int64_t>(dnn::kTensorAlignment) == 16;
      break;
    case dnn::kForward:
    case dnn::kBackward:
      right = right && isRightConvolution(object);
      break;
    case dnn::kGraph:
      right = right && object.attributes.count(dnn::kGraphHandle) != 0;
      if (fakeCudnn().fuses_nothing && object.all<const Object*>(dnn::kGraphOperations).size() > 1) {
        return kNotSupported;
      }
      break;
    case dnn::kPlan: {
      const Object& configuration = *object.object(dnn::kPlanConfiguration);
      if (configuration.engine == kWithoutPlan) {
        return kNotSupported;
      }
      fakeCudnn().plans += 1;
      break;
    }
    default:
      break;
  }
  object.is_final = right;
  return right ? dnn::kSuccess : kBadParameter;
}

dnn::Status set(dnn::Object handle, int attribute, int type, int64_t count, const void* values) {
  auto& object = *static_cast<Object*>(handle);
  if (object.is_final || values == nullptr) {
    return kBadParameter;
  }
  const auto* const bytes = static_cast<const std::byte*>(values);
  object.attributes[attribute].assign(bytes, bytes + static_cast<size_t>(count) * sizeOfType(type));
  return dnn::kSuccess;
}

// True for what the library says its own engines take.
bool isSupportedAttention(const Object& operation) {
  for (const Object* const tensor : attentionTensors(operation)) {
    const Ints dims = dimsOf(*tensor), strides = tensor->all<int64_t>(dnn::kTensorStrides);
    if (dims.size() != 4 || dims[3] % 8 != 0 || dims[3] > 256 || strides[3] != 1 ||
        std::any_of(strides.begin(), strides.end() - 1, [](int64_t stride) { return stride % 8 != 0; }) ||
        sizeOf(dtypeOf(*tensor)) != 2) {
      return false;
    }
  }
  return !fakeCudnn().has_no_engines;
}

// True if an engine of this library takes the tensors of a graph.
bool isSupported(const Object& graph) {
  const FakeCudnn& fake = fakeCudnn();
  if (isAttention(graph)) {
    return isSupportedAttention(*convolutionOf(graph));
  }
  const Roles roles = rolesOf(*convolutionOf(graph));
  const bool channels_last = isPacked(*roles.weights, true) && isPacked(*roles.small, true) &&
                             isPacked(*roles.large, true) && !fake.has_no_channels_last;
  const bool channels_first =
      isPacked(*roles.weights, false) && isPacked(*roles.small, false) && isPacked(*roles.large, false);
  const bool back = convolutionOf(graph)->kind == dnn::kBackward;
  const bool is_wide = graph.all<const Object*>(dnn::kGraphOperations).size() == 1 &&
                       dtypeOf(back ? *roles.large : *roles.small) != dtypeOf(*roles.weights);
  return !fake.has_no_engines && (channels_last || channels_first) && !(fake.widens_nothing && is_wide);
}

dnn::Status getResults(const Object& heuristics, int64_t asked, int64_t* count, void* values) {
  const Object* const graph = heuristics.object(dnn::kHeuristicsGraph);
  // Only the fallback has an engine for what is transposed.
  const bool has_any = isSupported(*graph) && (convolutionOf(*graph)->kind != dnn::kBackward ||
                                               heuristics.one<int>(dnn::kHeuristicsMode) == dnn::kHeuristicsFallback);
  *count = has_any ? kEngines : 0;
  if (values == nullptr) {
    return dnn::kSuccess;
  }
  *count = std::min(*count, asked);
  for (int64_t i = 0; i < *count; ++i) {
    Object& configuration = *static_cast<Object* const*>(values)[i];
    configuration.engine = static_cast<int>(i);
    configuration.graph = graph;
  }
  return dnn::kSuccess;
}

dnn::Status get(dnn::Object handle, int attribute, int, int64_t asked, int64_t* count, void* values) {
  const Object& object = *static_cast<const Object*>(handle);
  switch (attribute) {
    case dnn::kHeuristicsResults:
      return getResults(object, asked, count, values);
    case dnn::kConfigurationEngine:
      (*static_cast<Object**>(values))->engine = object.engine;
      return *count = 1, dnn::kSuccess;
    case dnn::kEngineNotes: {
      int* const notes = static_cast<int*>(values);
      *count = 0;
      if (object.engine == kNondeterministic) {
        notes[(*count)++] = dnn::kNondeterministic;
      }
      if (object.engine == kWithTensorCores || object.engine == kNondeterministic) {
        notes[(*count)++] = dnn::kTensorCore;
      }
      return dnn::kSuccess;
    }
    case dnn::kPlanWorkspace:
      *static_cast<int64_t*>(values) = kWorkspace;
      return *count = 1, dnn::kSuccess;
    default:
      return kBadParameter;
  }
}

using Values = std::vector<double>;

// Runs one plan: the values of its tensors by their numbers.
class Run {
 public:
  Run(const Object& graph, const Object& pointers)
      : operations_(graph.all<const Object*>(dnn::kGraphOperations)),
        ids_(pointers.all<int64_t>(dnn::kPointersIds)),
        data_(pointers.all<void*>(dnn::kPointersData)) {}

  bool isAligned() const {
    for (size_t i = 0; i < data_.size(); ++i) {
      if (data_[i] == nullptr || (!isByValue(ids_[i]) && reinterpret_cast<uintptr_t>(data_[i]) % 16 != 0)) {
        return false;
      }
    }
    return true;
  }

  void all() {
    for (const Object* const operation : operations_) {
      operation->kind == dnn::kPointwiseOperation ? pointwise(*operation)
      : operation->kind == dnn::kAttention        ? attention(*operation)
                                                  : convolution(*operation);
    }
  }

 private:
  bool isByValue(int64_t id) const {
    const Object* const scale = operations_[0]->object(dnn::kAttentionScale);
    return scale != nullptr && scale->one<char>(dnn::kTensorIsByValue) != 0 &&
           scale->one<int64_t>(dnn::kTensorId) == id;
  }
  void* pointerOf(const Object& tensor) const {
    const auto found = std::find(ids_.begin(), ids_.end(), tensor.one<int64_t>(dnn::kTensorId));
    return found == ids_.end() ? nullptr : data_[static_cast<size_t>(found - ids_.begin())];
  }

  // Row-major in the dims, whatever the strides.
  template <typename Visitor>
  static void visit(const Object& tensor, const Visitor& visitor) {
    const Ints dims = dimsOf(tensor), strides = tensor.all<int64_t>(dnn::kTensorStrides);
    for (int64_t flat = 0; flat < countOf(dims); ++flat) {
      int64_t rest = flat, at = 0;
      for (size_t axis = dims.size(); axis-- > 0; rest /= dims[axis]) {
        at += rest % dims[axis] * strides[axis];
      }
      visitor(static_cast<size_t>(flat), at);
    }
  }
  Values read(const Object& tensor) const {
    if (tensor.one<char>(dnn::kTensorIsVirtual) != 0) {
      return virtual_.at(tensor.one<int64_t>(dnn::kTensorId));
    }
    Values values(static_cast<size_t>(countOf(dimsOf(tensor))));
    const kernels::Reader<double> reader(dtypeOf(tensor));
    const void* const from = pointerOf(tensor);
    visit(tensor, [&](size_t flat, int64_t at) { values[flat] = reader.one(from, at); });
    return values;
  }
  void write(const Object& tensor, const Values& values) {
    if (tensor.one<char>(dnn::kTensorIsVirtual) != 0) {
      virtual_[tensor.one<int64_t>(dnn::kTensorId)] = values;
      return;
    }
    const kernels::Writer<double> writer(dtypeOf(tensor));
    auto* const to = static_cast<std::byte*>(pointerOf(tensor));
    visit(tensor, [&](size_t flat, int64_t at) { writer.write(&values[flat], 1, to, at, 1); });
  }

  void convolution(const Object& operation) {
    const Roles roles = rolesOf(operation);
    const bool back = operation.kind == dnn::kBackward;
    const Ints small = dimsOf(*roles.small), weights = dimsOf(*roles.weights), large = dimsOf(*roles.large);
    const Values factors = read(*roles.weights), in = read(back ? *roles.small : *roles.large);
    Values out(static_cast<size_t>(countOf(back ? large : small)), 0);
    const Object& description = *roles.description;
    const Ints stride = description.all<int64_t>(dnn::kConvolutionStrides),
               dilation = description.all<int64_t>(dnn::kConvolutionDilations),
               pre = description.all<int64_t>(dnn::kConvolutionPrePaddings);
    const int64_t groups = large[1] / weights[1], of_group = small[1] / groups;
    const Ints small_places(small.begin() + 2, small.end()), taps(weights.begin() + 2, weights.end()),
        large_places(large.begin() + 2, large.end());
    for (int64_t pair = 0; pair < small[0] * small[1] * weights[1]; ++pair) {
      const int64_t c = pair % weights[1], k = pair / weights[1] % small[1], n = pair / weights[1] / small[1];
      const int64_t channel = k / of_group * weights[1] + c;
      for (int64_t place = 0; place < countOf(small_places); ++place) {
        for (int64_t tap = 0; tap < countOf(taps); ++tap) {
          int64_t at = 0, scale = 1, place_left = place, tap_left = tap;
          bool is_inside = true;
          for (size_t axis = taps.size(); axis-- > 0;) {
            const int64_t one =
                place_left % small_places[axis] * stride[axis] - pre[axis] + tap_left % taps[axis] * dilation[axis];
            place_left /= small_places[axis];
            tap_left /= taps[axis];
            is_inside = is_inside && one >= 0 && one < large_places[axis];
            at += one * scale;
            scale *= large_places[axis];
          }
          if (is_inside) {
            const double factor = factors[static_cast<size_t>((k * weights[1] + c) * countOf(taps) + tap)];
            const auto in_small = static_cast<size_t>((n * small[1] + k) * countOf(small_places) + place);
            const auto in_large = static_cast<size_t>((n * large[1] + channel) * countOf(large_places) + at);
            back ? out[in_large] += in[in_small] * factor : out[in_small] += in[in_large] * factor;
          }
        }
      }
    }
    write(back ? *roles.large : *roles.small, out);
  }

  void attention(const Object& operation) {
    const std::vector<const Object*> tensors = attentionTensors(operation);
    const Values q = read(*tensors[0]), k = read(*tensors[1]), v = read(*tensors[2]);
    const double scale = *static_cast<const float*>(pointerOf(*operation.object(dnn::kAttentionScale)));
    const Ints dims = dimsOf(*tensors[0]);
    const int64_t size = dims[3], keys = dimsOf(*tensors[1])[2], columns = dimsOf(*tensors[2])[3];
    Values out;
    for (int64_t row = 0; row < dims[0] * dims[1] * dims[2]; ++row) {
      const int64_t first_key = row / dims[2] * keys;
      Values weights(static_cast<size_t>(keys), 0);
      for (int64_t key = 0; key < keys; ++key) {
        for (int64_t i = 0; i < size; ++i) {
          weights[static_cast<size_t>(key)] +=
              scale * q[static_cast<size_t>(row * size + i)] * k[static_cast<size_t>((first_key + key) * size + i)];
        }
      }
      const double highest = *std::max_element(weights.begin(), weights.end());
      double total = 0;
      for (double& weight : weights) {
        weight = std::exp(weight - highest);
        total += weight;
      }
      for (int64_t column = 0; column < columns; ++column) {
        double sum = 0;
        for (int64_t key = 0; key < keys; ++key) {
          sum += weights[static_cast<size_t>(key)] * v[static_cast<size_t>((first_key + key) * columns + column)];
        }
        out.push_back(sum / total);
      }
    }
    write(*tensors[3], out);
  }

  static double combined(const Object& description, double x, double other) {
    switch (description.one<int>(dnn::kPointwiseModeIs)) {
      case dnn::kAdd:
        return x + other;
      case dnn::kMultiply:
        return x * other;
      case dnn::kRelu: {
        const double low = x < 0 ? x * description.one<double>(dnn::kPointwiseSlope) : x;
        const double most = description.one<double>(dnn::kPointwiseUpperClip, std::numeric_limits<double>::infinity());
        return low > most ? most : low;
      }
      case dnn::kTanh:
        return std::tanh(x);
      case dnn::kSigmoid:
        return 1 / (1 + std::exp(-x));
      case dnn::kSilu:
        return x / (1 + std::exp(-x));
      case dnn::kGeluErf:
        return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5)));
      case dnn::kGeluTanh:
        return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
      default:
        return std::numeric_limits<double>::quiet_NaN();
    }
  }

  void pointwise(const Object& operation) {
    const Object& description = *operation.object(dnn::kPointwiseDescription);
    const Object& x = *operation.object(dnn::kPointwiseX);
    const Object* const b = operation.object(dnn::kPointwiseB);
    Values values = read(x);
    const Values others = b == nullptr ? Values() : read(*b);
    const Ints dims = dimsOf(x);
    const int64_t places = countOf({dims.begin() + 2, dims.end()});
    for (size_t i = 0; i < values.size(); ++i) {
      const bool is_whole = others.size() == values.size();
      const auto channel = static_cast<size_t>(static_cast<int64_t>(i) / places % dims[1]);
      const double other = b == nullptr ? 0 : others.at(is_whole ? i : channel);
      values[i] = combined(description, values[i], other);
    }
    write(*operation.object(dnn::kPointwiseY), values);
  }

  std::vector<const Object*> operations_;
  Ints ids_;
  std::vector<void*> data_;
  std::map<int64_t, Values> virtual_;
};

void note(const Object& graph, bool is_tf32) {
  std::string& calls = fakeCudnn().calls;
  calls += calls.empty() ? "" : "; ";
  calls += is_tf32 ? "tf32 " : "";
  if (isAttention(graph)) {
    calls += std::string("attention ") + toString(dtypeOf(*attentionTensors(*convolutionOf(graph))[0]));
    return;
  }
  const Roles roles = rolesOf(*convolutionOf(graph));
  const bool back = convolutionOf(graph)->kind == dnn::kBackward;
  calls += isPacked(back ? *roles.large : *roles.small, true) ? "channels last " : "";
  calls += toString(dtypeOf(*roles.weights));
  for (const Object* const operation : graph.all<const Object*>(dnn::kGraphOperations)) {
    if (operation->kind != dnn::kPointwiseOperation) {
      calls += back ? " backward" : " forward";
      continue;
    }
    const int mode = operation->object(dnn::kPointwiseDescription)->one<int>(dnn::kPointwiseModeIs);
    const std::map<int, const char*> known = {
        {dnn::kAdd, " add"}, {dnn::kMultiply, " multiply"}, {dnn::kRelu, " relu"}};
    const auto name = known.find(mode);
    calls += name == known.end() ? " activation" : name->second;
  }
}

// Returns the stream of the one handle. Callers hold a lock from setting it to their execution.
StreamHandle& streamInUse() {
  static StreamHandle stream = nullptr;
  return stream;
}

dnn::Status execute(dnn::Handle, dnn::Object plan, dnn::Object pointers) {
  if (fakeCudnn().status_of_execute != dnn::kSuccess) {
    return fakeCudnn().status_of_execute;
  }
  const Object& configuration = *static_cast<const Object*>(plan)->object(dnn::kPlanConfiguration);
  void* const workspace = static_cast<const Object*>(pointers)->one<void*>(dnn::kPointersWorkspace);
  const bool is_float = !isAttention(*configuration.graph) &&
                        dtypeOf(*rolesOf(*convolutionOf(*configuration.graph)).weights) == DType::kFloat32;
  const bool is_tf32 = is_float && configuration.engine == kWithTensorCores;
  if (workspace == nullptr || reinterpret_cast<uintptr_t>(workspace) % 256 != 0 ||
      configuration.engine == kNondeterministic || (is_tf32 && !fakeCudnn().allows_tf32)) {
    return kBadParameter;
  }
  const auto run = std::make_shared<Run>(*configuration.graph, *static_cast<const Object*>(pointers));
  if (!run->isAligned()) {
    return kBadParameter;
  }
  note(*configuration.graph, is_tf32);
  const auto work = [run, workspace] {
    std::memset(workspace, 0x77, static_cast<size_t>(kWorkspace));
    Run(*run).all();
  };
  if (isCaptured(streamInUse())) {
    captureKernel(streamInUse(), work);
  } else {
    work();
  }
  return dnn::kSuccess;
}

}  // namespace

FakeCudnn& fakeCudnn() {
  static FakeCudnn fake;
  return fake;
}

Cudnn tableOfFakeCudnn() {
  Cudnn table;
  table.create = [](dnn::Handle* handle) -> dnn::Status {
    static int one;
    *handle = &one;
    return fakeCudnn().status_of_create;
  };
  table.setStream = [](dnn::Handle, StreamHandle stream) -> dnn::Status {
    return streamInUse() = stream, dnn::kSuccess;
  };
  table.statusText = [](dnn::Status) { return "the status of a fake"; };
  table.lastError = [](char* text, size_t size) { std::strncpy(text, "a fake's refusal", size); };
  table.createObject = [](int kind, dnn::Object* object) -> dnn::Status {
    auto* const made = new Object;
    made->kind = kind;
    return *object = made, dnn::kSuccess;
  };
  table.destroyObject = [](dnn::Object object) -> dnn::Status {
    return delete static_cast<Object*>(object), dnn::kSuccess;
  };
  table.finalize = finalize;
  table.set = set;
  table.get = get;
  table.execute = execute;
  return table;
}

}  // namespace torchtrt::cuda::testing
