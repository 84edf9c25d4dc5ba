#include "cuda/launch/layout.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/check.h"

namespace torchtrt::cuda {

int64_t countOf(const Ints& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

int64_t Layout::count() const {
  return countOf(dims);
}

Layout collapsed(const Ints& dims, const std::vector<Ints>& strides) {
  Layout result;
  result.strides.resize(strides.size());
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 1) {
      continue;
    }
    bool merges = !result.dims.empty();
    for (size_t k = 0; k < strides.size() && merges; ++k) {
      merges = result.strides[k].back() == strides[k][axis] * dims[axis];
    }
    if (!merges) {
      result.dims.push_back(1);
    }
    for (size_t k = 0; k < strides.size(); ++k) {
      merges ? void() : result.strides[k].push_back(0);
      result.strides[k].back() = strides[k][axis];
    }
    result.dims.back() *= dims[axis];
  }
  return result;
}

Ints broadcastTo(const kernels::TensorDesc& desc, const Ints& dims) {
  TORCHTRT_CHECK(desc.dims.size() <= dims.size(), "a tensor of rank " << desc.dims.size() << " is broadcast to less");
  Ints strides(dims.size(), 0);
  const size_t missing = dims.size() - desc.dims.size();
  for (size_t axis = 0; axis < desc.dims.size(); ++axis) {
    strides[missing + axis] = desc.dims[axis] == 1 ? 0 : desc.strides[axis];
  }
  return strides;
}

void addWalk(Arguments& arguments, const Ints& dims, const Ints& strides) {
  Ints values = dims.empty() ? Ints{1} : dims;
  const Ints steps = strides.empty() ? Ints{0} : strides;
  values.insert(values.end(), steps.begin(), steps.end());
  arguments.bytes(values.data(), values.size() * sizeof(int64_t));
}

const char* storedType(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    case DType::kFloat16:
      return "Half";
    case DType::kBFloat16:
      return "BFloat";
    case DType::kInt8:
      return "signed char";
    case DType::kInt16:
      return "short";
    case DType::kInt32:
      return "int";
    case DType::kInt64:
      return "long long";
    case DType::kUInt8:
      return "unsigned char";
    case DType::kBool:
      return "Bool";
  }
  throw InternalError("a dtype that no kernel stores");
}

const char* computedType(DType dtype) {
  return dtype == DType::kFloat64 ? "double" : isFloating(dtype) ? "float" : "long long";
}

const char* bitsType(DType dtype) {
  switch (sizeOf(dtype)) {
    case 1:
      return "unsigned char";
    case 2:
      return "unsigned short";
    case 4:
      return "unsigned int";
    default:
      return "unsigned long long";
  }
}

bool hasActivation(const std::string& name, DType dtype) {
  static constexpr std::string_view kNames[] = {
      "",     "relu",        "sigmoid",          "tanh",        "clip",        "leaky_relu",   "elu",        "selu",
      "celu", "gelu_erf",    "gelu_tanh",        "silu",        "hard_swish",  "hard_sigmoid", "softplus",   "softsign",
      "mish", "log_sigmoid", "thresholded_relu", "scaled_tanh", "hard_shrink", "soft_shrink",  "tanh_shrink"};
  const bool is_known = std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
  return is_known && (isFloating(dtype) || name.empty() || name == "relu");
}

void defineActivation(Source& source, const std::string& name) {
  source.define("ACTIVATION(x, a, b)", "activation_" + (name.empty() ? std::string("none") : name) + "((x), (a), (b))");
}

}  // namespace torchtrt::cuda
