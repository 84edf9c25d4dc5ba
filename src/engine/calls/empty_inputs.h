// The inputs of a call with zeros in the place of those that come empty, where the plan says so: a state before the
// first call. Private to this folder.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/device.h"
#include "engine/loading/model.h"
#include "torchtrt/engine.h"

namespace torchtrt::engine {

// Has to outlive the call. Nothing is allocated where nothing is empty.
class FilledInputs {
 public:
  FilledInputs(const Model& model, std::span<const TensorView> given, device::Stream stream = {});
  FilledInputs(const FilledInputs&) = delete;
  FilledInputs& operator=(const FilledInputs&) = delete;

  std::span<const TensorView> span() const {
    return filled_.empty() ? given_ : filled_;
  }

 private:
  bool comeEmpty() const;
  void fill(size_t input);

  const Model& model_;
  std::span<const TensorView> given_;
  device::Stream stream_;
  std::vector<TensorView> filled_;
  std::vector<std::vector<int64_t>> shapes_;  // dims and strides of what was filled
  std::vector<device::Memory> zeros_;
};

}  // namespace torchtrt::engine
