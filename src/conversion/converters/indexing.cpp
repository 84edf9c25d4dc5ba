#include "conversion/converters/indexing.h"

#include <algorithm>
#include <limits>

#include "conversion/ivalues.h"

namespace torchtrt::conversion::converters {
namespace {

using torch::jit::IValue;

bool isAbsent(const IValue& element) {
  return element.isNone() || (element.isTensor() && !element.toTensor().defined());
}

bool isMaskType(at::ScalarType type) {
  return type == at::kBool || type == at::kByte;
}

// A size as an operand of index arithmetic.
Tensor& sizeOperand(const Call& call, const Dim& size) {
  return size.isConstant() ? call.constant(size.constant(), DType::kInt64) : *sizeTensor(call.net, size);
}

}  // namespace

Tensor& asIndices(const Call& call, Tensor& indices) {
  const DType dtype = indices.getType();
  return dtype == DType::kInt32 || dtype == DType::kInt64 ? indices : call.cast(indices, DType::kInt64);
}

IndexedAxes indexedAxes(const Call& call) {
  IndexedAxes indexed;
  int64_t axis = 0;
  const at::ArrayRef<IValue> list = call.arg(1).IValue()->toListRef();
  for (const IValue& element : list) {
    if (isAbsent(element)) {
      ++axis;
      continue;
    }
    if (element.isTensor() && isMaskType(element.toTensor().scalar_type())) {
      for (const at::Tensor& places : element.toTensor().to(at::kBool).nonzero_numpy()) {
        indexed.indices.push_back(call.ctx.constant(places));
        indexed.axes.push_back(axis++);
      }
      continue;
    }
    const auto symbol = symbolIn(element);
    Tensor* tensor = element.isTensor() ? call.ctx.constant(element.toTensor())
                     : symbol           ? sizeTensor(call.net, *symbol)
                                        : tensorIn(element);
    if (!tensor || tensor->getType() == DType::kBool || tensor->getType() == DType::kUInt8) {
      call.refuse("data-dependent", "the size of the result depends on the values of a mask");
    }
    indexed.indices.push_back(&call.cast(*tensor, DType::kInt64));
    indexed.axes.push_back(axis++);
  }
  return indexed;
}

bool areNeighbours(const std::vector<int64_t>& axes) {
  return axes.empty() || axes.back() - axes.front() + 1 == static_cast<int64_t>(axes.size());
}

Tensor& flatIndex(const Call& call, const Tensor& x, const IndexedAxes& indexed) {
  if (indexed.axes.size() == 1) {
    return *indexed.indices[0];  // the layers count negative ones from the end
  }
  Tensor& zero = call.constant(0, DType::kInt64);
  Tensor* flat = nullptr;
  Tensor* is_outside = nullptr;  // of any axis: the flat index may be inside nevertheless
  for (size_t i = 0; i < indexed.axes.size(); ++i) {
    Tensor& size = sizeOperand(call, dimOf(x, indexed.axes[i]));
    Tensor& index = *indexed.indices[i];
    Tensor& wrapped = call.elementwise("sum", index, size);
    Tensor& positive = call.add(LayerType::kSELECT, {&call.elementwise("less", index, zero), &wrapped, &index});
    Tensor& outside = call.elementwise("or", call.elementwise("less", positive, zero),
                                       call.elementwise("greater_equal", positive, size));
    is_outside = is_outside ? &call.elementwise("or", *is_outside, outside) : &outside;
    flat = flat ? &call.elementwise("sum", call.elementwise("prod", *flat, size), positive) : &positive;
  }
  Tensor& nowhere = call.constant(std::numeric_limits<int64_t>::max(), DType::kInt64);  // an error of the layer
  return call.add(LayerType::kSELECT, {is_outside, &nowhere, flat});
}

FrontedAxes bringToFront(const Call& call, Tensor& x, const std::vector<int64_t>& axes) {
  std::vector<int64_t> order = axes;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
      order.push_back(i);
    }
  }
  FrontedAxes fronted;
  Tensor& moved = call.permute(x, order);
  fronted.dims = moved.getDimensions();
  fronted.back.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    fronted.back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  std::vector<Dim> merged(fronted.dims.begin() + static_cast<std::ptrdiff_t>(axes.size()), fronted.dims.end());
  Dim count = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    count = count * fronted.dims[static_cast<int>(i)];
  }
  merged.insert(merged.begin(), count);
  fronted.merged = &call.reshape(moved, Dims(merged));
  return fronted;
}

std::optional<MaskIndex> maskIndex(const Call& call) {
  std::optional<MaskIndex> found;
  int64_t axis = 0;
  const at::ArrayRef<IValue> list = call.arg(1).IValue()->toListRef();
  for (const IValue& element : list) {
    if (isAbsent(element)) {
      ++axis;
      continue;
    }
    Tensor* tensor = tensorIn(element);
    if (found || !tensor || tensor->getType() != DType::kBool) {
      return std::nullopt;
    }
    found = MaskIndex{tensor, axis};
  }
  return found;
}

}  // namespace torchtrt::conversion::converters
