#include "engine/joins.h"

#include <algorithm>
#include <utility>

#include "engine/model.h"
#include "kernels/joins.h"

namespace torchtrt::engine {
namespace {

// Joins::reads.
std::vector<int> countReaders(const plan::Plan& plan) {
  std::vector<int> readers(plan.tensors.size(), 0);
  const auto read = [&](int32_t tensor) {
    if (tensor >= 0) {
      ++readers[static_cast<size_t>(tensor)];
    }
  };
  for (const plan::Step& step : plan.steps) {
    std::for_each(step.inputs.begin(), step.inputs.end(), read);
  }
  for (const plan::Binding& output : plan.outputs) {
    read(output.tensor);
  }
  for (const plan::Tensor& tensor : plan.tensors) {
    read(tensor.view_of);
  }
  return readers;
}

bool isPlainProduct(const plan::Step& step) {
  return step.family == "elementwise" && step.inputs.size() == 2 && step.outputs.size() == 1 &&
         step.attributes.getString("op") == "prod" && step.attributes.getString("activation", "").empty();
}

bool isAverage(const plan::Step& step) {
  return step.family == "adaptive_pooling" && step.outputs.size() == 1 && step.attributes.getString("op") == "average";
}

bool isMaximumOfFour(const plan::Step& step) {
  const auto are = [&](const char* name, int64_t value) {
    return step.attributes.getInts(name, {}) == std::vector<int64_t>{value, value};
  };
  return step.family == "pooling" && step.outputs.size() == 1 && step.attributes.getString("op") == "max" &&
         are("window", 2) && are("stride", 2) && are("dilation", 1) && are("pre_padding", 0) && are("post_padding", 0);
}

bool isFloat32(const plan::Plan& plan, const plan::Step& step) {
  const auto holds = [&](int32_t tensor) {
    return tensor >= 0 && plan.tensors[static_cast<size_t>(tensor)].dtype == DType::kFloat32;
  };
  return std::all_of(step.inputs.begin(), step.inputs.end(), holds) && holds(step.outputs[0]);
}

}  // namespace

Joins findJoins(const plan::Plan& plan, const std::vector<LoadedStep>& steps) {
  std::vector<int> readers = countReaders(plan);
  std::vector<int32_t> products(plan.tensors.size(), -1);  // per tensor: the step that makes it, if a convolution may
  std::vector<int32_t> pooled(plan.tensors.size(), -1);    // per tensor: the convolution that could write its maxima
  std::vector<int32_t> sources(plan.tensors.size(), -1);   // per tensor: the convolution that could average it
  std::vector<int32_t> pixels(plan.tensors.size(), -1);  // per tensor: the convolution that could be computed by pixels
  const std::vector<int32_t> none(steps.size(), -1);
  Joins joins{none, none, none, none, {}};
  for (size_t i = 0; i < steps.size(); ++i) {
    const plan::Step& step = plan.steps[i];
    const kernels::Kernel* kernel = steps[i].kernel.get();
    const auto index = static_cast<int32_t>(i);
    if (isPlainProduct(step) && isFloat32(plan, step) && readers[static_cast<size_t>(step.outputs[0])] == 1) {
      products[static_cast<size_t>(step.outputs[0])] = index;
    } else if (dynamic_cast<const kernels::ScalesInput*>(kernel) != nullptr) {
      const int32_t product = products[static_cast<size_t>(step.inputs[0])];
      if (product >= 0) {
        joins.readers[static_cast<size_t>(product)] = index;
      }
    } else if (dynamic_cast<const kernels::AveragesOutput*>(kernel) != nullptr) {
      sources[static_cast<size_t>(step.outputs[0])] = index;
    } else if (isMaximumOfFour(step)) {
      if (const int32_t source = pooled[static_cast<size_t>(step.inputs[0])]; source >= 0) {
        joins.poolers[static_cast<size_t>(source)] = index;
      }
    } else if (isAverage(step) && isFloat32(plan, step)) {
      const int32_t source = sources[static_cast<size_t>(step.inputs[0])];
      if (source >= 0 && joins.averagers[static_cast<size_t>(source)] < 0) {
        joins.averagers[static_cast<size_t>(source)] = index;
      }
    }
    if (dynamic_cast<const kernels::ReadsPixels*>(kernel) != nullptr) {
      if (const int32_t source = pixels[static_cast<size_t>(step.inputs[0])]; source >= 0) {
        joins.followers[static_cast<size_t>(source)] = index;
      }
    }
    if (readers[static_cast<size_t>(step.outputs[0])] != 1) {
      continue;
    }
    if (dynamic_cast<const kernels::PoolsOutput*>(kernel) != nullptr) {
      pooled[static_cast<size_t>(step.outputs[0])] = index;
    }
    if (dynamic_cast<const kernels::ComputesPixels*>(kernel) != nullptr) {
      pixels[static_cast<size_t>(step.outputs[0])] = index;
    }
  }
  joins.reads = std::move(readers);
  return joins;
}

bool isPerChannel(const kernels::TensorDesc& factors, const kernels::TensorDesc& tensor) {
  if (tensor.dims.size() < 3 || factors.dims.size() != tensor.dims.size() || factors.dims[0] != tensor.dims[0] ||
      factors.dims[1] != tensor.dims[1]) {
    return false;
  }
  return std::all_of(factors.dims.begin() + 2, factors.dims.end(), [](int64_t size) { return size == 1; }) &&
         (factors.dims[1] == 1 || factors.strides[1] == 1) &&
         (factors.dims[0] == 1 || factors.strides[0] == factors.dims[1]);
}

}  // namespace torchtrt::engine
