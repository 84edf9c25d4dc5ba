// Lists of dimensions.
#include "base/check.h"
#include "torchtrt/types.h"

namespace torchtrt {

Dims Dims::of(const std::vector<int64_t>& values) {
  return Dims(std::vector<Dim>(values.begin(), values.end()));
}

bool Dims::isStatic() const {
  for (const Dim& dim : dims_) {
    if (!dim.isConstant()) {
      return false;
    }
  }
  return true;
}

std::vector<int64_t> Dims::constants() const {
  std::vector<int64_t> values;
  values.reserve(dims_.size());
  for (const Dim& dim : dims_) {
    values.push_back(dim.constant());
  }
  return values;
}

Dim Dims::numel() const {
  Dim product = 1;
  for (const Dim& dim : dims_) {
    product = product * dim;
  }
  return product;
}

std::string Dims::toString() const {
  std::string text = "[";
  for (size_t i = 0; i < dims_.size(); ++i) {
    text += (i == 0 ? "" : ", ") + dims_[i].toString();
  }
  return text + "]";
}

}  // namespace torchtrt
